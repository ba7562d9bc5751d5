"""Decompile, explain, picture and match: what people and scripts are shown."""

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.app.subscriptions.subscription import compiled_vector
from knowledge_manager.durations import duration_s, written_duration
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.authoring import CompileOptions
from plugins.authoring.constants import BadConstant
from plugins.authoring.output.vector_lines import BadLine, LineMatcher, MatchedLine
from plugins.board_vectors import SubscriptionBody, decode_body, encode_body
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.decompile import decompile
from plugins.fuzzy.authoring.explain import explain_vector
from plugins.fuzzy.authoring.fuzzy_authoring import FuzzyAuthoring
from plugins.fuzzy.authoring.picture import page, panels, svg, terminal
from plugins.fuzzy.patterns import pattern_bytes
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE
from tests.plugins.fuzzy.test_patterns import patterns
from watchdog.aggregators import AGGREGATOR_NAMES, TAKAGI_SUGENO_0, WEIGHTED_MEAN, WITH_PATTERN, WITH_RULES
from watchdog.header import HEADER_ID, HEADER_REVISION, body_of, framed

VECTOR = bytes.fromhex("00006700009592ff547bff3f01017f0107")
bytes_ = st.integers(0, 255)


@st.composite
def any_subscription(draw: st.DrawFn) -> bytes:
    aggregator = draw(st.sampled_from(list(AGGREGATOR_NAMES)))
    count = draw(st.integers(2 if WITH_RULES >> aggregator & 1 else 1, 8))
    attributes = tuple(sorted(draw(st.permutations(range(8)))[:count]))
    block = b""
    if WITH_PATTERN >> aggregator & 1:
        block = pattern_bytes(draw(patterns(most=count, least=count)))
    elif aggregator == WEIGHTED_MEAN:
        block = bytes([draw(st.integers(1, 255)), *(draw(bytes_) for _ in range(count - 1))])
    elif WITH_RULES >> aggregator & 1:
        table = bytes(
            [2, 2, 0, 255, *(draw(bytes_) for _ in range(4 if aggregator == TAKAGI_SUGENO_0 else 12))]
        )
        block = draw(st.sampled_from([b"\x00", b"\x01", table]))
    constraints = []
    for _ in attributes:
        v, V = sorted((draw(bytes_), draw(bytes_)))
        constraints.append((v, V, draw(bytes_)))
    stamp_s, threshold = draw(st.integers(0, 65535)), draw(st.integers(0, 15))
    parts = SubscriptionBody(stamp_s, threshold, aggregator, block, tuple(constraints), 0, attributes)
    return framed(draw(bytes_), draw(bytes_), draw(bytes_), encode_body(parts))


@given(any_subscription())
def test_law_what_is_decompiled_compiles_to_the_same_vector(vector: bytes) -> None:
    parts = decode_body(body_of(vector))
    text = decompile(vector, TABLE)
    again = compile_subscription(text.encode(), "d.xml", TABLE, CompileOptions(stamp_s=parts.stamp_s))
    assert compiled_vector(again, vector[HEADER_ID], vector[HEADER_REVISION]) == vector


def test_an_explanation_gives_the_verdict_of_the_board() -> None:
    values = {"patient_temperature": "38.2", "heart_rate": "120", "ward": "ICU"}
    found = explain_vector(VECTOR, TABLE, values)
    assert [clause.degree_u8 for clause in found.clauses] == [166, 187, 255]
    assert (found.degree_u8, found.least_u8, found.matches) == (196, 153, True)
    assert found.lines()[-1] == "matches: degree 196/255 (0.769), wanted at least 153"
    assert explain_vector(VECTOR, TABLE, {**values, "ward": "ER"}).matches is False
    assert explain_vector(VECTOR, TABLE, {"ward": "ER"}).verdict() == (
        "no result: patient_temperature, heart_rate is not given"
    )
    json.dumps(found.as_document())


def test_values_are_readings() -> None:
    clipped = explain_vector(VECTOR, TABLE, {"patient_temperature": "99"}).clauses[0]
    assert (clipped.byte, clipped.degree_u8) == (255, 255)
    with pytest.raises(UnknownName, match='did you mean "heart_rate"'):
        explain_vector(VECTOR, TABLE, {"hart_rate": "3"})
    with pytest.raises(BadConstant, match="not a finite number"):
        explain_vector(VECTOR, TABLE, {"heart_rate": "fast"})


def test_age_takes_part() -> None:
    young = framed(
        0, 0, 99, encode_body(SubscriptionBody(0, 0, 0, b"", ((0, 255, 127), (0, 40, 127)), 0, (1, 7)))
    )
    assert explain_vector(young, TABLE, {"heart_rate": "80"}, age_s=30).matches is True
    assert explain_vector(young, TABLE, {"heart_rate": "80"}, age_s=40).matches is False


def test_pictures_show_wanted_against_encoded() -> None:
    compiled = compile_subscription(EXAMPLE, "f", TABLE)
    drawn = panels(compiled.vector, TABLE, compiled)
    picture = ElementTree.fromstring(svg(drawn))
    shapes = [element.tag.split("}")[1] for element in picture]
    assert (shapes.count("polygon"), shapes.count("polyline")) == (3, 6)
    assert "polygon" not in svg(panels(compiled.vector, TABLE))
    assert "<svg" in page(drawn, ["a < b"], "Fever")
    assert "a &lt; b" in page(drawn, ["a < b"], "Fever")
    lines = terminal(drawn, 40)
    assert lines[0] == "patient_temperature  (deviation 0.085)"
    assert {len(line) for line in lines if "|" in line} == {52}


def matching(
    lines: list[str],
    table: MissionTable | None = None,
    algorithm: str | None = None,
    features: str = "subset",
) -> LineMatcher:
    authoring = FuzzyAuthoring()
    made = LineMatcher(authoring.loose_matcher(table, algorithm, features), authoring.happened_s)
    made.add(lines)
    return made


def test_lines_are_matched_by_number() -> None:
    event = "0001670000909292010107"
    matcher = matching([VECTOR.hex(), "", "zz", VECTOR.hex().upper()], TABLE, "NAIVE")
    assert [(bad.of, bad.n) for bad in matcher.bad] == [("subscription", 2)]
    found = list(matcher.match(["", event, "00", event[:-2] + "03"]))
    assert found[0] == MatchedLine(1, ((0, 255, b""), (3, 255, b"")))
    assert isinstance(found[1], BadLine)
    assert str(found[1]).startswith("notification line 2: byte 1: too short")
    assert isinstance(found[2], BadLine)
    assert found[0].as_document() == {"n": 1, "matches": [[0, 255], [3, 255]]}
    assert list(matching([VECTOR.hex()]).match([event])) == [MatchedLine(0, ((0, 255, b""),))]
    with pytest.raises(UnknownName, match="naive"):
        matching([], algorithm="nave")
    with pytest.raises(UnknownName, match="subset"):
        matching([], features="equal")


def test_now_makes_events_old() -> None:
    young = SubscriptionBody(0, 0, 0, b"", ((0, 255, 127), (0, 40, 127)), 0, (1, 7))
    matcher = matching([framed(0, 0, 99, encode_body(young)).hex()])
    event = "0001" + "5f" + "0064" + "00" + "92" + "0102"
    ages = {None: 1, 100: 1, 130: 1, 160: 0, 65536 + 100: 1}
    found = {now: len(next(iter(matcher.match([event], now))).matches) for now in ages}  # type: ignore[union-attr]
    assert found == ages


@given(st.integers(1, 10**9))
def test_durations_read_what_they_write(seconds: int) -> None:
    assert duration_s(written_duration(seconds)) == seconds
