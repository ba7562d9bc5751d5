"""Reads the documents that a group publishes."""

from dataclasses import dataclass

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from dens.config.reading import read_document
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import PublicationSettings
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import NOTIFICATION_LIFETIME_S
from plugins.publications import Publication
from plugins.registry import languages
from watchdog.lifetime import lifetime_code


@dataclass(frozen=True, slots=True)
class PlannedPublications:
    """The documents that every node of a group publishes in turn."""

    group: str
    language: int
    at_ms: int
    every_ms: int
    publications: tuple[Publication, ...]
    lifetimes: tuple[int, ...]
    """The lifetime code of each publication."""


def plan_publications(
    wanted: PublicationSettings, index: int, files: NamedFiles, table: MissionTable, places: Places
) -> PlannedPublications:
    """Return the documents ready to be published, or raise `DocumentError` with all problems."""
    readers = {known.name: known for known in languages().values() if known.publications is not None}
    spoken = readers.get(wanted.language)
    if spoken is None or spoken.publications is None:
        names = sorted(readers)
        message = f'documents cannot be published in "{wanted.language}" '
        message += f"({listed(names) if names else 'no language that is installed has any'})"
        message += did_you_mean(wanted.language, names)
        meant = likely_meant(wanted.language, names)
        raise DocumentError(
            [places.problem(("publication", index, "language"), "D324", message, meant=meant)]
        )
    reader = spoken.publications()
    read: list[Publication] = []
    problems: list[Problem] = []
    for position, name in enumerate(wanted.files):
        try:
            path = files.path(name, ("publication", index, "files", position), places)
            read.append(reader.read(read_document(path), str(path), table))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    return PlannedPublications(
        wanted.group,
        spoken.language_id,
        int(wanted.at_s * 1000),
        max(1, int(wanted.every_s * 1000)),
        tuple(read),
        tuple(_lifetime(wanted, publication, table) for publication in read),
    )


def _lifetime(wanted: PublicationSettings, publication: Publication, table: MissionTable) -> int:
    """Return the lifetime code of a document: that of the scenario, the document, or its event class."""
    if wanted.lifetime_s is not None:
        return lifetime_code(int(wanted.lifetime_s))
    if publication.lifetime_q is not None:
        return publication.lifetime_q
    lifetimes = {known.name: known.notification_lifetime_s for known in table.source_classes}
    return lifetime_code(lifetimes.get(publication.event, NOTIFICATION_LIFETIME_S))
