"""Crashes and restarts of devices.

A device that is down neither receives, sends nor measures; its engines are gone. After a restart it has new
engines, made from the committed store or from an empty one, and resumes the contacts that are still open. Its
sensors belong to the world and keep their schedule.
"""

from emulation.clock import Rank
from emulation.scenario.settings.faults import CrashSettings
from emulation.workload.applications import Workload
from emulation.world.node import NodeFactory
from emulation.world.world import World


class Crashes:
    """Stops and restarts devices."""

    def __init__(self, world: World, factory: NodeFactory, workload: Workload) -> None:
        self._world = world
        self._factory = factory
        self._workload = workload

    def strike(self, device: int, fault: CrashSettings) -> None:
        """Crash a device unless it is down, and schedule its restart if the fault has one."""
        world = self._world
        if device in world.reachability.down:
            return
        self.stop(device, "crash")
        if fault.for_s is not None:
            at_ms = world.now_ms + int(1000 * fault.for_s)
            world.clock.call_at(at_ms, Rank.APPLICATION, self.start, device, fault.store == "kept")

    def stop(self, device: int, reason: str) -> None:
        """Stop a device; it loses everything that was not committed."""
        world = self._world
        if world.energy is not None:
            world.energy.stops(device)
        for node in world.inside(device):
            world.record_expired_at(node)
        world.reachability.down.add(device)
        world.silence(device)
        for node in world.inside(device):
            node.store = node.store.crash()
            world.journal.state(world.now_ms, node.number, "down", reason)

    def start(self, device: int, has_store: bool) -> None:
        """Restart a device, unless its battery is empty."""
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
