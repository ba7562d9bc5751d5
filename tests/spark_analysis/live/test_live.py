"""A run that is followed while it grows: every fact once, across restarts and kill -9 in the middle."""

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from dens.trace.folder_lock import FolderLock, is_being_written
from dens.trace.manifest import Manifest, read_manifest
from dens.trace.run_documents import NotARun
from dens.trace.schema import TABLES
from knowledge_manager.mission_table import load_mission_table
from spark_analysis.errors import TraceError
from spark_analysis.live.follow import STEPS, BatchLog, follow, wait_for_run
from spark_analysis.live.state import (
    GIVEN_UP,
    Batch,
    Delivered,
    GivenUp,
    LiveFigures,
    LiveState,
    NotificationFact,
)
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.run_languages import RunLanguages
from tests.paths import ROOT
from tests.spark_analysis.oracle import delivered_at, pending_pairs
from tests.spark_analysis.synthetic import END_MS, SyntheticRun, synthetic_run

SECONDS = 240

run_languages = RunLanguages(load_mission_table(["medical"]))


def facts(run: SyntheticRun) -> list[Any]:
    found: list[Any] = [SubscriptionRevision(**row) for row in run.tables["subscriptions"]]
    # A node that writes as it goes says a withdrawal in a second row.
    found += [replace(one, withdrawn_ms=None) for one in found if one.withdrawn_ms is not None]
    for row in run.tables["notifications"]:
        found.append(NotificationFact(**{name: row[name] for name in NotificationFact.__dataclass_fields__}))
    for row in run.tables["messages"]:
        if row["kind"] == "delivered":
            found.append(Delivered(row["origin"], row["number"], row["node"], row["at_ms"]))
        elif row["kind"] in GIVEN_UP:
            found.append(GivenUp(row["at_ms"] // 60_000 * 60_000, row["kind"], row["reason"] or "", 1))
    return found


def in_batches(some: list[Any], chance: random.Random) -> list[Batch]:
    chance.shuffle(some)
    pieces: list[list[Any]] = [[] for _ in range(7)]
    for fact in some:
        chance.choice(pieces).append(fact)
    kinds = (SubscriptionRevision, NotificationFact, Delivered, GivenUp)
    return [
        Batch(number, *(tuple(one for one in piece if isinstance(one, kind)) for kind in kinds), END_MS)
        for number, piece in enumerate(pieces)
    ]


def expected(run: SyntheticRun, since_ms: int) -> tuple[int, int, float | None, float | None, dict[str, int]]:
    """Return expected, delivered, median and 95 % of the delay in seconds, abandoned: by plain loops."""
    events = {(told.origin, told.number): told.at_ms for told in run.told}
    pairs = [pair for pair in pending_pairs(run) if events[pair[:2]] >= since_ms]
    arrived = delivered_at(run)
    delays = sorted(arrived[pair] - events[pair[:2]] for pair in pairs if pair in arrived)
    given_up: dict[str, int] = {}
    for row in run.tables["messages"]:
        if row["kind"] in GIVEN_UP and row["at_ms"] // 60_000 * 60_000 >= since_ms:
            name = f"{row['kind']}: {row['reason']}" if row["reason"] else row["kind"]
            given_up[name] = given_up.get(name, 0) + 1

    def share(wanted: float) -> float | None:
        enough = [delay for at, delay in enumerate(delays, start=1) if at >= wanted * len(delays) - 1e-9]
        return min(enough) / 1000 if enough else None

    return len(pairs), len(delays), share(0.5), share(0.95), given_up


def shown(figures: LiveFigures) -> list[tuple[int, int, float | None, float | None, dict[str, int]]]:
    both = ((figures.whole, figures.given_up), (figures.recent, figures.given_up_recently))
    return [
        (
            one.expected,
            one.delivered,
            one.metrics["median_delay_s"],
            one.metrics["p95_delay_s"],
            dict(given_up),
        )
        for one, given_up in both
    ]


@pytest.mark.parametrize("seed", range(6))
def test_figures_do_not_depend_on_order_or_repetition(seed: int) -> None:
    chance = random.Random(seed)
    run = synthetic_run(seed)
    batches = in_batches(facts(run), chance)
    state = LiveState(run_languages)
    for batch in [*batches, *chance.choices(batches, k=3)]:
        state.take(Batch.from_text(batch.to_text()))
    window_ms = 900_000
    found = state.figures(END_MS, window_ms, all_taken=True)
    assert found.batches == 7
    assert state.figures(END_MS, window_ms, all_taken=False) == found
    assert found.subscriptions == len(run.tables["subscriptions"])
    assert shown(found) == [expected(run, 0), expected(run, END_MS - window_ms)]
    assert found.whole.expected > found.recent.expected > 0
    assert found.whole.ratio == found.whole.delivered / found.whole.expected


def test_nothing_known_is_nothing_and_not_zero() -> None:
    figures = LiveState(run_languages).figures(0, 1000, all_taken=True)
    assert (figures.whole.expected, figures.whole.ratio) == (0, None)
    assert set(figures.whole.metrics.values()) == {None}
    assert json.loads(json.dumps(figures.as_document()))["recent"]["ratio"] is None


def test_the_clock_is_that_of_the_facts_and_not_the_writers() -> None:
    """What became known of the second half so far was reported ahead of the steps of its messages."""
    run = synthetic_run(2)
    half_ms, window_ms = END_MS // 2, 900_000
    wished = [SubscriptionRevision(**row) for row in run.tables["subscriptions"]]
    told = [one for one in facts(run) if isinstance(one, NotificationFact)]
    seen = [one for one in facts(run) if isinstance(one, Delivered) and one.at_ms <= half_ms]
    early = [one for one in told if one.at_ms <= half_ms]
    assert 0 < len(early) < len(told)
    behind, even = LiveState(run_languages), LiveState(run_languages)
    behind.take(Batch(0, tuple(wished), tuple(told), tuple(seen), (), half_ms))
    even.take(Batch(0, tuple(wished), tuple(early), tuple(seen), (), half_ms))
    found = behind.figures(END_MS, window_ms, all_taken=False)
    assert (found.at_ms, found.written_ms, found.is_behind) == (half_ms, END_MS, True)
    assert found.recent.expected > 0
    exact = even.figures(half_ms, window_ms, all_taken=True)
    assert (exact.at_ms, exact.is_behind) == (half_ms, False)
    assert (found.whole, found.recent, found.notifications) == (exact.whole, exact.recent, len(early))
    ended = behind.figures(END_MS, window_ms, all_taken=True)
    assert (ended.at_ms, ended.is_behind, ended.notifications) == (END_MS, False, len(told))
    # A clock elsewhere may be ahead; the run is not.
    assert behind.figures(half_ms - 1, window_ms, all_taken=False).at_ms == half_ms - 1


def test_a_batch_of_an_earlier_version_does_not_say_how_far_it_reached() -> None:
    document = json.loads(Batch(3, reached_ms=7).to_text())
    assert Batch.from_text(json.dumps(document)) == Batch(3, reached_ms=7)
    del document["reached_ms"]
    assert Batch.from_text(json.dumps(document)) == Batch(3)


def test_a_run_that_has_not_begun_is_waited_for(tmp_path: Path) -> None:
    lines: list[str] = []

    def begin(line: str) -> None:
        lines.append(line)
        GrowingRun(tmp_path / "run", synthetic_run(1), 1)

    wait_for_run(tmp_path / "run", begin)
    wait_for_run(tmp_path / "run", begin)
    assert len(lines) == 1
    assert "waiting for" in lines[0]
    (tmp_path / "a file").write_text("")
    with pytest.raises(TraceError, match="is a file"):
        wait_for_run(tmp_path / "a file", begin)


class GrowingRun:
    """A run's folder whose tables get part after part, as the writer makes them."""

    def __init__(self, folder: Path, run: SyntheticRun, pieces: int) -> None:
        self.path, self._pieces, self._done = folder, pieces, 0
        self._tables = run.tables
        for table in TABLES:
            (folder / "trace" / table).mkdir(parents=True)
        self.say("running", 0)

    def say(self, status: str, simulated_ms: int) -> None:
        scenario = {"name": "made", "vocabularies": ["medical"]}
        facts_of_run = {
            "schema_version": 1,
            "status": status,
            "simulated_ms": simulated_ms,
            "seed": 1,
            "scenario": scenario,
        }
        (self.path / ".manifest.json").write_text(json.dumps(facts_of_run))
        (self.path / ".manifest.json").replace(self.path / "manifest.json")

    def grow(self) -> None:
        number, self._done = self._done, self._done + 1
        for table, rows in self._tables.items():
            some = rows[number * len(rows) // self._pieces : (number + 1) * len(rows) // self._pieces]
            part = pa.Table.from_pylist([dict(row) for row in some], schema=TABLES[table])
            folder = self.path / "trace" / table
            pq.write_table(part, folder / f".part-{number:05}.parquet")
            (folder / f".part-{number:05}.parquet").replace(folder / f"part-{number:05}.parquet")
        last = self._done == self._pieces
        self.say("complete" if last else "running", END_MS * self._done // self._pieces)


def test_a_path_that_spark_takes_for_a_pattern_is_refused(tmp_path: Path) -> None:
    growing = GrowingRun(tmp_path / "run [1]", synthetic_run(1), 1)
    with pytest.raises(TraceError, match="through a link with another name"):
        follow(growing.path, None, nobody, window_ms=1, every_s=1)  # type: ignore[arg-type]


def nobody(*_: object) -> None:
    return


def once(run: GrowingRun, spark: SparkSession) -> LiveFigures:
    return follow(run.path, spark, nobody, window_ms=900_000, every_s=0.2, once=True)


def test_a_run_is_followed_in_steps_and_to_its_end(spark: SparkSession, tmp_path: Path) -> None:
    """Twice `once` while it grows; then as it ends; then again when there is nothing new."""
    made = synthetic_run(3)
    growing = GrowingRun(tmp_path / "a run", made, 4)
    growing.grow()
    first = once(growing, spark)
    growing.grow()
    second = once(growing, spark)
    assert 0 < first.notifications < second.notifications < len(made.told)
    growing.grow()
    growing.grow()
    told: list[tuple[LiveFigures, str]] = []
    last = follow(
        growing.path,
        spark,
        lambda figures, manifest: told.append((figures, manifest.status)),
        window_ms=900_000,
        every_s=0.2,
    )
    assert shown(last) == [expected(made, 0), expected(made, END_MS - 900_000)]
    assert [status for _, status in told] == ["complete"]
    messages = made.tables["messages"]
    assert (told[0][0].at_ms, last.at_ms, last.is_behind) == (newest(messages, END_MS), END_MS, False)
    assert first.at_ms == newest(messages[: len(messages) // 4], first.written_ms) > 0
    assert shown(once(growing, spark)) == shown(last)


def newest(messages: Sequence[Mapping[str, Any]], written_ms: int) -> int:
    return min(max(row["at_ms"] for row in messages if row["kind"] in STEPS), written_ms)


def test_only_one_follower_and_a_lost_notebook_restarts(spark: SparkSession, tmp_path: Path) -> None:
    made = synthetic_run(4)
    growing = GrowingRun(tmp_path / "run", made, 1)
    growing.grow()
    (growing.path / "live").mkdir()
    with (growing.path / "live" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(TraceError, match="another process already follows this run"):
            once(growing, spark)
    stale = BatchLog(growing.path / "live")
    stale.write(Batch(0, deliveries=(Delivered(1, 1, 1, 1),)))
    assert shown(once(growing, spark))[0] == expected(made, 0)


def test_damaged_notes_are_refused_with_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    made = synthetic_run(4)
    growing = GrowingRun(tmp_path / "run", made, 1)
    growing.grow()
    whole = once(growing, spark)
    for notes in (
        growing.path / "live" / "batches" / "00000000.json",
        growing.path / "live/checkpoint/metadata",
    ):
        good = notes.read_text()
        notes.write_text("{")
        with pytest.raises(TraceError, match="remove that folder and call again"):
            once(growing, spark)
        notes.write_text(good)
    shutil.rmtree(growing.path / "live")
    assert shown(once(growing, spark)) == shown(whole)


def test_a_complete_run_that_lost_a_part_is_not_followed(spark: SparkSession, tmp_path: Path) -> None:
    growing = GrowingRun(tmp_path / "run", synthetic_run(4), 2)
    growing.grow()
    growing.grow()
    manifest = json.loads((growing.path / "manifest.json").read_text())
    lost = sorted((growing.path / "trace" / "messages").glob("*.parquet"))
    manifest |= {"status": "complete", "parts": {"messages": len(lost)}}
    (growing.path / "manifest.json").write_text(json.dumps(manifest))
    lost[-1].unlink()
    with pytest.raises(NotARun, match="table messages has only"):
        once(growing, spark)


def test_a_run_that_fails_takes_the_follower_with_it(spark: SparkSession, tmp_path: Path) -> None:
    growing = GrowingRun(tmp_path / "run", synthetic_run(4), 2)
    growing.grow()
    begin = (growing.path, spark, lambda *_: shutil.rmtree(growing.path, ignore_errors=True))
    with pytest.raises(TraceError, match="the run was removed while it was followed; it failed"):
        follow(*begin, window_ms=1, every_s=0.2)


def test_a_run_whose_writer_is_gone_is_over_and_all_of_it_was_brought_in(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As long as it is held it is waited for, however little patience there is."""
    made = synthetic_run(4)
    growing = GrowingRun(tmp_path / "run", made, 2)
    hold = FolderLock(growing.path)
    growing.grow()
    told: list[LiveFigures] = []

    def give_up(figures: LiveFigures, _: Manifest) -> None:
        told.append(figures)
        assert is_being_written(growing.path)
        hold.release()

    last = follow(growing.path, spark, give_up, window_ms=900_000, every_s=0.2, patience_s=0)
    assert read_manifest(growing.path).status == "running"
    assert 0 < last.notifications < len(made.told)
    assert last.batches == told[-1].batches
    assert last.whole.delivered >= told[-1].whole.delivered
    assert last.at_ms == last.written_ms == read_manifest(growing.path).simulated_ms >= told[-1].at_ms


PROGRAM = """
import os, signal, sys
from pathlib import Path
from spark_analysis.live import follow as live
from spark_analysis.session.session import open_session

folder, moment = Path(sys.argv[1]), sys.argv[2]
write = live.BatchLog.write

def die(log, batch):
    if moment == "after":
        write(log, batch)
    os.kill(os.getpid(), signal.SIGKILL)

live.BatchLog.write = die
live.follow(folder, open_session("local[1]"), print, window_ms=1, every_s=0.2)
"""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_in_the_middle_of_a_batch_nothing_is_lost_or_counted_twice(
    spark: SparkSession, tmp_path: Path, moment: str
) -> None:
    """The first part is brought in; the follower dies with the second; more comes; another goes on."""
    made = synthetic_run(5)
    growing = GrowingRun(tmp_path / "run", made, 3)
    growing.grow()
    once(growing, spark)
    growing.grow()
    words = [sys.executable, "-c", PROGRAM, str(growing.path), moment]
    follower = subprocess.Popen(words, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE)
    try:
        _, output = follower.communicate(timeout=SECONDS)
        assert follower.returncode == -signal.SIGKILL, output.decode()
    finally:
        kill_group(follower.pid)
    begun = [path.name for path in (growing.path / "live" / "checkpoint" / "offsets").glob("[0-9]*")]
    done = [path.name for path in (growing.path / "live" / "checkpoint" / "commits").glob("[0-9]*")]
    kept = [path.name for path in (growing.path / "live" / "batches").glob("*.json")]
    assert (len(begun), len(done), len(kept)) == (2, 1, 1 if moment == "before" else 2)
    growing.grow()
    last = once(growing, spark)
    assert shown(last) == [expected(made, 0), expected(made, END_MS - 900_000)]
    seen = [
        fact
        for path in sorted((growing.path / "live" / "batches").glob("*.json"))
        for fact in Batch.from_text(path.read_text()).notifications
    ]
    assert len(seen) == len(set(seen)) == len(made.told)


def kill_group(group: int) -> None:
    """End what the follower started, which lives on for a moment when it is killed itself."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: (path / "manifest.json").unlink(), "is not a run"),
        (lambda path: (path / "live").write_text(""), "exists|Not a directory"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    growing = GrowingRun(tmp_path / "run", synthetic_run(1), 1)
    spoil(growing.path)
    with pytest.raises((NotARun, OSError), match=message):
        follow(growing.path, None, nobody, window_ms=1, every_s=1, once=True)  # type: ignore[arg-type]
