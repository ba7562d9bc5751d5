"""What a subscription language is, to the rest of the system.

How an event is *described* is independent of how it *travels*. A language is a value made of factories, each
answering one question at one place: which publishers can serve this subscription (look-up, on a DENS node),
which readings are worth sending (filter, at the source), which subscriptions a notification satisfies
(match, on a DENS node), what a person can do with it (authoring, in commands), which readings should have
been told (ground truth, in Spark). What a language does not offer is None; who needs it says so in words.

Of a subscription every language is given its *body*. Number, revision and lifetime are the overlay's, stand
before it on the air (`watchdog.header`), and are nothing to a language.

One law holds for every language and is tested for all of them: whatever would match, the filter lets pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from dens.interfaces import (
    Composer,
    CompositeNotification,
    CoverIndex,
    Matcher,
    Result,
    ResultReader,
    SubscriptionKey,
)
from knowledge_manager.dictionary.extract import Extract
from knowledge_manager.mission_table import MissionTable
from watchdog.filter import Release
from watchdog.reading import Reading

if TYPE_CHECKING:
    from plugins.authoring import Authoring
    from plugins.ground_truth import GroundTruth
    from plugins.publications import PublicationReader
    from plugins.relations import Relations
    from plugins.routing import AdvertisingRelations, RoutingOptions

__all__ = [
    "DETAIL_BYTES",
    "Composer",
    "CompositeNotification",
    "CoverIndex",
    "Damper",
    "DocumentFilter",
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

DETAIL_BYTES: Final = 255
"""The most that a match may say beside its degree."""


@dataclass(frozen=True, slots=True)
class Match:
    """One subscription that a notification satisfies, how well, and what else its language knows of it.

    `detail` is opaque to everybody else: it travels with the notification to the subscriber and into the
    trace, and the language's authoring puts it into words.
    """

    key: SubscriptionKey
    degree_u8: int
    detail: bytes = b""
    revision: int | None = None
    """The only revision of the subscription that it is for, where the notification names one."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A publisher that measures all these attributes of this event class can serve the subscription."""

    event: int
    attributes: frozenset[int]


class Question(Protocol):
    """What a subscription asks of publishers: can this one serve it?"""

    @property
    def alternatives(self) -> Sequence[Requirement] | None:
        """Return what to measure, any of it being enough, where nothing else decides; a directory may then
        look it up in an index. None where only `serves` can tell.
        """
        ...

    def serves(self, extract: Extract) -> bool:
        """Say whether a publisher that offers this can serve the subscription."""
        ...


class LookUp(Protocol):
    """Says what a publisher must offer to serve a subscription."""

    def question(self, body: bytes) -> Question:
        """Return the question that a subscription asks of publishers."""
        ...


class SourceFilter(Protocol):
    """Decides at the source which readings become notifications. It may keep state over readings."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Start to look for this subscription; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it; an unknown key is no error."""
        ...

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading is worth, most attributes first.

        On a host it is a `plugins.readings.ExactReading`, which has the values themselves too.
        """
        ...


class DocumentFilter(SourceFilter, Protocol):
    """A filter of documents, which are notifications as they are: nothing has to be measured for them."""

    def offer(self, document: bytes) -> list[Release]:
        """Return what to send of this document; nothing where nobody wants it."""
        ...


@runtime_checkable
class NamingFilter(SourceFilter, Protocol):
    """A filter whose notifications say who measured, and for whom they are."""

    def introduce(self, node: int) -> None:
        """Say whose readings it is fed."""
        ...

    def announce(self, origin: int, id: int, revision: int) -> None:
        """Say whose subscription is added next, and in which revision: a key may be another name for it."""
        ...


class Damper(Protocol):
    """Holds back what tells nothing new."""

    def judge(self, vector: bytes, now_ms: int) -> int:
        """Return 0, and take the notification as sent, or the rule that holds it back (`watchdog.damper`)."""
        ...


@runtime_checkable
class Grader(Protocol):
    """What a matcher may know besides: degrees alone, for who asks about every reading."""

    def grades(self, vector: bytes, event_ms: int, now_ms: int) -> dict[int, int]:
        """Return the degrees of what `match` returns, by origin·256 + id, in its order."""
        ...


def grades_of(matcher: Matcher) -> Callable[[bytes, int, int], dict[int, int]]:
    """Return how a matcher is asked for degrees alone, whether it knows that question or not."""
    if isinstance(matcher, Grader):
        return matcher.grades

    def grades(vector: bytes, event_ms: int, now_ms: int) -> dict[int, int]:
        found = matcher.match(vector, event_ms, now_ms)
        return {match.key[0] << 8 | match.key[1]: match.degree_u8 for match in found}

    return grades


class LevelledMatcher(Matcher, Protocol):
    """A matcher that can order a batch by estimated work, at one of several levels of effort."""

    def use_level(self, level: int | None) -> None:
        """Estimate the batches to come at this level, from 1 (not at all), or at whichever turns out best
        where it is None. A level that there is not raises `ValueError`, which says what there is.
        """
        ...


class NotServed(ValueError):
    """A matcher does not take this subscription, which is sound: another algorithm of its language does."""


@dataclass(frozen=True, slots=True)
class Part:
    """A subscription of another language that lets through something of what is wanted."""

    language_id: int
    body: bytes


TakeApart = Callable[[bytes], tuple[Part, ...]]
"""From a body to subscriptions of other languages that together let pass whatever it wants."""


def no_parts(table: MissionTable) -> TakeApart:
    """Return nothing of any body: sources that do not know the language cannot serve it."""
    return lambda body: ()


MatcherFactory = Callable[[MissionTable], Matcher]

AskedValue = tuple[int, int, int]
"""Event, attribute, and the normalised byte in the middle of what is wanted of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionLanguage:
    """A language, whole. Only what a node cannot do without has no default."""

    language_id: int
    """The number by which messages name it; 0 to 15 are this project's, others take what is free."""
    name: str
    """How people call it, in commands and scenarios."""
    lookup: Callable[[MissionTable], LookUp]
    source_filter: Callable[[MissionTable], SourceFilter]
    matcher: MatcherFactory
    listens_to: Mapping[int, MatcherFactory] | None = None
    """What judges the notifications of which languages; None means `matcher` those of its own. All of these
    matchers take the same bodies."""
    composer: Callable[[MissionTable], Composer] | None = None
    """Makes notifications of this language out of others; None where nothing is composed."""
    results: ResultReader | None = None
    """Reads what its notifications say, where several may say the same; None where each says its own."""
    parts: Callable[[MissionTable], TakeApart] = no_parts
    """Takes subscriptions apart for sources that do not know the language."""
    only_sources_tell: "Callable[[MissionTable, bytes], str] | None" = None
    """Names what of a body nobody tells but sources that know the language, nothing where mediators tell all
    of it; None where that is so for all bodies."""
    reads_values: bool = False
    """Whether values count beyond their bytes (`plugins.readings`); runs that ask in it record them."""
    authoring: "Callable[[], Authoring] | None" = None
    """What a person does with it. Called where it is needed, so that a node imports none of it."""
    suffixes: tuple[str, ...] = ()
    """Ends of the names of its documents that are no XML, which has a namespace to tell."""
    publication_suffixes: tuple[str, ...] = ()
    """Ends of the names of documents that tell in this language, where they are no XML."""
    publications: "Callable[[], PublicationReader] | None" = None
    """Reads documents into notifications, which its filter, a `DocumentFilter`, is offered."""
    algorithms: Mapping[str, MatcherFactory] = field(default_factory=dict)
    """Its matchers by name, where there are several; they answer the same."""
    partial_algorithms: frozenset[str] = frozenset()
    """Those of them that do not take every subscription (`NotServed`); whoever meets any cannot use them."""
    conditions: "Mapping[str, Callable[[], SubscriptionLanguage]]" = field(default_factory=dict)
    """The language under each of its feature conditions (when a notification serves a subscription at all),
    by name, where there are several: the same number and name, other matchers, filters and ground truth."""
    source_filters: "Mapping[str, Callable[[MissionTable], SourceFilter]]" = field(default_factory=dict)
    """Its source filters by algorithm, where there are several; they release the same."""
    announced_filter: "Callable[[MissionTable], SourceFilter] | None" = None
    """The filter of sources that advertise to brokers: it is given advertisements alone, and releases what
    they announce (`RoutingRelations.admits`). None: the usual filter, so that what satisfies an advertisement
    is released."""
    relations: "Callable[[MissionTable], Relations] | None" = None
    routing: "Callable[[MissionTable, RoutingOptions], AdvertisingRelations] | None" = None
    """What brokers ask, where it is more than `relations` say (`plugins.routing`)."""
    source_covers: Callable[[MissionTable], CoverIndex] | None = None
    """What stands for what at a source, so that mediators spare installs; None where everything is
    installed."""
    ground_truth: "Callable[[MissionTable], GroundTruth] | None" = None
    """Judges whole readings, for Spark; None where readings are nothing to it."""
    asked_values: Callable[[MissionTable, bytes], Sequence[AskedValue]] | None = None
    """What a body asks of attributes, each as one value, to learn terms from; None where it says nothing of
    values."""
    damper: Callable[[MissionTable, int, int], Damper] | None = None
    """(table, interval_ms, hysteresis) → what holds back repetitions; None where nothing is damped."""

    def source_filter_by(
        self, algorithm: str | None, table: MissionTable, *, advertises: bool = False
    ) -> SourceFilter:
        """Return a source filter with an algorithm of this name, or the usual one where it has none such; for
        a source that advertises, the filter for advertisements where there is one.
        """
        if advertises and self.announced_filter is not None:
            return self.announced_filter(table)
        return self.source_filters.get(algorithm or "", self.source_filter)(table)

    def occupied(self, table: MissionTable, body: bytes) -> int:
        """Return how many numbers after its own a subscription needs at its subscriber, for its parts."""
        return len(self.parts(table)(body))

    @property
    def has_own_notifications(self) -> bool:
        """Tell whether sources tell anything in this language; others are offered its parts."""
        return self.language_id in self.matchers

    @property
    def matchers(self) -> Mapping[int, MatcherFactory]:
        """Return what judges notifications, by the language they are in."""
        return {self.language_id: self.matcher} if self.listens_to is None else self.listens_to
