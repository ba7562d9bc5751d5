"""From a file to a scenario that can be run, or to everything that is wrong with it.

The steps: read the text, check every value (`settings`), check how they fit together (`checks`), then
read what the file names, relative to the folder it stands in: vocabularies, subscriptions, recordings.
Problems of all these files are collected and raised together.
"""

import math
from collections.abc import Mapping, Sequence
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
from emulation.scenario.checks.board import check_boards
from emulation.scenario.checks.checks import check_settings
from emulation.scenario.checks.composing import check_composed, check_sources
from emulation.scenario.checks.matching import check_served
from emulation.scenario.files import NamedFiles
from emulation.scenario.ground import plan_zones
from emulation.scenario.interests import plan_interests
from emulation.scenario.movement import plan_mobility
from emulation.scenario.places import Places
from emulation.scenario.populations import check_parts, plan_population
from emulation.scenario.processes import plan_processes
from emulation.scenario.publications import PlannedPublications, plan_publications
from emulation.scenario.recorded_contacts import plan_contacts
from emulation.scenario.scenario import (
    PlannedAdvertisement,
    PlannedPopulation,
    PlannedSensor,
    PlannedSubscription,
    Scenario,
)
from emulation.scenario.sensors import plan_sensor
from emulation.scenario.settings.settings import ScenarioSettings, SubscriptionSettings
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
    """Return the names of the scenarios that come with the package."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def load_scenario(name_or_path: str | Path, changes: Sequence[str] = ()) -> Scenario:
    """Return a shipped scenario by its name, or read one from a file; what is wrong raises
    `DocumentError`. Changes (`group[0].count=20`) are made to its keys before anything is checked."""
    path = _path_of(name_or_path)
    shown = path.name if path.parent == _SHIPPED else str(path)
    text = read_text(path)
    document, positions = parse_toml(text, shown), locate(text)
    made = Changes()
    made.make(document, changes)
    made.mark(document, positions)
    return _scenario(document, Places(shown, positions, made), positions, NamedFiles(path.parent))


def scenario_from_settings(settings: Mapping[str, Any], copies: Mapping[str, Path], shown: str) -> Scenario:
    """Return the scenario that these settings describe, every key given, with the files that it names read
    from copies; what is wrong raises `DocumentError`."""
    nowhere = TomlPositions(dict.fromkeys(paths_in(settings), (0, 0)))
    return _scenario(settings, Places(shown, nowhere, again=True), nowhere, NamedFiles(Path(), copies))


def _scenario(
    document: Mapping[str, Any], places: Places, positions: TomlPositions, files: NamedFiles
) -> Scenario:
    try:
        settings = ScenarioSettings.model_validate(document)
    except ValidationError as error:
        found = problems_from_pydantic(error, positions, places.file, CODES, ScenarioSettings)
        raise DocumentError(places.at_origin(problem, path) for path, problem in found) from None
    told = list(check_settings(settings, places))
    problems = [problem for problem in told if problem.severity == "error"]
    warnings = [problem for problem in told if problem.severity == "warning"]
    table = _table(settings, files, places, problems)
    mobilities: list[MobilityModel] = []
    zones = plan_zones(settings, places, problems)
    for index, group in enumerate(settings.group):
        try:
            mobilities.append(plan_mobility(group, index, settings.area, zones, files, places))
        except DocumentError as error:
            problems.extend(error.problems)
    contacts: Contacts | None = None
    interests: PlannedInterests | None = None
    try:
        contacts = plan_contacts(settings, files, places)
    except DocumentError as error:
        problems.extend(error.problems)
    subscriptions: list[PlannedSubscription] = []
    populations: list[PlannedPopulation] = []
    sensors: list[PlannedSensor] = []
    publications: list[PlannedPublications] = []
    words: Thesaurus | None = None
    try:
        words = _words(settings, files, places)
    except DocumentError as error:
        problems.extend(error.problems)
    if table is not None:
        for index, wanted in enumerate(settings.subscription):
            try:
                subscriptions.append(_subscription(wanted, index, files, table, words, places))
            except DocumentError as error:
                problems.extend(error.problems)
        for index in range(len(settings.population)):
            try:
                populations.append(plan_population(settings, index, table, places))
            except DocumentError as error:
                problems.extend(error.problems)
        try:
            interests = plan_interests(settings, files, table, places)
        except DocumentError as error:
            problems.extend(error.problems)
        for index, sensor in enumerate(settings.sensor):
            try:
                sensors.append(plan_sensor(sensor, index, files, table, places, warnings))
            except DocumentError as error:
                problems.extend(error.problems)
        for index, publication in enumerate(settings.publication):
            try:
                publications.append(plan_publications(publication, index, files, table, places))
            except DocumentError as error:
                problems.extend(error.problems)
    processes = plan_processes(settings, files, places, problems)
    if not problems:
        problems.extend(check_composed(settings, subscriptions, populations, places))
    if table is not None and not problems:
        problems.extend(check_parts(settings, table, subscriptions, populations, places))
    advertisements: tuple[PlannedAdvertisement, ...] = ()
    if table is not None:
        asked = {one.language for one in subscriptions} | {one.language for one in populations}
        asked |= set() if interests is None else {interests.language}
        try:
            offers = ([], []) if problems else (sensors, publications)
            advertisements = plan_advertisements(settings, asked, *offers, files, table, words, places)
        except DocumentError as error:
            problems.extend(error.problems)
    if table is not None and not problems:
        problems.extend(check_served(settings, table, subscriptions, populations, places))
    if table is None or problems:
        raise DocumentError(problems)
    warnings.extend(check_sources(settings, table, subscriptions, sensors, places))
    warnings.extend(check_boards(settings, table.feature_bytes, subscriptions, sensors, places))
    documents = {name: read_text(files.found[name]) for name in settings.vocabularies}
    return Scenario(
        settings,
        table,
        documents,
        files.found,
        tuple(mobilities),
        tuple(subscriptions),
        tuple(populations),
        tuple(sensors),
        tuple(publications),
        advertisements,
        contacts,
        interests,
        processes,
        words,
        tuple(sorted(warnings)),
    )


def check_scenario_file(path: Path) -> list[Problem]:
    """Return everything that is wrong with a scenario file; no error when it can be run."""
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
        raise DocumentError.of_file(name, "D304", f"{message}; a file's name ends in .toml")
    return _SHIPPED / f"{name}.toml"


def _table(
    settings: ScenarioSettings, files: NamedFiles, places: Places, problems: list[Problem]
) -> MissionTable | None:
    named: list[str | Path] = []
    known = shipped_vocabularies()
    for index, vocabulary in enumerate(settings.vocabularies):
        key = ("vocabularies", index)
        if vocabulary.endswith(".toml") or "/" in vocabulary:
            try:
                named.append(files.path(vocabulary, key, places))
            except DocumentError as error:
                problems.extend(error.problems)
        elif vocabulary in known:
            shipped = resources.files("knowledge_manager") / "vocabularies" / f"{vocabulary}.toml"
            named.append(files.shipped(vocabulary, Path(str(shipped))))
        else:
            hint = did_you_mean(vocabulary, known)
            message = f'no vocabulary "{vocabulary}" is shipped{hint} ({listed(known)}, or a .toml file)'
            problems.append(places.problem(key, "D305", message, meant=likely_meant(vocabulary, known)))
    try:
        called = dict(zip(map(str, named), settings.vocabularies, strict=False))
        table = load_mission_table(
            named, taxonomies=lambda path: _taxonomies(called[str(path)], files, places)
        )
        if (seconds := settings.overlay.notification_lifetime_s) is not None:
            lifetimes = {event.name: math.ceil(seconds) for event in table.events}
            table = table.with_notification_lifetimes(lifetimes)
    except DocumentError as error:
        problems.extend(error.problems)
        return None
    return table if len(named) == len(settings.vocabularies) else None


def _taxonomies(vocabulary: str, files: NamedFiles, places: Places) -> FindTaxonomy:
    """Return what finds the taxonomies of a vocabulary: those that ship, and files beside it, which a run
    keeps as it keeps the vocabulary.
    """

    def find(name: str) -> Taxonomy:
        if not is_file_name(name):
            return shipped_taxonomy(name)
        beside = str(PurePosixPath(vocabulary).parent / name)
        return load_taxonomy(files.path(beside, ("vocabularies",), places))

    return find


def _words(settings: ScenarioSettings, files: NamedFiles, places: Places) -> Thesaurus | None:
    """Return the thesauri that the scenario brings along, over the shipped one; none where that will do."""
    if not settings.thesaurus:
        return None
    return load_layers([files.path(name, ("thesaurus",), places) for name in settings.thesaurus])


def _subscription(
    wanted: SubscriptionSettings,
    index: int,
    files: NamedFiles,
    table: MissionTable,
    words: Thesaurus | None,
    places: Places,
) -> PlannedSubscription:
    path = files.path(wanted.file, ("subscription", index, "file"), places)
    source = read_document(path)
    at_ms = int(wanted.at_s * 1000)
    stamp_s = at_ms // 1000 % 65536
    language = language_of_document(source, str(path))
    options = CompileOptions(stamp_s=stamp_s, thesaurus=words)
    compiled = authoring_of(language).compile(source, str(path), table, options)
    return PlannedSubscription(
        wanted.group,
        at_ms,
        None if wanted.withdrawn_at_s is None else int(wanted.withdrawn_at_s * 1000),
        language.language_id,
        compiled.lifetime_q,
        compiled.body,
        wanted.file,
        source.decode(),
    )
