"""Devices that go down and begin again.

A device that is down hears, says and measures nothing; its engines are gone. When it comes up again it has
new engines, made from what was committed or from nothing, and takes up the contacts that still last. Its
sensors belong to the world and go on.
"""

from emulation.clock import Rank
from emulation.scenario.settings.faults import CrashSettings
from emulation.workload.applications import Workload
from emulation.world.node import NodeFactory
from emulation.world.world import World


class Crashes:
    """Takes devices down and lets them begin again."""

    def __init__(self, world: World, factory: NodeFactory, workload: Workload) -> None:
        self._world = world
        self._factory = factory
        self._workload = workload

    def strike(self, device: int, fault: CrashSettings) -> None:
        """Let a device crash that is up, and begin again after a while if the fault says so."""
        world = self._world
        if device in world.reachability.down:
            return
        self.stop(device, "crash")
        if fault.for_s is not None:
            at_ms = world.now_ms + int(1000 * fault.for_s)
            world.clock.call_at(at_ms, Rank.APPLICATION, self.start, device, fault.store == "kept")

    def stop(self, device: int, reason: str) -> None:
        """Let a device fall silent with everything that it had not committed."""
        world = self._world
        if world.energy is not None:
            world.energy.stops(device)
        for node in world.inside(device):
            world.tell_ends_of(node)
        world.reachability.down.add(device)
        world.silence(device)
        for node in world.inside(device):
            node.store = node.store.crash()
            world.journal.state(world.now_ms, node.number, "down", reason)

    def start(self, device: int, has_store: bool) -> None:
        """Let a device begin again, if its battery lets it."""
        world, now_ms = self._world, self._world.now_ms
        if world.energy is not None and not world.energy.can_start(device):
            return
        world.reachability.down.discard(device)
        if world.energy is not None:
            world.energy.starts(device)
        for node in world.inside(device):
            store = node.store if has_store else self._factory.new_store(now_ms + node.skew_ms)
            self._factory.restart(node, store, now_ms + node.skew_ms)
            if world.boards is not None:
                world.boards.restarted(node)
            world.journal.state(now_ms, node.number, "up", "restart" if has_store else "restart_empty")
            world.journal.buffer(now_ms, node.number, *node.held())
        for node in world.inside(device):
            if node.number != device:
                world.join(node)
            self._workload.restarted(node, has_store)
            world.settle(node)
        world.take_up_contacts(device)
