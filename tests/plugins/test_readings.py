"""Readings that keep their values: to languages of bytes they are what a board measures."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.readings import Corners, ExactReading, decode_exact
from plugins.value_texts import corners_of, fault_of, is_within
from watchdog.gauge import Gauge, NominalGauge
from watchdog.reading import Reading
from watchdog.vector import VectorError

TABLE = load_mission_table(["medical"])
PATIENT = TABLE.event("patient")
TEMPERATURE = PATIENT.attribute("patient_temperature")
NUMBERS = [attribute for attribute in PATIENT.attributes if attribute.type == "number"]

scaled = st.integers(-(2**29), 2**29)
shapes = st.tuples(scaled, scaled, scaled, scaled).map(lambda four: (*sorted(four),))
corners = st.one_of(
    scaled.map(lambda x: (x, x, x, x)),
    st.tuples(scaled, scaled).map(lambda two: (min(two), min(two), max(two), max(two))),
    shapes,
)


def gauge(attribute: Attribute) -> Gauge | NominalGauge:
    if attribute.type == "nominal":
        return NominalGauge(attribute.index, list(attribute.values))
    return Gauge(
        attribute.index, attribute.lo_scaled, attribute.hi_scaled, attribute.decimals, attribute.inner
    )


def filled(values: dict[int, Corners]) -> ExactReading:
    reading = ExactReading(1)
    reading.clear(PATIENT.index, 1, 0)
    for attribute in PATIENT.attributes:
        if attribute.index in values:
            reading.measure(attribute, values[attribute.index])
    return reading


@given(st.decimals(-50, 400, places=3).map(str), st.sampled_from(PATIENT.attributes))
def test_a_known_value_is_the_byte_that_a_board_makes_of_it(text: str, attribute: Attribute) -> None:
    board, counters = Reading(1), {"missing": 0, "clipped": 0}
    board.clear(PATIENT.index, 1, 0)
    gauge(attribute).note(board, text, counters)
    known = corners_of(text, attribute)
    assert (known is None) == bool(counters["missing"])
    if known is not None:
        reading = filled({attribute.index: known})
        assert (reading.row, reading.mask) == (board.row, board.mask)
        assert is_within(known, attribute) == (not counters["clipped"])


@given(st.dictionaries(st.sampled_from([one.index for one in NUMBERS]), corners))
def test_what_a_trace_keeps_is_what_was_measured(values: dict[int, Corners]) -> None:
    reading = filled(values)
    assert decode_exact(reading.exact()) == values
    assert all(reading.corners(index) == known for index, known in values.items())


@given(st.binary(max_size=40))
def test_bytes_that_no_reading_wrote_are_refused(data: bytes) -> None:
    try:
        values = decode_exact(data)
    except VectorError:
        return
    again = b"".join(ExactBytes(index, known).written() for index, known in sorted(values.items()))
    assert again == data


class ExactBytes:
    """The byte form, written a second time from its description."""

    def __init__(self, index: int, known: Corners) -> None:
        low, core_low, core_high, high = known
        if (low, high) != (core_low, core_high):
            self.numbers = list(known)
        else:
            self.numbers = [low] if low == high else [low, high]
        self.index = index

    def written(self) -> bytes:
        body = b"".join(number.to_bytes(4, "big", signed=True) for number in self.numbers)
        return bytes((self.index, len(self.numbers))) + body


@pytest.mark.parametrize(
    ("data", "at"),
    [("00", 0), ("0003", 0), ("000100", 0), ("00010000000001", 6), ("00020000000500000001", 0)],
)
def test_what_is_cut_off_or_falls_is_refused_with_its_place(data: str, at: int) -> None:
    with pytest.raises(VectorError) as refused:
        decode_exact(bytes.fromhex(data))
    assert refused.value.offset == at


@pytest.mark.parametrize("data", ["0001000000010001000000010", "01010000000100010000000100"])
def test_a_value_stands_once_and_in_order(data: str) -> None:
    with pytest.raises(VectorError):
        decode_exact(bytes.fromhex(data[: len(data) // 2 * 2]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("38.2", ("38.2",) * 4),
        ("37.9..38.5", ("37.9", "37.9", "38.5", "38.5")),
        ("38.2±0.3", ("37.9", "38.2", "38.2", "38.5")),
        ("-1..1", ("-1", "-1", "1", "1")),
        ("38.2±0", ("38.2",) * 4),
    ],
)
def test_values_are_read_as_they_are_written(text: str, expected: tuple[str, ...]) -> None:
    scale = 10**TEMPERATURE.decimals
    assert corners_of(text, TEMPERATURE) == tuple(int(Fraction(number) * scale) for number in expected)


def test_what_is_unknown_may_be_anything_in_the_domain() -> None:
    low, high = TEMPERATURE.lo_scaled, TEMPERATURE.hi_scaled
    assert corners_of("?", TEMPERATURE) == (low, low, high, high)
    assert fault_of("?", TEMPERATURE) is None


@pytest.mark.parametrize("text", ["", "..", "45..20", "38±-1", "38±", "1..2..3", "38,2", "very"])
def test_what_says_nothing_is_a_fault(text: str) -> None:
    assert corners_of(text, TEMPERATURE) is None
    fault = fault_of(text, TEMPERATURE)
    assert fault is not None
    assert fault.kind == "unreadable"


@pytest.mark.parametrize("text", ["20..38", "44.9±0.5", "99"])
def test_what_may_lie_outside_of_the_domain_is_a_fault(text: str) -> None:
    fault = fault_of(text, TEMPERATURE)
    assert fault is not None
    assert fault.kind == "outside"


def test_terms_that_straight_lines_draw_are_values() -> None:
    size = load_mission_table(["housing"]).event("apartment").attribute("size")
    rent = load_mission_table(["housing"]).event("apartment").attribute("rent")
    assert corners_of("medium", size) == (40, 50, 70, 80)
    assert corners_of("cheap", rent) == (0, 0, 1200, 1500)
    assert corners_of("huge", size) is None
