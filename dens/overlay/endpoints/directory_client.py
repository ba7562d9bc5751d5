"""Directory client of an endpoint: the offers of publishers, and when to look them up (the paper's
distributed dictionary at every node).

Offers are kept in a directory in memory: after a restart they are looked up again. A subscriber looks up
whether its subscriptions can be served: when it meets a mediator, with every new subscription, and
periodically while no publisher in reach serves subscription. A contact that is only restarted causes no
look-up, and while the answers stay the same the pauses grow: an idle endpoint should cost its network next to
nothing.
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
"""The longest pause, in multiples of `lookup_again_ms`."""
_MEDIATORS_MAX: Final = 64
"""Mediators whose last contact is remembered."""
PARTIAL: Final = "partial"
"""Reason in events that rest on a partial answer."""


class DirectoryClient:
    """A directory, the subscriptions that it cannot serve, and the schedule of look-ups."""

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
        """Without a directory there are no look-ups."""
        self._context = context
        self._directory = directory
        self._number = 0
        self._met: dict[int, int] = {}
        """Time of the last contact by mediator."""
        self._lookup_ms = 0
        self._pause_ms = context.limits.lookup_again_ms
        self._unserved: set[tuple[int, int]] = set()
        """Ids and revisions reported as unserved."""
        self.due_ms = NEVER_MS
        """When the next look-up is due."""

    def schedule(self, now_ms: int) -> None:
        """Schedule a look-up now (new subscription, or new mediator)."""
        if self._directory is not None:
            self.due_ms = now_ms
            self._pause_ms = self._context.limits.lookup_again_ms

    def on_mediator_met(self, mediator: int, now_ms: int) -> None:
        """Schedule a look-up: now, or after the pause if this mediator was met recently."""
        if self._directory is None:
            return
        met_ms = self._met.pop(mediator, None)
        self._met[mediator] = now_ms
        if len(self._met) > _MEDIATORS_MAX:
            del self._met[next(iter(self._met))]
        recent_ms = _BACKOFF_MAX * self._context.limits.lookup_again_ms
        if met_ms is None or not met_ms <= now_ms < met_ms + recent_ms:
            self.schedule(now_ms)
        else:
            self.due_ms = min(self.due_ms, max(now_ms, self._lookup_ms + self._pause_ms))

    def on_lookup_starting(self, now_ms: int) -> None:
        """Note the start of a look-up: none is due."""
        self.due_ms = NEVER_MS
        self._lookup_ms = now_ms

    def back_off(self, is_news: bool) -> None:
        """Double the next pause, unless the last answer was new."""
        least_ms = self._context.limits.lookup_again_ms
        self._pause_ms = least_ms if is_news else min(2 * self._pause_ms, _BACKOFF_MAX * least_ms)

    def on_lookup_started(self, number: int) -> None:
        """Note the number of the look-up whose result `judge` uses."""
        self._number = number

    def question_for(self, subscriptions: Iterable[Subscription], now_ms: int) -> bytes | None:
        """Return a question for publishers that can serve these, or nearly; None if there is nothing to look
        up.
        """
        directory = self._directory
        if directory is None:
            return None
        bodies = [
            (subscription.item.language, subscription.body)
            for subscription in subscriptions
            if self._needs_publisher(subscription, now_ms)
        ]
        return directory.question_for(bodies) if bodies else None

    def _needs_publisher(self, subscription: Subscription, now_ms: int) -> bool:
        """Return whether a subscription is in force and needs the offer of a publisher."""
        assert self._directory is not None
        return subscription.until_ms > now_ms and self._context.quarantine.attempt(
            Work.LOOKUP,
            subscription.item,
            now_ms,
            self._directory.needs_publisher,
            subscription.item.language,
            subscription.body,
            otherwise=False,
        )

    def learn(self, heard: OffersHeard, now_ms: int) -> None:
        """Add offers to the directory. Invalid ones are ignored; a failure of the directory is reported and
        not marked, because the announcement is not held here.
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
        """Report subscriptions that no publisher in reach can serve, each once, and those that are served
        again.
        """
        if self._directory is None or heard.number != self._number:
            return
        if not heard.mediators:
            self.due_ms = now_ms + self._pause_ms
            return  # Without an answer nothing is known.
        reach = {offer.item.origin for offer in heard.offers if offer.distance}
        reason = PARTIAL if heard.missing else None
        events, unserved = self._context.events, set[tuple[int, int]]()
        for subscription in subscriptions:
            if not self._needs_publisher(subscription, now_ms):
                continue
            serving = self._serving(subscription, now_ms)
            if serving is None:
                continue
            was_unserved = (subscription.id, subscription.seq) in self._unserved
            if reach.isdisjoint(serving):
                unserved.add((subscription.id, subscription.seq))
                if not was_unserved:
                    events.append(SubscriptionUnserved(now_ms, subscription.item, None, reason))
            elif was_unserved:
                events.append(SubscriptionServed(now_ms, subscription.item, None, reason))
        self.back_off(unserved != self._unserved)
        self._unserved = unserved
        if unserved:
            self.due_ms = now_ms + self._pause_ms

    def _serving(self, subscription: Subscription, now_ms: int) -> set[int] | None:
        """Return the publishers that can serve a subscription; None if the directory fails."""
        assert self._directory is not None
        publishers: set[int] | None = self._context.quarantine.attempt(
            Work.LOOKUP, subscription.item, now_ms, _serving, self._directory, subscription, otherwise=None
        )
        return publishers


def _serving(directory: Directory, subscription: Subscription) -> set[int]:
    return {
        int(publisher)
        for publisher in directory.publishers_for(subscription.item.language, subscription.body)
    }
