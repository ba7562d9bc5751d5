"""Vocabulary files: what is read from them, and that what ships is sound."""

import datetime

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.units import check_unit
from knowledge_manager.vocabulary.reader import read_vocabulary
from knowledge_manager.vocabulary.terms import (
    Hedged,
    Points,
    Shoulder,
    Sigmoid,
    Trapezoidal,
    Universal,
    faults,
)
from knowledge_manager.vocabulary.vocabulary import (
    UnknownName,
    check_vocabulary_file,
    load_vocabulary,
    shipped_vocabularies,
)
from tests.paths import ROOT

EVERYTHING = """
name = "camp"
version = 2
feature_bytes = 2

[[event]]
name = "tent"
index = 12
location = ["x", "y"]
[[event.place]]
name = "gate"
x = 1.0
y = 2
[[event.attribute]]
name = "x"
index = 14
domain = [0, 100]
unit = "m"
decimals = 0
terms.low = { shoulder = { side = "left", from = 1, to = 2.5 } }
terms.steep = { sigmoid = { center = 50, slope = -0.5 } }
terms.odd = { points = [[0, 0.0], [50, 1], [100, 0.25]] }
terms.raw = { universal = { v = 3, V = 9, g = 127 } }
terms.lower = { hedge = ["not", "very"], of = "low" }
[[event.attribute]]
name = "y"
index = 2
domain = [-1.50, 98.50]
[[event.attribute]]
name = "kind"
index = 0
type = "nominal"
values = ["big", "small"]
[[event.attribute]]
name = "opened"
index = 1
type = "time"
[[event.attribute]]
name = "put_up"
index = 3
type = "date"
domain = [2026-01-01, 2026-12-31]
"""


def test_everything_a_file_can_say() -> None:
    vocabulary = read_vocabulary(EVERYTHING, "camp.toml")
    event = vocabulary.events[0]
    assert (vocabulary.name, vocabulary.version, vocabulary.feature_bytes) == ("camp", 2, 2)
    assert [attribute.name for attribute in event.attributes] == ["kind", "opened", "y", "put_up", "x"]
    assert event.location == ("x", "y")
    assert event.places == {"gate": (1.0, 2.0)}
    x = event.attribute("x")
    assert (x.lo_scaled, x.hi_scaled, x.decimals, x.unit) == (0, 100, 0, "m")
    assert x.terms == {
        "low": Shoulder("left", 1.0, 2.5),
        "steep": Sigmoid(50.0, -0.5),
        "odd": Points(((0.0, 0.0), (50.0, 1.0), (100.0, 0.25))),
        "raw": Universal(3, 9, 127),
        "lower": Hedged(("not", "very"), "low"),
    }
    y = event.attribute("y")
    assert (y.lo_scaled, y.hi_scaled, y.decimals, y.lo, y.hi) == (-150, 9850, 2, -1.5, 98.5)
    assert event.attribute("kind").values == ("big", "small")
    opened = event.attribute_at(1)
    assert (opened.lo_scaled, opened.hi_scaled, opened.unit) == (0, 86400, "s")
    epoch = datetime.date(1970, 1, 1)
    put_up = event.attribute("put_up")
    assert put_up.lo_scaled == (datetime.date(2026, 1, 1) - epoch).days
    assert put_up.hi_scaled - put_up.lo_scaled == 364


def test_unknown_names_say_what_there_is() -> None:
    event = read_vocabulary(EVERYTHING, "camp.toml").events[0]
    with pytest.raises(UnknownName, match=r'attribute "knid" of tent is unknown .*did you mean "kind"'):
        event.attribute("knid")
    with pytest.raises(UnknownName, match='attribute index "9" of tent'):
        event.attribute_at(9)


@pytest.mark.parametrize("name", shipped_vocabularies())
def test_what_ships_is_sound(name: str) -> None:
    assert check_vocabulary_file(ROOT / "knowledge_manager" / "vocabularies" / f"{name}.toml") == []
    vocabulary = load_vocabulary(name)
    assert vocabulary.name == name
    for event in vocabulary.events:
        for attribute in event.attributes:
            if attribute.type == "number":
                check_unit(attribute.unit)
                assert 0 < attribute.hi_scaled - attribute.lo_scaled < 2**21


def test_the_shipped_ones() -> None:
    loaded = {name: load_vocabulary(name) for name in shipped_vocabularies()}
    found = {name: (*one.events, *one.graphs)[0] for name, one in loaded.items()}
    assert {name: (event.name, event.index) for name, event in found.items()} == {
        "medical": ("patient", 0),
        "weather": ("weather", 1),
        "fire": ("fire", 2),
        "housing": ("apartment", 3),
        "reports": ("report", 4),
    }


@pytest.mark.parametrize(
    ("change", "code", "line_begins"),
    [
        (("domain = [0, 100]", "domain = [0, 2097152]"), "D208", "domain"),
        (("domain = [0, 100]", "domain = [0.5, 100]"), "D208", "domain"),
        (("domain = [0, 100]", "domain = [nan, 100]"), "D203", "domain"),
        (("domain = [0, 100]", "domain = [0, inf]"), "D203", "domain"),
        (("to = 2.5", "to = 0.5"), "D210", "terms.low"),
        (("to = 2.5", "to = 2.5, too = 3"), "D201", "terms.low"),
        (('of = "low"', 'of = "lower"'), "D211", "terms.lower"),
        (("center = 50, ", ""), "D202", "terms.steep"),
        (('"not", "very"', '"not", "verry"'), "D203", "terms.lower"),
        (("index = 14", "index = 15"), "D206", "index = 15"),
        (("index = 12", "index = 16"), "D205", "index = 16"),
        (('values = ["big", "small"]', "values = []"), "D209", "[[event.attribute]]"),
        (('values = ["big", "small"]', "domain = [0, 1]"), "D208", "[[event.attribute]]"),
        (('type = "time"', 'type = "time"\ndomain = [0, 5]'), "D208", "domain"),
        (("[2026-01-01, 2026-12-31]", "[1, 2]"), "D208", "domain"),
        (('unit = "m"', 'unit = "mm/\u00fcber"'), "D212", "unit"),
        (("feature_bytes = 2", "feature_bytes = 3"), "D203", "feature_bytes"),
    ],
)
def test_errors_are_reported_at_their_place(change: tuple[str, str], code: str, line_begins: str) -> None:
    assert EVERYTHING.count(change[0]) == 1
    changed = EVERYTHING.replace(*change)
    with pytest.raises(DocumentError) as raised:
        read_vocabulary(changed, "camp.toml")
    first = raised.value.problems[0]
    assert first.code == code
    assert changed.splitlines()[first.line - 1].startswith(line_begins)


def test_faults_of_fuzzifiers() -> None:
    assert faults(Trapezoidal(1.0, 2.0, 0.0)) == []
    assert len(faults(Trapezoidal(2.0, 1.0, -1.0))) == 2
    assert faults(Points(())) == ["it has no points"]
    assert len(faults(Points(((1.0, 2.0), (0.5, 0.0))))) == 2
    assert faults(Universal(9, 3, 0)) == ["v (9) is greater than V (3)"]
