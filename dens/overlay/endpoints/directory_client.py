"""What an end knows of others' offers, and when it asks for more (the paper's distributed dictionary at every
node).

It keeps what it hears in a directory of its own: in memory, because it is asked for again in the next life.
A subscriber wants to know whether what it asks for can be served: when it meets a mediator, with every new
subscription, and again from time to time while nobody in reach can. A contact that only begins again is no
reason by itself, and while answers stay the same the pauses between questions grow: an idle end should cost
its network next to nothing.
"""

from collections.abc import Iterable
from typing import Final

from dens.interfaces import Directory
from dens.overlay.errors import StoreError
from dens.overlay.events import MessageQuarantined, OffersHeard, SubscriptionServed, SubscriptionUnserved
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import REFUSALS, Work, describe_failure
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.item import NEVER_MS

_BACKOFF_MAX: Final = 8
"""Pauses grow up to so many times `lookup_again_ms`."""
_MEDIATORS_MAX: Final = 64
"""So many mediators are remembered as asked of late."""
PARTIAL: Final = "partial"
"""The reason of what is told although not everybody has answered."""


class DirectoryClient:
    """A directory, what is known of subscriptions by it, and when to ask."""

    __slots__ = (
        "_context",
        "_directory",
        "_lookup_ms",
        "_met",
        "_number",
        "_pause_ms",
        "_unserved",
        "due_ms",
    )

    def __init__(self, context: NodeContext, directory: Directory | None) -> None:
        """Without a directory nothing is ever asked or kept."""
        self._context = context
        self._directory = directory
        self._number = 0
        self._met: dict[int, int] = {}
        """When each mediator was met last."""
        self._lookup_ms = 0
        self._pause_ms = context.limits.lookup_again_ms
        self._unserved: set[tuple[int, int]] = set()
        """Ids and revisions of which it was told that nobody can serve them."""
        self.due_ms = NEVER_MS
        """When something should be asked."""

    def schedule(self, now_ms: int) -> None:
        """Want to know now: there is something new to be served, or somebody new to be asked."""
        if self._directory is not None:
            self.due_ms = now_ms
            self._pause_ms = self._context.limits.lookup_again_ms

    def on_mediator_met(self, mediator: int, now_ms: int) -> None:
        """Want to know what a mediator knows that was met; where it was met of late, when a pause is over."""
        if self._directory is None:
            return
        met_ms = self._met.pop(mediator, None)
        self._met[mediator] = now_ms
        if len(self._met) > _MEDIATORS_MAX:
            del self._met[next(iter(self._met))]
        of_late_ms = _BACKOFF_MAX * self._context.limits.lookup_again_ms
        if met_ms is None or not met_ms <= now_ms < met_ms + of_late_ms:
            self.schedule(now_ms)
        else:
            self.due_ms = min(self.due_ms, max(now_ms, self._lookup_ms + self._pause_ms))

    def on_lookup_starting(self, now_ms: int) -> None:
        """Learn that it is being asked."""
        self.due_ms = NEVER_MS
        self._lookup_ms = now_ms

    def back_off(self, is_news: bool) -> None:
        """Make the next pause longer, unless the last answer was news."""
        least_ms = self._context.limits.lookup_again_ms
        self._pause_ms = least_ms if is_news else min(2 * self._pause_ms, _BACKOFF_MAX * least_ms)

    def on_lookup_started(self, number: int) -> None:
        """Learn under which number it was asked: the answer to it, and to no other, is judged."""
        self._number = number

    def question_for(self, subscriptions: Iterable[Subscription], now_ms: int) -> bytes | None:
        """Return what to ask so as to know who can serve these, or nearly; None where there are none."""
        directory = self._directory
        if directory is None:
            return None
        asked = [(one.item.language, one.body) for one in subscriptions if self._needs_publisher(one, now_ms)]
        return directory.question_for(asked) if asked else None

    def _needs_publisher(self, one: Subscription, now_ms: int) -> bool:
        """Return whether a subscription is in force and nobody serves it without offering something."""
        assert self._directory is not None
        return one.until_ms > now_ms and self._context.quarantine.attempt(
            Work.LOOKUP,
            one.item,
            now_ms,
            self._directory.needs_publisher,
            one.item.language,
            one.body,
            otherwise=False,
        )

    def learn(self, heard: OffersHeard, now_ms: int) -> None:
        """Keep what was told. What cannot be read is kept by nobody; a defect of the directory is told, and
        marks nothing, because the announcement is not held here.
        """
        directory = self._directory
        if directory is None:
            return
        for _, item in heard.offers:
            try:
                directory.learn(item.origin, item.payload, now_ms, age_ms=item.age_ms(now_ms), hops=item.hops)
            except REFUSALS:
                continue
            except StoreError:
                raise
            except Exception as error:
                reason = describe_failure(Work.LOOKUP, error)
                self._context.events.append(MessageQuarantined(now_ms, item, None, reason))

    def judge(self, subscriptions: Iterable[Subscription], heard: OffersHeard, now_ms: int) -> None:
        """Tell of subscriptions that nobody in reach can serve, each once until somebody can; and of those
        that somebody can again.
        """
        if self._directory is None or heard.number != self._number:
            return
        if not heard.mediators:
            self.due_ms = now_ms + self._pause_ms
            return  # Silence says nothing of anybody.
        reach = {offer.item.origin for offer in heard.offers if offer.distance}
        reason = PARTIAL if heard.missing else None
        events, unserved = self._context.events, set[tuple[int, int]]()
        for one in subscriptions:
            if not self._needs_publisher(one, now_ms):
                continue
            serving = self._serving(one, now_ms)
            if serving is None:
                continue
            was_told = (one.id, one.seq) in self._unserved
            if reach.isdisjoint(serving):
                unserved.add((one.id, one.seq))
                if not was_told:
                    events.append(SubscriptionUnserved(now_ms, one.item, None, reason))
            elif was_told:
                events.append(SubscriptionServed(now_ms, one.item, None, reason))
        self.back_off(unserved != self._unserved)
        self._unserved = unserved
        if unserved:
            self.due_ms = now_ms + self._pause_ms

    def _serving(self, one: Subscription, now_ms: int) -> set[int] | None:
        """Return who is known to be able to serve a subscription; None where that cannot be said."""
        assert self._directory is not None
        found: set[int] | None = self._context.quarantine.attempt(
            Work.LOOKUP, one.item, now_ms, _serving, self._directory, one, otherwise=None
        )
        return found


def _serving(directory: Directory, one: Subscription) -> set[int]:
    return {int(publisher) for publisher in directory.publishers_for(one.item.language, one.body)}
