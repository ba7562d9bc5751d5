"""One run, from a scenario and a seed to a folder: manifest, trace, summary.

A run can be followed while it grows (`dens.trace.run_folder`): its manifest says `running`, and how far the
trace is complete. An interruption makes a run that is shorter than planned but otherwise whole: its
manifest says `partial` and how far it got. Any other failure leaves nothing behind.
"""

import gc
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Final, Literal

import simpy

from dens.trace.manifest_schema import without_key
from dens.trace.run_folder import RunFolder
from dens.trace.schema import SCHEMA_VERSION
from dens.trace.versions import versions
from dens.trace.writer import TraceWriter
from emulation.assembly import assemble_world
from emulation.clock import Clock, Rank
from emulation.run_inputs import keep_inputs
from emulation.running_world import RunningWorld
from emulation.scenario import Scenario
from emulation.scenario_processes import check_allowed, import_processes, start_processes
from emulation.world.world import World
from knowledge_manager.embedded_taxonomies import embed_taxonomies

Status = Literal["running", "complete", "partial"]

_STEPS: Final = 200
"""How often progress is told."""
_ROWS_BETWEEN: Final = 25_000
"""After so many rows in all tables together, what is collected becomes visible to followers."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    simulated_s: float
    duration_s: float
    delivered: int
    sent: int

    def as_document(self) -> dict[str, Any]:
        """Return the step as plain data."""
        return asdict(self)

    def line(self) -> str:
        """Return the counts for people."""
        return f"{self.simulated_s:,.0f} s simulated, {self.sent:,} frames, {self.delivered:,} delivered"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to, in numbers that need no analysis."""

    scenario: str
    seed: int
    status: Status
    simulated_s: float
    nodes: int
    contacts: int
    subscriptions: int
    readings: int
    readings_kept: int
    """Readings that nobody wanted to hear of; they never left their source."""
    notifications: int
    delivered: int
    """Notifications that an application was shown, composites left out."""
    frames_sent: int
    """Frames that left a radio, those of relays included; a message that is longer than a frame is
    several.
    """
    frames_lost: int
    """Messages that were lost on the air."""
    quarantined: int
    """Times that some work with a message failed at a node and was not tried again."""
    undecided: int
    """Times that work with a message waited for its origin's budget or reached its limit."""
    composites_delivered: int = 0
    """Messages with a composite that an application was shown."""

    def as_document(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the summary for people."""
        lines = [
            f"{self.scenario}, seed {self.seed}: {self.simulated_s:,.0f} s simulated ({self.status})",
            f"{self.nodes:,} nodes, {self.contacts:,} contacts, {self.subscriptions:,} subscriptions",
            f"{self.readings:,} readings, {self.readings_kept:,} of them kept at the source; "
            f"{self.notifications:,} notifications (a reading can give several)",
            f"{self.delivered:,} deliveries{self._composites()}, {self.frames_sent:,} frames sent, "
            f"{self.frames_lost:,} lost",
        ]
        if self.quarantined or self.undecided:
            lines.append(f"{self.quarantined:,} messages quarantined, {self.undecided:,} undecided")
        return lines

    def _composites(self) -> str:
        return f" and {self.composites_delivered:,} of composites" if self.composites_delivered else ""


def run_scenario(
    scenario: Scenario,
    seed: int,
    out: Path,
    progress: Callable[[Progress], None] | None = None,
    *,
    force: bool = False,
    until_ms: int | None = None,
    allow_code: bool = False,
) -> RunSummary:
    """Run it and write the folder `out`. The same scenario and seed give the same trace, byte for byte.

    A folder that holds an earlier run is replaced only with `force`; one that holds anything else never is.
    With `until_ms` it ends at that moment, as if it were interrupted there. A scenario with processes is
    refused unless `allow_code`.
    """
    environment = simpy.Environment()
    recording = _Recording(scenario, seed, until_ms, progress)
    movable = any(process.moves for process in scenario.processes)
    opened = recording.opened(
        out, environment, force=force, movable=movable, allow_code=allow_code, pause_gc=True
    )
    with suppress(KeyboardInterrupt), opened as run:
        environment.run(until=run.done)
    assert recording.summary is not None
    return recording.summary


@contextmanager
def running(
    scenario: Scenario,
    seed: int,
    out: Path,
    environment: simpy.Environment,
    *,
    force: bool = False,
    progress: Callable[[Progress], None] | None = None,
    until_ms: int | None = None,
    ms_per_unit: float = 1,
    movable: bool = False,
    allow_code: bool = False,
    pause_gc: bool = False,
) -> Iterator[RunningWorld]:
    """Put a run into an environment of SimPy; it goes on whenever the environment does.

    The run begins at the environment's present time, of which a unit is `ms_per_unit` milliseconds (1000 for
    seconds). `movable` allows `run.move`. `pause_gc` switches Python's garbage collector off until the block
    ends, which is faster; runs make no reference cycles, but code beside them may.

    A run that is not over at the end of the block becomes a partial run, also after a KeyboardInterrupt. Any
    other exception before the end of the run leaves nothing behind.
    """
    movable = movable or any(process.moves for process in scenario.processes)
    with _Recording(scenario, seed, until_ms, progress).opened(
        out,
        environment,
        force=force,
        ms_per_unit=ms_per_unit,
        movable=movable,
        allow_code=allow_code,
        pause_gc=pause_gc,
    ) as run:
        yield run


@contextmanager
def _paused_gc() -> Iterator[None]:
    """Engines make no cycles, so looking for them among a million messages would only cost time. Afterwards
    everything counts as old, so that the first search is not one through all of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


@contextmanager
def _interrupted_between_calls(clock: Clock) -> Iterator[None]:
    """Let an interruption wait for the end of the call that is happening: nodes report later what ended
    earlier, so half of a call would lack more than the last moment. Code of others is interrupted at once.
    """
    interrupt = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(interrupt):
        yield
        return
    is_waiting = False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal is_waiting
        if clock.is_in_calls:
            is_waiting = True
            clock.interrupt(partial(raise_now, number, frame))
        else:
            interrupt(number, frame)

    def raise_now(number: int, frame: FrameType | None) -> None:
        nonlocal is_waiting
        is_waiting = False
        interrupt(number, frame)

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, interrupt)
    if is_waiting:
        interrupt(signal.SIGINT, None)


class _Recording:
    """Writes the folder of one run."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        until_ms: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.summary: RunSummary | None = None
        """What the run came to, once it is over."""
        self._scenario = scenario
        self._seed = seed
        self._end_ms = scenario.duration_ms if until_ms is None else min(until_ms, scenario.duration_ms)
        self._progress = progress
        self._inputs: Mapping[str, str] = {}

    @contextmanager
    def opened(
        self,
        out: Path,
        environment: simpy.Environment,
        *,
        force: bool,
        allow_code: bool,
        movable: bool,
        pause_gc: bool,
        ms_per_unit: float = 1,
    ) -> Iterator[RunningWorld]:
        """Make the folder, start the run, and close the folder when the run is over or the block ends."""
        scenario = self._scenario
        check_allowed(scenario.processes, scenario.name, allow_code=allow_code)
        modules = import_processes(scenario.processes)
        raised: BaseException | None = None
        with RunFolder(out, force=force) as self._folder, _paused_gc() if pause_gc else nullcontext():
            self._inputs = keep_inputs(scenario.inputs, out)
            self._write_manifest("running", 0)
            self._trace = TraceWriter(out / "trace")
            run: RunningWorld | None = None
            try:
                run = assemble_world(
                    scenario, self._seed, self._trace, environment, ms_per_unit=ms_per_unit, movable=movable
                )
                self._trace.checkpoint()
                run.world.clock.horizon_ms = self._end_ms
                self._plan_step(run, 1)
                start_processes(run, scenario.processes, modules)
                with _interrupted_between_calls(run.world.clock):
                    yield run
            except BaseException as error:
                if self.summary is None and not isinstance(error, KeyboardInterrupt):
                    raise
                raised = error
            if self.summary is None:
                if run is not None:
                    run.world.clock.catch_up()
                self._finish(run, "partial")
        if raised is not None:
            raise raised

    def _plan_step(self, run: RunningWorld, step: int) -> None:
        at_ms = self._end_ms * step // _STEPS
        run.world.clock.call_at(at_ms, Rank.CONTROL, self._on_step, run, step)

    def _on_step(self, run: RunningWorld, step: int) -> None:
        """Record what is fact by now, and report progress; after the last step the run is over."""
        world = run.world
        world.record_until_now()
        if self._trace.collected >= _ROWS_BETWEEN:
            world.tell_ends()
            self._trace.checkpoint()
            self._write_manifest("running", world.now_ms)
        if self._progress is not None:
            self._progress(_progress(self._scenario, world, self._end_ms))
        if step < _STEPS:
            self._plan_step(run, step + 1)
        else:
            self._finish(run, "complete" if self._end_ms == self._scenario.duration_ms else "partial")

    def _finish(self, run: RunningWorld | None, status: Status) -> None:
        """Write what is known only now that the run is over; None is one that was interrupted before it
        began."""
        reached_ms = 0
        if run is not None:
            reached_ms = run.world.now_ms
            run.world.close(reached_ms)
            run.world.clock.end()
        self._trace.checkpoint()
        self.summary = _summary(self._scenario, self._seed, status, reached_ms, self._trace, run)
        self._folder.write("summary.json", self.summary.as_document())
        self._write_manifest(status, reached_ms)
        if run is not None:
            run.done.succeed(self.summary)

    def _write_manifest(self, status: Status, reached_ms: int) -> None:
        document = manifest_of_run(self._scenario, self._seed, status, reached_ms, self._inputs)
        self._folder.write("manifest.json", document)


def _summary(
    scenario: Scenario,
    seed: int,
    status: Status,
    reached_ms: int,
    trace: TraceWriter,
    run: RunningWorld | None,
) -> RunSummary:
    counts = run.world.journal.counts if run is not None else {}
    composites = 0 if run is None else _composites_delivered(scenario, run.world)
    return RunSummary(
        scenario=scenario.name,
        seed=seed,
        status=status,
        simulated_s=reached_ms / 1000,
        nodes=trace["nodes"].written,
        contacts=trace["contacts"].written,
        subscriptions=counts.get("subscribed", 0),
        readings=counts.get("readings", 0),
        readings_kept=counts.get("kept", 0),
        notifications=counts.get("published", 0),
        delivered=counts.get("delivered", 0) - composites,
        frames_sent=run.world.air.frames_sent if run is not None else 0,
        frames_lost=counts.get("lost", 0),
        quarantined=counts.get("quarantined", 0),
        undecided=counts.get("undecided", 0),
        composites_delivered=composites,
    )


def _progress(scenario: Scenario, world: World, end_ms: int) -> Progress:
    delivered = world.journal.counts.get("delivered", 0) - _composites_delivered(scenario, world)
    return Progress(world.now_ms / 1000, end_ms / 1000, delivered, world.air.frames_sent)


def _composites_delivered(scenario: Scenario, world: World) -> int:
    """Return how many messages of languages that compose an application was shown."""
    shown = world.journal.delivered
    return sum(shown.get(number, 0) for number, one in scenario.languages.items() if one.composer is not None)


def manifest_of_run(
    scenario: Scenario, seed: int, status: Status, reached_ms: int, inputs: Mapping[str, str]
) -> dict[str, Any]:
    """Return everything that decides what the trace holds, and no wall clock. `inputs` names the copies of
    the scenario's files."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": status,
        "simulated_ms": reached_ms,
        "seed": seed,
        "inputs": dict(inputs),
        "scenario": without_key(scenario.settings.model_dump(mode="json")),
        "subscription_documents": {wanted.file: wanted.document for wanted in scenario.subscriptions},
        "vocabularies": {vocabulary.name: vocabulary.version for vocabulary in scenario.table.vocabularies},
        "vocabulary_documents": dict(scenario.vocabulary_documents),
        **({"taxonomy_documents": embed_taxonomies(scenario.table)} if scenario.table.graphs else {}),
        "table_check": scenario.table.check,
        "versions": versions(),
    }
