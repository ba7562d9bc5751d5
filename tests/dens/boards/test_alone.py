"""A micro:bit without its link: it filters for what lies in its flash and prints what is worth telling, the
same as on CPython, with patterns or functions where it was built with them.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dens.boards.build import ALONE_ROOM, build_board, pool_blocks
from dens.boards.emulator.microbit import run_on_microbit
from dens.boards.filter_parts import FORMS
from dens.boards.settings import board_settings
from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.dens.boards.test_runtimes import shared_module
from tests.paths import ROOT
from watchdog.aggregators import ARITHMETIC_MEAN, HARMONIC_MEAN
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading

TABLE = load_mission_table(["medical"])
VITALS = ("patient_temperature", "heart_rate", "oxygen_saturation")


def printed(
    folder: Path,
    vectors: Sequence[bytes],
    rows: Sequence[bytes],
    algorithm: str,
    forms: str | None,
    condition: str = "subset",
) -> list[bytes]:
    """Build a board that replays these readings, run it, and return the notifications that it printed."""
    settings = board_settings(TABLE, "patient", VITALS, node=7, period_ms=50, algorithm=algorithm)
    settings = replace(settings, condition=condition, forms=forms, is_linked=False)
    written = build_board("microbit", folder, "0", settings, subscriptions=vectors, readings=rows)
    files = {path.name: path.read_bytes() for path in written if path.suffix in (".py", ".bin")}
    files["main.py"] = files["main.py"].replace(
        b"from microbit import reset;reset()", b"print('no room');print('--end--')"
    )
    return [bytes.fromhex(line) for line in run_on_microbit(files).split()]


def released(vectors: Sequence[bytes], rows: Sequence[bytes], condition: str = "subset") -> list[bytes]:
    """Return what the filter releases here."""
    event = TABLE.event("patient")
    settings = board_settings(TABLE, "patient", VITALS, node=7)
    source = FuzzyFilter(1, condition, settings.lifetime)
    for vector in vectors:
        source.add((0, vector[0]), vector)
    reading = Reading()
    found = []
    for number, row in enumerate(rows):
        reading.clear(event.index, number, 0)
        for i in range(7):
            if row[0] >> i & 1:
                reading.set(i, row[1 + i])
        found += [bytes(release.vector) for release in source.feed(reading)]
    return found


def timeless(vectors: Sequence[bytes]) -> list[bytes]:
    """Return notifications without their times."""
    return [vector[:3] + vector[5:] for vector in vectors]


def drawn_rows(count: int, mask: int) -> list[bytes]:
    chance = shared_module("degrees").Chance(5)
    return [bytes([mask]) + bytes(chance.byte() for _ in range(7)) for _ in range(count)]


@pytest.mark.board
def test_the_readmes_example_is_evaluated_as_it_is_written(tmp_path: Path) -> None:
    """Three attributes by the harmonic mean; the arithmetic mean in its place would release more."""
    compiled = compile_subscription((ROOT / "docs/examples/patient.xml").read_bytes(), "patient.xml", TABLE)
    vector = bytes(compiled.vector)
    assert vector.hex() in (ROOT / "README.md").read_text()
    assert vector[5] & 15 == HARMONIC_MEAN
    mask = vector[-1]
    rows = [
        bytes([mask]) + bytes({0: a, 1: b, 3: c}.get(i, 0) for i in range(7))
        for a in (120, 135, 150)
        for b in (80, 110, 125)
        for c in (190, 205, 212)
    ]
    expected = released([vector], rows)
    other = vector[:5] + bytes([vector[5] & 240 | ARITHMETIC_MEAN]) + vector[6:]
    assert 0 < len(expected) < len(released([other], rows)) < len(rows)
    assert timeless(printed(tmp_path, [vector], rows, "fnifs", None)) == timeless(expected)


@pytest.mark.board
@pytest.mark.parametrize("algorithm", ["fnif", "fnifs"])
@pytest.mark.parametrize("condition", ["exact", "subset"])
def test_both_conditions_release_what_the_definition_releases(
    tmp_path: Path, condition: str, algorithm: str
) -> None:
    """Every set of the three attributes is subscribed; the values of two of three readings satisfy all."""
    event = 1 << TABLE.event("patient").index
    indexes = [TABLE.event("patient").attribute(name).index for name in VITALS]
    features = [sum(1 << indexes[i] for i in range(3) if chosen >> i & 1) for chosen in range(1, 8)]
    vectors = [
        bytes([number, 0, 95, 0, 0, 16])
        + bytes([0, 100, 127]) * feature.bit_count()
        + bytes([event, feature])
        for number, feature in enumerate(features)
    ]
    largest = max(features)
    rows = [
        bytes([mask]) + bytes([value] * 7)
        for mask, value in ((largest, 50), (largest, 200), (features[2], 9))
    ]
    there = printed(tmp_path, vectors, rows, algorithm, None, condition)
    every = sorted(features) + sorted(feature for feature in features if not feature & ~features[2])
    found = [vector[-1] for vector in there]
    numbers = [vector[1] for vector in there]
    assert numbers == sorted(numbers)
    first = sorted(found[: numbers.count(0)])
    assert [*first, *sorted(found[len(first) :])] == (
        every if condition == "exact" else [largest, features[2]]
    )


def wishes(forms: str) -> list[bytes]:
    """Return as many subscriptions with these forms, and a few plain ones, as such a board has room for."""
    drawn = shared_module("drawn_" + forms).FORMS
    write_wish = shared_module("strata_forms").write_wish
    event = 1 << TABLE.event("patient").index
    vectors: list[bytes] = []
    buffer = bytearray(60)
    for number in range(200):
        kind, block = (number % 6, b"") if number % 4 == 3 else drawn[number % len(drawn)]
        end = write_wish(buffer, kind, block, 4711 * number + 3, 131 if number % 5 == 1 else 11)
        buffer[0] = number
        vectors.append(bytes(buffer[: end - 2]) + bytes([event, buffer[end - 1]]))
        taken = sum(16 + (len(held) + 15) // 16 * 16 for held in pool_blocks(vectors, "fnif"))
        if taken > ALONE_ROOM - 48:
            break
    return vectors


@pytest.mark.board
@pytest.mark.parametrize("algorithm", ["fnif", "fnifs"])
@pytest.mark.parametrize("forms", sorted(FORMS))
def test_as_many_forms_as_there_is_room_for_release_what_they_release_here(
    tmp_path: Path, forms: str, algorithm: str
) -> None:
    vectors = wishes(forms)
    assert len(vectors) > 30
    rows = drawn_rows(12, 11)
    expected = released(vectors, rows)
    assert len(expected) > 6
    there = printed(tmp_path, vectors, rows, algorithm, forms)
    without_degree = [vector[:3] + vector[6:] for vector in there]
    wanted = [vector[:3] + vector[6:] for vector in expected]
    if algorithm == "fnif":  # releases what one reading is worth in no order
        without_degree, wanted = sorted(without_degree), sorted(wanted)
    assert without_degree == wanted
