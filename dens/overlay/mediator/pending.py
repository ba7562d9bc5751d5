"""Pending deliveries of a mediator: which subscriber still has to receive which notification.

A notification is *pending* for a subscription revision if its event time lies within the revision's lifetime
and it matches. A notification that came as a NOTIFY is pending only for endpoints hosted here. Pending
deliveries are derived state: they are not stored but recomputed from subscriptions and notifications after a
restart, or, beyond the limit, when the subscriber is met.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dens.overlay.events import NotificationMatched
from dens.overlay.mediator.matching import Failure, LanguageMatchers, Match
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.storage.notification_store import Carried, NotificationStore
from dens.overlay.storage.receipts import ReceiptTable
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable
from dens.overlay.wire.codes import ASKING, NOTIFY, SUBSCRIBE
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Satisfied, Subscribed

_WITNESSES_MAX: Final = 8
_MATCH_BATCH: Final = 64
"""Notifications matched per step, until the limit of pending deliveries is checked again."""
OnPending = Callable[[Carried, int, int], None]
"""(notification, subscriber, now_ms): called when a delivery is found pending."""


def read_subscription(item: Item) -> Subscribed:
    """Decode a SUBSCRIBE or a RENEW, or raise RemoteProtocolError."""
    if item.type == SUBSCRIBE:
        return Subscribed.from_subscribe(item.payload)
    return Subscribed.from_renew(item.payload)


class PendingDeliveries:
    """Matches the subscriptions and notifications of a mediator and notes pending deliveries."""

    __slots__ = ("_carried", "_events", "_hosts", "_matchers", "_quarantine", "_receipts", "_table")

    def __init__(
        self,
        context: NodeContext,
        matchers: LanguageMatchers,
        hosts: frozenset[int],
        table: SubscriptionTable,
        carried: NotificationStore,
        receipts: ReceiptTable,
    ) -> None:
        self._events = context.events
        self._quarantine = context.quarantine
        self._matchers = matchers
        self._hosts = hosts
        self._table = table
        self._carried = carried
        self._receipts = receipts

    def judges(self, language: int) -> bool:
        """Return whether there is a matcher for subscriptions of this language."""
        return language in self._matchers

    def add_subscription(self, subscription: Subscription, now_ms: int, *, may_reject: bool = False) -> bool:
        """Add a subscription to its matchers; return whether that succeeded."""
        return self._quarantine.attempt(
            Work.MATCHING,
            subscription.item,
            now_ms,
            self._matchers.add,
            subscription,
            now_ms,
            otherwise=False,
            may_reject=may_reject,
        )

    def remove_subscription(self, subscription: Subscription, now_ms: int) -> None:
        """Remove a subscription from its matchers. If that fails it has no effect either, because matches are
        looked up in the table.
        """
        self._quarantine.attempt(
            Work.ENDING, subscription.item, now_ms, self._matchers.remove, subscription, otherwise=None
        )

    def _blame(self, failures: Iterable[Failure], now_ms: int) -> None:
        """Quarantine messages with which a language failed."""
        for item, error in failures:
            is_at_fault = self._quarantine.put(Work.MATCHING, item, error, now_ms)
            if is_at_fault and item.type in ASKING:
                subscription = Subscription.of(item, read_subscription(item))
                if self._table.get(subscription.key) == subscription:
                    self.remove_subscription(subscription, now_ms)
                    self._carried.drop_subscription(*subscription.key)

    def match_with(
        self,
        subscriptions: Sequence[Subscription],
        carried: Sequence[Carried],
        on_pending: OnPending,
        now_ms: int,
        *,
        others: Sequence[Carried] = (),
        from_before: bool = False,
    ) -> None:
        """Note which of these notifications are pending for these subscriptions of one subscriber. `others`
        are further notifications, to find the message at fault if a matcher fails.
        """
        found: dict[ItemId, tuple[Carried, int, list[Satisfied]]] = {}
        for subscription in subscriptions:
            for one, satisfied in self._matches_among(subscription, carried, others, now_ms):
                found.setdefault(one.item.id, (one, subscription.item.origin, []))[2].append(satisfied)
        for one, subscriber, several in found.values():
            self._add(one, subscriber, several, now_ms, from_before)
            on_pending(one, subscriber, now_ms)

    def _matches_among(
        self, new: Subscription, carried: Sequence[Carried], others: Sequence[Carried], now_ms: int
    ) -> Iterable[tuple[Carried, Satisfied]]:
        candidates = self._candidates(new, carried)
        if not candidates:
            return ()
        items = [one.item for one in candidates]
        witnesses = [one.item for one in self._candidates(new, others)]

        def is_good(item: Item) -> bool:
            others = self._matched_subscriptions(item.language)
            return any(
                one.key != new.key and one.since_ms <= item.created_ms < one.until_ms for one in others
            )

        found, failures = self._matchers.match_single(new, items, witnesses, is_good, now_ms)
        self._blame(failures, now_ms)
        return [
            (candidates[position], Satisfied(new.id, new.seq, degree_u8, detail))
            for position, degree_u8, detail in found
        ]

    def _candidates(self, new: Subscription, carried: Sequence[Carried]) -> list[Carried]:
        """Return the notifications that may be pending for a subscription, before matching."""
        language = new.item.language
        return [
            one
            for one in carried
            if self._matchers.hears(language, one.item.language)
            and new.since_ms <= one.item.created_ms < new.until_ms
            and not self._quarantine.holds(one.item, Work.MATCHING)
            and not self._receipts.has(one.item.id, new.item.origin)
            and self._may_deliver(one.item, new.item.origin)
        ]

    def find_pending(
        self, subscriber: int, has_already: Callable[[ItemId], bool], on_pending: OnPending, now_ms: int
    ) -> None:
        """Recompute pending deliveries of a subscriber that exceeded the limit, in batches, until the limit
        is reached again.
        """
        self._carried.resume(subscriber)
        subscriptions = [
            one
            for one in self._table.subscriptions()
            if one.item.origin == subscriber and self._is_matched(one)
        ]
        carried = [one for one in self._carried.all() if not has_already(one.item.id)]
        for at in range(0, len(carried), _MATCH_BATCH):
            if self._carried.is_deferred(subscriber):
                break
            self.match_with(
                subscriptions, carried[at : at + _MATCH_BATCH], on_pending, now_ms, from_before=True
            )

    def _may_deliver(self, item: Item, subscriber: int) -> bool:
        return item.type != NOTIFY or subscriber in self._hosts

    def _witnesses(self, item: Item) -> tuple[list[Subscription], list[Item]]:
        """Return what helps to find the message at fault when a matcher failed with a notification: the
        subscriptions in it, and a few other notifications, preferably good ones.
        """
        language = item.language
        others = [one.item for one in self._carried.all() if one.item.language == language]
        others = [one for one in others if one.id != item.id]
        good = [one for one in others if not self._quarantine.holds(one, Work.MATCHING)]
        return self._matched_subscriptions(language), (good or others)[-_WITNESSES_MAX:]

    def _matched_subscriptions(self, language: int) -> list[Subscription]:
        """Return the subscriptions to notifications of a language with which no matcher has failed."""
        return [
            one
            for one in self._table.subscriptions()
            if self._matchers.hears(one.item.language, language) and self._is_matched(one)
        ]

    def _is_matched(self, subscription: Subscription) -> bool:
        return not self._quarantine.holds(subscription.item, Work.MATCHING)

    def _add_all(
        self, carried: Carried, matches: Iterable[Match], now_ms: int, *, from_before: bool = False
    ) -> None:
        item, table = carried.item, self._table
        item_id, created_ms, is_for_hosted = item.id, item.created_ms, item.type == NOTIFY
        found: dict[int, list[Satisfied]] = {}
        for key, degree_u8, detail, revision in matches:
            subscription = table.get(key)
            if subscription is None or not subscription.since_ms <= created_ms < subscription.until_ms:
                continue
            if revision is not None and revision != subscription.seq:
                continue
            subscriber = key[0]
            if is_for_hosted and subscriber not in self._hosts:
                continue
            if self._receipts.has(item_id, subscriber):
                self._carried.delivered_elsewhere(carried)
            elif self._is_matched(subscription):
                satisfied = Satisfied(subscription.id, subscription.seq, degree_u8, detail)
                if subscriber in found:
                    found[subscriber].append(satisfied)
                else:
                    found[subscriber] = [satisfied]
        for subscriber, several in found.items():
            self._add(carried, subscriber, several, now_ms, from_before)

    def _add(
        self,
        carried: Carried,
        subscriber: int,
        satisfied: Sequence[Satisfied],
        now_ms: int,
        from_before: bool = False,
    ) -> None:
        self._carried.add_pending(carried, subscriber, satisfied)
        for one in satisfied:
            self._events.append(
                NotificationMatched(
                    now_ms, carried.item, subscriber, one.id, one.seq, one.degree_u8, from_before, one.detail
                )
            )

    def match(self, item: Item, now_ms: int) -> tuple[Sequence[Match], Sequence[Failure]] | None:
        """Return the matches of a notification, and the messages at fault if a matcher failed; None if its
        language is unknown. An invalid vector raises.
        """
        return self._matchers.match(item, self._witnesses, now_ms)

    def knows(self, language: int) -> bool:
        """Return whether there is a matcher for notifications of this language."""
        return self._matchers.knows(language)

    def add_matched(
        self, carried: Carried, found: tuple[Sequence[Match], Sequence[Failure]], now_ms: int
    ) -> None:
        """Note the pending deliveries of a new notification."""
        matches, failures = found
        if failures:
            self._blame(failures, now_ms)
        if matches:
            self._add_all(carried, matches, now_ms)

    def match_held(self, carried: Carried, now_ms: int, *, from_before: bool) -> None:
        """Match a notification that is held but not matched yet, for example after a restart, and note its
        pending deliveries.
        """
        item = carried.item
        nothing: tuple[Sequence[Match], Sequence[Failure]] = ((), ())
        matches, failures = self._quarantine.attempt(
            Work.MATCHING, item, now_ms, self._match_again, item, now_ms, otherwise=nothing
        )
        self._blame(failures, now_ms)
        self._add_all(carried, matches, now_ms, from_before=from_before)

    def _match_again(self, item: Item, now_ms: int) -> tuple[Sequence[Match], Sequence[Failure]]:
        return self._matchers.match(item, self._witnesses, now_ms) or ((), ())
