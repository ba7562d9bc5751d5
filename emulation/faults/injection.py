"""Schedules the faults of a scenario, in the order of the file: crashes, clock jumps and partitions.

Faults of frames have no moment of their own; they are in `emulation.world.frame_faults`.
"""

from collections.abc import Iterator

import numpy as np

from emulation.clock import Rank
from emulation.faults.crashes import Crashes
from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.scenario.settings.faults import ClockSettings, CrashSettings, PartitionSettings
from emulation.world.world import World


def inject_faults(scenario: Scenario, streams: RandomStreams, world: World, crashes: Crashes) -> None:
    """Put every fault of a scenario on the clock."""
    for index, fault in enumerate(scenario.settings.fault):
        if isinstance(fault, PartitionSettings):
            _schedule_partition(scenario, fault, world)
        elif isinstance(fault, CrashSettings | ClockSettings):
            for device in scenario.devices_named(fault.who):
                rng = streams.rng("faults", index, device)
                for at_ms in _moments_ms(fault, scenario.duration_ms, rng):
                    if isinstance(fault, CrashSettings):
                        world.clock.call_at(at_ms, Rank.APPLICATION, crashes.strike, device, fault)
                    else:
                        world.clock.call_at(at_ms, Rank.APPLICATION, _jump_clock, world, device, fault.jump_s)


def _moments_ms(
    fault: CrashSettings | ClockSettings, duration_ms: int, rng: np.random.Generator
) -> Iterator[int]:
    """Yield the moments at one device: `at_s`, or a Poisson process with a mean interval of `every_s`."""
    if fault.every_s is None:
        yield int(1000.0 * (fault.at_s or 0.0))
        return
    at_ms = 1000.0 * (fault.at_s or 0.0)
    while True:
        at_ms += 1000.0 * float(rng.exponential(fault.every_s))
        if at_ms >= duration_ms:
            return
        yield int(at_ms)


def _jump_clock(world: World, device: int, jump_s: float) -> None:
    """Set the clock of a device. Engines compare no clocks, so each may have its own time."""
    for node in world.inside(device):
        if device not in world.reachability.down:
            world.settle_now(node)  # Events up to now have the old time.
            world.record_expired_at(node)
        node.skew_ms += int(1000 * jump_s)
        node.set_ms = world.now_ms
        world.settle(node)


def _schedule_partition(scenario: Scenario, fault: PartitionSettings, world: World) -> None:
    island, at_ms = frozenset(scenario.devices_named(fault.who)), int(1000 * fault.at_s)
    world.clock.call_at(at_ms, Rank.APPLICATION, _partition, world, island)
    if fault.for_s is not None:
        world.clock.call_at(at_ms + int(1000 * fault.for_s), Rank.APPLICATION, _heal, world, island)


def _partition(world: World, island: frozenset[int]) -> None:
    """Separate these devices from all others, and close the contacts between them."""
    before = world.reachability.talking()
    world.reachability.cut_off(island)
    for a, b in before:
        if not world.reachability.can_talk(a, b):
            world.disconnect(a, b, "partition")


def _heal(world: World, island: frozenset[int]) -> None:
    """End a partition, and open the contacts of devices that are in range."""
    before = set(world.reachability.talking())
    world.reachability.join(island)
    for a, b in world.reachability.talking():
        if (a, b) not in before:
            world.connect(a, b)
