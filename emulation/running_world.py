"""What processes that live beside a run may ask of its world, and do to it.

They are processes of SimPy, written by whoever uses the emulator, in the environment that the run is in. What
they do happens in the world's current millisecond, as what its own applications do.
"""

from collections import Counter
from dataclasses import dataclass

import simpy

from dens.overlay.wire.item import lifetime_code_ms
from emulation.faults.crashes import Crashes
from emulation.workload.applications import Workload
from emulation.world.node import Node
from emulation.world.world import World


@dataclass(frozen=True, slots=True)
class RunningWorld:
    """A world while it runs. Nodes go by their names in the trace: `medics-3`, `medics-3.subscriber`."""

    environment: simpy.Environment
    world: World
    crashes: Crashes
    workload: Workload

    @property
    def now_ms(self) -> int:
        """Return the simulated time."""
        return self.world.now_ms

    @property
    def counts(self) -> Counter[str]:
        """Return how often everything happened so far, by the kinds of the trace: `delivered`, `sent` …"""
        return Counter(self.world.journal.counts)

    def node(self, name: str) -> Node:
        """Return a node, with its engine."""
        for node in self.world.nodes:
            if node.slot.name == name:
                return node
        raise ValueError(f'there is no node "{name}"')

    def is_up(self, name: str) -> bool:
        """Say whether the device of a node is up."""
        return self.node(name).device not in self.world.reachability.down

    def in_range(self, name: str) -> list[str]:
        """Return the devices that a node's device can talk with directly."""
        return [
            self.world.nodes[device].slot.name for device in self.world.air.neighbours(self.node(name).device)
        ]

    def stop(self, name: str) -> None:
        """Let a node's device crash, unless it is down."""
        if self.is_up(name):
            self.crashes.stop(self.node(name).device, "crash")

    def start(self, name: str, *, has_store: bool = True) -> None:
        """Let a node's device begin again, with what it had committed or with nothing, unless it is up."""
        if not self.is_up(name):
            self.crashes.start(self.node(name).device, has_store)

    def publish(self, name: str, language: int, vector: bytes, lifetime_s: float = 3600.0) -> None:
        """Let a publisher tell this notification, unless its device is down."""
        node = self.node(name)
        if node.slot.role != "publisher":
            raise ValueError(f'node "{name}" publishes nothing: it is a {node.slot.role}')
        self.workload.publish(node, language, vector, lifetime_code_ms(int(1000 * lifetime_s)), 0)
        self.world.settle(node)
