"""From documents to bytes: the specification's example, and what each element means."""

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.hedges import HEDGES as WORDS
from knowledge_manager.vocabulary.hedges import Hedge
from knowledge_manager.vocabulary.terms import Lr, Triangular
from plugins.atopss.authoring.atopss_authoring import AtopssAuthoring
from plugins.atopss.authoring.term_shapes import shape_of
from plugins.atopss.shapes.profiles import GAUSSIAN, HEDGES
from plugins.atopss.shapes.scale import INFINITE
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, at_most, interval, point
from plugins.atopss.subscriptions import Form, Joined, Norm, Predicate, Subscription, tree_of
from plugins.atopss.vectors import decode_subscription
from plugins.authoring.constants import BadConstant
from plugins.registry import language_of_document
from tests.paths import ROOT
from tests.plugins.atopss.subscriptions import SUBSCRIPTION
from watchdog.header import framed

TABLE = load_mission_table(["medical", "weather", "fire", "housing"])
AUTHORING = AtopssAuthoring()

FLAT = (ROOT / "docs/examples/apartment.xml").read_bytes()


def compiled(inner: str, event: str = "apartment", attributes: str = "") -> Subscription:
    """Return what a document with these elements compiles to."""
    head = f'<subscription xmlns="urn:dens:approximate:1" event="{event}" {attributes}>'
    made = AUTHORING.compile(f"{head}{inner}</subscription>".encode(), "f.xml", TABLE)
    return decode_subscription(made.body)


def refused(inner: str, event: str = "apartment", attributes: str = "") -> list[str]:
    """Return the codes with which a document is refused."""
    with pytest.raises(DocumentError) as raised:
        compiled(inner, event, attributes)
    return [problem.code for problem in raised.value.problems]


def test_the_example_byte_for_byte() -> None:
    made = AUTHORING.compile(FLAT, "flat.xml", TABLE)
    assert framed(0, 0, made.lifetime_q, made.body) == SUBSCRIPTION
    assert len(made.spans) == len(made.body)
    assert language_of_document(FLAT, "flat.xml").name == "atopss"


@pytest.mark.parametrize(
    ("operator", "inner", "shapes"),
    [
        ("eq", "40", [(point(40), False)]),
        ("ne", "40", [(point(40), True)]),
        ("ne", "40.5", [(ANYTHING, False)]),
        ("le", "40.5", [(at_most(40), False)]),
        ("lt", "40", [(at_most(39), False)]),
        ("ge", "39.5", [(at_least(40), False)]),
        ("gt", "40", [(at_least(41), False)]),
        ("between", "<min>40</min><max>60</max>", [(interval(40, 60), False)]),
        ("in", "<value>40</value><value>41</value>", [(interval(40, 41), False)]),
        ("in", "<value>40</value><value>50</value>", [(point(40), False), (point(50), False)]),
    ],
)
def test_comparisons(operator: str, inner: str, shapes: list[tuple[Shape, bool]]) -> None:
    found = compiled(f'<crisp-predicate attribute="size" operator="{operator}">{inner}</crisp-predicate>')
    assert {(one.shape, one.complement) for one in found.predicates} == set(shapes)
    assert found.form == (Form.OR if len(shapes) > 1 else Form.AND)


def test_axes_begin_at_the_low_end() -> None:
    found = compiled(
        '<crisp-predicate attribute="patient_temperature" operator="eq">36.65</crisp-predicate>'
        '<crisp-predicate attribute="ward" operator="eq">ICU</crisp-predicate>',
        "patient",
    )
    assert {one.shape for one in found.predicates} >= {point(665)}


def test_times_may_run_over_midnight() -> None:
    inner = "<min>22:00</min><max>06:00</max>"
    found = compiled(
        f'<crisp-predicate attribute="seen_at" operator="between">{inner}</crisp-predicate>', "fire"
    )
    (one,) = found.predicates
    assert (one.complement, one.shape) == (True, interval(6 * 3600 + 1, 22 * 3600 - 1))


def sized(inner: str, operator: str = "<is>x</is>") -> Predicate:
    """Return the predicate of a set that is defined in the document."""
    (one,) = compiled(
        '<approximate-predicate attribute="size">'
        f'<fuzzy-set term="x">{inner}</fuzzy-set>{operator}</approximate-predicate>'
    ).predicates
    return one


@pytest.mark.parametrize(
    ("inner", "shape"),
    [
        ('<trapezoidal left="50" right="70" width="10"/>', Shape(40, 50, 70, 80)),
        ('<triangular center="50" width="10"/>', Shape(40, 50, 50, 60)),
        ('<gaussian center="50" sigma="3"/>', Shape(40, 50, 50, 60, GAUSSIAN, GAUSSIAN)),
        ('<shoulder side="left" from="50" to="60"/>', at_most(50, 60)),
        ('<lr lower="50" left="10" left-shape="very gaussian"/>', at_least(40, 50, GAUSSIAN + 16)),
        ('<points><point x="40" y="0"/><point x="50" y="1"/></points>', at_least(40, 50)),
        ('<lr lower="50" upper="50"/>', point(50)),
        ("<lr/>", ANYTHING),
    ],
)
def test_curves(inner: str, shape: Shape) -> None:
    assert sized(inner).shape == shape


def test_hedges_and_their_duals() -> None:
    terms = '<hedge name="very"/><term>medium</term>'
    assert sized(terms).shape.left == HEDGES["very"]
    turned = '<hedge name="very"/><hedge name="not"/><term>medium</term>'
    assert (sized(turned).shape.left, sized(turned).complement) == (6, True)
    assert sized(terms, "<is-not>x</is-not>").complement
    twice = '<hedge name="very"/><hedge name="very"/><term>medium</term>'
    assert sized(twice).shape.right == 17


MEDIUM = '<approximate-predicate attribute="size"><is>medium</is></approximate-predicate>'
OLD = '<approximate-predicate attribute="age"><is>old</is></approximate-predicate>'
CHEAP = '<approximate-predicate attribute="rent"><is>cheap</is></approximate-predicate>'


def test_a_hedge_without_codes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    attribute = load_mission_table(["medical"]).events[0].attributes[0]
    monkeypatch.setitem(WORDS, "barely", Hedge("barely", "its fifth root", lambda degree: degree**0.2))
    curves = [(Triangular(40, 1), ("not", "barely")), (Lr(40, 41, 1, 1, "barely", "straight"), ())]
    for fuzzifier, hedges in curves:
        with pytest.raises(BadConstant, match='"barely" has no code in vectors') as refused:
            shape_of(fuzzifier, hedges, attribute)
        assert refused.value.code == "D162"


def test_not_is_carried_down() -> None:
    found = tree_of(compiled(f"<not><or>{MEDIUM}<and>{OLD}<not>{CHEAP}</not></and></or></not>"))
    assert isinstance(found, Joined)
    assert not found.is_or
    outer = [part for part in found.parts if isinstance(part, Predicate)]
    (inner,) = (part for part in found.parts if isinstance(part, Joined))
    assert [(one.attribute, one.complement) for one in outer] == [(1, True)]
    assert inner.is_or
    leaves = [part for part in inner.parts if isinstance(part, Predicate)]
    assert {(one.attribute, one.complement) for one in leaves} == {(0, False), (2, True)}


def test_two_comparisons_become_what_they_have_in_common() -> None:
    found = compiled(
        '<crisp-predicate attribute="size" operator="ge" possibility="0.2">40</crisp-predicate>'
        '<crisp-predicate attribute="size" operator="le" necessity="1">60</crisp-predicate>'
    )
    assert found.predicates == (Predicate(1, interval(40, 60), possibility=6, necessity=30),)
    empty = '<crisp-predicate attribute="size" operator="{}">{}</crisp-predicate>'
    assert refused(empty.format("ge", 60) + empty.format("le", 40)) == ["D109"]


def test_weights() -> None:
    weighted = OLD.replace("<approximate-predicate", '<approximate-predicate weight="0.5"')
    found = compiled(weighted + MEDIUM, attributes='norm="weighted_average"')
    assert (found.norm, sorted(found.weights)) == (Norm.WEIGHTED_AVERAGE, [128, 255])
    assert refused(weighted) == ["D165"]
    assert refused(f"<or>{OLD}{MEDIUM}</or>", attributes='norm="average"') == ["D165"]


def test_other_refusals() -> None:
    assert refused("") == ["D127"]
    assert refused(MEDIUM, "flat") == ["D101"]
    assert refused(MEDIUM.replace("medium", "huge")) == ["D102"]
    assert refused(MEDIUM, attributes='possibility="2"') == ["D118"]
    assert refused(MEDIUM, attributes='norm="max"') == ["D113"]
    far = "".join(
        f'<crisp-predicate attribute="rent" operator="eq">{rent}</crisp-predicate>'
        for rent in range(0, 130, 2)
    )
    assert refused(f"<or>{far}</or>") == ["D168"]
    with pytest.raises(DocumentError, match="D010"):
        AUTHORING.compile(b'<publication xmlns="urn:dens:approximate:1" event="patient"/>', "f", TABLE)


def test_a_term_without_an_end_keeps_it() -> None:
    (one,) = compiled(CHEAP).predicates
    assert one.shape == Shape(-INFINITE, -INFINITE, 1200, 1500)
