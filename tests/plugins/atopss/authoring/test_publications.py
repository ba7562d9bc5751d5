"""Publications: statements of people, as exact as their knowledge."""

import pytest

from dens.config.problems import DocumentError
from plugins.atopss.authoring.publications import ApproximatePublications
from plugins.atopss.shapes.shapes import ANYTHING, Shape, interval, point
from plugins.atopss.vectors import decode_notification
from tests.paths import ROOT
from tests.plugins.atopss.authoring.test_compile import AUTHORING, TABLE
from tests.plugins.atopss.subscriptions import PUBLICATION
from watchdog.header import framed

OFFER = (ROOT / "docs/examples/apartment_offer.xml").read_bytes()


def told(inner: str, event: str = "apartment") -> dict[int, Shape]:
    """Return the content of a publication."""
    source = f'<publication xmlns="urn:dens:approximate:1" event="{event}">{inner}</publication>'
    return decode_notification(ApproximatePublications().read(source.encode(), "p", TABLE).vector).values


def test_the_example_byte_for_byte() -> None:
    made = AUTHORING.compile_publication(OFFER, "offer.xml", TABLE, 0)
    assert made is not None
    assert framed(0, 1, made.lifetime_q, made.body) == PUBLICATION
    read = ApproximatePublications().read(OFFER, "offer.xml", TABLE)
    assert (read.event, read.attributes) == ("apartment", ("rent", "size", "age"))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("60", point(60)),
        ("20..45", interval(20, 45)),
        ("60±5", Shape(55, 60, 60, 65)),
        ("?", ANYTHING),
        ("medium", Shape(40, 50, 70, 80)),
        ("<is>medium</is>", Shape(40, 50, 70, 80)),
        ("<more-or-less>medium</more-or-less>", Shape(40, 50, 70, 80, 3, 3)),
        (
            '<fuzzy-set term="x"><triangular center="60" width="3"/></fuzzy-set><is>x</is>',
            Shape(57, 60, 60, 63),
        ),
        ('<domain unit="cm^2"/>600000', point(60)),
    ],
)
def test_supported_forms_of_a_value(text: str, shape: Shape) -> None:
    assert told(f'<value attribute="size">{text}</value>') == {1: shape}


def test_nominal_values() -> None:
    ward = TABLE.event("patient").attribute("ward")
    inner = f'<value attribute="ward">{ward.values[1]}</value>'
    assert told(inner, "patient") == {ward.index: point(1)}
    assert told('<value attribute="ward">?</value>', "patient") == {ward.index: ANYTHING}


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        ('<value attribute="size">301</value>', "D166"),
        ('<value attribute="size">45..20</value>', "D166"),
        ('<value attribute="size">20±-1</value>', "D166"),
        ('<value attribute="size">2±5</value>', "D166"),
        ('<value attribute="size">tall</value>', "D166"),
        ('<value attribute="size">NaN</value>', "D166"),
        ('<value attribute="size"/>', "D166"),
        ('<value attribute="height">2</value>', "D103"),
        ('<value attribute="size"><is>tall</is></value>', "D102"),
        ('<value attribute="size"><is-not>medium</is-not></value>', "D110"),
        ('<value attribute="size">1</value><value attribute="size">2</value>', "D104"),
        ("", "D112"),
    ],
)
def test_what_is_refused(inner: str, code: str) -> None:
    with pytest.raises(DocumentError) as raised:
        told(inner)
    assert [problem.code for problem in raised.value.problems] == [code]
    source = f'<publication xmlns="urn:dens:approximate:1" event="apartment">{inner}</publication>'
    assert [one.code for one in AUTHORING.check(source.encode(), "p", TABLE)] == [code]
