"""The interface of a run for SimPy processes in the same environment.

A process observes the world, waits for its events and acts on it. Its actions happen in the current
millisecond of the world, like those of applications. Nodes have the names of the trace: `medics-3`, and
`medics-3.subscriber` in a device with several roles.
"""

from collections import Counter
from math import ceil, hypot
from pathlib import Path

import numpy as np
import simpy

from dens.config.problems import did_you_mean
from dens.overlay.wire.item import lifetime_code_ms
from emulation.faults.crashes import Crashes
from emulation.mobility.model import Legs, legs_through
from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.workload.applications import Workload
from emulation.world.node import Node
from emulation.world.reactive_contacts import ReactiveContacts
from emulation.world.watchers import Inbox, Watchers
from emulation.world.world import World
from plugins.authoring import CompileOptions
from plugins.registry import authoring_of, language_of_document


class RunningWorld:
    """A run in progress. `done` is an event whose value is the summary of the run."""

    def __init__(
        self,
        scenario: Scenario,
        streams: RandomStreams,
        world: World,
        crashes: Crashes,
        workload: Workload,
        courses: ReactiveContacts | None,
        keeps_values: bool,
    ) -> None:
        """`courses` is given if processes may move devices; `keeps_values` if the trace has exact values."""
        self.scenario = scenario
        self.world = world
        self.environment = world.clock.environment
        self.done = self.environment.event()
        self._streams = streams
        self._crashes = crashes
        self._workload = workload
        self._courses = courses
        self._keeps_values = keeps_values
        self._nodes = {node.slot.name: node for node in world.nodes}

    # ------------------------------------------------------------------ what processes see

    @property
    def now_ms(self) -> int:
        """Return the simulated time of this run, which begins at 0."""
        self.world.clock.catch_up()
        return self.world.now_ms

    @property
    def counts(self) -> Counter[str]:
        """Return the number of events so far, by the kinds of the trace: `delivered`, `sent` …"""
        return Counter(self.world.journal.counts)

    def node(self, name: str) -> Node:
        """Return a node, with its engine."""
        if name not in self._nodes:
            raise ValueError(f'unknown node "{name}"{did_you_mean(name, list(self._nodes))}')
        return self._nodes[name]

    def is_up(self, name: str) -> bool:
        """Return whether the device of a node is up."""
        return self.node(name).device not in self.world.reachability.down

    def in_range(self, name: str) -> list[str]:
        """Return the devices in contact with a node's device."""
        neighbours = self.world.air.neighbours(self.node(name).device)
        return [self.world.nodes[device].slot.name for device in neighbours]

    def place(self, name: str) -> tuple[float, float]:
        """Return the place of a node's device, in metres. Needs a movable run."""
        return self._movable().place_at(self.node(name).device, self.now_ms)

    def random(self, name: str) -> np.random.Generator:
        """Return a generator of this name, at its beginning: the same in every run with this seed."""
        return self._streams.rng("process", name)

    # ------------------------------------------------------------------ what processes wait for

    def timeout_ms(self, delay_ms: float) -> simpy.Event:
        """Return an event after this many milliseconds, whatever the unit of the environment is."""
        return self.world.clock.timeout(delay_ms)

    def delivered(self, name: str | None = None) -> simpy.Event:
        """Return the next delivery to this node, or to any, as an event; its value is an `Observed`."""
        return self._watchers().watch("delivered", self._number(name))

    def matched(self, name: str | None = None) -> simpy.Event:
        """Return the next match that this mediator finds, or any; its value is an `Observed`."""
        return self._watchers().watch("matched", self._number(name))

    def published(self, name: str | None = None) -> simpy.Event:
        """Return the next notification of this publisher, or of any; its value is an `Observed`."""
        return self._watchers().watch("published", self._number(name))

    def deliveries(self, name: str | None = None) -> Inbox:
        """Return a store that gets every delivery from now on. Between two `delivered()` some may pass:
        one frame can carry several notifications."""
        return self._watchers().inbox("delivered", self._number(name))

    def contact(self, one: str, other: str) -> simpy.Event:
        """Return an event for the next contact of these two devices; at once if there is one. Its value is
        `now_ms`."""
        return self._link_event("contact", one, other, True)

    def lost(self, one: str, other: str) -> simpy.Event:
        """Return an event for the end of the contact of these two devices; at once if there is none. Its
        value is `now_ms`.
        """
        return self._link_event("lost", one, other, False)

    # ------------------------------------------------------------------ what processes do

    def stop(self, name: str) -> None:
        """Crash a node's device, unless it is down."""
        self._begin_action()
        if self.is_up(name):
            self._crashes.stop(self.node(name).device, "crash")

    def start(self, name: str, *, has_store: bool = True) -> None:
        """Restart a node's device with its committed store, or with an empty one, unless it is up."""
        self._begin_action()
        if not self.is_up(name):
            self._crashes.start(self.node(name).device, has_store)

    def publish(self, name: str, language: int, vector: bytes, lifetime_s: float = 3600.0) -> None:
        """Let a publisher publish this notification, unless its device is down."""
        self._begin_action()
        node = self._node_in_role(name, "publisher")
        self._workload.publish(node, language, vector, lifetime_code_ms(int(1000 * lifetime_s)), 0)
        self.world.settle(node)

    def subscribe(self, name: str, file: str | Path) -> int:
        """Let a subscriber subscribe, now or when its device is up again; return the subscription's id.

        A text is the name of a file of the scenario, of which a run keeps a copy. A `Path` is any file.
        """
        self._begin_action()
        node = self._node_in_role(name, "subscriber")
        path = file if isinstance(file, Path) else self.file(file)
        source = path.read_bytes()
        language = language_of_document(source, str(file))
        if language.reads_values and not self._keeps_values:
            raise ValueError(
                f'"{file}": a run records raw values for language "{language.name}" only if its scenario '
                "has a subscription in it; add one"
            )
        stamp_s = self.world.now_ms // 1000 % 65536
        options = CompileOptions(stamp_s=stamp_s, thesaurus=self.scenario.thesaurus)
        compiled = authoring_of(language).compile(source, str(file), self.scenario.table, options)
        return self._workload.subscribe(
            node, language.language_id, compiled.lifetime_q, compiled.body, str(file)
        )

    def unsubscribe(self, name: str, id: int) -> None:
        """Let a subscriber withdraw a subscription, now or when its device is up again."""
        self._begin_action()
        self._workload.unsubscribe(self._node_in_role(name, "subscriber"), id)

    def file(self, name: str) -> Path:
        """Return the path of a file that the scenario names, such as one of a process's `files`."""
        inputs = self.scenario.inputs
        if name not in inputs:
            hint = did_you_mean(name, list(inputs))
            raise ValueError(f'the scenario names no file "{name}"{hint}; add it to `files` of the process')
        return inputs[name]

    def move(self, name: str, x_m: float, y_m: float, m_per_s: float) -> simpy.Event:
        """Let a node's device go straight to a place and stay there; return its arrival as an event.

        Needs a movable run. The arrival never happens if the device changes its course before.
        """
        self._begin_action()
        courses, device, now_ms = self._movable(), self.node(name).device, self.world.now_ms
        area = self.scenario.settings.area
        if not (0 <= x_m <= area.width_m and 0 <= y_m <= area.height_m):
            size = f"{area.width_m:g} x {area.height_m:g} m"
            raise ValueError(f'cannot move "{name}" to ({x_m:g}, {y_m:g}): the area is {size}')
        if not 0 < m_per_s < float("inf"):
            raise ValueError(f'cannot move "{name}" at {m_per_s:g} m/s: the speed has to be above 0')
        here = courses.place_at(device, now_ms)
        length_ms = 1000.0 * hypot(x_m - here[0], y_m - here[1]) / m_per_s
        courses.turn(device, _straight(here, (x_m, y_m), now_ms, length_ms, self.scenario.duration_ms))
        turns, arrival = courses.turns(device), self.environment.event()

        def arrive(_: simpy.Event) -> None:
            if courses.turns(device) == turns:
                arrival.succeed((x_m, y_m))

        self.timeout_ms(ceil(length_ms)).callbacks.append(arrive)
        return arrival

    # ------------------------------------------------------------------

    def _begin_action(self) -> None:
        if self.done.triggered:
            raise RuntimeError("the run is over; let processes that act on it end with run.done")
        self.world.clock.catch_up()

    def _number(self, name: str | None) -> int | None:
        return None if name is None else self.node(name).number

    def _node_in_role(self, name: str, role: str) -> Node:
        node = self.node(name)
        if node.slot.role != role:
            raise ValueError(f'node "{name}" is a {node.slot.role}, not a {role}')
        return node

    def _watchers(self) -> Watchers:
        if self.world.watchers is None:
            self.world.watchers = Watchers(self.world.clock, [node.slot.name for node in self.world.nodes])
        return self.world.watchers

    def _link_event(self, kind: str, one: str, other: str, is_link: bool) -> simpy.Event:
        a, b = sorted((self.node(one).device, self.node(other).device))
        if self.world.air.has_link(a, b) == is_link:
            return self.environment.event().succeed(self.now_ms)
        return self._watchers().watch(kind, a, b)

    def _movable(self) -> ReactiveContacts:
        if self._courses is None:
            raise ValueError("this run is not movable: start it with movable=True, or set `moves = true`")
        return self._courses


def _straight(
    here: tuple[float, float], there: tuple[float, float], now_ms: int, length_ms: float, end_ms: int
) -> Legs:
    """Return the legs of a straight path and of the stay at its end, up to the end of the run."""
    times, points = [float(now_ms)], [here]
    for at_ms in (now_ms + length_ms, float(end_ms)):
        if at_ms > times[-1]:
            times.append(at_ms)
            points.append(there)
    return legs_through(
        np.array(times), np.array([x for x, _ in points]), np.array([y for _, y in points]), float(end_ms)
    )
