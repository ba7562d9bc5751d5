"""What is known of a run while it goes on: facts as they come in, and the figures they amount to so far.

Facts come in *batches*, each with a number. A batch is a frozen, plain thing that can be written to a file
and read back, and taking one twice changes nothing; so whoever delivers batches may repeat them, which is
what a stream does that was killed in the middle of one. The figures depend on which facts were taken and not
on their order, and when the run is over they are the report's.

The writer of a run is ahead of whoever reads it. Figures are therefore those of the moment up to which facts
were taken, and say how much further the writer was.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from spark_analysis.answers import Served
from spark_analysis.catalogue.evidence import FOLLOWED, Evidence
from spark_analysis.catalogue.metric import values_of
from spark_analysis.catalogue.registry import metrics_from
from spark_analysis.copies_left import NOTHING_KNOWN, CopiesLeft
from spark_analysis.metrics.owed import (
    Listeners,
    SubscriptionRevision,
    last_withdrawal,
    load_matchers,
)
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.pair_figures import Pair, pair_figures

Message = tuple[int, int]
"""(origin, number)."""

GIVEN_UP = ("lost", "dropped", "refused", "expired")
"""The steps after which a copy of a message is no more; of `lost` it is a frame on the air, and its sender,
which still has the message, tries again.
"""

BEHIND_MS: Final = 60_000
"""Who is so far behind the writer says so. Less may be a silence in which nothing happened."""


@dataclass(frozen=True, slots=True)
class Notified:
    """A notification that left its source."""

    origin: int
    number: int
    at_ms: int
    language: int
    lifetime_ms: int
    vector: bytes


@dataclass(frozen=True, slots=True)
class Delivered:
    """An application saw a notification."""

    origin: int
    number: int
    subscriber: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """So many copies were given up for one reason in the minute that begins at `minute_ms`."""

    minute_ms: int
    kind: str
    reason: str
    messages: int


@dataclass(frozen=True, slots=True)
class Batch:
    """New facts of a run, in a fixed order."""

    number: int
    subscriptions: tuple[SubscriptionRevision, ...] = ()
    notifications: tuple[Notified, ...] = ()
    deliveries: tuple[Delivered, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    reached_ms: int = 0
    """When the last of the steps was that are followed (`spark_analysis.live.follow.STEPS`)."""

    def to_text(self) -> str:
        """Return it as one JSON document; bytes are written in hexadecimal."""
        return json.dumps(asdict(self), default=bytes.hex)

    @classmethod
    def from_text(cls, text: str) -> "Batch":
        """Read what `to_text` wrote."""
        document = json.loads(text)
        return cls(
            document["number"],
            tuple(SubscriptionRevision(**_with_bytes(row)) for row in document["subscriptions"]),
            tuple(Notified(**_with_bytes(row)) for row in document["notifications"]),
            tuple(Delivered(**row) for row in document["deliveries"]),
            tuple(GivenUp(**row) for row in document["given_up"]),
            document.get("reached_ms", 0),  # one that an earlier version wrote does not say it
        )


def _with_bytes(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "vector": bytes.fromhex(row["vector"])}


@dataclass(frozen=True, slots=True)
class ServedSoFar(Served):
    """What became of what was owed, as of the moment up to which facts were taken (`pair_figures.py`), and
    every metric that follows from it. A ratio of nothing is None; so is the delay of nothing.
    """

    estimate: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """A run up to `at_ms`, and its last `window_ms` before that; its writer had come to `written_ms`.

    A pair (notification, subscriber) counts where its event lies: `recent` has the pairs that became owed in
    the window and what of them has arrived. Most of those are open, so its ratio is low at first and rises as
    they come in: how many are open, and the estimate, say what it is worth. What was given up counts when it
    was.
    """

    at_ms: int
    written_ms: int
    window_ms: int
    batches: int
    subscriptions: int
    notifications: int
    whole: ServedSoFar
    recent: ServedSoFar
    given_up: Mapping[str, int]
    given_up_recently: Mapping[str, int]

    @property
    def is_behind(self) -> bool:
        """Tell whether there is more of the run than these figures know."""
        return self.written_ms - self.at_ms >= BEHIND_MS

    def as_document(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


class LiveState:
    """The facts taken so far."""

    def __init__(self, languages: RunLanguages) -> None:
        self._languages = languages
        self._taken: set[int] = set()
        self._revisions: list[SubscriptionRevision] = []
        self._places: dict[tuple[int, int, int], int] = {}
        """Where each revision stands among them."""
        self._matchers = Listeners(languages)
        self._notified: dict[Message, Notified] = {}
        self._owed: dict[Message, dict[int, int | None]] = {}
        self._arrived: dict[tuple[int, int, int], int] = {}
        self._given_up: Counter[tuple[int, str, str]] = Counter()
        self._reached_ms = 0

    def take(self, batch: Batch) -> bool:
        """Take the facts of a batch; say whether they were new. One that was taken before changes nothing."""
        if batch.number in self._taken:
            return False
        self._taken.add(batch.number)
        self._learn(batch.subscriptions)
        for told in batch.notifications:
            self._notified[told.origin, told.number] = told
            self._owe(told, self._matchers, self._revisions)
        for seen in batch.deliveries:
            pair = (seen.origin, seen.number, seen.subscriber)
            self._arrived[pair] = min(seen.at_ms, self._arrived.get(pair, seen.at_ms))
        for given in batch.given_up:
            self._given_up[given.minute_ms, given.kind, given.reason] += given.messages
        self._reached_ms = max(self._reached_ms, batch.reached_ms)
        return True

    def figures(
        self, written_ms: int, window_ms: int, *, all_taken: bool, copies: CopiesLeft = NOTHING_KNOWN
    ) -> LiveFigures:
        """Return what the facts amount to, of a run that is written up to `written_ms`.

        `all_taken` says that every fact until then was taken. Otherwise they are the figures of the last
        moment of which messages are known: a notification after it, of which nothing could be heard yet,
        waits. `copies` are known when the run is over; before, a pair without a copy counts as open.
        """
        at_ms = written_ms if all_taken else min(self._reached_ms, written_ms)
        since_ms = at_ms - window_ms
        known = {n: told for n, told in self._notified.items() if all_taken or told.at_ms <= at_ms}
        recently = {name: told for name, told in known.items() if told.at_ms >= since_ms}
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

    def _learn(self, revisions: Iterable[SubscriptionRevision]) -> None:
        """Hold new revisions, and see what was told before that they are owed.

        What is said anew of one that is held changes whom everything is owed to; that is rare.
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
            alone = load_matchers(new, self._languages)
            for told in self._notified.values():
                self._owe(told, alone, new)
            self._hold(new)
        if is_changed:
            self._owed.clear()
            for told in self._notified.values():
                self._owe(told, self._matchers, self._revisions)

    def _hold(self, new: list[SubscriptionRevision]) -> None:
        self._revisions += new
        for position, revision in enumerate(new, start=len(self._revisions) - len(new)):
            self._matchers.hold(position, revision)

    def _owe(self, told: Notified, matchers: Listeners, revisions: list[SubscriptionRevision]) -> None:
        """Note to whom a notification is owed because of these revisions (`spark_analysis.metrics.owed`)."""
        people = self._owed.setdefault((told.origin, told.number), {})
        for position, _ in matchers.match(told.language, told.vector, told.at_ms):
            revision = revisions[position]
            if revision.in_force(told.at_ms):
                subscriber, withdrawn_ms = revision.subscriber, revision.withdrawn_ms
                people[subscriber] = last_withdrawal(people.get(subscriber, withdrawn_ms), withdrawn_ms)

    def _served(self, notified: Mapping[Message, Notified], at_ms: int, copies: CopiesLeft) -> ServedSoFar:
        figures = pair_figures(
            (
                Pair(
                    told.at_ms,
                    told.lifetime_ms,
                    self._arrived.get((*name, subscriber)),
                    withdrawn_ms,
                    copies.is_lost(name),
                )
                for name, told in notified.items()
                for subscriber, withdrawn_ms in self._owed.get(name, {}).items()
            ),
            at_ms,
        )
        served = figures.served
        return ServedSoFar(
            served.owed,
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
        """Count what was given up since then, as far as minutes tell, by kind and reason."""
        counts: Counter[str] = Counter()
        for (minute_ms, kind, reason), messages in self._given_up.items():
            if minute_ms >= since_ms:
                counts[f"{kind}: {reason}" if reason else kind] += messages
        return dict(sorted(counts.items()))
