"""Runs a scenario with a seed and writes a run folder: manifest, trace, summary.

A run can be followed while it grows (`dens.trace.run_folder`): its manifest has the status `running` and the
time up to which the trace is complete. An interrupted run is shorter but otherwise valid: its manifest has
the status `partial` and the time that it reached. Any other failure leaves nothing behind.
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
"""Progress reports per run."""
_ROWS_BETWEEN: Final = 25_000
"""Rows of all tables together after which a checkpoint makes them visible to followers."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run."""

    simulated_s: float
    duration_s: float
    delivered: int
    sent: int

    def as_document(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return asdict(self)

    def line(self) -> str:
        """Return a line for people."""
        return f"{self.simulated_s:,.0f} s simulated, {self.sent:,} frames, {self.delivered:,} delivered"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The totals of a run that need no analysis."""

    scenario: str
    seed: int
    status: Status
    simulated_s: float
    nodes: int
    contacts: int
    subscriptions: int
    readings: int
    readings_kept: int
    """Readings that matched no installed subscription and stayed at their source."""
    notifications: int
    delivered: int
    """Deliveries to applications, without composites."""
    frames_sent: int
    """Frames sent by all radios, relays included. A message longer than a frame takes several."""
    frames_lost: int
    """Messages lost on the air."""
    quarantined: int
    """Messages whose processing failed at a node and was not repeated."""
    undecided: int
    """Messages that waited for their origin's budget or reached its limit."""
    composites_delivered: int = 0
    """Deliveries of composites to applications."""

    def as_document(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return lines for people."""
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


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is made, beside its scenario and seed."""

    force: bool = False
    """Whether an earlier run in the same folder is replaced."""
    until_ms: int | None = None
    """End the run at this time, as if it were interrupted then."""
    ms_per_unit: float = 1
    """Milliseconds in a unit of the environment: 1000 if it counts seconds."""
    movable: bool = False
    """Whether processes may call `run.move`. Scenarios whose processes declare `moves` need not set it."""
    allow_code: bool = False
    """Whether the Python code of a scenario's processes may run."""
    pause_gc: bool = False
    """Turn Python's garbage collector off during the run, which is faster. Runs make no reference cycles, but
    code beside them may."""


_DEFAULT_OPTIONS: Final = RunOptions()


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
    """Run a scenario and write the folder `out`. The same scenario and seed give the same trace, byte for
    byte.

    A folder with an earlier run is replaced only with `force`; one with anything else never is. With
    `until_ms` the run ends at that time, as if it were interrupted then. A scenario with processes is refused
    unless `allow_code`.
    """
    environment = simpy.Environment()
    options = RunOptions(force=force, until_ms=until_ms, allow_code=allow_code, pause_gc=True)
    recording = _Recording(scenario, seed, options, progress)
    with suppress(KeyboardInterrupt), recording.opened(out, environment) as run:
        environment.run(until=run.done)
    assert recording.summary is not None
    return recording.summary


@contextmanager
def running(
    scenario: Scenario,
    seed: int,
    out: Path,
    environment: simpy.Environment,
    options: RunOptions = _DEFAULT_OPTIONS,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[RunningWorld]:
    """Run a scenario in a caller's SimPy environment, from its present time on.

    A run that is not over at the end of the block becomes a partial run, also after a KeyboardInterrupt. Any
    other exception before the end of the run leaves nothing behind.
    """
    with _Recording(scenario, seed, options, progress).opened(out, environment) as run:
        yield run


@contextmanager
def _paused_gc() -> Iterator[None]:
    """Turn the garbage collector off: engines make no reference cycles, and searching for them among a
    million messages costs time. Afterwards all objects count as old, so that the first collection does not
    visit them.
    """
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
    """Delay a SIGINT to the end of the current call of the clock. Nodes report some events later than they
    happened, so an incomplete call would lose more than the last moment. Other code is interrupted at once.
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
        options: RunOptions,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.summary: RunSummary | None = None
        """Set when the run is over."""
        self._scenario = scenario
        self._seed = seed
        self._options = options
        until_ms = options.until_ms
        self._end_ms = scenario.duration_ms if until_ms is None else min(until_ms, scenario.duration_ms)
        self._progress = progress
        self._inputs: Mapping[str, str] = {}

    @contextmanager
    def opened(self, out: Path, environment: simpy.Environment) -> Iterator[RunningWorld]:
        """Make the folder, start the run, and close the folder when the run is over or the block ends."""
        scenario, options = self._scenario, self._options
        check_allowed(scenario.processes, scenario.name, allow_code=options.allow_code)
        modules = import_processes(scenario.processes)
        movable = options.movable or any(process.moves for process in scenario.processes)
        raised: BaseException | None = None
        gc_paused = _paused_gc() if options.pause_gc else nullcontext()
        with RunFolder(out, force=options.force) as self._folder, gc_paused:
            self._inputs = keep_inputs(scenario.inputs, out)
            self._write_manifest("running", 0)
            self._trace = TraceWriter(out / "trace")
            run: RunningWorld | None = None
            try:
                run = assemble_world(
                    scenario,
                    self._seed,
                    self._trace,
                    environment,
                    ms_per_unit=options.ms_per_unit,
                    movable=movable,
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
        """Record motion and contacts up to now, and report progress. The last step ends the run."""
        world = run.world
        world.record_until_now()
        if self._trace.collected >= _ROWS_BETWEEN:
            world.record_expired()
            self._trace.checkpoint()
            self._write_manifest("running", world.now_ms)
        if self._progress is not None:
            self._progress(_progress(self._scenario, world, self._end_ms))
        if step < _STEPS:
            self._plan_step(run, step + 1)
        else:
            self._finish(run, "complete" if self._end_ms == self._scenario.duration_ms else "partial")

    def _finish(self, run: RunningWorld | None, status: Status) -> None:
        """Write the end of the run; `run` is None if it was interrupted before it began."""
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
    """Return the number of deliveries in composing languages."""
    delivered = world.journal.delivered
    composing = [number for number, language in scenario.languages.items() if language.composer is not None]
    return sum(delivered.get(number, 0) for number in composing)


def manifest_of_run(
    scenario: Scenario, seed: int, status: Status, reached_ms: int, inputs: Mapping[str, str]
) -> dict[str, Any]:
    """Return everything that determines the trace, and no wall-clock time. `inputs` names the copies of the
    scenario's files."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": status,
        "simulated_ms": reached_ms,
        "seed": seed,
        "inputs": dict(inputs),
        "scenario": without_key(scenario.settings.model_dump(mode="json")),
        "subscription_documents": {plan.file: plan.document for plan in scenario.subscriptions},
        "vocabularies": {vocabulary.name: vocabulary.version for vocabulary in scenario.table.vocabularies},
        "vocabulary_documents": dict(scenario.vocabulary_documents),
        **({"taxonomy_documents": embed_taxonomies(scenario.table)} if scenario.table.graphs else {}),
        "table_check": scenario.table.check,
        "versions": versions(),
    }
