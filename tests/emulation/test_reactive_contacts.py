"""Contacts on the clock while courses change: each that can be used opens once and is lost once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.trace.writer import TraceWriter
from emulation.clock import Clock, Rank
from emulation.contacts.usable import UsableTime
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.world.reactive_contacts import ReactiveContacts
from tests.emulation.contacts.slow_detector import Point, legs, walks_of
from tests.emulation.contacts.test_courses import DURATION_MS, REACHES, courses, turns
from tests.sizes import examples


@contextmanager
def journal() -> Iterator[tuple[Path, GroundTruthRecorder]]:
    with TemporaryDirectory() as folder, TraceWriter(Path(folder) / "trace") as trace:
        yield Path(folder), GroundTruthRecorder(trace)


@given(walks_of(), REACHES, turns(), st.sampled_from([0, 100, 5000]), st.sampled_from([0.0, 20_000.0]))
@settings(max_examples=examples(150), deadline=None)
def test_every_usable_contact_opens_once_and_is_lost_once(
    walks: list[list[Point]],
    ranges: list[float],
    changes: list[tuple[float, int, list[Point]]],
    setup_ms: int,
    least_ms: float,
) -> None:
    clock, found = Clock(), courses(walks, ranges)
    opened: list[tuple[int, int, int]] = []
    lost: list[tuple[int, int, int]] = []
    turned_ms = {int(at_ms) for at_ms, _, _ in changes}
    usable = UsableTime([setup_ms] * len(walks), [least_ms] * len(walks))
    with journal() as (_, written):
        contacts = ReactiveContacts(clock, written, found, usable)

        def turn(node: int, way: list[Point]) -> None:
            begin = (float(clock.now_ms), *contacts.place_at(node, clock.now_ms))
            contacts.turn(node, legs([begin, *way]))

        contacts.begin(
            lambda a, b: opened.append((a, b, clock.now_ms)), lambda a, b: lost.append((a, b, clock.now_ms))
        )
        for at_ms, who, way in changes:
            clock.call_at(int(at_ms), Rank.APPLICATION, turn, who % len(walks), way)
        clock.run_until(int(DURATION_MS) + 1)
    final = found.contacts
    columns = final.a, final.b, final.censored, *usable.windows_ms(final), usable.are_long_enough(final)
    for a, b, censored, first, last, is_long_enough in zip(*(one.tolist() for one in columns), strict=True):
        began = [row for row in opened if row[:2] == (a, b) and first <= row[2] <= last]
        ended = [row for row in lost if row[:2] == (a, b) and first <= row[2] <= last + 1]
        if last - first < 2 or not is_long_enough:
            assert len(began) <= 1  # a turn may have ended at once what had been worth to begin
            opened = [row for row in opened if row not in began]
            lost = [row for row in lost if row not in ended]
            continue
        assert len(began) == 1
        assert began[0][2] == first or began[0][2] in turned_ms
        assert len(ended) == (0 if censored else 1)
        assert all(row[2] in (last, last + 1) for row in ended)
        opened.remove(began[0])
        lost = [row for row in lost if row not in ended]
    assert opened == []
    assert lost == []


def test_motion_and_contacts_are_written_as_they_become_fact(tmp_path: Path) -> None:
    walks = [[(0.0, 0.0, 0.0), (DURATION_MS, 0.0, 0.0)], [(0.0, -100.0, 0.0), (DURATION_MS, 100.0, 0.0)]]
    clock = Clock()
    found = courses(walks, [50.0, 50.0])
    with TraceWriter(tmp_path / "trace") as trace:
        contacts = ReactiveContacts(clock, GroundTruthRecorder(trace), found, UsableTime([0, 0], [0.0, 0.0]))
        contacts.begin(lambda a, b: None, lambda a, b: None)
        clock.run_until(60_000)
        contacts.record_until(60_000)
        assert trace["contacts"].collected == 0, "it still lasts"
        contacts.turn(1, legs([(60_000.0, *contacts.place_at(1, 60_000)), (DURATION_MS, -40.0, 300.0)]))
        clock.run_until(int(DURATION_MS))
        contacts.record_until(int(DURATION_MS))
        contacts.close(int(DURATION_MS))
    rows = pq.read_table(tmp_path / "trace" / "contacts").to_pylist()
    assert [(row["a"], row["b"], round(row["begin_ms"], 3)) for row in rows] == [(0, 1, 50_000.0)]
    assert 60_000.0 < rows[0]["end_ms"] < 90_000.0, "it went another way"
    motion = pq.read_table(tmp_path / "trace" / "motion").to_pylist()
    assert sorted((row["node"], row["begin_ms"]) for row in motion) == [(0, 0.0), (1, 0.0), (1, 60_000.0)]
