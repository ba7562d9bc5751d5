"""Finds what the nodes of a partition measure: at a moment of a run, or now around a running DENS node."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dens.app.node.run_offers import Partition, RunOffers
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from dens.node.processes.directory_query import DirectoryQuery, Offering
    from dens.node.settings.node_file import NodePlan
    from knowledge_manager.dictionary.distributed import DistributedDataDictionary
    from knowledge_manager.dictionary.offers import AlternativeOffers, Offer
    from knowledge_manager.lookup.lookup import LookUpResult
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus.thesaurus import Thesaurus

FIRST_VISITOR: Final = 1 << 30
"""Node numbers from here are drawn at random for commands that only ask. A number that was just used at one
address is not accepted at another for a while (docs/explanation/security.md), and two commands have two
addresses."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its meanings in the mission table, and the look-up question for the attributes it means."""

    text: str
    answer: "LookUpResult"
    question: bytes | None
    """None if the word means no attribute that can be measured."""

    def concerns(self, offer: "Offer") -> bool:
        from knowledge_manager.dictionary.question import concerns_attribute

        return self.question is not None and concerns_attribute(
            self.question, offer.event.index, offer.attribute.index
        )


def find_word(text: str, table: "MissionTable", words: "Thesaurus", language: str | None) -> Word:
    """Look up a word in the mission table and the thesauri."""
    from knowledge_manager.dictionary.offers import interests_of
    from knowledge_manager.dictionary.question import encode_question
    from knowledge_manager.lookup.lookup import look_up

    answer = look_up(text, table, words, language)
    wanted = interests_of(answer.meanings, table)
    return Word(text, answer, encode_question(wanted, table.feature_bytes) if wanted else None)


@dataclass(frozen=True, slots=True)
class OffersInRun:
    """What a node of a run could subscribe to at one moment."""

    partition: Partition
    offers: "tuple[Offer, ...]"
    announcements: "DistributedDataDictionary"
    serving: "tuple[AlternativeOffers, ...]" = ()
    """Who can serve the given subscription, for each of its alternatives."""
    word: Word | None = None

    def as_document(self) -> dict[str, Any]:
        partition = self.partition
        return {
            **({} if self.word is None else self.word.answer.as_document()),
            "node": partition.node,
            "at_ms": partition.at_ms,
            "partition": [
                {"node": reached, "name": partition.names[reached], "hops": hops}
                for reached, hops in partition.hops.items()
            ],
            "offers": [offer.as_document() for offer in self.offers],
            "announcements": self.announcements.as_document(),
            "subscription": [alternative.as_document() for alternative in self.serving],
        }


def offers_in_run(
    run: Path,
    node: str,
    at_s: float | None = None,
    *,
    word: str | None = None,
    subscription: str | None = None,
    subscription_language: str | None = None,
    thesauri: Sequence[str | Path] = (),
    language: str | None = None,
) -> OffersInRun:
    """Return what is measured in the partition of a node, at the end of a run by default.

    The thesauri of the run are used below the given ones.
    """
    from dens.app.subscriptions.subscription import read_subscription
    from dens.app.tables import chosen_thesaurus
    from knowledge_manager.dictionary.offers import browse_offers, offers_for

    recorded = RunOffers(run)
    table = recorded.mission_table()
    at_ms = recorded.end_ms if at_s is None else round(at_s * 1000)
    partition = recorded.partition_of(recorded.node_called(node), at_ms)
    known = recorded.dictionary(partition, table)
    words = chosen_thesaurus([*thesauri, *recorded.thesauri()], language)
    offers = browse_offers(known, table, words, language)
    found = None if word is None else find_word(word, table, words, language)
    if found is not None:
        offers = tuple(offer for offer in offers if found.concerns(offer))
    serving: tuple[AlternativeOffers, ...] = ()
    if subscription is not None:
        given = read_subscription(subscription, table, words, subscription_language)
        serving = offers_for(known, table, given.language_id, given.body)
    return OffersInRun(partition, offers, known, serving, found)


@dataclass(frozen=True, slots=True)
class OffersNow:
    """What the partition of a running DENS node answered. `query` is None if no question was sent."""

    offers: "list[tuple[Offer, tuple[Offering, ...]]]" = field(default_factory=list)
    query: "DirectoryQuery | None" = None
    word: Word | None = None
    exit_code: int = exits.FINE
    """Exit code of the asking process. Anything but 0 and 1 means that it was aborted."""

    @property
    def is_answered(self) -> bool:
        return self.query is not None and self.query.is_answered

    @property
    def mediators(self) -> int:
        """Return the number of DENS nodes that answered."""
        heard = None if self.query is None else self.query.heard
        return 0 if heard is None else heard.mediators

    @property
    def missing(self) -> list[str]:
        """Return why the answer may be incomplete."""
        heard = None if self.query is None else self.query.heard
        return [] if heard is None else list(heard.missing)

    def as_document(self) -> dict[str, Any]:
        return {
            **({} if self.word is None else self.word.answer.as_document()),
            "mediators": self.mediators,
            "missing": self.missing,
            "offers": [
                {**offer.as_document(), "by": [one.as_document() for one in by]} for offer, by in self.offers
            ],
        }


def offers_now(
    node: Path,
    *,
    word: str | None = None,
    at: str | None = None,
    number: int | None = None,
    wait_s: float = 5.0,
    hops: int | None = None,
    thesauri: Sequence[str | Path] = (),
    language: str | None = None,
) -> OffersNow:
    """Ask the partition of a running DENS node what is measured in it, or who measures what a word means.

    No question is sent for a word that means no attribute.
    """
    from dens.app.tables import chosen_thesaurus
    from dens.node.settings.node_file import load_node
    from knowledge_manager.dictionary.question import EVERYTHING

    plan = load_node(node)
    words = chosen_thesaurus([*thesauri, *plan.thesauri], language)
    found = None if word is None else find_word(word, plan.table, words, language)
    question = EVERYTHING if found is None else found.question
    if question is None:
        return OffersNow(word=found)
    query, code = _ask(plan, question, at, number, wait_s, hops)
    offers = [
        (offer, by)
        for offer, by in query.offers(plan.table, words, language)
        if found is None or found.concerns(offer)
    ]
    return OffersNow(offers, query, found, code)


def _ask(
    plan: "NodePlan", question: bytes, at: str | None, number: int | None, wait_s: float, hops: int | None
) -> "tuple[DirectoryQuery, int]":
    """Ask as a subscriber that keeps nothing; return the answer and the exit code of the process."""
    import secrets
    from tempfile import TemporaryDirectory

    from dens.app.node.node_links import end_links
    from dens.node.assembly import subscriber
    from dens.node.clock import real_clock
    from dens.node.output.event_output import warn_of_key
    from dens.node.output.stdout import say
    from dens.node.processes.directory_query import DirectoryQuery
    from dens.node.processes.discovery_setup import discovery_setup
    from dens.node.processes.process import NodeProcess, run_process
    from dens.node.processes.reachability import NodeReachability
    from dens.node.storage.opening import SUBSCRIBER, open_store
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator

    clock = real_clock()
    asking = FIRST_VISITOR + secrets.randbelow(FIRST_VISITOR) if number is None else number
    links = end_links(plan, asking, at)
    warn_of_key(plan)
    with TemporaryDirectory() as folder:
        owner = Owner(SUBSCRIBER, asking)
        store = open_store(Path(folder) / "asks.sqlite", owner, clock(), say, recover=False)
        end = subscriber(plan, asking, store, clock(), None)
        query = DirectoryQuery(end, question, NodeReachability.of(end, plan, links, say))
        code = run_process(
            NodeProcess(
                end,
                store,
                Authenticator(asking, plan.secret),
                links,
                clock,
                query.on_event,
                work=lambda runtime: query.ask(runtime, wait_s, hops),
                discovery=discovery_setup(plan, end, links, clock()),
            )
        )
    return query, code
