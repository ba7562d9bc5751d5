"""What an end advertises to a broker: what is written for it, else all that it measures or that its documents
tell.
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
    """What became of it: the names of the languages in which something new is advertised, and of those in
    which nothing is.
    """

    languages: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def read_advertisement(
    path: Path, table: MissionTable, options: RoutingOptions, words: Thesaurus | None
) -> WrittenAdvertisement:
    """Compile an advertisement, which is written as a subscription is. One that its language refuses raises
    `VectorError`, a document with errors `DocumentError`.
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
    """Compile the advertisements of an end; everything wrong with all of them raises one `DocumentError`."""
    found: list[WrittenAdvertisement] = []
    problems: list[Problem] = []
    for path in files:
        try:
            found.append(read_advertisement(path, plan.table, plan.settings.broker.spared, words))
        except VectorError as error:
            problems.append(Problem(str(path), 0, 0, "error", "D364", error.message))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    return found


def advertise(
    end: PublisherEndpoint,
    offered: LocalDataDictionary,
    languages: Iterable[int],
    plan: NodePlan,
    now_ms: int,
    written: Sequence[WrittenAdvertisement] = (),
) -> Advertised:
    """Advertise what is offered in these languages where the node is a broker. A written advertisement takes
    the place of the one that its language makes.
    """
    if plan.settings.routing == "carry":
        return Advertised()
    news: dict[str, None] = {}
    missing: list[str] = []
    wanted = list(written)
    by_hand = {one.language for one in written}
    for number in languages:
        own = list(_made(offered, number, plan)) if number not in by_hand else []
        wanted += own
        if not own and number not in by_hand:
            missing.append(plan.languages[number].name)
    for id, one in enumerate(wanted):
        if not end.advertises(id, one.body):
            vector = framed(id, end.next_advertisement(id), one.lifetime_q, one.body)
            end.advertise(vector, one.language, now_ms)
            news[plan.languages[one.language].name] = None
    return Advertised(tuple(news), tuple(missing))


def _made(offered: LocalDataDictionary, number: int, plan: NodePlan) -> Iterator[WrittenAdvertisement]:
    """Yield what a language makes of what is offered. Which graphs there will be, a language cannot know."""
    routing = routing_of(plan.languages[number], plan.table, plan.settings.broker.spared)
    if routing is None:
        return
    for source in offered.sources:
        if isinstance(source.event, EventClass):
            attributes = [one for one in source.attributes if isinstance(one, Attribute)]
            body = routing.advertisement(source.event, attributes)
            if body is not None:
                yield WrittenAdvertisement(number, ANNOUNCE_LIFETIME_Q, body)


def report(advertised: Advertised, say: Callable[[str], None]) -> None:
    """Report in which languages something new is advertised, and in which nothing is."""
    if advertised.languages:
        say(f"advertised to brokers in the {listed(advertised.languages)} language")
    for name in advertised.missing:
        say(
            f"nothing is advertised in the {name} language, so its subscribers receive nothing from here: it "
            "makes no advertisement by itself; write one and name it with --advertise FILE"
        )
