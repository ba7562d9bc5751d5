"""What publishers advertise where mediators are brokers: what somebody wrote, else all that they measure."""

from collections.abc import Iterator, Mapping, Sequence

from dens.config.problems import DocumentError, Problem, listed
from dens.config.toml_positions import Path
from dens.node.advertising import read_advertisement
from dens.overlay.wire.item import lifetime_code_ms
from emulation.direct_messages import LANGUAGE as DIRECT
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places
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
"""An advertisement's number at its publisher is one byte."""

Offer = tuple[str, int, str, tuple[str, ...], Path]
"""A group, a language, an event class, attributes of it, and the key that says so."""


def plan_advertisements(
    settings: ScenarioSettings,
    asked: set[int],
    sensors: Sequence[PlannedSensor],
    publications: Sequence[PlannedPublications],
    files: NamedFiles,
    table: MissionTable,
    words: Thesaurus | None,
    places: Places,
) -> tuple[PlannedAdvertisement, ...]:
    """Return what publishers advertise to those who ask in these languages, or raise `DocumentError` with
    everything wrong. Where mediators carry nobody advertises.
    """
    if settings.overlay.routing == "carry":
        return ()
    spared, known = settings.overlay.broker.spared, languages()
    relations = {number: routing_of(one, table, spared) for number, one in known.items()}
    problems: list[Problem] = []
    planned: dict[str, list[PlannedAdvertisement]] = {}
    for index in range(len(settings.advertisement)):
        try:
            written = _written(settings, index, files, table, words, places)
            planned.setdefault(written.group, []).append(written)
        except DocumentError as error:
            problems.extend(error.problems)
    problems.extend(_untold(settings, planned, sensors, publications, table, places))
    lifetime_q = lifetime_code_ms(int(1000 * settings.duration_s) + 1000)
    told = {number for one in asked if one in known for number in known[one].matchers}
    for group, language, event, attributes, key in _offers(settings, told, sensors, publications):
        own = planned.setdefault(group, [])
        if any(one.language == language and one.file is not None for one in own):
            continue
        routing, event_class = relations[language], table.source_class(event)
        body = None
        if routing is not None and isinstance(event_class, EventClass):
            body = routing.advertisement(event_class, [event_class.attribute(name) for name in attributes])
        if body is None:
            message = (
                f'nobody says what "{group}" may publish: the {known[language].name} language makes no '
                "advertisement by itself; write one, and name it in [[advertisement]]"
            )
            problems.append(places.problem(key, "D363", message))
        else:
            own.append(PlannedAdvertisement(group, len(own), 0, None, language, lifetime_q, body))
    for traffic in settings.traffic:
        own = planned.setdefault(traffic.source, [])
        if all(one.language != DIRECT for one in own):
            own.append(PlannedAdvertisement(traffic.source, len(own), 0, None, DIRECT, lifetime_q, b""))
    if problems:
        raise DocumentError(problems)
    return tuple(one for own in planned.values() for one in own)


def _written(
    settings: ScenarioSettings,
    index: int,
    files: NamedFiles,
    table: MissionTable,
    words: Thesaurus | None,
    places: Places,
) -> PlannedAdvertisement:
    wanted = settings.advertisement[index]
    key = ("advertisement", index, "file")
    path = files.path(wanted.file, key, places)
    try:
        written = read_advertisement(path, table, settings.overlay.broker.spared, words)
    except VectorError as error:
        raise DocumentError([places.problem(key, "D364", error.message)]) from None
    id = sum(one.group == wanted.group for one in settings.advertisement[:index])
    if id >= MOST:
        message = f'"{wanted.group}" would advertise more than {MOST} things'
        raise DocumentError([places.problem(key, "D312", message)])
    return PlannedAdvertisement(
        wanted.group,
        id,
        int(wanted.at_s * 1000),
        None if wanted.withdrawn_at_s is None else int(wanted.withdrawn_at_s * 1000),
        written.language,
        written.lifetime_q,
        written.body,
        wanted.file,
    )


def _untold(
    settings: ScenarioSettings,
    planned: Mapping[str, Sequence[PlannedAdvertisement]],
    sensors: Sequence[PlannedSensor],
    publications: Sequence[PlannedPublications],
    table: MissionTable,
    places: Places,
) -> Iterator[Problem]:
    """Yield what groups advertise of event classes that none of their sensors and documents tells anything
    of: their sources would refuse it when the run begins.
    """
    tells: dict[str, set[str]] = {}
    for sensor in sensors:
        tells.setdefault(sensor.group, set()).add(sensor.event.name)
    for plan in publications:
        tells.setdefault(plan.group, set()).update(one.event for one in plan.publications)
    for index, wanted in enumerate(settings.advertisement):
        for one in planned.get(wanted.group, ()):
            known = tells.get(wanted.group)
            if one.file != wanted.file or known is None:
                continue
            needed = languages()[one.language].lookup(table).question(one.body).alternatives or ()
            about = {event.name for event in table.events if event.index in {each.event for each in needed}}
            if about and not about & known:
                told = listed(sorted(known))
                message = f'it is about {listed(sorted(about))}, and "{wanted.group}" tell of {told}'
                yield places.problem(("advertisement", index, "file"), "D364", message)


def _offers(
    settings: ScenarioSettings,
    told: set[int],
    sensors: Sequence[PlannedSensor],
    publications: Sequence[PlannedPublications],
) -> Iterator[Offer]:
    """Yield what groups have to tell, each once: of one event class together, whatever it comes from."""
    found: dict[tuple[str, int, str], tuple[dict[str, None], Path]] = {}

    def add(group: str, language: int, event: str, attributes: Sequence[str], key: Path) -> None:
        names, _ = found.setdefault((group, language, event), ({}, key))
        names.update(dict.fromkeys(attributes))

    of_readings = sorted(one for one in told - {DIRECT} if languages()[one].ground_truth is not None)
    for index, sensor in enumerate(sensors):
        for language in of_readings:
            add(sensor.group, language, sensor.event.name, sensor.attributes, ("sensor", index))
    for index, plan in enumerate(publications):
        for told_once in plan.publications:
            add(plan.group, plan.language, told_once.event, told_once.attributes, ("publication", index))
    for (group, language, event), (names, key) in found.items():
        yield group, language, event, tuple(names), key
