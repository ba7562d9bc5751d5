"""The interface of a subscription language.

How an event is *described* is independent of how it *travels*. A language is a value made of factories, one
per task: find publishers (look-up, on a DENS node), filter readings (at the source), match notifications (on
a DENS node), author subscriptions (in commands), compute ground truth (in Spark). Optional factories are
None; callers that need one report that it is missing.

A language sees only the *body* of a subscription. Number, revision and lifetime precede it on the air
(`watchdog.header`) and belong to the overlay.

One property holds for every language and is tested for all: the filter releases whatever would match.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from dens.config.refusal import Refusal
from dens.interfaces import (
    BoundLanguage,
    Composer,
    CompositeNotification,
    CoverIndex,
    Matcher,
    Result,
    ResultReader,
    SubscriptionKey,
)
from knowledge_manager.mission_table import MissionTable
from watchdog.reading import Reading, Release

if TYPE_CHECKING:
    from knowledge_manager.dictionary.extract import Extract
    from plugins.authoring import Authoring
    from plugins.ground_truth import GroundTruth
    from plugins.publications import PublicationReader
    from plugins.relations import Relations
    from plugins.routing import AdvertisingRelations, RoutingOptions

__all__ = [
    "BOARD_LANGUAGE_ID",
    "DETAIL_BYTES",
    "BoundLanguage",
    "Composer",
    "CompositeNotification",
    "CoverIndex",
    "Damper",
    "DocumentFilter",
    "LanguageDefect",
    "LevelledMatcher",
    "LookUp",
    "Match",
    "Matcher",
    "NamingFilter",
    "NotServed",
    "Part",
    "Question",
    "Release",
    "Requirement",
    "Result",
    "ResultReader",
    "SourceFilter",
    "SubscriptionKey",
    "SubscriptionLanguage",
]

BOARD_LANGUAGE_ID: Final = 1
"""The language that boards implement (docs/reference/vector-format.md)."""

DETAIL_BYTES: Final = 255
"""Maximum length of `Match.detail`."""


class LanguageDefect(Refusal):
    """A language of another package raised or returned something invalid. The message has its name, the
    verb, and the place.
    """


@dataclass(frozen=True, slots=True)
class Match:
    """One subscription that a notification satisfies.

    `detail` is opaque to the overlay. It travels with the notification to the subscriber and into the trace;
    `Authoring.describe_match` renders it.
    """

    key: SubscriptionKey
    degree_u8: int
    detail: bytes = b""
    revision: int | None = None
    """The only revision of the subscription that it is valid for, if the notification names one."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A publisher that measures all these attributes of this event class can serve the subscription."""

    event: int
    attributes: frozenset[int]


class Question(Protocol):
    """Which publishers can serve a subscription."""

    @property
    def alternatives(self) -> Sequence[Requirement] | None:
        """Return requirements, any of which suffices and nothing else matters, so that a directory can use an
        index. None if only `serves` can decide.
        """
        ...

    def serves(self, extract: "Extract") -> bool:
        """Return whether a publisher with this offer can serve the subscription."""
        ...


class LookUp(Protocol):
    """Derives from a subscription which publishers can serve it."""

    def question(self, body: bytes) -> Question: ...


class SourceFilter(Protocol):
    """Decides at the source which readings become notifications. It may keep state between readings."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Remove it; an unknown key is ignored."""
        ...

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications of this reading, most attributes first.

        On a host, the reading is a `plugins.readings.ExactReading`, which also has the exact values.
        """
        ...


class DocumentFilter(SourceFilter, Protocol):
    """A filter that also takes documents. A document is published as it is, without readings."""

    def offer(self, document: bytes) -> list[Release]:
        """Return the notifications of this document, none if no subscription matches."""
        ...


@runtime_checkable
class NamingFilter(SourceFilter, Protocol):
    """A filter whose notifications contain the source and the subscription."""

    def introduce(self, node: int) -> None:
        """Set the node number of the source."""
        ...

    def announce(self, origin: int, id: int, revision: int) -> None:
        """Set the subscription and the revision of the next `add`, whose key may be an alias."""
        ...


class Damper(Protocol):
    """Suppresses notifications that add nothing new."""

    def judge(self, vector: bytes, now_ms: int) -> int:
        """Return 0 and count the notification as sent, or the rule that suppresses it (`watchdog.damper`)."""
        ...


@runtime_checkable
class Grader(Protocol):
    """A matcher that can also return degrees only, for callers that match every reading."""

    def grades(self, vector: bytes, event_ms: int, now_ms: int) -> dict[int, int]:
        """Return the degrees of what `match` returns, by origin·256 + id, in its order."""
        ...


def grades_of(matcher: Matcher) -> Callable[[bytes, int, int], dict[int, int]]:
    """Return a function that computes degrees only, by `match` if the matcher is not a `Grader`."""
    if isinstance(matcher, Grader):
        return matcher.grades

    def grades(vector: bytes, event_ms: int, now_ms: int) -> dict[int, int]:
        found = matcher.match(vector, event_ms, now_ms)
        return {match.key[0] << 8 | match.key[1]: match.degree_u8 for match in found}

    return grades


class LevelledMatcher(Matcher, Protocol):
    """A matcher that can order a batch by estimated work, at one of several levels."""

    def use_level(self, level: int | None) -> None:
        """Estimate the following batches at this level: 1 estimates nothing, None chooses the best. An
        unknown level raises `ValueError`, which lists the levels.
        """
        ...


class NotServed(ValueError):
    """The subscription is valid but this algorithm does not support it; another algorithm of the language
    does.
    """


@dataclass(frozen=True, slots=True)
class Part:
    """A subscription of another language that covers a part of the original."""

    language_id: int
    body: bytes


TakeApart = Callable[[bytes], tuple[Part, ...]]
"""From a body to subscriptions of other languages that together cover it."""


def no_parts(table: MissionTable) -> TakeApart:
    """Decompose into nothing: sources that do not implement the language cannot serve it."""
    return lambda body: ()


MatcherFactory = Callable[[MissionTable], Matcher]

RequestedValue = tuple[int, int, int]
"""Event, attribute, and the normalised byte in the middle of the requested values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionLanguage:
    """All factories of a language. Only those without which a node cannot run have no default."""

    language_id: int
    """Its number in messages. 0 to 15 are reserved for this project, other packages use the rest."""
    name: str
    """Its name in commands and scenarios."""
    lookup: Callable[[MissionTable], LookUp]
    source_filter: Callable[[MissionTable], SourceFilter]
    matcher: MatcherFactory
    listens_to: Mapping[int, MatcherFactory] | None = None
    """Matchers by the language of the notifications that they match; None means `matcher` for its own
    notifications. All of them take the same bodies."""
    composer: Callable[[MissionTable], Composer] | None = None
    """Derives notifications of this language from others; None if nothing is composed."""
    results: ResultReader | None = None
    """Reads the content of its notifications, if several notifications can have the same content;
    else None."""
    parts: Callable[[MissionTable], TakeApart] = no_parts
    """Decomposes subscriptions for sources that do not implement the language."""
    source_only_features: "Callable[[MissionTable, bytes], str] | None" = None
    """Parts of a subscription that only sources with this language can evaluate, as text; empty if mediators
    can evaluate all of it. None means empty for all bodies."""
    reads_values: bool = False
    """Whether exact values matter, not only their bytes (`plugins.readings`); runs with such subscriptions
    record them."""
    authoring: "Callable[[], Authoring] | None" = None
    """Commands for people. A factory, so that a node does not import any of it."""
    namespaces: tuple[str, ...] = ()
    """XML namespaces of its documents, the one it writes first. A plain value: finding the language of a
    document must not import the authoring of every language."""
    suffixes: tuple[str, ...] = ()
    """File name suffixes of its documents if they are not XML. XML is recognised by its namespace."""
    publication_suffixes: tuple[str, ...] = ()
    """File name suffixes of its publications if they are not XML."""
    publications: "Callable[[], PublicationReader] | None" = None
    """Reads documents into notifications, which are offered to its filter, a `DocumentFilter`."""
    algorithms: Mapping[str, MatcherFactory] = field(default_factory=dict)
    """Alternative matchers by name; all return the same matches."""
    partial_algorithms: frozenset[str] = frozenset()
    """Algorithms that do not support every subscription (`NotServed`), so nodes cannot use them."""
    conditions: "Mapping[str, Callable[[], SubscriptionLanguage]]" = field(default_factory=dict)
    """The language under each feature condition (when a notification can serve a subscription at all), by
    name: same number and name, different matchers, filters and ground truth."""
    source_filters: "Mapping[str, Callable[[MissionTable], SourceFilter]]" = field(default_factory=dict)
    """Alternative source filters by algorithm; all release the same."""
    announced_filter: "Callable[[MissionTable], SourceFilter] | None" = None
    """Filter of sources that advertise to brokers. It is given advertisements only and releases what they
    advertise (`RoutingRelations.admits`). None: the default filter, which releases what satisfies an
    advertisement."""
    relations: "Callable[[MissionTable], Relations] | None" = None
    routing: "Callable[[MissionTable, RoutingOptions], AdvertisingRelations] | None" = None
    """Relations for brokers, if they are more than `relations` provides (`plugins.routing`)."""
    source_covers: Callable[[MissionTable], CoverIndex] | None = None
    """Index of covering at a source, so that mediators can suppress installs; None installs everything."""
    ground_truth: "Callable[[MissionTable], GroundTruth] | None" = None
    """Evaluates complete readings, for Spark; None if readings do not concern the language."""
    requested_values: Callable[[MissionTable, bytes], Sequence[RequestedValue]] | None = None
    """The values that a body requests, one per attribute, to learn terms from; None if it has no values."""
    damper: Callable[[MissionTable, int, int], Damper] | None = None
    """(table, interval_ms, hysteresis) → what suppresses repetitions; None if nothing is suppressed."""

    def bind(self, table: MissionTable, routing: "RoutingOptions | None" = None) -> BoundLanguage:
        """Return what the engines of a mission with this table need. Without routing options there are no
        relations for brokers.
        """
        from plugins.routing import routing_of  # here, because commands on one file need no routing

        return BoundLanguage(
            matchers={language: partial(make, table) for language, make in self.matchers.items()},
            decompose=None if self.parts is no_parts else self.parts(table),
            composer=None if self.composer is None else partial(self.composer, table),
            results=self.results,
            covers=None if self.source_covers is None else partial(self.source_covers, table),
            relations=None if routing is None else routing_of(self, table, routing),
        )

    def source_filter_by(
        self, algorithm: str | None, table: MissionTable, *, advertises: bool = False
    ) -> SourceFilter:
        """Return a source filter with this algorithm, or the default one. A source that advertises gets the
        filter for advertisements if there is one.
        """
        if advertises and self.announced_filter is not None:
            return self.announced_filter(table)
        return self.source_filters.get(algorithm or "", self.source_filter)(table)

    def occupied(self, table: MissionTable, body: bytes) -> int:
        """Return how many subscription numbers its parts need, after its own."""
        return len(self.parts(table)(body))

    @property
    def has_own_notifications(self) -> bool:
        """Return whether sources publish in this language; others install its parts."""
        return self.language_id in self.matchers

    @property
    def matchers(self) -> Mapping[int, MatcherFactory]:
        """Return the matchers by the language of the notifications that they match."""
        return {self.language_id: self.matcher} if self.listens_to is None else self.listens_to
