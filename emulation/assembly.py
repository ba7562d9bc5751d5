"""Assembles the world of a scenario from its parts. Parts that a scenario does not use are left out.

Calls of the same millisecond and rank happen in the order in which they were scheduled, so the order of the
statements in `assemble_world` is visible in traces.
"""

from dataclasses import replace
from typing import Any

import simpy

from dens.node.recording.recorder import Journal
from dens.trace.writer import TraceWriter
from emulation.clock import Clock, Rank
from emulation.contacts.courses import Courses
from emulation.contacts.usable import UsableTime
from emulation.faults.crashes import Crashes
from emulation.faults.injection import inject_faults
from emulation.forwarding.registry import forwarding_kinds
from emulation.forwarding.routed_network import RoutedNetwork
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.motion import contacts_among, walks_of
from emulation.random.rng import RandomStreams
from emulation.running_world import RunningWorld
from emulation.scenario import Scenario
from emulation.scenario.controls import ChangedRadio, control_path, range_windows
from emulation.scenario.settings.faults import BoardSettings, ControlSettings, EnergySettings
from emulation.workload.applications import Workload
from emulation.workload.publishing import Publishing
from emulation.workload.sensing import Sensing
from emulation.workload.subscription_requests import Numbering
from emulation.world.board_time import BoardTime
from emulation.world.contact_schedule import PlannedContacts
from emulation.world.energy_supply import EnergySupply
from emulation.world.frame_faults import frame_faults_of
from emulation.world.node import NodeFactory
from emulation.world.reachability import Reachability
from emulation.world.reactive_contacts import ReactiveContacts
from emulation.world.reactive_mobility import ReactiveMobility, responders_of
from emulation.world.world import Parts, World
from plugins.registry import languages


def assemble_world(
    scenario: Scenario,
    seed: int,
    trace: TraceWriter,
    environment: simpy.Environment | None = None,
    *,
    ms_per_unit: float = 1,
    movable: bool = False,
) -> RunningWorld:
    """Return the world of a scenario and a seed, ready to run in this environment or in one of its own.

    `movable` lets processes move devices. Motion and contacts are then recorded as they happen.
    """
    streams, clock, reachability = RandomStreams(seed), Clock(environment, ms_per_unit), Reachability()
    factory = NodeFactory(scenario, streams)
    journal = Journal(trace, factory.tag_bytes, factory.results)
    ground_truth = GroundTruthRecorder(trace)
    contacts, mobility = _contacts_of(scenario, streams, clock, ground_truth, movable)
    equipped, boarded = _energy_of(scenario), _boards_of(scenario)
    energy = EnergySupply(clock, ground_truth, reachability, equipped) if equipped else None
    boards = BoardTime(clock, boarded, energy) if boarded else None
    kinds = {name: settings.radio() for name, settings in scenario.settings.radio.items()}
    radios = [kinds[group.radio] for group, devices in scenario.members() for _ in devices]
    faults = frame_faults_of(scenario, streams)
    network = _network_of(scenario, clock, ground_truth)
    parts = Parts(contacts, reachability, mobility, faults, energy, boards, network)
    world = World(clock, journal, list(factory.nodes()), radios, streams.numbered("radio"), parts)
    workload = Workload(world, Numbering(scenario.table))
    crashes = Crashes(world, factory, workload)

    world.begin()
    workload.begin(scenario, streams)
    keeps_values = _keeps_values(scenario)
    Sensing(world, workload, ground_truth, keeps_values).begin()
    Publishing(world, workload).begin(scenario)
    world.settle_all()
    if energy is not None:
        energy.begin(crashes.stop, scenario.duration_ms)
    inject_faults(scenario, streams, world, crashes)
    _schedule_controls(scenario, world)
    courses = contacts if movable and isinstance(contacts, ReactiveContacts) else None
    return RunningWorld(scenario, streams, world, crashes, workload, courses, keeps_values)


def _contacts_of(
    scenario: Scenario, streams: RandomStreams, clock: Clock, journal: GroundTruthRecorder, movable: bool
) -> tuple[PlannedContacts | ReactiveContacts, ReactiveMobility | None]:
    """Return the contacts of planned motion, or contacts and courses that may change during the run."""
    if movable and (scenario.contacts is not None or scenario.settings.links is not None):
        raise ValueError("devices cannot be moved where contacts are recorded or links are permanent")
    walks = walks_of(scenario, streams)
    planned = contacts_among(scenario, walks, streams)
    radios = [scenario.settings.radio[group.radio] for group, devices in scenario.members() for _ in devices]
    usable = UsableTime(
        [radio.setup_ms for radio in radios], [1000.0 * radio.least_contact_s for radio in radios]
    )
    responders = responders_of(scenario, streams)
    if not responders and not movable:
        return PlannedContacts(clock, journal, walks, planned, usable), None
    duration_ms = scenario.duration_ms
    courses = Courses(walks, planned, range_windows(scenario.settings), float(duration_ms))
    contacts = ReactiveContacts(clock, journal, courses, usable)
    device_of = [slot.device for slot in scenario.slots()]
    mediators = frozenset(slot.number for slot in scenario.slots() if slot.role == "mediator")
    if not responders:
        return contacts, None
    return contacts, ReactiveMobility(clock, contacts, responders, device_of, duration_ms, mediators)


def _network_of(scenario: Scenario, clock: Clock, journal: GroundTruthRecorder) -> RoutedNetwork | None:
    """Return the network layer that carries frames beyond range, if the scenario has one."""
    settings = scenario.settings.network
    kind = forwarding_kinds()[settings.forwarding]
    if kind.make is None:
        return None
    return RoutedNetwork(
        clock,
        journal,
        kind,
        [slot.role for slot in scenario.slots() if slot.number == slot.device],
        convergence_ms=int(1000 * settings.convergence_s),
        hop_limit=settings.hop_limit,
        header_bytes=settings.header_bytes,
    )


def _keeps_values(scenario: Scenario) -> bool:
    """Return whether the trace needs exact values: a sensor has a stated error, or the language of a
    subscription reads them.
    """
    known = languages()
    return any(plan.errors for plan in scenario.sensors) or any(
        known[plan.language].reads_values for plan in scenario.subscriptions
    )


def _energy_of(scenario: Scenario) -> dict[int, EnergySettings]:
    """Return the energy settings of the devices that have some."""
    return {
        device: scenario.settings.energy[group.energy]
        for group, devices in scenario.members()
        if group.energy is not None
        for device in devices
    }


def _boards_of(scenario: Scenario) -> dict[int, BoardSettings]:
    """Return the boards of the nodes that have one."""
    boards = {group.name: group.board for group in scenario.settings.group}
    return {
        slot.number: scenario.settings.board[board]
        for slot in scenario.slots()
        if (board := boards[slot.group]) is not None
    }


def _schedule_controls(scenario: Scenario, world: World) -> None:
    """Put every control of a scenario on the clock. Changes of ranges are already in the contacts."""
    for control in scenario.settings.control:
        world.clock.call_at(int(1000 * control.at_s), Rank.APPLICATION, _change, scenario, world, control)


def _change(scenario: Scenario, world: World, control: ControlSettings) -> None:
    """Change a radio or the interval of a sensor; loading has checked the path."""
    target = control_path(control.path)
    assert target is not None
    if isinstance(target, ChangedRadio):
        for group, numbers in scenario.members():
            if group.radio == target.name:
                for device in numbers:
                    radio = world.air.radio(device)
                    changed: dict[str, Any] = {target.key: control.value}
                    world.air.change(device, replace(radio, **changed))
        return
    planned = scenario.sensors[target.index]
    for node in world.nodes:
        for sensor in node.sensors:
            if (sensor.plan.group, sensor.plan.event) == (planned.group, planned.event):
                sensor.plan = replace(sensor.plan, every_ms=max(1, int(1000 * control.value)))
