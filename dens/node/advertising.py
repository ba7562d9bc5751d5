"""Advertisements of an endpoint to brokers: written ones, else one for everything that it measures or
publishes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dens.config.problems import DocumentError, Problem, listed
from dens.config.reading import read_document
from dens.node.settings.node_file import NodePlan
from dens.overlay.endpoints.publisher import ANNOUNCE_LIFETIME_Q, PublisherEndpoint
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring import CompileOptions
from plugins.registry import authoring_of, language_of_document
from plugins.routing import RoutingOptions, routing_of
from watchdog.header import framed
from watchdog.vector import VectorError


@dataclass(frozen=True, slots=True)
class WrittenAdvertisement:
    """An advertisement that a document describes."""

    language: int
    lifetime_q: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Advertised:
    """Names of the languages with new advertisements, and of those without any."""

    languages: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def read_advertisement(
    path: Path, table: MissionTable, options: RoutingOptions, words: Thesaurus | None
) -> WrittenAdvertisement:
    """Compile an advertisement, which has the form of a subscription.

    Raises `VectorError` if its language refuses it, `DocumentError` if the document has errors.
    """
    source = read_document(path)
    language = language_of_document(source, str(path))
    compiled = authoring_of(language).compile(source, str(path), table, CompileOptions(thesaurus=words))
    routing = routing_of(language, table, options)
    if routing is not None:
        routing.includes(compiled.body, compiled.body)
    return WrittenAdvertisement(language.language_id, compiled.lifetime_q, compiled.body)


def read_advertisements(
    files: Sequence[Path], plan: NodePlan, words: Thesaurus | None
) -> list[WrittenAdvertisement]:
    """Compile the advertisements of an endpoint; all problems are raised as one `DocumentError`."""
    advertisements: list[WrittenAdvertisement] = []
    problems: list[Problem] = []
    for path in files:
        try:
            advertisements.append(read_advertisement(path, plan.table, plan.settings.broker.spared, words))
        except VectorError as error:
            problems.append(Problem(str(path), 0, 0, "error", "D364", error.message))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    return advertisements


def advertise(
    end: PublisherEndpoint,
    offered: LocalDataDictionary,
    languages: Iterable[int],
    plan: NodePlan,
    now_ms: int,
    written: Sequence[WrittenAdvertisement] = (),
) -> Advertised:
    """Advertise the offers in these languages if the node is a broker.

    A written advertisement replaces the one that its language generates.
    """
    if plan.settings.routing == "carry":
        return Advertised()
    new_languages: dict[str, None] = {}
    missing: list[str] = []
    advertisements = list(written)
    written_languages = {advertisement.language for advertisement in written}
    for number in languages:
        if number in written_languages:
            continue
        generated = list(_generate(offered, number, plan))
        advertisements += generated
        if not generated:
            missing.append(plan.languages[number].name)
    for id, advertisement in enumerate(advertisements):
        if not end.advertises(id, advertisement.body):
            seq = end.next_advertisement(id)
            vector = framed(id, seq, advertisement.lifetime_q, advertisement.body)
            end.advertise(vector, advertisement.language, now_ms)
            new_languages[plan.languages[advertisement.language].name] = None
    return Advertised(tuple(new_languages), tuple(missing))


def _generate(offered: LocalDataDictionary, number: int, plan: NodePlan) -> Iterator[WrittenAdvertisement]:
    """Yield the advertisements that a language generates from the offers. Graph languages cannot: the graphs
    of the future are unknown.
    """
    routing = routing_of(plan.languages[number], plan.table, plan.settings.broker.spared)
    if routing is None:
        return
    for source in offered.sources:
        if isinstance(source.event, EventClass):
            attributes = [attribute for attribute in source.attributes if isinstance(attribute, Attribute)]
            body = routing.advertisement(source.event, attributes)
            if body is not None:
                yield WrittenAdvertisement(number, ANNOUNCE_LIFETIME_Q, body)


def report(advertised: Advertised, say: Callable[[str], None]) -> None:
    """Report new advertisements, and languages without any."""
    if advertised.languages:
        say(f"advertised to brokers in the {listed(advertised.languages)} language")
    for name in advertised.missing:
        say(
            f"nothing is advertised in the {name} language, which generates no advertisements, so its "
            "subscribers receive nothing from here; write one and give it with --advertise FILE"
        )
