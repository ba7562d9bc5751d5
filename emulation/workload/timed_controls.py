"""Keys of a scenario that get another value while the run goes on, at moments that the file names.

How far radios reach is known before the run begins, and contacts are solved with it
(`emulation.scenario.controls`); here is what changes when its moment comes.
"""

from dataclasses import replace
from typing import Any

from emulation.clock import Rank
from emulation.scenario import Scenario
from emulation.scenario.controls import ChangedRadio, control_path
from emulation.scenario.settings.faults import ControlSettings
from emulation.world.world import World


def arrange_controls(scenario: Scenario, world: World) -> None:
    """Put every control of a scenario on the clock."""
    for control in scenario.settings.control:
        world.clock.call_at(int(1000 * control.at_s), Rank.APPLICATION, _change, scenario, world, control)


def _change(scenario: Scenario, world: World, control: ControlSettings) -> None:
    """Give a key of the scenario another value; loading has checked that it is one that can change."""
    where = control_path(control.path)
    assert where is not None
    if isinstance(where, ChangedRadio):
        for group, numbers in scenario.members():
            if group.radio == where.name:
                for device in numbers:
                    radio = world.air.radio(device)
                    changed: dict[str, Any] = {where.key: control.value}
                    world.air.change(device, replace(radio, **changed))
        return
    planned = scenario.sensors[where.index]
    for node in world.nodes:
        for sensor in node.sensors:
            if (sensor.plan.group, sensor.plan.event) == (planned.group, planned.event):
                sensor.plan = replace(sensor.plan, every_ms=max(1, int(1000 * control.value)))
