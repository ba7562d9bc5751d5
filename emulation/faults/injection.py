"""Puts the faults of a scenario on the clock, in the order of the file: crashes, wrong clocks, partitions.

What frames meet on their way needs no moment; it is `emulation.world.frame_faults`.
"""

from emulation.clock import Rank
from emulation.faults.clocks import jump_clock
from emulation.faults.crashes import Crashes
from emulation.faults.moments import moments_ms
from emulation.faults.partitions import cut_off, rejoin
from emulation.random.streams import Streams
from emulation.scenario import Scenario
from emulation.scenario.settings.faults import ClockSettings, CrashSettings, PartitionSettings
from emulation.world.world import World


def inject_faults(scenario: Scenario, streams: Streams, world: World, crashes: Crashes) -> None:
    """Let every fault happen when its time comes."""
    for index, fault in enumerate(scenario.settings.fault):
        if isinstance(fault, PartitionSettings):
            _partition(scenario, fault, world)
        elif isinstance(fault, CrashSettings | ClockSettings):
            for device in scenario.devices_named(fault.who):
                chance = streams.stream("faults", index, device)
                for at_ms in moments_ms(fault, scenario.duration_ms, chance):
                    if isinstance(fault, CrashSettings):
                        world.clock.call_at(at_ms, Rank.APPLICATION, crashes.strike, device, fault)
                    else:
                        world.clock.call_at(at_ms, Rank.APPLICATION, jump_clock, world, device, fault.jump_s)


def _partition(scenario: Scenario, fault: PartitionSettings, world: World) -> None:
    island, at_ms = frozenset(scenario.devices_named(fault.who)), int(1000 * fault.at_s)
    world.clock.call_at(at_ms, Rank.APPLICATION, cut_off, world, island)
    if fault.for_s is not None:
        world.clock.call_at(at_ms + int(1000 * fault.for_s), Rank.APPLICATION, rejoin, world, island)
