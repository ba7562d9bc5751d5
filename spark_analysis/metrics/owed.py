"""Which notifications are owed to whom: the ground truth that deliveries are measured against.

A notification is owed to a subscription revision iff its event time lies in [creation, creation + lifetime),
before its unsubscribe, and it matches (docs/protocols.md). Whether it matches is asked of the language's own
matcher, the code that runs on a DENS node, shipped to Spark's workers; every revision is a subscription of
its own to it, so that an older one is not hidden by a newer one. A notification's age is taken as 0: what
counts is whether it matched when it happened.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, IntegerType, LongType, StructField, StructType

from dens.interfaces import FoundMatch
from plugins.language import Matcher
from spark_analysis.metrics.run_languages import RunLanguages
from watchdog.header import body_of

OWED = StructType(
    [
        StructField("origin", IntegerType(), False),
        StructField("number", LongType(), False),
        StructField("event_ms", LongType(), False),
        StructField("lifetime_ms", LongType(), False),
        StructField("language", IntegerType(), False),
        StructField("subscriber", IntegerType(), False),
        StructField("id", IntegerType(), False),
        StructField("seq", IntegerType(), False),
        StructField("degree_u8", IntegerType(), False),
        StructField("first", BooleanType(), False),
        StructField("withdrawn_ms", LongType(), True),
    ]
)
"""One row for each (notification, subscription revision) that is owed.

`first` is true of one row of each pair (notification, subscriber), so that counting pairs needs no search
for those that are there twice. `withdrawn_ms` is when the last revision of the pair was withdrawn, null where
one of them never was: all rows of a pair share it.
"""

_OWED_COLUMNS: Final[list[tuple[str, pa.DataType]]] = [
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
_OWED_ARROW: Final = pa.schema(_OWED_COLUMNS)


@dataclass(frozen=True, slots=True)
class SubscriptionRevision:
    """One row of the table `subscriptions`: what somebody wanted, and when it was in force."""

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
        """Tell whether an event at this time falls into the revision's life."""
        not_withdrawn = self.withdrawn_ms is None or at_ms < self.withdrawn_ms
        return self.created_ms <= at_ms < self.expires_ms and not_withdrawn

    @property
    def key(self) -> tuple[int, int, int]:
        """Return what names it: subscriber, number and revision there."""
        return self.subscriber, self.id, self.seq

    def with_row(self, other: "SubscriptionRevision") -> "SubscriptionRevision":
        """Return what two rows of the same revision say together, in any order: a trace that grows cannot
        change a row, so a withdrawal or a renewal is a second one.
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
    """Take the rows of the table `subscriptions`, the small side of every ground truth, ordered by
    creation.
    """
    found: dict[tuple[int, int, int], SubscriptionRevision] = {}
    for row in subscriptions:
        one = SubscriptionRevision(**row)
        known = found.get(one.key)
        found[one.key] = one if known is None else known.with_row(one)
    return tuple(sorted(found.values(), key=lambda one: (one.created_ms, one.key)))


def owed(
    revisions: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `notifications` into what is owed (`OWED`)."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        matchers = load_matchers(revisions, languages)
        for batch in batches:
            yield owed_in(batch, revisions, matchers)

    def transform(notifications: DataFrame) -> DataFrame:
        wanted = notifications.select("origin", "number", "at_ms", "lifetime_ms", "language", "vector")
        return wanted.mapInArrow(judge, OWED)

    return transform


class Listeners:
    """The matchers of each language, and for each language whose matchers judge its notifications.

    Revisions are held under the key (their position, 0).
    """

    def __init__(self, languages: RunLanguages) -> None:
        self._languages = languages
        self._matchers: dict[int, dict[int, Matcher]] = {}
        self._by_told: dict[int, list[Matcher]] = {}

    def hold(self, position: int, revision: SubscriptionRevision) -> None:
        """Hold one more revision; what composites are owed to it is not its matcher's to say
        (`composites.py`).
        """
        number = revision.language
        if self._languages.composes(number):
            return
        if number not in self._matchers:
            self._matchers[number] = self._languages.matchers(number)
            for told, matcher in self._matchers[number].items():
                self._by_told.setdefault(told, []).append(matcher)
        for matcher in self._matchers[number].values():
            matcher.add((position, 0), body_of(revision.vector))

    def match(self, language: int, vector: bytes, event_ms: int) -> Iterator[tuple[int, FoundMatch]]:
        """Yield (position, match) of every revision that a notification satisfies, as of its own time."""
        for matcher in self._by_told.get(language, ()):
            for match in matcher.match(vector, event_ms, event_ms):
                yield match.key[0], match


def load_matchers(revisions: Sequence[SubscriptionRevision], languages: RunLanguages) -> Listeners:
    """Return matchers that hold these revisions, by their positions."""
    found = Listeners(languages)
    for position, revision in enumerate(revisions):
        found.hold(position, revision)
    return found


def last_withdrawal(one: int | None, other: int | None) -> int | None:
    """Return when the later of two revisions was withdrawn; None where one of them never was."""
    return None if one is None or other is None else max(one, other)


def owed_in(
    batch: pa.RecordBatch, revisions: Sequence[SubscriptionRevision], matchers: Listeners
) -> pa.RecordBatch:
    """Return the rows of `OWED` for a batch of notifications."""
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
    told = batch.select(["origin", "number", "at_ms", "lifetime_ms", "language"]).take(
        pa.array(rows, pa.int64())
    )
    asked = [
        pa.array([getattr(revisions[position], name) for position in positions], pa.int32())
        for name in ("subscriber", "id", "seq")
    ]
    return pa.RecordBatch.from_arrays(
        [
            *told.columns,
            *asked,
            pa.array(degrees, pa.int32()),
            pa.array(first, pa.bool_()),
            pa.array(withdrawn, pa.int64()),
        ],
        schema=_OWED_ARROW,
    )
