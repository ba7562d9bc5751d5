"""Advertisements of publishers in scenarios with brokers: those of the file, or all that a group measures."""

from collections.abc import Iterator, Mapping, Sequence

from dens.config.problems import DocumentError, Problem, listed
from dens.config.toml_positions import Path
from dens.node.advertising import read_advertisement
from dens.overlay.wire.item import lifetime_code_ms
from emulation.direct_messages import LANGUAGE as DIRECT
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places, collect
from emulation.scenario.publications import PlannedPublications
from emulation.scenario.scenario import PlannedAdvertisement, PlannedSensor
from emulation.scenario.settings.settings import ScenarioSettings
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import EventClass
from plugins.registry import languages
from plugins.routing import routing_of
from watchdog.vector import VectorError

MOST = 256
"""The id of an advertisement is one byte."""

Offer = tuple[str, int, str, tuple[str, ...], Path]
"""Group, language, event class, its attributes, and the key they come from."""


def plan_advertisements(
    settings: ScenarioSettings,
    subscribed: set[int],
    sensors: Sequence[PlannedSensor],
    publications: Sequence[PlannedPublications],
    files: NamedFiles,
    table: MissionTable,
    words: Thesaurus | None,
    places: Places,
) -> tuple[PlannedAdvertisement, ...]:
    """Return the advertisements for subscriptions in these languages, or raise `DocumentError`. If mediators
    carry, there are none.
    """
    if settings.overlay.routing == "carry":
        return ()
    spared, known = settings.overlay.broker.spared, languages()
    relations = {number: routing_of(language, table, spared) for number, language in known.items()}
    problems: list[Problem] = []
    planned: dict[str, list[PlannedAdvertisement]] = {}
    for index in range(len(settings.advertisement)):
        with collect(problems):
            written = _written(settings, index, files, table, words, places)
            planned.setdefault(written.group, []).append(written)
    problems.extend(_unmeasured(settings, planned, sensors, publications, table, places))
    lifetime_q = lifetime_code_ms(int(1000 * settings.duration_s) + 1000)
    matched = {number for language in subscribed if language in known for number in known[language].matchers}
    for group, language, event, attributes, key in _offers(settings, matched, sensors, publications):
        own = planned.setdefault(group, [])
        if any(plan.language == language and plan.file is not None for plan in own):
            continue
        routing, event_class = relations[language], table.source_class(event)
        body = None
        if routing is not None and isinstance(event_class, EventClass):
            body = routing.advertisement(event_class, [event_class.attribute(name) for name in attributes])
        if body is None:
            message = (
                f'"{group}" has no advertisement: the {known[language].name} language cannot derive one '
                "from its sources; write one and name it in [[advertisement]]"
            )
            problems.append(places.problem(key, "D363", message))
        else:
            own.append(PlannedAdvertisement(group, len(own), 0, None, language, lifetime_q, body))
    for traffic in settings.traffic:
        own = planned.setdefault(traffic.source, [])
        if all(plan.language != DIRECT for plan in own):
            own.append(PlannedAdvertisement(traffic.source, len(own), 0, None, DIRECT, lifetime_q, b""))
    if problems:
        raise DocumentError(problems)
    return tuple(plan for own in planned.values() for plan in own)


def _written(
    settings: ScenarioSettings,
    index: int,
    files: NamedFiles,
    table: MissionTable,
    words: Thesaurus | None,
    places: Places,
) -> PlannedAdvertisement:
    advertisement = settings.advertisement[index]
    key = ("advertisement", index, "file")
    path = files.path(advertisement.file, key, places)
    try:
        written = read_advertisement(path, table, settings.overlay.broker.spared, words)
    except VectorError as error:
        raise DocumentError([places.problem(key, "D364", error.message)]) from None
    id = sum(other.group == advertisement.group for other in settings.advertisement[:index])
    if id >= MOST:
        message = f'"{advertisement.group}" has more than {MOST} advertisements'
        raise DocumentError([places.problem(key, "D312", message)])
    return PlannedAdvertisement(
        advertisement.group,
        id,
        int(advertisement.at_s * 1000),
        None if advertisement.withdrawn_at_s is None else int(advertisement.withdrawn_at_s * 1000),
        written.language,
        written.lifetime_q,
        written.body,
        advertisement.file,
    )


def _unmeasured(
    settings: ScenarioSettings,
    planned: Mapping[str, Sequence[PlannedAdvertisement]],
    sensors: Sequence[PlannedSensor],
    publications: Sequence[PlannedPublications],
    table: MissionTable,
    places: Places,
) -> Iterator[Problem]:
    """Yield advertisements of event classes that a group neither measures nor publishes: its sources would
    refuse them when the run begins.
    """
    published: dict[str, set[str]] = {}
    for sensor in sensors:
        published.setdefault(sensor.group, set()).add(sensor.event.name)
    for plan in publications:
        published.setdefault(plan.group, set()).update(document.event for document in plan.publications)
    for index, advertisement in enumerate(settings.advertisement):
        events = published.get(advertisement.group)
        for candidate in planned.get(advertisement.group, ()):
            if candidate.file != advertisement.file or events is None:
                continue
            question = languages()[candidate.language].lookup(table).question(candidate.body)
            needed = {alternative.event for alternative in question.alternatives or ()}
            about = {event.name for event in table.events if event.index in needed}
            if about and not about & events:
                message = f'it is about {listed(sorted(about))}, but "{advertisement.group}" publishes '
                message += listed(sorted(events))
                yield places.problem(("advertisement", index, "file"), "D364", message)


def _offers(
    settings: ScenarioSettings,
    matched: set[int],
    sensors: Sequence[PlannedSensor],
    publications: Sequence[PlannedPublications],
) -> Iterator[Offer]:
    """Yield what groups publish in these languages, merged by event class."""
    offers: dict[tuple[str, int, str], tuple[dict[str, None], Path]] = {}

    def add(group: str, language: int, event: str, attributes: Sequence[str], key: Path) -> None:
        names, _ = offers.setdefault((group, language, event), ({}, key))
        names.update(dict.fromkeys(attributes))

    of_readings = sorted(
        language for language in matched - {DIRECT} if languages()[language].ground_truth is not None
    )
    for index, sensor in enumerate(sensors):
        for language in of_readings:
            add(sensor.group, language, sensor.event.name, sensor.attributes, ("sensor", index))
    for index, plan in enumerate(publications):
        for document in plan.publications:
            add(plan.group, plan.language, document.event, document.attributes, ("publication", index))
    for (group, language, event), (names, key) in offers.items():
        yield group, language, event, tuple(names), key
