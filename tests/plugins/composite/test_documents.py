"""Documents: everything wrong at once, at its place; whatever is written comes back."""

import pytest
from hypothesis import assume, given

from dens.config.problems import DocumentError
from plugins.composite.alternatives import expanded
from plugins.composite.pattern import canonical, leaves_of
from plugins.composite.search.watched import is_possible
from plugins.composite.vectors import decode_body
from tests.plugins.composite.letter_streams import AUTHORING, compiled, document
from tests.plugins.composite.letter_streams import TABLE as SESSIONS
from tests.plugins.composite.oracle import Asked, leaves
from tests.plugins.composite.test_oracle import LAWS
from tests.plugins.composite.worlds import CLASSES, TABLE, asked, body_of, tree_of
from watchdog.header import framed

BROKEN = b"""<composite xmlns="urn:dens:composite:1" window="PT0S" keep="later" quiet="PT1M" select="all"
  scope="any">
  <primitive name="a" event="session">
    <crisp-predicate attribute="statu" operator="eq">denied</crisp-predicate></primitive>
  <primitive name="b" event="session">
    <crisp-predicate attribute="status" operator="eq">denid</crisp-predicate></primitive>
  <pattern>a; c @(t9 - t1 &lt; 5min)</pattern>
  <predict probability="7" within="0"/>
</composite>"""


def problems(source: bytes) -> list:
    with pytest.raises(DocumentError) as raised:
        AUTHORING.compile(source, "broken.xml", SESSIONS)
    return list(raised.value.problems)


def test_all_errors_are_reported_at_once_and_at_their_place() -> None:
    found = {(one.code, one.line, one.column) for one in problems(BROKEN)}
    assert found == {
        ("D236", 1, 41),
        ("D119", 1, 55),
        ("D247", 1, 68),
        ("D103", 4, 22),
        ("D114", 6, 55),
        ("D230", 7, 15),
        ("D232", 7, 19),
        ("D242", 8, 3),
        ("D243", 8, 12),
        ("D244", 8, 28),
    }


def test_a_misspelt_primitive_has_a_fix_that_mends_it() -> None:
    source = document("d; s").replace(b"d; s", b"<then><one>d</one><one>z</one></then>")
    source = source.replace(b'name="s"', b'name="zz"')
    [problem] = [one for one in problems(source) if one.code == "D230"]
    assert problem.fixes[0].replacement == "zz"


def test_references_and_line_breaks_in_text_keep_their_places() -> None:
    text = "d;\n  s &#64;(t2 - t1 &lt; 5min),\n  unknown"
    source = document("d; s").replace(b"d; s", text.encode())
    [problem] = [one for one in problems(source) if one.code == "D230"]
    assert (problem.line, problem.column) == (3, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d;", "unexpected end"),
        ("d; ;", "expected the name"),
        ("(d; s", "expected "),
        ("d s", 'unexpected "s": primitives are joined by'),
        ("d; not s", '"not" is not supported'),
        ("d; s @(t2 - t1 &lt; 20x)", '"20x" is not a time'),
        ("d; s @(t2 - t1 &lt; soon)", "expected a time"),
        ("d; s @(t2 + t1)", "unexpected character"),
        ("d; s @ 5", "after @ comes"),
        ("d; s @(t2 - t1 in 5s)", "expected "),
    ],
)
def test_invalid_pattern_texts(text: str, message: str) -> None:
    source = document("d; s").replace(b"d; s", text.encode())
    [problem] = [one for one in problems(source) if one.code == "D248"]
    assert message in problem.message


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("d; s @(t2 - t1 < 5min)", 0, 299),
        ("d; s @(t2 - t1 <= 5min)", 0, 300),
        ("d; s @(t2 - t1 > 5min)", 301, 600),
        ("d; s @(t2 - t1 >= PT5M)", 300, 600),
        ("d; s @(t2 - t1 in 10s..2min)", 10, 120),
        ("d; s @(t2 - t1 in PT10S..PT2M)", 10, 120),
        ("d; s @(t2 − t1 > 4), s @(t2 - t1 < 0.1h)", 5, 359),
    ],
)
def test_times(text: str, low: int, high: int) -> None:
    [condition] = decode_body(compiled(text), 1, SESSIONS).conditions
    assert (condition.low, condition.high) == (low, high)


def test_a_prefix_and_a_language_do_no_harm() -> None:
    source = b"""<c:composite xmlns:c="urn:dens:composite:1" window="PT10M" xml:lang="en">
      <c:primitive name="d" event="session">
        <c:crisp-predicate attribute="status" operator="eq">denied</c:crisp-predicate></c:primitive>
      <c:pattern>d; d</c:pattern></c:composite>"""
    made = AUTHORING.compile(source, "a.xml", SESSIONS)
    assert made.body == compiled("d; d")


@LAWS
@given(asked())
def test_what_is_decompiled_compiles_to_the_same(wanted: Asked) -> None:
    body, _ = body_of(wanted)
    events = tuple(CLASSES[leaf] for leaf in leaves(wanted.pattern))
    parts = decode_body(body, 1)
    order = [leaf.mark for leaf in leaves_of(canonical(tree_of(wanted.pattern)))]
    assume(any(is_possible(one, tuple(events[mark] for mark in order)) for one in expanded(parts.pattern)))
    vector = framed(7, 1, 96, body)
    text = AUTHORING.decompile(vector, TABLE)
    again = AUTHORING.compile(text.encode(), "again.xml", TABLE)
    assert framed(7, 1, again.lifetime_q, again.body) == vector


def test_a_body_is_described_byte_by_byte() -> None:
    vector = framed(
        1, 0, 96, compiled("d; s, l @(t3 - t1 < 1min)", 'window="PT10M" key="address" quiet="PT5M"')
    )
    told = AUTHORING.describe(vector, SESSIONS)
    assert sum(len(field.content) for field in told.fields) == len(vector)
    assert told.facts["pattern"] == "a; b, c"
    assert "t3 - t1 <= 59s" in told.sentences[0]


def test_an_explanation_says_where_it_runs() -> None:
    vector = framed(1, 0, 96, compiled("d; s, l", 'window="PT10M" select="first"'))
    told = AUTHORING.explain(vector, SESSIONS, {"status": "denied"}, 0).as_document()
    assert told["runs"]["micro:bit"].startswith("nothing")
    assert told["runs"]["Pico, ESP32"] == told["runs"]["micro:bit"]
    assert told["readings"]["a"][-1].startswith("matches")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("d; s and l", ["(d; s) and l"]),
        ("d and s; l", ["d and (s; l)"]),
        ("p or d; s and l; d", ["(d; s) and (l; d)"]),
        ("d; (s and l)", []),
        ("(d; s) and l", []),
        ("(d; s); p and l", ["((d; s); p) and l"]),
        ("d, s and l", []),
        ("d; (s; p and l)", ["(s; p) and l"]),
    ],
)
def test_a_sequence_beside_an_and_is_warned_of_without_parentheses(text: str, read: list[str]) -> None:
    found = [one for one in AUTHORING.check(document(text), "a.xml", SESSIONS) if one.code == "D257"]
    assert [one.message.split(" means ")[1].split("; write")[0] for one in found] == read
    assert all(one.severity == "warning" for one in found)
    for meant in read:
        if meant.count("(") == text.count("(") + 1 and " or " not in text:
            assert compiled(meant) == compiled(text)
