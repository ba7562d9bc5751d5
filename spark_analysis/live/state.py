"""The state of a run in progress: facts as they arrive, and the figures so far.

Facts arrive in numbered *batches*, which are immutable and can be written to files. Taking a batch twice
changes nothing, so a stream may repeat batches after a crash. The figures depend on the set of facts and not
on their order, and at the end of the run they equal those of the report.

The writer is ahead of the reader. Figures are as of the time up to which facts were taken, and state how much
further the writer is.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from spark_analysis.catalogue.evidence import FOLLOWED, Evidence
from spark_analysis.catalogue.metric import values_of
from spark_analysis.catalogue.registry import metrics_from
from spark_analysis.json_keys import to_document
from spark_analysis.metrics.expected import (
    RevisionMatchers,
    SubscriptionRevision,
    last_withdrawal,
    load_revisions,
)
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.pair_figures import DeliveryCounts, Pair, pair_figures
from spark_analysis.remaining_copies import UNKNOWN_COPIES, RemainingCopies

Message = tuple[int, int]
"""(origin, number)."""

GIVEN_UP = ("lost", "dropped", "refused", "expired")
"""Steps that discard a copy of a message; for `lost` it is a frame on the air, which the sender
retransmits.
"""

BEHIND_MS: Final = 60_000
"""Lag from which the figures report that they are behind. A smaller lag may be a period without events."""


@dataclass(frozen=True, slots=True)
class NotificationFact:
    """A notification that left its source."""

    origin: int
    number: int
    at_ms: int
    language: int
    lifetime_ms: int
    vector: bytes


@dataclass(frozen=True, slots=True)
class Delivered:
    """A delivery to an application."""

    origin: int
    number: int
    subscriber: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Discarded copies for one reason in the minute that starts at `minute_ms`."""

    minute_ms: int
    kind: str
    reason: str
    messages: int


@dataclass(frozen=True, slots=True)
class Batch:
    """New facts of a run, in a fixed order."""

    number: int
    subscriptions: tuple[SubscriptionRevision, ...] = ()
    notifications: tuple[NotificationFact, ...] = ()
    deliveries: tuple[Delivered, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    reached_ms: int = 0
    """Time of the last followed step (`spark_analysis.live.follow.STEPS`)."""

    def to_text(self) -> str:
        """Return the batch as JSON; bytes are written in hex."""
        return json.dumps(asdict(self), default=bytes.hex)

    @classmethod
    def from_text(cls, text: str) -> "Batch":
        document = json.loads(text)
        return cls(
            document["number"],
            tuple(SubscriptionRevision(**_with_bytes(row)) for row in document["subscriptions"]),
            tuple(NotificationFact(**_with_bytes(row)) for row in document["notifications"]),
            tuple(Delivered(**row) for row in document["deliveries"]),
            tuple(GivenUp(**row) for row in document["given_up"]),
            document.get("reached_ms", 0),  # earlier versions did not write it
        )


def _with_bytes(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "vector": bytes.fromhex(row["vector"])}


@dataclass(frozen=True, slots=True)
class LiveDelivery(DeliveryCounts):
    """Delivery counts as of the time up to which facts were taken (`pair_figures.py`), and every metric that
    follows from them.
    """

    estimate: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """A run up to `at_ms`, and its last `window_ms` before that; its writer had reached `written_ms`.

    A pair (notification, subscriber) counts at the time of its event: `recent` has the pairs that became
    expected in the window. Most of those are open, so its ratio is low at first and rises; the number of open
    pairs and the estimate show its significance. Discarded copies count when they were discarded.
    """

    at_ms: int
    written_ms: int
    window_ms: int
    batches: int
    subscriptions: int
    notifications: int
    whole: LiveDelivery
    recent: LiveDelivery
    given_up: Mapping[str, int]
    given_up_recently: Mapping[str, int]

    @property
    def is_behind(self) -> bool:
        """Return whether the writer is well ahead of these figures."""
        return self.written_ms - self.at_ms >= BEHIND_MS

    def as_document(self) -> dict[str, Any]:
        document: dict[str, Any] = to_document(self)
        return document


class LiveState:
    """The facts taken so far."""

    def __init__(self, languages: RunLanguages) -> None:
        self._languages = languages
        self._taken: set[int] = set()
        self._revisions: list[SubscriptionRevision] = []
        self._places: dict[tuple[int, int, int], int] = {}
        """Where each revision stands among them."""
        self._matchers = RevisionMatchers(languages)
        self._notifications: dict[Message, NotificationFact] = {}
        self._expected: dict[Message, dict[int, int | None]] = {}
        self._arrived: dict[tuple[int, int, int], int] = {}
        self._given_up: Counter[tuple[int, str, str]] = Counter()
        self._reached_ms = 0

    def take(self, batch: Batch) -> bool:
        """Take the facts of a batch and return whether it was new. A repeated batch changes nothing."""
        if batch.number in self._taken:
            return False
        self._taken.add(batch.number)
        self._add_revisions(batch.subscriptions)
        for notification in batch.notifications:
            self._notifications[notification.origin, notification.number] = notification
            self._add_expected(notification, self._matchers, self._revisions)
        for seen in batch.deliveries:
            pair = (seen.origin, seen.number, seen.subscriber)
            self._arrived[pair] = min(seen.at_ms, self._arrived.get(pair, seen.at_ms))
        for given in batch.given_up:
            self._given_up[given.minute_ms, given.kind, given.reason] += given.messages
        self._reached_ms = max(self._reached_ms, batch.reached_ms)
        return True

    def figures(
        self, written_ms: int, window_ms: int, *, all_taken: bool, copies: RemainingCopies = UNKNOWN_COPIES
    ) -> LiveFigures:
        """Return the figures of a run that is written up to `written_ms`.

        `all_taken` means that every fact until then was taken. Otherwise the figures are as of the last known
        step of a message; later notifications are ignored. `copies` are known at the end of the run; before,
        a pair without a copy counts as open.
        """
        at_ms = written_ms if all_taken else min(self._reached_ms, written_ms)
        since_ms = at_ms - window_ms
        known = {
            n: notification
            for n, notification in self._notifications.items()
            if all_taken or notification.at_ms <= at_ms
        }
        recently = {
            name: notification for name, notification in known.items() if notification.at_ms >= since_ms
        }
        return LiveFigures(
            at_ms=at_ms,
            written_ms=written_ms,
            window_ms=window_ms,
            batches=len(self._taken),
            subscriptions=len(self._revisions),
            notifications=len(known),
            whole=self._served(known, at_ms, copies),
            recent=self._served(recently, at_ms, copies),
            given_up=self._reasons(0),
            given_up_recently=self._reasons(since_ms),
        )

    def _add_revisions(self, revisions: Iterable[SubscriptionRevision]) -> None:
        """Add new revisions, and match the known notifications against them.

        A change of a known revision recomputes all expected deliveries; that is rare.
        """
        new: list[SubscriptionRevision] = []
        is_changed = False
        for revision in revisions:
            place = self._places.get(revision.key)
            if place is None:
                self._places[revision.key] = len(self._revisions) + len(new)
                new.append(revision)
            elif place >= len(self._revisions):
                new[place - len(self._revisions)] = new[place - len(self._revisions)].with_row(revision)
            else:
                self._revisions[place] = self._revisions[place].with_row(revision)
                is_changed = True
        if new:
            alone = load_revisions(new, self._languages)
            for notification in self._notifications.values():
                self._add_expected(notification, alone, new)
            self._hold(new)
        if is_changed:
            self._expected.clear()
            for notification in self._notifications.values():
                self._add_expected(notification, self._matchers, self._revisions)

    def _hold(self, new: list[SubscriptionRevision]) -> None:
        self._revisions += new
        for position, revision in enumerate(new, start=len(self._revisions) - len(new)):
            self._matchers.hold(position, revision)

    def _add_expected(
        self,
        notification: NotificationFact,
        matchers: RevisionMatchers,
        revisions: list[SubscriptionRevision],
    ) -> None:
        """Record the subscribers that expect a notification because of these revisions."""
        people = self._expected.setdefault((notification.origin, notification.number), {})
        for position, _ in matchers.match(notification.language, notification.vector, notification.at_ms):
            revision = revisions[position]
            if revision.in_force(notification.at_ms):
                subscriber, withdrawn_ms = revision.subscriber, revision.withdrawn_ms
                people[subscriber] = last_withdrawal(people.get(subscriber, withdrawn_ms), withdrawn_ms)

    def _served(
        self, notified: Mapping[Message, NotificationFact], at_ms: int, copies: RemainingCopies
    ) -> LiveDelivery:
        figures = pair_figures(
            (
                Pair(
                    notification.at_ms,
                    notification.lifetime_ms,
                    self._arrived.get((*name, subscriber)),
                    withdrawn_ms,
                    copies.is_lost(name),
                )
                for name, notification in notified.items()
                for subscriber, withdrawn_ms in self._expected.get(name, {}).items()
            ),
            at_ms,
        )
        served = figures.counts
        return LiveDelivery(
            served.expected,
            served.delivered,
            served.missed,
            served.open,
            served.whole_delivered,
            served.lost,
            served.withdrawn,
            figures.estimate,
            values_of(metrics_from(FOLLOWED), Evidence(pairs=figures)),
        )

    def _reasons(self, since_ms: int) -> dict[str, int]:
        """Count discarded copies since then, per minute, by kind and reason."""
        counts: Counter[str] = Counter()
        for (minute_ms, kind, reason), messages in self._given_up.items():
            if minute_ms >= since_ms:
                counts[f"{kind}: {reason}" if reason else kind] += messages
        return dict(sorted(counts.items()))
