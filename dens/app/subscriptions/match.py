"""Matches events with subscriptions: notification vectors, single readings, or streams of readings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dens.app.errors import BadArgument
from dens.app.subscriptions.subscription import Subscription
from dens.config.refusal import Refusal

if TYPE_CHECKING:
    from dens.config.problems import Problem
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.vocabulary.event_class import EventClass
    from plugins.authoring.output.vector_lines import BadLine, LineMatcher, MatchedLine
    from plugins.language import SubscriptionLanguage

Event = bytes | Mapping[str, object]
"""A notification vector, or a reading: attribute names to values (see readings.py)."""


@dataclass(frozen=True, slots=True)
class Match:
    """A subscription that an event satisfies, and to which degree (0 to 1)."""

    subscription: Subscription
    degree: float
    detail: bytes = field(default=b"", repr=False)
    """What the language adds to the degree; opaque to others."""


def match(
    subscriptions: Subscription | Iterable[Subscription],
    events: Iterable[Event],
    vocabularies: "MissionTable | None" = None,
) -> list[tuple[Match, ...]]:
    """Return for each event the subscriptions that it satisfies, in the order of the subscriptions.

    An event is a notification vector, or a reading: a mapping from attributes to values. A reading passes
    through the filter of a source first, exactly as on a board. Events are matched one by one, as having
    just happened; composite subscriptions span several readings and are refused (`dens match --csv`).
    """
    from dens.app.tables import load_vocabularies

    table = load_vocabularies() if vocabularies is None else vocabularies
    given = [subscriptions] if isinstance(subscriptions, Subscription) else list(subscriptions)
    by_language: dict[int, list[tuple[int, Subscription]]] = {}
    for position, subscription in enumerate(given):
        by_language.setdefault(subscription.language_id, []).append((position, subscription))
    matchers = [_EventMatcher(number, members, table) for number, members in by_language.items()]
    found: list[tuple[Match, ...]] = []
    for number, event in enumerate(events):
        best: dict[int, Match] = {}
        for matcher in matchers:
            for position, one in matcher.match(event, number):
                if position not in best or best[position].degree < one.degree:
                    best[position] = one
        found.append(tuple(best[position] for position in sorted(best)))
    return found


class _EventMatcher:
    """The subscriptions of one language, in its matcher and in a filter as sources have it."""

    def __init__(
        self, language_id: int, members: Sequence[tuple[int, Subscription]], table: "MissionTable"
    ) -> None:
        from plugins.registry import language

        spoken = language(language_id)
        if spoken.composer is not None:
            raise Refusal("composite subscriptions match streams of readings; use `dens match --csv`")
        self._table = table
        self._subscriptions = dict(members)
        self._events = _events_of(spoken, members, table)
        self._matcher = spoken.matcher(table)
        self._filter = spoken.source_filter(table)
        for position, subscription in members:
            key = position >> 8, position & 255
            self._matcher.add(key, subscription.body)
            self._filter.add(key, subscription.body)

    def match(self, event: Event, number: int) -> "Iterator[tuple[int, Match]]":
        """Yield positions and matches. A reading may become several notifications."""
        for vector in self._vectors(event, number):
            for found in self._matcher.match(vector, 0, 0):
                position = found.key[0] << 8 | found.key[1]
                degree = found.degree_u8 / 255
                yield position, Match(self._subscriptions[position], degree, found.detail)

    def _vectors(self, event: Event, number: int) -> list[bytes]:
        from dens.app.subscriptions.readings import EVENT_KEY, read_values

        if isinstance(event, bytes):
            return [event]
        named = event.get(EVENT_KEY)
        if named is not None and self._events and str(named) not in {one.name for one in self._events}:
            return []
        reading = read_values(event, self._table, self._events, number=number)
        return [release.vector for release in self._filter.feed(reading)]


def _events_of(
    language: "SubscriptionLanguage", members: "Sequence[tuple[int, Subscription]]", table: "MissionTable"
) -> "list[EventClass]":
    """Return the event classes that these subscriptions are about."""
    lookup = language.lookup(table)
    wanted = {
        alternative.event
        for _, subscription in members
        for alternative in lookup.question(subscription.body).alternatives or ()
    }
    return [event for event in table.events if event.index in wanted]


@dataclass(frozen=True, slots=True)
class LineMatching:
    """Subscriptions read from a file of hexadecimal lines, ready to match others."""

    matcher: "LineMatcher"
    detail_value: "Callable[[bytes], int | str]"

    @property
    def bad(self) -> "list[BadLine]":
        """Return the lines that are not subscriptions."""
        return self.matcher.bad

    def match(
        self, notifications: Path, now_s: int | None = None, batch: int | None = None
    ) -> "Iterator[MatchedLine | BadLine]":
        """Yield the result of each line of a file; with `batch`, in the order in which they complete."""
        from dens.app.subscriptions.vectors import vector_lines

        with vector_lines(notifications) as lines:
            if batch is None:
                yield from self.matcher.match(lines, now_s)
            else:
                yield from self.matcher.match_in_batches(lines, batch, now_s)

    def use_level(self, level: str) -> None:
        """Order batches by the work that is estimated at this level ("auto" or a number from 1)."""
        matcher = self.matcher.matcher
        if not hasattr(matcher, "use_level"):
            raise BadArgument("this algorithm has no levels", "--level")
        if level != "auto" and not level.isdecimal():
            raise BadArgument(f'"{level}": use a number from 1, or auto', "--level")
        try:
            matcher.use_level(None if level == "auto" else int(level))
        except ValueError as error:
            raise BadArgument(str(error), "--level") from None


def read_lines(
    subscriptions: Path,
    *,
    vocabulary: list[str] | None = None,
    language: str | None = None,
    algorithm: str | None = None,
    options: Sequence[str] = (),
    features: str = "subset",
) -> LineMatching:
    """Read subscription vectors, one per line in hexadecimal. Invalid lines are kept in `bad`."""
    from dens.app.subscriptions.languages import chosen_language, matcher_for_lines, with_options
    from dens.app.subscriptions.vectors import vector_lines
    from plugins.authoring.output.vector_lines import LineMatcher
    from plugins.registry import authoring_of

    chosen = chosen_language(language)
    authoring = None if chosen.authoring is None else authoring_of(chosen)
    happened_s = _no_event_time if authoring is None else authoring.happened_s
    detail_value = (None if authoring is None else authoring.detail_value) or bytes.hex
    named = with_options(chosen, algorithm, list(options))
    matcher = LineMatcher(matcher_for_lines(chosen, vocabulary, named, features), happened_s)
    with vector_lines(subscriptions) as lines:
        matcher.add(lines)
    return LineMatching(matcher, detail_value)


def _no_event_time(notification: bytes) -> None:
    """Stand in for `happened_s` of a language without authoring: its vectors carry no time."""


@dataclass(frozen=True, slots=True)
class StreamMatches:
    """What a subscription found in a file of readings."""

    lines: tuple[str, ...]
    document: Mapping[str, Any]
    warnings: "tuple[Problem, ...]"
    """Columns that were ignored."""
    sources: Mapping[int, str]
    """Names of the sources, by number."""


def match_readings(subscription: Subscription, readings: Path, table: "MissionTable") -> StreamMatches:
    """Search a CSV file of readings for a subscription that spans several readings."""
    from dens.app.subscriptions.reading_tables import read_readings
    from plugins.registry import authoring_of, language

    spoken = language(subscription.language_id)
    search = authoring_of(spoken).match_stream
    if search is None:
        raise Refusal(f"--csv supports composite subscriptions only; this one is {spoken.name}")
    rows = read_readings(readings, table, _events_of(spoken, [(0, subscription)], table))
    found = search(subscription.vector, table, subscription.compiled, rows.readings)
    return StreamMatches(tuple(found.lines()), found.as_document(), tuple(rows.warnings), rows.names)
