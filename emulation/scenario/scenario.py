"""A scenario that can be run: its settings, and everything they name, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dens.boards.board import Board
from dens.config.problems import Problem
from dens.overlay.wire.item import lifetime_code_ms
from emulation.contacts.contact import Contacts
from emulation.interests import PlannedInterests
from emulation.mobility.disaster_area import DisasterArea, DisasterAreaTable
from emulation.mobility.model import AnswersCalls, MobilityModel
from emulation.population import draw_population
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
    """Return what the boards of a group take, by the profile that its board names; None for devices that take
    everything.
    """
    [name] = {one.board for one in settings.group if one.name == group}
    return None if name is None else settings.board[name].limits


GeneratorSettings = VitalSignsSettings | DiurnalWeatherSettings | FireSignsSettings | UniformSettings


@dataclass(frozen=True, slots=True)
class PlannedSubscription:
    """What every node of a group will ask for, compiled, and the document it came from."""

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
    """What every publisher of a group advertises, under this id. `file` is None where nobody wrote it."""

    group: str
    id: int
    at_ms: int
    withdrawn_ms: int | None
    language: int
    lifetime_q: int
    body: bytes
    file: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedPopulation:
    """What the nodes of a group will ask for between them, once a seed has drawn it."""

    settings: PopulationSettings
    language: int
    generator: SubscriptionGenerator
    table: MissionTable
    event: EventClass
    among: tuple[Attribute, ...]

    @property
    def at_ms(self) -> int:
        """Return when they ask."""
        return int(self.settings.at_s * 1000)

    @property
    def lifetime_q(self) -> int:
        """Return the code of how long they want it."""
        return lifetime_code_ms(int(1000 * self.settings.valid_s))

    def body(self, chance: np.random.Generator) -> bytes:
        """Return what one of them asks for; what cannot be made so raises `CombinationRefused`."""
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
        return self.generator.draw(chance, wanted, self.table)

    def bodies(self, chance: np.random.Generator) -> list[bytes]:
        """Return what they ask for, to be dealt out one subscriber after the other."""
        return draw_population(
            chance, self.body, number=self.settings.number, similarity=self.settings.similarity
        )


@dataclass(frozen=True, slots=True)
class PlannedSensor:
    """What every node of a group measures: generated, or one of these recorded series each."""

    group: str
    event: EventClass
    attributes: tuple[str, ...]
    at_ms: int
    """When the sensor begins; sources count their time from here."""
    every_ms: int
    origin: GeneratorSettings | tuple[Series, ...]
    errors: Mapping[str, StatedError] = field(default_factory=dict)
    """What is known of how far the truth may be, by attribute."""

    @property
    def protocol(self) -> str:
        """Return how the source is read, in the words of the local data dictionary."""
        return "file" if isinstance(self.origin, tuple) else "memory"

    @property
    def content_type(self) -> str:
        """Return what the source yields, in the words of the local data dictionary."""
        return "text/csv" if isinstance(self.origin, tuple) else ""

    def source_for(self, position: int, chance: np.random.Generator, run_ms: int) -> SensorSource:
        """Return the source of the node at this position of its group."""
        origin, duration_ms = self.origin, run_ms - self.at_ms
        if isinstance(origin, VitalSignsSettings):
            return VitalSigns(chance, duration_ms, origin.deteriorating)
        if isinstance(origin, UniformSettings):
            return Uniform(chance, [self.event.attribute(name) for name in self.attributes])
        if isinstance(origin, FireSignsSettings):
            return FireSigns(chance, duration_ms, origin.flare_ups_per_day)
        if isinstance(origin, DiurnalWeatherSettings):
            return DiurnalWeather(
                chance,
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
        """Return what the slot is called in traces: `medics-3`, and `medics-3.subscriber` inside a device."""
        device = f"{self.group}-{self.position + 1}"
        return device if self.number == self.device else f"{device}.{self.role}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything a run needs, apart from a seed and a place to write to."""

    settings: ScenarioSettings
    table: MissionTable
    vocabulary_documents: Mapping[str, str]
    """The text of every vocabulary, by the name that the file gives it."""
    inputs: Mapping[str, Path]
    """Every file that was read, by the name that the scenario gives it."""
    mobilities: tuple[MobilityModel, ...]
    """How each group moves, in the order of the groups."""
    subscriptions: tuple[PlannedSubscription, ...]
    populations: tuple[PlannedPopulation, ...]
    sensors: tuple[PlannedSensor, ...]
    publications: tuple[PlannedPublications, ...]
    advertisements: tuple[PlannedAdvertisement, ...] = ()
    contacts: Contacts | None = None
    """Recorded ones, where they do not follow from motion."""
    interests: PlannedInterests | None = None
    processes: tuple[PlannedProcess, ...] = ()
    thesaurus: Thesaurus | None = None
    """Words that subscriptions may use, where the scenario brings some along."""
    warnings: tuple[Problem, ...] = ()
    """What should be known about its files, and keeps nobody from running it."""

    @property
    def name(self) -> str:
        """Return the name of the scenario."""
        return self.settings.name

    @property
    def languages(self) -> dict[int, SubscriptionLanguage]:
        """Return every language, under the feature condition of the mission."""
        return MatchingChoice(condition=self.settings.overlay.condition).applied(languages())

    @property
    def seed(self) -> int:
        """Return the seed that the file names."""
        return self.settings.seed

    @property
    def duration_ms(self) -> int:
        """Return how long the run lasts."""
        return int(self.settings.duration_s * 1000)

    def members(self) -> Sequence[tuple[GroupSettings, range]]:
        """Return each group with its node numbers, which are given in the order of the file."""
        first, found = 0, []
        for group in self.settings.group:
            found.append((group, range(first, first + group.count)))
            first += group.count
        return found

    def ends_of_links(self) -> tuple[list[int], list[int]]:
        """Return the devices that links join: mediators, and those that hang on one of them."""
        mediators: list[int] = []
        ends: list[int] = []
        for group, numbers in self.members():
            (mediators if "mediator" in group.role else ends).extend(numbers)
        return mediators, ends

    def called(self) -> Sequence[tuple[str, range, str, AnswersCalls]]:
        """Return each group whose devices are called away, with its numbers, what calls them and how they
        go."""
        found: list[tuple[str, range, str, AnswersCalls]] = []
        for (group, numbers), model in zip(self.members(), self.mobilities, strict=True):
            if isinstance(group.mobility, DisasterAreaTable) and group.mobility.called != "never":
                assert isinstance(model, DisasterArea)
                found.append((group.name, numbers, group.mobility.called, model))
        return found

    def devices_named(self, who: Sequence[str] | None) -> list[int]:
        """Return the devices of these groups and names (`medics`, `medics-3`), all of them for None."""
        found: dict[int, None] = {}
        for group, numbers in self.members():
            for position, number in enumerate(numbers):
                if who is None or group.name in who or f"{group.name}-{position + 1}" in who:
                    found[number] = None
        return list(found)

    def filter_algorithm(self, group: str) -> str | None:
        """Return the algorithm that the board of a group names for its filter; None for the usual one."""
        [name] = {one.board for one in self.settings.group if one.name == group}
        return None if name is None else self.settings.board[name].algorithm

    def board_limits(self, group: str) -> Board | None:
        """Return what the boards of a group take; None for devices that are no boards, which take all."""
        return board_limits(self.settings, group)

    def counts_matching(self, group: str) -> bool:
        """Return whether what the mediators of a group do to match is counted: where the file says how they
        match, or what they compute with."""
        overlay = self.settings.overlay
        [own] = [one for one in self.settings.group if one.name == group]
        said = (own.matcher, own.board, overlay.matcher, overlay.condition)
        return any(one is not None for one in said)

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
