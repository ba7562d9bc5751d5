"""A scenario that can be run: its settings, and all files that they name, read and checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from dens.boards.board import Board
from dens.config.problems import Problem
from dens.overlay.wire.item import lifetime_code_ms
from emulation.contacts.contact import Contacts
from emulation.interests import PlannedInterests
from emulation.mobility.disaster_area import DisasterArea, DisasterAreaTable
from emulation.mobility.model import AnswersCalls, MobilityModel
from emulation.scenario.processes import PlannedProcess
from emulation.scenario.publications import PlannedPublications
from emulation.scenario.settings.sensors import (
    DiurnalWeatherSettings,
    FireSignsSettings,
    UniformSettings,
    VitalSignsSettings,
)
from emulation.scenario.settings.settings import GroupSettings, PopulationSettings, Role, ScenarioSettings
from emulation.sensors.diurnal_weather import DiurnalWeather
from emulation.sensors.fire_signs import FireSigns
from emulation.sensors.recording import Series
from emulation.sensors.source import SensorSource
from emulation.sensors.stated_error import StatedError
from emulation.sensors.uniform import Uniform
from emulation.sensors.vital_signs import VitalSigns
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.generator import RandomSubscription, SubscriptionGenerator
from plugins.language import SubscriptionLanguage
from plugins.matching_choice import MatchingChoice
from plugins.registry import languages


def board_limits(settings: ScenarioSettings, group: str) -> Board | None:
    """Return the limits of a group's boards, from the profile of its board; None for devices without
    limits.
    """
    [name] = {known.board for known in settings.group if known.name == group}
    return None if name is None else settings.board[name].limits


GeneratorSettings = VitalSignsSettings | DiurnalWeatherSettings | FireSignsSettings | UniformSettings


@dataclass(frozen=True, slots=True)
class PlannedSubscription:
    """A compiled subscription of every node of a group, and its document."""

    group: str
    at_ms: int
    withdrawn_ms: int | None
    language: int
    lifetime_q: int
    body: bytes
    file: str
    document: str


@dataclass(frozen=True, slots=True)
class PlannedAdvertisement:
    """An advertisement of every publisher of a group. `file` is None if it was derived from the group's
    sources.
    """

    group: str
    id: int
    at_ms: int
    withdrawn_ms: int | None
    language: int
    lifetime_q: int
    body: bytes
    file: str | None = None


_TRIES: Final = 20
"""Draws per distinct subscription; a small domain may not have enough distinct ones."""


def draw_population(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator], bytes],
    *,
    number: int,
    similarity: float,
) -> list[bytes]:
    """Return the bodies of a population; the share `similarity` of them are duplicates of others."""
    distinct = max(1, round(number * (1.0 - similarity)))
    drawn: dict[bytes, None] = {}
    for _ in range(_TRIES * distinct):
        if len(drawn) == distinct:
            break
        drawn[draw(rng)] = None
    kinds = list(drawn)
    bodies = kinds + [kinds[int(rng.integers(len(kinds)))] for _ in range(number - len(kinds))]
    return [bodies[index] for index in rng.permutation(number)]


@dataclass(frozen=True, slots=True)
class PlannedPopulation:
    """Random subscriptions, which a seed draws and distributes over the nodes of a group."""

    settings: PopulationSettings
    language: int
    generator: SubscriptionGenerator
    table: MissionTable
    event: EventClass
    among: tuple[Attribute, ...]

    @property
    def at_ms(self) -> int:
        return int(self.settings.at_s * 1000)

    @property
    def lifetime_q(self) -> int:
        """Return the lifetime code of the subscriptions."""
        return lifetime_code_ms(int(1000 * self.settings.valid_s))

    def body(self, rng: np.random.Generator) -> bytes:
        """Draw a subscription, or raise `CombinationRefused`."""
        settings = self.settings
        wanted = RandomSubscription(
            self.event,
            self.among,
            settings.attributes,
            settings.selectivity,
            settings.threshold,
            int(settings.at_s),
            settings.aggregator,
            settings.form,
        )
        return self.generator.draw(rng, wanted, self.table)

    def bodies(self, rng: np.random.Generator) -> list[bytes]:
        """Draw all subscriptions, to be distributed over the subscribers in turn."""
        return draw_population(
            rng, self.body, number=self.settings.number, similarity=self.settings.similarity
        )


@dataclass(frozen=True, slots=True)
class PlannedSensor:
    """A sensor of every node of a group: generated, or one recorded series each."""

    group: str
    event: EventClass
    attributes: tuple[str, ...]
    at_ms: int
    """The begin of the sensor, which is time 0 of its source."""
    every_ms: int
    origin: GeneratorSettings | tuple[Series, ...]
    errors: Mapping[str, StatedError] = field(default_factory=dict)
    """Stated errors by attribute."""

    @property
    def protocol(self) -> str:
        """Return the protocol of the source in the local data dictionary."""
        return "file" if isinstance(self.origin, tuple) else "memory"

    @property
    def content_type(self) -> str:
        """Return the content type of the source in the local data dictionary."""
        return "text/csv" if isinstance(self.origin, tuple) else ""

    def source_for(self, position: int, rng: np.random.Generator, run_ms: int) -> SensorSource:
        """Return the source of the node at this position of its group."""
        origin, duration_ms = self.origin, run_ms - self.at_ms
        if isinstance(origin, VitalSignsSettings):
            return VitalSigns(rng, duration_ms, origin.deteriorating)
        if isinstance(origin, UniformSettings):
            return Uniform(rng, [self.event.attribute(name) for name in self.attributes])
        if isinstance(origin, FireSignsSettings):
            return FireSigns(rng, duration_ms, origin.flare_ups_per_day)
        if isinstance(origin, DiurnalWeatherSettings):
            return DiurnalWeather(
                rng,
                duration_ms,
                origin.mean_deg_c,
                origin.swing_deg_c,
                origin.begins_at_h,
                origin.squalls_per_day,
            )
        return origin[position % len(origin)]


@dataclass(frozen=True, slots=True)
class NodeSlot:
    """One engine: its number on the air, its role, and the device that carries it.

    A device's own number is that of its only engine, or of its mediator where it has several roles. Its other
    engines are numbered after all devices.
    """

    number: int
    device: int
    group: str
    position: int
    role: Role

    @property
    def name(self) -> str:
        """Return the name in traces: `medics-3`, and `medics-3.subscriber` inside a device."""
        device = f"{self.group}-{self.position + 1}"
        return device if self.number == self.device else f"{device}.{self.role}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that a run needs, apart from a seed and a folder."""

    settings: ScenarioSettings
    table: MissionTable
    vocabulary_documents: Mapping[str, str]
    """The text of every vocabulary, by its name in the scenario."""
    inputs: Mapping[str, Path]
    """Every file that was read, by its name in the scenario."""
    mobilities: tuple[MobilityModel, ...]
    """The mobility model of each group, in the order of the groups."""
    subscriptions: tuple[PlannedSubscription, ...]
    populations: tuple[PlannedPopulation, ...]
    sensors: tuple[PlannedSensor, ...]
    publications: tuple[PlannedPublications, ...]
    advertisements: tuple[PlannedAdvertisement, ...] = ()
    contacts: Contacts | None = None
    """Recorded contacts, if they do not follow from motion."""
    interests: PlannedInterests | None = None
    processes: tuple[PlannedProcess, ...] = ()
    thesaurus: Thesaurus | None = None
    """The thesaurus for subscriptions, if the scenario has its own."""
    warnings: tuple[Problem, ...] = ()
    """Warnings about its files."""

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def languages(self) -> dict[int, SubscriptionLanguage]:
        """Return all languages, with the feature condition of the mission."""
        return MatchingChoice(condition=self.settings.overlay.condition).applied(languages())

    @property
    def seed(self) -> int:
        """Return the default seed, that of the file."""
        return self.settings.seed

    @property
    def duration_ms(self) -> int:
        return int(self.settings.duration_s * 1000)

    def members(self) -> Sequence[tuple[GroupSettings, range]]:
        """Return each group with its device numbers, in the order of the file."""
        first, members = 0, []
        for group in self.settings.group:
            members.append((group, range(first, first + group.count)))
            first += group.count
        return members

    def link_endpoints(self) -> tuple[list[int], list[int]]:
        """Return the devices that permanent links connect: mediators and endpoints."""
        mediators: list[int] = []
        endpoints: list[int] = []
        for group, numbers in self.members():
            (mediators if "mediator" in group.role else endpoints).extend(numbers)
        return mediators, endpoints

    def called(self) -> Sequence[tuple[str, range, str, AnswersCalls]]:
        """Return each group of reactive devices with its device numbers, the event that calls them and their
        model."""
        groups: list[tuple[str, range, str, AnswersCalls]] = []
        for (group, numbers), model in zip(self.members(), self.mobilities, strict=True):
            if isinstance(group.mobility, DisasterAreaTable) and group.mobility.called != "never":
                assert isinstance(model, DisasterArea)
                groups.append((group.name, numbers, group.mobility.called, model))
        return groups

    def devices_named(self, who: Sequence[str] | None) -> list[int]:
        """Return the devices of these groups and names (`medics`, `medics-3`), all devices for None."""
        devices: dict[int, None] = {}
        for group, numbers in self.members():
            for position, number in enumerate(numbers):
                if who is None or group.name in who or f"{group.name}-{position + 1}" in who:
                    devices[number] = None
        return list(devices)

    def filter_algorithm(self, group: str) -> str | None:
        """Return the filter algorithm of a group's board; None for the default."""
        [name] = {known.board for known in self.settings.group if known.name == group}
        return None if name is None else self.settings.board[name].algorithm

    def board_limits(self, group: str) -> Board | None:
        """Return the limits of a group's boards; None for devices without limits."""
        return board_limits(self.settings, group)

    def counts_matching(self, group: str) -> bool:
        """Return whether matching work of a group's mediators is counted: if the file sets their algorithm,
        condition or board."""
        overlay = self.settings.overlay
        [own] = [known for known in self.settings.group if known.name == group]
        return any(
            setting is not None for setting in (own.matcher, own.board, overlay.matcher, overlay.condition)
        )

    def slots(self) -> list[NodeSlot]:
        """Return every engine, by number."""
        on_air: list[NodeSlot] = []
        inside: list[tuple[int, str, int, Role]] = []
        for group, numbers in self.members():
            own: Role = "mediator" if len(group.role) > 1 else group.role[0]
            for position, number in enumerate(numbers):
                on_air.append(NodeSlot(number, number, group.name, position, own))
                inside += [(number, group.name, position, role) for role in group.role if role != own]
        return on_air + [NodeSlot(len(on_air) + index, *slot) for index, slot in enumerate(inside)]
