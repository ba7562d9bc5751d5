"""From raw values to readings: exact decimals, clipping, missing values, growing and rotated files."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchdog.csv_source import CsvSource, split_row
from watchdog.gauge import Gauge, NominalGauge
from watchdog.normalise import FARTHEST, normal_byte, scale_decimal
from watchdog.reading import Reading
from watchdog.sources import MemorySource, SensorSource


def counters() -> dict[str, int]:
    return {"clipped": 0, "missing": 0}


@given(st.decimals("-99999", "99999", places=5), st.integers(0, 4))
def test_a_decimal_is_scaled_exactly(number: Decimal, decimals: int) -> None:
    wanted = (number * 10**decimals).quantize(Decimal(1), ROUND_HALF_UP)
    text = format(number, "f")
    assert scale_decimal(text, decimals) == int(wanted)
    assert scale_decimal(" " + text + "\n", decimals) == int(wanted)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("36.65", 3665),
        ("36.655", 3666),
        ("-0.005", -1),
        ("+7", 700),
        (".5", 50),
        ("5.", 500),
        ("9" * 30, FARTHEST),
        ("-" + "9" * 30, -FARTHEST),
        ("5368709.114", 536870911),
        ("", None),
        ("-", None),
        (".", None),
        ("1e3", None),
        ("1,5", None),
        ("1.2.3", None),
        ("nan", None),
        ("--1", None),
        ("٣", None),
        ("1 2", None),
    ],
)
def test_what_a_decimal_is(text: str, value: int | None) -> None:
    assert scale_decimal(text, 2) == value


@given(st.integers(-(2**28), 2**28), st.integers(1, 2**21 - 1), st.integers(-(2**29), 2**29))
def test_the_byte_is_the_rounded_place_in_the_domain(lo: int, width: int, x: int) -> None:
    place = min(max(Fraction(255 * (x - lo), width), Fraction(0)), Fraction(255))
    assert normal_byte(x, lo, lo + width) == int(place + Fraction(1, 2))
    assert 510 * width + width < 2**30


@given(st.integers(-(2**28), 2**28), st.integers(1, 2**21 - 1), st.data())
def test_on_a_scale_every_piece_is_a_straight_line(lo: int, width: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, min(15, width - 1)))
    drawn = [
        sorted(data.draw(st.sets(st.integers(first, last), min_size=count, max_size=count)) if count else [])
        for first, last in ((lo + 1, max(lo + 1, lo + width - 1)), (1, 254))
    ]
    points = [(lo, 0), *zip(*drawn, strict=True), (lo + width, 255)]
    inner = tuple(number for point in points[1:-1] for number in point)
    x = data.draw(st.one_of(st.integers(lo - 9, lo + width + 9), st.sampled_from(inner[::2] or (lo,))))
    inside = min(max(x, lo), lo + width)
    expected = {
        int(low + Fraction((high - low) * (inside - a), b - a) + Fraction(1, 2))
        for (a, low), (b, high) in pairwise(points)
        if a <= inside <= b
    }
    assert expected == {normal_byte(x, lo, lo + width, inner)}


def test_gauges_count_what_they_clip_and_miss() -> None:
    reading = Reading()
    reading.clear(0, 0, 0)
    count = counters()
    temperature = Gauge(0, 3000, 4500, 2)
    ward = NominalGauge(2, ["ER", "ICU"])
    for raw in ("36.65", "50", "x", None, 3665):
        temperature.note(reading, raw, count)
    assert count == {"clipped": 1, "missing": 2}
    assert reading.row[0] == normal_byte(3665, 3000, 4500)
    ward.note(reading, "ICU", count)
    assert (reading.row[2], reading.mask[0]) == (1, 0b101)
    ward.note(reading, "icu", count)
    assert count["missing"] == 3


def test_a_reading_is_used_again() -> None:
    reading = Reading(2)
    reading.clear(3, 65537, 70000)
    reading.set(9, 5)
    reading.set(0, 6)
    assert (reading.number, reading.stamp_s, bytes(reading.mask)) == (1, 4464, b"\x02\x01")
    assert [reading.has(a) for a in (0, 1, 9)] == [True, False, True]
    reading.clear(0, 2, 0)
    assert bytes(reading.mask) == b"\0\0"


def test_memory_gives_its_rows_in_order() -> None:
    count = counters()
    source = MemorySource(4, [Gauge(0, 0, 255, 0), Gauge(1, 0, 255, 0)], [{0: "1", 1: "2"}, {0: 3}], count)
    reading = Reading()
    assert source.read_into(reading, 5)
    assert (reading.event, reading.number, reading.stamp_s) == (4, 0, 5)
    assert (bytes(reading.row[:2]), reading.mask[0]) == (b"\x01\x02", 3)
    assert source.read_into(reading, 6)
    assert (reading.number, reading.mask[0], count["missing"]) == (1, 1, 1)
    assert not source.read_into(reading, 7)


def test_a_sensor_that_does_not_answer_is_missing() -> None:
    class Thermometer:
        answer: int | None = 2100

        def read(self) -> int:
            if self.answer is None:
                raise OSError("no acknowledgement on the bus")
            return self.answer

    sensor = Thermometer()
    count = counters()
    source = SensorSource(1, [Gauge(3, 0, 10000)], [sensor], count)
    reading = Reading()
    source.read_into(reading, 0)
    assert (reading.row[3], reading.mask[0]) == (54, 8)
    sensor.answer = None
    source.read_into(reading, 1)
    assert (reading.mask[0], reading.number, count["missing"]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("answer", "byte", "failed"),
    [
        (21.5, 55, 0),
        ("21.5", 55, 0),
        (float("nan"), None, 0),
        (1e300, None, 0),
        (b"21", None, 0),
        ([1], None, 0),
        (None, None, 0),
        (ValueError("checksum"), None, 1),
        (MemoryError(), None, 1),
    ],
)
def test_next_sensor_is_read_whatever_one_returns(answer: object, byte: int | None, failed: int) -> None:
    class Odd:
        def read(self) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

    class Good:
        def read(self) -> int:
            return 10000

    count = counters()
    reading = Reading()
    source = SensorSource(1, [Gauge(0, 0, 10000), Gauge(1, 0, 10000), Gauge(2, 0, 1)], [Odd(), Good()], count)
    assert source.read_into(reading, 0)
    assert (reading.row[0] if reading.has(0) else None) == byte
    assert (reading.row[1], reading.has(2)) == (255, False)
    assert source.failed == failed + 1
    assert count["missing"] == (byte is None) + 1


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("a,b", ["a", "b"]),
        ("", [""]),
        ("a,,", ["a", "", ""]),
        ('"a,b",c', ["a,b", "c"]),
        ('"say ""hi""",', ['say "hi"', ""]),
    ],
)
def test_fields_of_a_line(line: str, fields: list[str]) -> None:
    assert split_row(line) == fields


def values(source: CsvSource) -> list[int]:
    """Read what is there now."""
    reading = Reading()
    found = []
    while source.read_into(reading, 0):
        found.append(reading.row[0] if reading.has(0) else -1)
    return found


def test_a_growing_file_is_followed_and_half_a_line_waits(tmp_path: Path) -> None:
    path = tmp_path / "vitals.csv"
    source = CsvSource(str(path), 0, {"t": Gauge(0, 0, 255, 0)}, counters())
    assert values(source) == []
    path.write_text("time,t\n1,10\n2,2")
    assert values(source) == [10]
    with path.open("a") as file:
        file.write("0\n3,30\n")
    assert values(source) == [20, 30]
    source.close()


def test_rotated_file_is_read_from_its_start_after_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "vitals.csv"
    path.write_text("t\n10\n")
    source = CsvSource(str(path), 0, {"t": Gauge(0, 0, 255, 0)}, counters())
    assert values(source) == [10]
    with path.open("a") as file:
        file.write("11\n")
    path.rename(tmp_path / "vitals.csv.1")
    path.write_text("t\n12\n13\n14\n")
    assert values(source) == [11, 12, 13, 14]
    assert source.rotations == 1
    path.write_text("x,t\n0,15\n")
    assert values(source) == [15]
    assert (source.rotations, source.number) == (2, 6)
    source.close()


def test_broken_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "vitals.csv"
    path.write_bytes(b"a,t\n1,1\nonly one\n\xff\xfe,2\n1,2,3\n2,\n3,300\n4,4\n")
    count = counters()
    source = CsvSource(str(path), 0, {"t": Gauge(0, 0, 255, 0)}, count)
    assert values(source) == [1, -1, 255, 4]
    assert (source.broken, count) == (3, {"clipped": 1, "missing": 1})
    source.close()


def test_a_column_that_the_file_lacks_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "vitals.csv"
    path.write_text("a\n1\n")
    count = counters()
    source = CsvSource(str(path), 0, {"t": Gauge(0, 0, 255, 0)}, count)
    assert values(source) == [-1]
    assert count["missing"] == 1
    source.close()
