"""One run, from a scenario and a seed to a folder: manifest, trace, summary.

A run can be followed while it grows (`dens.trace.run_folder`): its manifest says `running`, and how far the
trace is complete. An interruption makes a run that is shorter than planned but otherwise whole: its
manifest says `partial` and how far it got. Any other failure leaves nothing behind.
"""

import gc
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
from emulation.clock import Clock
from emulation.run_inputs import keep_inputs
from emulation.running_world import RunningWorld
from emulation.scenario import Scenario
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
    environment: simpy.Environment | None = None,
    beside: Callable[[RunningWorld], None] | None = None,
) -> RunSummary:
    """Run it and write the folder `out`. The same scenario and seed give the same trace, byte for byte.

    A folder that holds an earlier run is replaced only with `force`; one that holds anything else never is.
    With `until_ms` it ends at that moment, as if it were interrupted there.

    With `environment` it happens in that environment of SimPy's, one unit of time a millisecond, beside
    whatever processes live there; `beside` is called once before time begins, with what they may ask of the
    world and do to it. What they do is a part of the run, and no part of what is kept of it: such a run can
    be done again by whoever has them.
    """
    with RunFolder(out, force=force) as folder, _no_search_for_cycles():
        assemble = partial(assemble_world, scenario, seed, environment=environment, beside=beside)
        return _run(scenario, seed, folder, progress, until_ms, assemble)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
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
    """Let an interruption wait until what is being done at this moment is done: nodes tell later what ended
    earlier, so half of a call would lack more than the last moment.
    """
    interrupt = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(interrupt):
        yield
        return
    came = False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        clock.interrupt(partial(interrupt, number, frame))

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, interrupt)
    if came:
        interrupt(signal.SIGINT, None)


def _run(
    scenario: Scenario,
    seed: int,
    folder: RunFolder,
    progress: Callable[[Progress], None] | None,
    until_ms: int | None,
    assemble: Callable[[TraceWriter], World],
) -> RunSummary:
    end_ms = scenario.duration_ms if until_ms is None else min(until_ms, scenario.duration_ms)
    status: Status = "complete" if end_ms == scenario.duration_ms else "partial"
    reached_ms = 0
    world: World | None = None
    inputs = keep_inputs(scenario.inputs, folder.path)
    folder.write("manifest.json", manifest_of_run(scenario, seed, "running", 0, inputs))
    with TraceWriter(folder.path / "trace") as trace:
        try:
            world = assemble(trace)
            trace.checkpoint()
            with _interrupted_between_calls(world.clock):
                for step in range(1, _STEPS + 1):
                    world.run_until(end_ms * step // _STEPS)
                    reached_ms = world.now_ms
                    if trace.collected >= _ROWS_BETWEEN:
                        world.tell_ends()
                        trace.checkpoint()
                        manifest = manifest_of_run(scenario, seed, "running", reached_ms, inputs)
                        folder.write("manifest.json", manifest)
                    if progress is not None:
                        progress(_progress(scenario, world, end_ms))
        except KeyboardInterrupt:
            status = "partial"
            reached_ms = world.now_ms if world is not None else 0
        if world is not None:
            world.close(reached_ms)
    counts = world.journal.counts if world is not None else {}
    composites = 0 if world is None else _composites_delivered(scenario, world)
    summary = RunSummary(
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
        frames_sent=world.air.frames_sent if world is not None else 0,
        frames_lost=counts.get("lost", 0),
        quarantined=counts.get("quarantined", 0),
        undecided=counts.get("undecided", 0),
        composites_delivered=composites,
    )
    folder.write("summary.json", summary.as_document())
    folder.write("manifest.json", manifest_of_run(scenario, seed, status, reached_ms, inputs))
    return summary


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
