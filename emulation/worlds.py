"""Which world a scenario needs: plain, with a hard life for its nodes, with nodes that are called, or all."""

from emulation.faults.world import HarshWorld
from emulation.reactive_mobility import CalledHarshWorld, CalledWorld
from emulation.scenario import Scenario
from emulation.trace.writer import TraceWriter
from emulation.world import World


def world_of(scenario: Scenario, seed: int, trace: TraceWriter) -> World:
    """Return the world of a scenario; it pays for nothing that the scenario does not ask for."""
    settings = scenario.settings
    is_harsh = bool(settings.fault or settings.control) or any(
        group.energy is not None or group.board is not None for group in settings.group
    )
    if scenario.called():
        return (CalledHarshWorld if is_harsh else CalledWorld)(scenario, seed, trace)
    return (HarshWorld if is_harsh else World)(scenario, seed, trace)
