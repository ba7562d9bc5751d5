"""Loads a scenario from a file, or reports all its problems.

The steps: read the text, check every value (`settings`), check values against each other (`checks`), then
read the files that it names, relative to its folder: vocabularies, subscriptions, recordings. Problems of all
these files are collected and raised together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pydantic import ValidationError

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from dens.config.reading import read_document, read_text
from dens.config.toml_documents import SchemaCodes, parse_toml, problems_from_pydantic
from dens.config.toml_positions import TomlPositions, locate
from emulation.contacts.contact import Contacts
from emulation.interests import PlannedInterests
from emulation.mobility.model import MobilityModel
from emulation.scenario.advertisements import plan_advertisements
from emulation.scenario.changes import Changes, paths_in
from emulation.scenario.checks.checks import check_settings
from emulation.scenario.checks.matching import check_served
from emulation.scenario.checks.sources import check_boards, check_composed, check_sources
from emulation.scenario.files import NamedFiles
from emulation.scenario.ground import plan_zones
from emulation.scenario.interests import plan_interests
from emulation.scenario.motion import plan_contacts, plan_mobility
from emulation.scenario.places import Places, collect
from emulation.scenario.populations import check_parts, plan_population
from emulation.scenario.processes import plan_processes
from emulation.scenario.publications import PlannedPublications, plan_publications
from emulation.scenario.scenario import (
    PlannedAdvertisement,
    PlannedPopulation,
    PlannedSensor,
    PlannedSubscription,
    Scenario,
)
from emulation.scenario.sensors import plan_sensor
from emulation.scenario.settings.settings import ScenarioSettings
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.taxonomy_files import (
    FindTaxonomy,
    is_file_name,
    load_taxonomy,
    shipped_taxonomy,
)
from knowledge_manager.lookup.thesaurus_files import load_layers
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies
from plugins.authoring import CompileOptions
from plugins.registry import authoring_of, language_of_document

CODES: Final = SchemaCodes(unknown_key="D301", missing_key="D303", bad_value="D302")
_SHIPPED: Final = Path(__file__).parent.parent / "scenarios"


def shipped_scenarios() -> tuple[str, ...]:
    """Return the names of the shipped scenarios."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def load_scenario(name_or_path: str | Path, changes: Sequence[str] = ()) -> Scenario:
    """Return a shipped scenario by its name, or one from a file, or raise `DocumentError`.

    Changes (`group[0].count=20`) are made to its keys before anything is checked.
    """
    path = _path_of(name_or_path)
    shown = path.name if path.parent == _SHIPPED else str(path)
    text = read_text(path)
    document, positions = parse_toml(text, shown), locate(text)
    made = Changes()
    made.make(document, changes)
    made.mark(document, positions)
    return _scenario(document, Places(shown, positions, made), positions, NamedFiles(path.parent))


def scenario_from_settings(settings: Mapping[str, Any], copies: Mapping[str, Path], shown: str) -> Scenario:
    """Return the scenario of complete settings, with its files read from copies, or raise `DocumentError`."""
    nowhere = TomlPositions(dict.fromkeys(paths_in(settings), (0, 0)))
    return _scenario(settings, Places(shown, nowhere, again=True), nowhere, NamedFiles(Path(), copies))


def _scenario(
    document: Mapping[str, Any], places: Places, positions: TomlPositions, files: NamedFiles
) -> Scenario:
    try:
        settings = ScenarioSettings.model_validate(document)
    except ValidationError as error:
        problems = problems_from_pydantic(error, positions, places.file, CODES, ScenarioSettings)
        raise DocumentError(places.at_origin(problem, path) for path, problem in problems) from None
    return _Loader(settings, files, places).load()


@dataclass(slots=True)
class _Workload:
    """What the nodes of a scenario subscribe to, measure and publish."""

    subscriptions: list[PlannedSubscription] = field(default_factory=list)
    populations: list[PlannedPopulation] = field(default_factory=list)
    interests: PlannedInterests | None = None
    sensors: list[PlannedSensor] = field(default_factory=list)
    publications: list[PlannedPublications] = field(default_factory=list)

    @property
    def languages(self) -> set[int]:
        """Return the languages of all subscriptions."""
        languages = {plan.language for plan in self.subscriptions}
        languages |= {plan.language for plan in self.populations}
        return languages if self.interests is None else languages | {self.interests.language}


class _Loader:
    """Reads what the settings name. Problems are collected, so that all of them are reported at once."""

    def __init__(self, settings: ScenarioSettings, files: NamedFiles, places: Places) -> None:
        self._settings = settings
        self._files = files
        self._places = places
        findings = list(check_settings(settings, places))
        self._problems = [problem for problem in findings if problem.severity == "error"]
        self._warnings = [problem for problem in findings if problem.severity == "warning"]

    def load(self) -> Scenario:
        """Return the scenario, or raise `DocumentError` with all problems."""
        settings, files, places, problems = self._settings, self._files, self._places, self._problems
        table = self._table()
        mobilities = self._mobilities()
        contacts: Contacts | None = None
        thesaurus: Thesaurus | None = None
        with collect(problems):
            contacts = plan_contacts(settings, files, places)
        with collect(problems):
            thesaurus = self._thesaurus()
        workload = _Workload() if table is None else self._workload(table, thesaurus)
        processes = plan_processes(settings, files, places, problems)
        if table is None:
            raise DocumentError(problems)
        advertisements = self._advertisements(table, thesaurus, workload)
        if problems:
            raise DocumentError(problems)
        subscriptions, sensors = workload.subscriptions, workload.sensors
        self._warnings.extend(check_sources(settings, table, subscriptions, sensors, places))
        self._warnings.extend(check_boards(settings, table.feature_bytes, subscriptions, sensors, places))
        return Scenario(
            settings,
            table,
            {name: read_text(files.found[name]) for name in settings.vocabularies},
            files.found,
            mobilities,
            tuple(subscriptions),
            tuple(workload.populations),
            tuple(sensors),
            tuple(workload.publications),
            advertisements,
            contacts,
            workload.interests,
            processes,
            thesaurus,
            tuple(sorted(self._warnings)),
        )

    def _table(self) -> MissionTable | None:
        """Return the mission table, or None if a vocabulary cannot be used."""
        settings, files, places, problems = self._settings, self._files, self._places, self._problems
        paths: list[str | Path] = []
        known = shipped_vocabularies()
        for index, vocabulary in enumerate(settings.vocabularies):
            key = ("vocabularies", index)
            if vocabulary.endswith(".toml") or "/" in vocabulary:
                with collect(problems):
                    paths.append(files.path(vocabulary, key, places))
            elif vocabulary in known:
                shipped = resources.files("knowledge_manager") / "vocabularies" / f"{vocabulary}.toml"
                paths.append(files.shipped(vocabulary, Path(str(shipped))))
            else:
                hint = did_you_mean(vocabulary, known)
                message = f'no vocabulary "{vocabulary}" is shipped{hint} ({listed(known)}, or a .toml file)'
                problems.append(places.problem(key, "D305", message, meant=likely_meant(vocabulary, known)))
        table: MissionTable | None = None
        with collect(problems):
            names = dict(zip(map(str, paths), settings.vocabularies, strict=False))
            table = load_mission_table(
                paths, taxonomies=lambda path: _taxonomies(names[str(path)], files, places)
            )
            if (seconds := settings.overlay.notification_lifetime_s) is not None:
                lifetimes = {event.name: math.ceil(seconds) for event in table.events}
                table = table.with_notification_lifetimes(lifetimes)
        return table if len(paths) == len(settings.vocabularies) else None

    def _mobilities(self) -> tuple[MobilityModel, ...]:
        settings, places = self._settings, self._places
        zones = plan_zones(settings, places, self._problems)
        mobilities: list[MobilityModel] = []
        for index, group in enumerate(settings.group):
            with collect(self._problems):
                mobilities.append(plan_mobility(group, index, settings.area, zones, self._files, places))
        return tuple(mobilities)

    def _thesaurus(self) -> Thesaurus | None:
        """Return the thesauri of the scenario above the shipped one; None if it has none of its own."""
        names = self._settings.thesaurus
        if not names:
            return None
        return load_layers([self._files.path(name, ("thesaurus",), self._places) for name in names])

    def _workload(self, table: MissionTable, thesaurus: Thesaurus | None) -> _Workload:
        settings, files, places, problems = self._settings, self._files, self._places, self._problems
        workload = _Workload()
        for index in range(len(settings.subscription)):
            with collect(problems):
                workload.subscriptions.append(self._subscription(index, table, thesaurus))
        for index in range(len(settings.population)):
            with collect(problems):
                workload.populations.append(plan_population(settings, index, table, places))
        with collect(problems):
            workload.interests = plan_interests(settings, files, table, places)
        for index, sensor in enumerate(settings.sensor):
            with collect(problems):
                workload.sensors.append(plan_sensor(sensor, index, files, table, places, self._warnings))
        for index, publication in enumerate(settings.publication):
            with collect(problems):
                workload.publications.append(plan_publications(publication, index, files, table, places))
        return workload

    def _subscription(
        self, index: int, table: MissionTable, thesaurus: Thesaurus | None
    ) -> PlannedSubscription:
        settings = self._settings.subscription[index]
        path = self._files.path(settings.file, ("subscription", index, "file"), self._places)
        source = read_document(path)
        at_ms = int(settings.at_s * 1000)
        stamp_s = at_ms // 1000 % 65536
        language = language_of_document(source, str(path))
        options = CompileOptions(stamp_s=stamp_s, thesaurus=thesaurus)
        compiled = authoring_of(language).compile(source, str(path), table, options)
        return PlannedSubscription(
            settings.group,
            at_ms,
            None if settings.withdrawn_at_s is None else int(settings.withdrawn_at_s * 1000),
            language.language_id,
            compiled.lifetime_q,
            compiled.body,
            settings.file,
            source.decode(),
        )

    def _advertisements(
        self, table: MissionTable, thesaurus: Thesaurus | None, workload: _Workload
    ) -> tuple[PlannedAdvertisement, ...]:
        """Return the advertisements, and check what needs the whole workload.

        Each check needs a workload without problems. Advertisement files are read in any case.
        """
        settings, places, problems = self._settings, self._places, self._problems
        subscriptions, populations = workload.subscriptions, workload.populations
        if not problems:
            problems.extend(check_composed(settings, subscriptions, populations, places))
        if not problems:
            problems.extend(check_parts(settings, table, subscriptions, populations, places))
        advertisements: tuple[PlannedAdvertisement, ...] = ()
        with collect(problems):
            advertisements = plan_advertisements(
                settings,
                workload.languages,
                [] if problems else workload.sensors,
                [] if problems else workload.publications,
                self._files,
                table,
                thesaurus,
                places,
            )
        if not problems:
            problems.extend(check_served(settings, table, subscriptions, populations, places))
        return advertisements


def check_scenario_file(path: Path) -> list[Problem]:
    """Return the problems of a scenario file; only warnings if it can be run."""
    try:
        return list(load_scenario(path).warnings)
    except DocumentError as error:
        return list(error.problems)


def _path_of(name_or_path: str | Path) -> Path:
    name = str(name_or_path)
    if isinstance(name_or_path, Path) or name.endswith(".toml") or "/" in name:
        return Path(name_or_path)
    known = shipped_scenarios()
    if name not in known:
        message = f"no scenario of this name is shipped ({listed(known)}){did_you_mean(name, known)}"
        raise DocumentError.of_file(name, "D304", f"{message}; the name of a file ends in .toml")
    return _SHIPPED / f"{name}.toml"


def _taxonomies(vocabulary: str, files: NamedFiles, places: Places) -> FindTaxonomy:
    """Return the finder of a vocabulary's taxonomies: shipped ones, and files beside it, which a run copies
    too.
    """

    def find(name: str) -> Taxonomy:
        if not is_file_name(name):
            return shipped_taxonomy(name)
        beside = str(PurePosixPath(vocabulary).parent / name)
        return load_taxonomy(files.path(beside, ("vocabularies",), places))

    return find
