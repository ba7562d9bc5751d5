"""Scales in vocabularies: what they become, what the table check says of them, and what is refused."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary.diff import diff_vocabularies
from knowledge_manager.vocabulary.event_class import Attribute, Vocabulary
from knowledge_manager.vocabulary.reader import read_vocabulary
from knowledge_manager.vocabulary.scales import MOST_PIECES, faults_of_breakpoints, log_breakpoints


def vocabulary(scale: str = "", domain: str = "[0.0, 2000.0]", kind: str = "") -> Vocabulary:
    text = (
        'name = "camp"\nversion = 1\n[[event]]\nname = "tent"\nindex = 0\n[[event.attribute]]\nname = "gas"\n'
    )
    return read_vocabulary(f"{text}index = 0\ndecimals = 1\ndomain = {domain}\n{kind}{scale}", "camp.toml")


def attribute(scale: str, domain: str = "[0.0, 2000.0]") -> Attribute:
    return vocabulary(scale, domain).events[0].attribute("gas")


def test_breakpoints_are_scaled_integers() -> None:
    gas = attribute("scale = [[0.0, 0], [200, 128], [450.5, 160], [2000.0, 255]]")
    assert gas.breakpoints == ((2000, 128), (4505, 160))
    assert gas.inner == (2000, 128, 4505, 160)


@pytest.mark.parametrize("scale", ['scale = "linear"', "", "scale = [[0, 0], [2000, 255]]"])
def test_an_even_scale_is_none(scale: str) -> None:
    assert attribute(scale) == attribute("")


@pytest.mark.parametrize(
    ("scale", "reason"),
    [
        ('scale = "cubic"', 'a scale must be "linear", "log", or breakpoints'),
        ("scale = [[0, 0], [200, 300], [2000, 255]]", "with bytes 0..255"),
        ("scale = [[0, 0], [200, true], [2000, 255]]", "with bytes 0..255"),
        ("scale = [[0, 0], [200], [2000, 255]]", "breakpoints"),
        ("scale = [[0, 0], [nan, 3], [2000, 255]]", "breakpoints"),
        (
            "scale = []",
            r"the first and last points must be those of the domain, \[0.0, 0\] and \[2000.0, 255\]",
        ),
        ("scale = [[1, 0], [2000, 255]]", "first and last points"),
        ("scale = [[0, 0], [2000, 254]]", "first and last points"),
        ("scale = [[0, 0], [9, 9], [9, 10], [2000, 255]]", r"\[9, 10\] is not above \[9, 9\]"),
        ("scale = [[0, 0], [9, 9], [10, 9], [2000, 255]]", "is not above"),
        ("scale = [[0, 0], [9.25, 9], [2000, 255]]", "9.25 has more than 1 decimals"),
        ('scale = "log"', "a logarithmic scale needs a domain above 0, not from 0"),
        (
            f"scale = [{', '.join(f'[{n}, {n}]' for n in range(17))}, [2000, 255]]",
            f"17 segments; the maximum is {MOST_PIECES}",
        ),
    ],
)
def test_invalid_scales(scale: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=f"D215: .*{reason}"):
        vocabulary(scale)


def test_a_scale_belongs_to_a_number() -> None:
    with pytest.raises(DocumentError, match="D215: gas is a date: only numbers have a scale"):
        read_vocabulary(
            'name = "c"\nversion = 1\n[[event]]\nname = "t"\nindex = 0\n[[event.attribute]]\nname = "gas"\n'
            'index = 0\ntype = "date"\ndomain = [2026-01-01, 2026-02-01]\nscale = "log"\n',
            "c.toml",
        )


@given(st.integers(1, 10**6), st.integers(1, 2**21 - 2))
def test_law_a_logarithm_becomes_few_rising_breakpoints(lo: int, span: int) -> None:
    found = log_breakpoints(lo, lo + span)
    assert len(found) < MOST_PIECES
    ends = [(Decimal(lo), 0), *((Decimal(x), byte) for x, byte in found), (Decimal(lo + span), 255)]
    assert [*faults_of_breakpoints(ends, Decimal(lo), Decimal(lo + span), 0)] == []


def test_equal_ratios_get_equal_steps() -> None:
    found = {byte: x for x, byte in log_breakpoints(100, 100 * 2**17)}
    for byte, x in found.items():
        assert x == pytest.approx(100 * 2 ** (17 * byte / 255), rel=0.005)


def test_the_table_check_covers_the_scale() -> None:
    plain = MissionTable((vocabulary(),))
    scaled = MissionTable((vocabulary("scale = [[0, 0], [200, 128], [2000, 255]]"),))
    assert plain.canonical() == b"features 1\nevent 0\n0 number 0 20000 1 \n"
    assert scaled.canonical() == plain.canonical() + b"at 2000 128\n"
    assert plain.check != scaled.check
    assert load_mission_table(["medical"]).canonical().count(b"\nat ") == 0


def test_another_scale_is_another_meaning() -> None:
    old, new = vocabulary(), vocabulary("scale = [[0, 0], [200, 128], [2000, 255]]")
    found = diff_vocabularies(old, new)
    assert not found.is_compatible
    told = [change.message for change in found.changes if change.path == "tent.gas"]
    assert told == ["the scale was linear and is [200, 128]; bytes change meaning"]


def test_what_ships_gives_its_steps_to_what_matters() -> None:
    table = load_mission_table(["weather", "fire"])
    gas = table.event("fire").attribute("carbon_monoxide")
    assert dict(gas.breakpoints)[2000] > 2 * 13
    pressure = dict(table.event("weather").attribute("pressure").breakpoints)
    assert (pressure[10500] - pressure[9400]) / 11 > 3 * 4, "steps for ten hectopascals, a day's change"


@pytest.mark.parametrize(
    "term",
    [
        "{ triangular = { center = 3000.0, width = 900.0 } }",
        "{ trapezoidal = { left = -20.0, right = -10.0, width = 10.0 } }",
        "{ gaussian = { center = 3000.0, sigma = 10.0 } }",
        "{ bell = { center = 9000.0, width = 10.0, slope = 3.0 } }",
        "{ bell = { center = 1e9, width = 1e-9, slope = 300.0 } }",
        "{ sigmoid = { center = 3000.0, slope = 1.0 } }",
        "{ sigmoid = { center = -1e300, slope = -1e9 } }",
        '{ shoulder = { side = "right", from = 2000.0, to = 2100.0 } }',
        '{ shoulder = { side = "left", from = -5.0, to = 0.0 } }',
        "{ points = [[-5.0, 1.0], [-1.0, 0.0], [3000.0, 0.0], [3001.0, 1.0]] }",
        "{ points = [[5.0, 0.0]] }",
    ],
)
def test_a_term_outside_of_its_domain_is_refused_where_it_is_written(term: str) -> None:
    with pytest.raises(DocumentError, match=r"D216: term \"far\" lies outside of the domain of gas, 0..2000"):
        vocabulary(f"terms.far = {term}\n")


def test_a_term_that_reaches_in_is_none_of_these() -> None:
    for term in (
        "{ triangular = { center = 2100.0, width = 200.0 } }",
        "{ points = [[-1.0, 1.0], [1.0, 0.0]] }",
    ):
        assert "near" in vocabulary(f"terms.near = {term}\n").events[0].attribute("gas").terms
