"""Expected deliveries: the ground truth that deliveries are measured against.

A delivery is expected iff the event time lies in [creation, creation + lifetime) of the subscription
revision, before its withdrawal, and the notification matches (docs/reference/protocols.md). Matching uses the
language's own matcher, as on a DENS node, shipped to Spark's workers. Every revision is added separately, so
that a newer one does not replace an older one. Notifications are matched at age 0, because the time of the
event counts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from dens.interfaces import FoundMatch
from plugins.language import Matcher
from spark_analysis.metrics.run_languages import RunLanguages
from watchdog.header import body_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXPECTED_COLUMNS: Final[list[tuple[str, pa.DataType]]] = [
    ("origin", pa.int32()),
    ("number", pa.int64()),
    ("event_ms", pa.int64()),
    ("lifetime_ms", pa.int64()),
    ("language", pa.int32()),
    ("subscriber", pa.int32()),
    ("id", pa.int32()),
    ("seq", pa.int32()),
    ("degree_u8", pa.int32()),
    ("first", pa.bool_()),
    ("withdrawn_ms", pa.int64()),
]
_EXPECTED_ARROW: Final = pa.schema(_EXPECTED_COLUMNS)


@dataclass(frozen=True, slots=True)
class SubscriptionRevision:
    """One row of the table `subscriptions`."""

    subscriber: int
    id: int
    seq: int
    language: int
    created_ms: int
    expires_ms: int
    withdrawn_ms: int | None
    vector: bytes
    document: str | None

    def in_force(self, at_ms: int) -> bool:
        """Return whether an event at this time falls into the revision's lifetime."""
        not_withdrawn = self.withdrawn_ms is None or at_ms < self.withdrawn_ms
        return self.created_ms <= at_ms < self.expires_ms and not_withdrawn

    @property
    def key(self) -> tuple[int, int, int]:
        """Return (subscriber, id, seq)."""
        return self.subscriber, self.id, self.seq

    def with_row(self, other: "SubscriptionRevision") -> "SubscriptionRevision":
        """Merge two rows of a revision in any order. A growing trace cannot change a row, so a withdrawal or
        a renewal is a second one.
        """
        ends = [end_ms for end_ms in (self.withdrawn_ms, other.withdrawn_ms) if end_ms is not None]
        return replace(
            self,
            created_ms=min(self.created_ms, other.created_ms),
            expires_ms=max(self.expires_ms, other.expires_ms),
            withdrawn_ms=min(ends, default=None),
            document=self.document if other.document is None else other.document,
        )


def subscription_revisions(subscriptions: Iterable[Mapping[str, Any]]) -> tuple[SubscriptionRevision, ...]:
    """Return the revisions in the rows of `subscriptions`, ordered by creation."""
    revisions: dict[tuple[int, int, int], SubscriptionRevision] = {}
    for row in subscriptions:
        revision = SubscriptionRevision(**row)
        known = revisions.get(revision.key)
        revisions[revision.key] = revision if known is None else known.with_row(revision)
    return tuple(sorted(revisions.values(), key=lambda revision: (revision.created_ms, revision.key)))


def expected_deliveries(
    revisions: Sequence[SubscriptionRevision], languages: RunLanguages
) -> "Callable[[DataFrame], DataFrame]":
    """Return the transformation of `notifications` into expected deliveries (`EXPECTED`)."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        matchers = load_revisions(revisions, languages)
        for batch in batches:
            yield expected_in(batch, revisions, matchers)

    def transform(notifications: "DataFrame") -> "DataFrame":
        from spark_analysis.metrics.expected_schema import EXPECTED

        wanted = notifications.select("origin", "number", "at_ms", "lifetime_ms", "language", "vector")
        return wanted.mapInArrow(judge, EXPECTED)

    return transform


class RevisionMatchers:
    """The matchers of all languages, by the language of the notifications they match.

    Revisions have the key (their position, 0).
    """

    def __init__(self, languages: RunLanguages) -> None:
        self._languages = languages
        self._matchers: dict[int, dict[int, Matcher]] = {}
        self._by_language: dict[int, list[Matcher]] = {}

    def hold(self, position: int, revision: SubscriptionRevision) -> None:
        """Add a revision. Composite languages are skipped: their expected deliveries do not follow from a
        matcher (`questions/composites.py`).
        """
        number = revision.language
        if self._languages.composes(number):
            return
        if number not in self._matchers:
            self._matchers[number] = self._languages.matchers(number)
            for language, matcher in self._matchers[number].items():
                self._by_language.setdefault(language, []).append(matcher)
        for matcher in self._matchers[number].values():
            matcher.add((position, 0), body_of(revision.vector))

    def match(self, language: int, vector: bytes, event_ms: int) -> Iterator[tuple[int, FoundMatch]]:
        """Yield (position, match) of every revision that a notification matches, at its own time."""
        for matcher in self._by_language.get(language, ()):
            for match in matcher.match(vector, event_ms, event_ms):
                yield match.key[0], match


def load_revisions(revisions: Sequence[SubscriptionRevision], languages: RunLanguages) -> RevisionMatchers:
    """Return matchers with these revisions, by position."""
    found = RevisionMatchers(languages)
    for position, revision in enumerate(revisions):
        found.hold(position, revision)
    return found


def last_withdrawal(one: int | None, other: int | None) -> int | None:
    """Return the later of two withdrawals; None if one revision was never withdrawn."""
    return None if one is None or other is None else max(one, other)


def expected_in(
    batch: pa.RecordBatch, revisions: Sequence[SubscriptionRevision], matchers: RevisionMatchers
) -> pa.RecordBatch:
    """Return the rows of `EXPECTED` for a batch of notifications."""
    rows: list[int] = []
    positions: list[int] = []
    degrees: list[int] = []
    first: list[bool] = []
    withdrawn: list[int | None] = []
    columns = (batch[name].to_pylist() for name in ("language", "vector", "at_ms"))
    for row, (language, vector, event_ms) in enumerate(zip(*columns, strict=True)):
        people: dict[int, int | None] = {}
        begin = len(rows)
        for position, match in matchers.match(language, vector, event_ms):
            revision = revisions[position]
            if revision.in_force(event_ms):
                rows.append(row)
                positions.append(position)
                degrees.append(match.degree_u8)
                subscriber = revision.subscriber
                first.append(subscriber not in people)
                people[subscriber] = last_withdrawal(
                    people.get(subscriber, revision.withdrawn_ms), revision.withdrawn_ms
                )
        withdrawn += (people[revisions[position].subscriber] for position in positions[begin:])
    events = batch.select(["origin", "number", "at_ms", "lifetime_ms", "language"]).take(
        pa.array(rows, pa.int64())
    )
    keys = [
        pa.array([getattr(revisions[position], name) for position in positions], pa.int32())
        for name in ("subscriber", "id", "seq")
    ]
    return pa.RecordBatch.from_arrays(
        [
            *events.columns,
            *keys,
            pa.array(degrees, pa.int32()),
            pa.array(first, pa.bool_()),
            pa.array(withdrawn, pa.int64()),
        ],
        schema=_EXPECTED_ARROW,
    )
