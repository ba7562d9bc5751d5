"""The language of boxes: golden bytes, one spelling, and what every verb makes of it."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.authoring import CompileOptions
from plugins.authoring.xml.spans import Span
from plugins.board_parts import values_of_board
from plugins.boxes.authoring.boxes_authoring import BoxesAuthoring
from plugins.boxes.authoring.conditions import (
    Condition,
    Joined,
    Not,
    Predicate,
    TooManyBoxes,
    boxes_of,
    holds,
)
from plugins.boxes.language import BOXES
from plugins.boxes.nodes import MOST_EXACT_PARTS, let_through
from plugins.boxes.relations import BoxRelations
from plugins.boxes.simplify import simplified
from plugins.boxes.vectors import Box, BoxesBody, decode_body, encode_body, is_inside
from plugins.fuzzy.language import FUZZY
from plugins.ground_truth import ReadingColumns
from plugins.language import Match, Requirement
from watchdog.header import body_of, framed
from watchdog.reading import Reading
from watchdog.vector import VectorError

TABLE = load_mission_table(["medical", "weather", "fire"])
HERE = Span(0, 0, 1, 1, 1, 1)

EXAMPLE = b"""<subscription xmlns="urn:dens:boxes:1" event="weather" valid="PT6H">
  <or>
    <and>
      <or><crisp-predicate attribute="temperature" operator="lt">0</crisp-predicate>
          <crisp-predicate attribute="temperature" operator="gt">35</crisp-predicate></or>
      <crisp-predicate attribute="wind_speed" operator="ge">15</crisp-predicate>
    </and>
    <crisp-predicate attribute="rain" operator="ge">30</crisp-predicate>
  </or>
</subscription>
"""
GOLDEN = "0100740000030600a1ff7f0220090000667f40ff7f02090900bfff7f40ff7f0209"
SPECIFIED = bytes.fromhex("010074000003060026ff7f0220090000657f40ff7f02090900c0ff7f40ff7f0209")
"""The same with the scales and the rounding of an earlier vocabulary."""


def compiled(condition: str, event: str = "weather") -> bytes:
    source = f'<subscription xmlns="urn:dens:boxes:1" event="{event}">{condition}</subscription>'
    return BoxesAuthoring().compile(source.encode(), "f", TABLE).body


def boxes_in(condition: str, event: str = "weather") -> tuple[Box, ...]:
    return decode_body(compiled(condition, event), 1, TABLE).boxes


def test_golden_bytes() -> None:
    found = BoxesAuthoring().compile(EXAMPLE, "f", TABLE)
    assert framed(1, 0, found.lifetime_q, found.body).hex() == GOLDEN
    assert {warning.code for warning in found.warnings} == {"D187"}
    assert BOXES.lookup(TABLE).question(found.body).alternatives == (
        Requirement(1, frozenset({0, 3})),
        Requirement(1, frozenset({5})),
    )
    parts = [part.body.hex() for part in BOXES.parts(TABLE)(body_of(SPECIFIED))]
    assert parts == ["00000026ff7f0220", "00000000657f40ff7f0209", "000000c0ff7f40ff7f0209"]
    assert BOXES.occupied(TABLE, found.body) == 3


@pytest.mark.parametrize("algorithm", BOXES.algorithms)
def test_golden_matches(algorithm: str) -> None:
    matcher = BOXES.algorithms[algorithm](TABLE)
    matcher.add((7, 1), body_of(SPECIFIED))
    cold_and_windy = bytes.fromhex("00075f0000f059550209")
    mild_and_windy = bytes.fromhex("00075f0000f080550209")
    rain = bytes.fromhex("00085f0000f0260220")
    assert matcher.match(cold_and_windy, 0, 0) == [Match((7, 1), 255, b"\x01")]
    assert matcher.match(mild_and_windy, 0, 0) == []
    assert matcher.match(rain, 0, 0) == [Match((7, 1), 255, b"\x00")]
    batch = [(told, 0) for told in (rain, mild_and_windy, cold_and_windy)]
    going = matcher.match_batch(batch, 0)
    assert next(going)[1] == [Match((7, 1), 255, b"\x00")]
    matcher.remove((7, 1))
    assert dict(going) == {1: [], 2: []}


def test_golden_complements() -> None:
    assert boxes_in('<crisp-predicate attribute="temperature" operator="ne">20</crisp-predicate>') == (
        ((0, 0, 0x98),),
        ((0, 0x9A, 0xFF),),
    )
    between = (
        "<crisp-predicate attribute='{}' operator='between'><min>{}</min><max>{}</max></crisp-predicate>"
    )
    both = between.format("temperature", 0, 20) + between.format("wind_speed", 10, 30)
    outer = boxes_in(f"<not><and>{both}</and></not>")
    assert [len(box) for box in outer] == [1] * 4
    assert sorted(box[0][0] for box in outer) == [0, 0, 3, 3]


def warnings_of(condition: str) -> list[str]:
    source = f'<subscription xmlns="urn:dens:boxes:1" event="weather">{condition}</subscription>'
    return [one.message for one in BoxesAuthoring().compile(source.encode(), "f", TABLE).warnings]


def test_warning_names_extra_and_missed_readings() -> None:
    below = '<crisp-predicate attribute="temperature" operator="lt">0</crisp-predicate>'
    [told] = warnings_of(below)
    assert told.endswith("0.2 % of the domain (20 of 10001 readings) is decided differently: 20 released too")
    [missed] = warnings_of(f"<not>{below}</not>")
    assert missed.startswith("inside <not>, temperature: true from 0.2 degC on, bytes 67..ff")
    assert missed.endswith("(20 of 10001 readings) is decided differently: 20 missed")
    assert warnings_of(f"<not><not>{below}</not></not>") == [told]
    [other] = warnings_of('<crisp-predicate attribute="temperature" operator="ne">20</crisp-predicate>')
    assert other.endswith("(38 of 10001 readings) is decided differently: 38 missed")


def test_midnight_and_lists_with_gaps_are_several_boxes() -> None:
    night = "<min>22:00</min><max>06:00</max>"
    seen = f'<crisp-predicate attribute="seen_at" operator="between">{night}</crisp-predicate>'
    assert len(boxes_in(seen, "fire")) == 2
    scattered = "<value>0</value><value>10</value><value>20</value>"
    assert (
        len(boxes_in(f'<crisp-predicate attribute="temperature" operator="in">{scattered}</crisp-predicate>'))
        == 3
    )


predicates = st.builds(
    lambda attribute, bytes_: _predicate(attribute, bytes_),
    st.integers(0, 2),
    st.sets(st.integers(0, 7), min_size=1),
)


def _runs(bytes_: set[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for byte in sorted(bytes_):
        if runs and runs[-1][1] == byte - 1:
            runs[-1] = (runs[-1][0], byte)
        else:
            runs.append((byte, byte))
    return tuple(runs)


def _predicate(attribute: int, bytes_: set[int]) -> Predicate:
    return Predicate(attribute, _runs(bytes_), _runs(set(range(8)) - bytes_), f"a{attribute}", HERE)


conditions = st.recursive(
    predicates,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(
            lambda connective, parts: Joined(connective, tuple(parts), HERE),
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=2, max_size=3),
        ),
    ),
    max_leaves=8,
)


@given(conditions)
def test_a_condition_is_its_boxes_on_every_event(condition: Condition) -> None:
    try:
        boxes = simplified(boxes_of(condition), dict.fromkeys(range(3), 7))
    except TooManyBoxes:
        return
    for present in range(8):
        for point in range(512):
            values = {a: point >> 3 * a & 7 for a in range(3) if present >> a & 1}
            in_a_box = any(
                all(a in values and low <= values[a] <= high for a, low, high in box) for box in boxes
            )
            assert in_a_box == holds(condition, values)
            if present != 7 and point >= 8 ** present.bit_count():
                break
    assert not any(one != other and is_inside(one, other) for one in boxes for other in boxes)
    assert simplified(boxes, dict.fromkeys(range(3), 7)) == boxes


def any_body(chance: Random) -> bytes:
    event = chance.choice(TABLE.events)
    last = {a.index: len(a.values) - 1 if a.type == "nominal" else 255 for a in event.attributes}
    boxes = []
    for _ in range(chance.randint(1, 6)):
        chosen = sorted(chance.sample(sorted(last), chance.randint(1, len(last))))
        sides = []
        for index in chosen:
            low, high = sorted(chance.randint(0, last[index]) for _ in range(2))
            sides.append((index, low, high))
        boxes.append(tuple(sides))
    return encode_body(BoxesBody(chance.randrange(65536), event.index, simplified(boxes, last)), 1)


@given(st.integers(0, 2**32))
def test_bytes_to_xml_to_bytes(seed: int) -> None:
    body = any_body(Random(seed))
    author = BoxesAuthoring()
    text = author.decompile(framed(3, 9, 77, body), TABLE)
    again = author.compile(text.encode(), "f", TABLE, CompileOptions(stamp_s=decode_body(body, 1).stamp_s))
    assert (again.body, again.lifetime_q) == (body, 77)
    assert decode_body(body, 1, TABLE) == decode_body(again.body, 1, TABLE)
    assert author.describe(framed(3, 9, 77, body), TABLE).kind == "subscription"
    assert (
        sum(len(field.content) for field in author.describe(framed(3, 9, 77, body), None).fields)
        == len(body) + 3
    )


def mutations(seed: int, number: int) -> Iterator[bytes]:
    """Yield bodies with one to three changes: other bytes, bytes less and more, an end cut off."""
    chance = Random(seed)
    for done in range(number):
        if done % 50 == 0:
            body = any_body(chance)
        mutated = bytearray(body)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(mutated))
            match chance.randrange(6):
                case 0:
                    del mutated[at:]
                case 1:
                    mutated.insert(at, chance.randrange(256))
                case 2:
                    del mutated[at]
                case _:
                    mutated[at] = chance.randrange(256)
            if not mutated:
                break
        yield bytes(mutated)


def read_the_same_way_or_refused(bodies: Iterator[bytes]) -> int:
    """Hold the decoder to being total; return how many bodies were none."""
    refused = 0
    for body in bodies:
        offset = None
        try:
            parts = decode_body(body, 1, TABLE)
        except VectorError as error:
            offset = error.offset
        if offset is None:
            assert encode_body(parts, 1) == body
        else:
            assert 0 <= offset <= 3 + len(body)
            refused += 1
    return refused


def test_a_hundred_thousand_mutated_bodies_are_read_the_same_way_or_refused() -> None:
    refused = read_the_same_way_or_refused(mutations(8, 100_000))
    assert 30_000 < refused < 99_000


@given(st.integers(0, 2**32))
def test_what_matches_passes_filter_and_parts(seed: int) -> None:
    chance = Random(seed)
    body = any_body(chance)
    parts = decode_body(body, 1, TABLE)
    event = TABLE.event_at(parts.event)
    source, matcher = BOXES.source_filter(TABLE), BOXES.matcher(TABLE)
    source.add((1, 1), body)
    matcher.add((1, 1), body)
    for _ in range(10):
        reading = Reading(1)
        reading.clear(parts.event, 3, 0)
        near = {side[0]: chance.choice(side[1:]) for box in parts.boxes for side in box}
        for attribute in event.attributes:
            if chance.random() < 0.8:
                last = len(attribute.values) - 1 if attribute.type == "nominal" else 255
                byte = near.get(attribute.index, 0) if chance.random() < 0.8 else chance.randint(0, last)
                reading.set(attribute.index, byte)
        values = {a.index: reading.row[a.index] for a in event.attributes if reading.has(a.index)}
        wanted = any(
            all(a in values and low <= values[a] <= high for a, low, high in box) for box in parts.boxes
        )
        told = source.feed(reading)
        assert bool(told) == wanted
        assert any(matcher.match(release.vector, 0, 0) for release in told) == wanted
        for release in told:
            assert values_of_board(release.vector, TABLE)[0] == parts.event


HOT = '<crisp-predicate attribute="temperature" operator="gt">25</crisp-predicate>'
WET = '<crisp-predicate attribute="rain" operator="gt">10</crisp-predicate>'
ANY_TEMPERATURE = HOT.replace('"gt">25', '"ge">-40')
ANY_RAIN = WET.replace('"gt">10', '"ge">0')


@pytest.mark.parametrize(
    ("condition", "masks"),
    [
        (f"<or>{HOT}{WET}</or>", {0b1, 0b100000}),
        (f"<or><and>{HOT}{ANY_RAIN}</and><and>{WET}{ANY_TEMPERATURE}</and></or>", {0b100001}),
    ],
)
def test_reading_is_released_once_per_set_of_attributes(condition: str, masks: set[int]) -> None:
    """Docs/boxes.md says so, and how an application knows such a reading and requests one delivery only."""
    body = compiled(condition)
    board, matcher = FUZZY.source_filter(TABLE), BOXES.matcher(TABLE)
    matcher.add((7, 1), body)
    for number, part in enumerate(BOXES.parts(TABLE)(body)):
        board.add((7, number), part.body)
    reading = Reading(1)
    reading.clear(1, 300, 5)
    reading.set(0, 250)
    reading.set(5, 250)
    told = [release.vector for release in board.feed(reading)]
    assert {vector[-1] for vector in told} == masks
    assert len(told) == len(masks)
    assert {(vector[-2], vector[:2], vector[3:5]) for vector in told} == {(2, b"\x01\x2c", b"\x00\x05")}
    assert all(matcher.match(vector, 0, 0) for vector in told)


def test_many_boxes_go_to_boards_as_hulls() -> None:
    boxes = tuple(((0, 2 * n, 2 * n), (1, n, n)) for n in range(20))
    whole = BoxesBody(0, 1, boxes)
    assert len(boxes) > MOST_EXACT_PARTS
    hull = let_through(whole, TABLE)
    assert hull == (((0, 0, 38), (1, 0, 19)),)
    assert all(is_inside(box, hull[0]) for box in boxes)


def test_relations() -> None:
    relations = BoxRelations(TABLE)
    cold = compiled('<crisp-predicate attribute="temperature" operator="lt">0</crisp-predicate>')
    colder = compiled('<crisp-predicate attribute="temperature" operator="lt">-10</crisp-predicate>')
    hot = compiled('<crisp-predicate attribute="temperature" operator="gt">30</crisp-predicate>')
    windy = compiled('<crisp-predicate attribute="wind_speed" operator="gt">30</crisp-predicate>')
    assert relations.covers(cold, colder)
    assert not relations.covers(colder, cold)
    assert not relations.intersects(cold, hot)
    assert relations.intersects(cold, windy)
    merged = relations.merge(colder, cold)
    assert merged is not None
    assert relations.covers(merged, cold)
    assert relations.extra_volume(colder, cold) == 0
    both = relations.merge(cold, hot)
    assert both is not None
    assert relations.covers(both, hot)
    forest = relations.forest()
    forest.insert((1, 1), cold)
    forest.insert((1, 2), colder)
    assert forest.roots() == [(1, 1)]


def test_explain_says_by_which_side_a_box_is_missed() -> None:
    found = BoxesAuthoring().explain(SPECIFIED, TABLE, {"temperature": "10", "wind_speed": "20"}, 0)
    document = found.as_document()
    assert document["matches"] is False
    assert [[side["missed_by"] for side in box] for box in document["boxes"]] == [[None], [27, 0], [-64, 0]]
    assert "is 27 steps above" in "\n".join(found.lines())
    met = BoxesAuthoring().explain(SPECIFIED, TABLE, {"rain": "150"}, 0)
    assert met.lines()[-1] == "matches: box 0"
    with pytest.raises(UnknownName):
        BoxesAuthoring().explain(SPECIFIED, TABLE, {"colour": "1"}, 0)


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_ground_truth_is_a_loop(seed: int) -> None:
    chance = Random(seed)
    truth = BOXES.ground_truth
    assert truth is not None
    judge = truth(TABLE)
    bodies = {number: any_body(chance) for number in range(12)}
    for number, body in bodies.items():
        judge.add(number, body)
    judge.remove(3)
    del bodies[3]
    count = 30
    rows = np.array([[chance.randrange(256) for _ in range(8)] for _ in range(count)], np.uint8)
    events = np.array([chance.choice(TABLE.events).index for _ in range(count)], np.uint8)
    features = np.array([chance.randrange(128) for _ in range(count)], np.int64)
    columns = ReadingColumns(np.zeros(count, np.int64), events, features, rows, [None] * count)
    ends, keys, degrees = judge.judge(columns)
    assert (degrees == 255).all()
    begin = 0
    for i, end in enumerate(ends.tolist()):
        wanted = [
            number
            for number, body in bodies.items()
            for parts in [decode_body(body, 1)]
            if parts.event == events[i]
            and any(
                all(features[i] >> a & 1 and low <= rows[i, a] <= high for a, low, high in box)
                for box in parts.boxes
            )
        ]
        assert sorted(keys[begin:end].tolist()) == wanted
        begin = end


def test_strict_and_contradictions() -> None:
    with pytest.raises(DocumentError):
        BoxesAuthoring().compile(EXAMPLE, "f", TABLE, CompileOptions(strict=True))
    with pytest.raises(DocumentError, match="contradict"):
        compiled(
            '<crisp-predicate attribute="rain" operator="lt">1</crisp-predicate>'
            '<crisp-predicate attribute="rain" operator="gt">50</crisp-predicate>'
        )


def test_a_comparison_that_every_value_satisfies_still_asks_for_the_value() -> None:
    boxes = boxes_in('<crisp-predicate attribute="temperature" operator="ge">-40</crisp-predicate>')
    assert boxes == (((0, 0, 127),), ((0, 128, 255),))
