"""What a mediator holds, and what each kind of message changes in it.

    SUBSCRIBE, RENEW   put in force, match against what is carried
    UNSUBSCRIBE        end it, owe nothing more for it
    ANNOUNCE           tell the directory
    NOTIFICATION       match, carry, make room
    NOTIFY             the same, for the ends of this device alone
    RECEIPT            owe that subscriber this notification no longer

*Owed*: a notification is owed to a subscription revision iff its event time lies in the revision's time in
force and it matches. What came as a NOTIFY is held as one: it is owed to the ends hosted here only, and let
go of when they have it. Who is owed what is not stored but found again after a restart, from the same
subscriptions and notifications. Whom a mediator tells of what it learnt is said in dens/node.py.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from dens.arguments import checked_hosts
from dens.collaborators import Directory, MatcherFactory, SubscriptionKey
from dens.engine import Engine
from dens.events import CopyDropped, MessageExpired, NotificationMatched
from dens.item import Item, ItemId
from dens.limits import Limits
from dens.matching import Failure, LanguageMatchers, Match
from dens.messages import Notify, Satisfied, Subscribed, Withdrawal
from dens.notification_store import Carried, NotificationStore
from dens.numbers import (
    ANNOUNCE,
    KNOWN,
    NO_ROOM,
    NOTIFICATION,
    NOTIFY,
    REASON_NAMES,
    RECEIPT,
    RENEW,
    STORED,
    SUBSCRIBE,
    SUPERSEDED,
    UNEXPECTED,
    UNKNOWN_LANGUAGE,
    UNSUBSCRIBE,
    MessageType,
    Reason,
    Status,
)
from dens.parts import PartBook, TakesApart
from dens.quarantine import Work
from dens.receipts import ReceiptBook
from dens.seal import Sealer
from dens.services import ServiceBook
from dens.store import Store
from dens.subscription_table import Subscription, SubscriptionTable

_RESTORED_IN_ORDER: Final = {
    int(MessageType.UNSUBSCRIBE): 0,
    int(MessageType.ANNOUNCE): 1,
    int(MessageType.SUBSCRIBE): 2,
    int(MessageType.RENEW): 2,
    int(MessageType.RECEIPT): 3,
    int(MessageType.NOTIFICATION): 4,
    int(MessageType.NOTIFY): 4,
}


_FEW: Final = 8
_AT_A_TIME: Final = 64
"""So many notifications are matched with a subscriber's subscriptions before what was found is kept."""
_ASKING: Final = frozenset({int(MessageType.SUBSCRIBE), int(MessageType.RENEW)})


def _said_by(item: Item) -> Subscribed:
    """Read what a SUBSCRIBE or a RENEW says, or raise RemoteProtocolError."""
    if item.type == SUBSCRIBE:
        return Subscribed.from_subscribe(item.payload)
    return Subscribed.from_renew(item.payload)


class Holdings(Engine):
    """The memory of a mediator. `DensNode` is made of it."""

    commits_at_once = False

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        matchers: Mapping[int, MatcherFactory],
        listens_to: Mapping[int, Mapping[int, MatcherFactory]] | None = None,
        parts: Mapping[int, TakesApart] | None = None,
        directory: Directory,
        hosts: frozenset[int] = frozenset(),
        sealer: Sealer | None = None,
        limits: Limits | None = None,
    ) -> None:
        checked_hosts(hosts, node)
        self._hosts = hosts
        self._matchers = LanguageMatchers(matchers, listens_to)
        self._parts = PartBook(parts)
        bounds = limits or Limits()
        self._services = ServiceBook(directory)
        self._items: dict[ItemId, Item] = {}
        self._table = SubscriptionTable(bounds.linger_ms)
        self._carried = NotificationStore(bounds)
        self._receipts = ReceiptBook()
        self._set_aside: dict[ItemId, None] = {}
        super().__init__(node, table_check, store, now_ms, sealer=sealer, limits=bounds)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions and notifications are held, and the bytes of the latter."""
        return len(self._table), len(self._carried), self._carried.total_bytes

    @property
    def subscription_count(self) -> int:
        """Return how many subscriptions are known, lingering ones included."""
        return len(self._table)

    @property
    def notification_count(self) -> int:
        """Return how many notifications are carried."""
        return len(self._carried)

    @property
    def notification_bytes(self) -> int:
        """Return their bytes."""
        return self._carried.total_bytes

    # ------------------------------------------------------------------ verbs that do more here

    def timer_due(self, now_ms: int) -> None:
        """Forget what has expired, and subscriptions that have lingered enough."""
        super().timer_due(now_ms)
        while self._table.wake_ms <= now_ms and (ended := self._table.pop_ended(now_ms)) is not None:
            self._match_no_more(ended, now_ms)
            self._forget_services(ended)

    def _next_end_ms(self) -> int:
        end_ms, lingering_ms = self._known.wake_ms, self._table.wake_ms
        return end_ms if end_ms < lingering_ms else lingering_ms

    # ------------------------------------------------------------------ learning

    def _learn(self, item: Item, via: int, now_ms: int) -> Status:
        kind = item.type
        if kind == NOTIFICATION:
            return self._learn_notification(item, now_ms)
        if kind == NOTIFY:
            return self._learn_for_ends(item, now_ms)
        if kind == RECEIPT:
            return self._learn_receipt(item, now_ms)
        if kind == SUBSCRIBE:
            return self._learn_subscription(item, now_ms)
        if kind == RENEW:
            return self._learn_subscription(item, now_ms)
        if kind == UNSUBSCRIBE:
            return self._learn_withdrawal(item, now_ms)
        if kind == ANNOUNCE:
            return self._learn_announcement(item, via, now_ms)
        return UNEXPECTED

    def _learn_subscription(self, item: Item, now_ms: int) -> Status:
        new = Subscription.of(item, _said_by(item))
        if item.language not in self._matchers:
            return UNKNOWN_LANGUAGE
        status = self._table.judge(new)
        if status is not STORED:
            return status
        current = self._table.get(new.key)
        if current is None and len(self._table) >= self.limits.subscriptions:
            return NO_ROOM
        publishers = self._publishers_for(new, now_ms, lets_refuse=True)
        parts = self._parts_of(new, now_ms, lets_refuse=True)
        is_matched = self._match_from_now_on(new, now_ms, lets_refuse=True)
        if current is not None:
            self._let_go_of(current.item, Reason.REPLACED, now_ms)
            if current.item.language != item.language or not is_matched:
                self._match_no_more(current, now_ms)
            if current.seq != new.seq:
                self._release(item.origin, new.id, now_ms)
        self._table.put(new)
        self._hold(item)
        self._parts.add(item.id, parts)
        if is_matched:
            self._match_with((new,), self._carried.all(), now_ms)
        self._services.add(new, publishers)
        self._offer_to_publishers(new.key, item, publishers)
        return STORED

    def _publishers_for(
        self, subscription: Subscription, now_ms: int, *, lets_refuse: bool = False
    ) -> tuple[int, ...]:
        return self._quarantine.attempt(
            Work.LOOKUP,
            subscription.item,
            now_ms,
            self._services.publishers_for,
            subscription,
            otherwise=(),
            lets_refuse=lets_refuse,
        )

    def _parts_of(
        self, subscription: Subscription, now_ms: int, *, lets_refuse: bool = False
    ) -> tuple[Item, ...]:
        return self._quarantine.attempt(
            Work.FORMING,
            subscription.item,
            now_ms,
            self._parts.take_apart,
            subscription,
            otherwise=(),
            lets_refuse=lets_refuse,
        )

    def _forget_services(self, ended: Subscription) -> None:
        """Offer a subscription that has ended to no publisher any more."""
        self._services.remove(ended.key)
        self._parts.ended(ended.key)

    def _match_from_now_on(
        self, subscription: Subscription, now_ms: int, *, lets_refuse: bool = False
    ) -> bool:
        """Put a subscription into its matcher; say whether it is there."""
        return self._quarantine.attempt(
            Work.MATCHING,
            subscription.item,
            now_ms,
            self._matchers.add,
            subscription,
            otherwise=False,
            lets_refuse=lets_refuse,
        )

    def _match_no_more(self, subscription: Subscription, now_ms: int) -> None:
        """Take a subscription out of its matcher. Where that fails it matches no more all the same, because
        what is found is looked up in the table.
        """
        self._quarantine.attempt(
            Work.ENDING, subscription.item, now_ms, self._matchers.remove, subscription, otherwise=None
        )

    def _blame(self, failures: Iterable[Failure], now_ms: int) -> None:
        """Match those messages no more with which a language failed."""
        for item, error in failures:
            self._quarantine.put(Work.MATCHING, item, error, now_ms)
            if item.type in _ASKING:
                subscription = Subscription.of(item, _said_by(item))
                if self._table.get(subscription.key) == subscription:
                    self._match_no_more(subscription, now_ms)
                    self._carried.release(*subscription.key)

    def _match_with(
        self,
        subscriptions: Sequence[Subscription],
        carried: Sequence[Carried],
        now_ms: int,
        *,
        from_before: bool = False,
    ) -> None:
        """Owe these notifications to these subscriptions of one subscriber, as far as they match."""
        found: dict[ItemId, tuple[Carried, int, list[Satisfied]]] = {}
        for subscription in subscriptions:
            for one, satisfied in self._matches_among(subscription, carried, now_ms):
                found.setdefault(one.item.id, (one, subscription.item.origin, []))[2].append(satisfied)
        for one, subscriber, several in found.values():
            self._owe(one, subscriber, several, now_ms, from_before)
            self._notify(one, subscriber, now_ms)

    def _matches_among(
        self, new: Subscription, carried: Sequence[Carried], now_ms: int
    ) -> Iterable[tuple[Carried, Satisfied]]:
        language = new.item.language
        candidates = [
            one
            for one in carried
            if self._matchers.hears(language, one.item.language)
            and new.since_ms <= one.item.created_ms < new.until_ms
            and not self._quarantine.holds(one.item, Work.MATCHING)
            and not self._receipts.has(one.item.id, new.item.origin)
            and self._may_owe(one.item, new.item.origin)
        ]
        if not candidates:
            return ()
        items = [one.item for one in candidates]

        def is_good(item: Item) -> bool:
            others = self._matched_subscriptions(item.language)
            return any(
                one.key != new.key and one.since_ms <= item.created_ms < one.until_ms for one in others
            )

        found, failures = self._matchers.match_single(new, items, is_good, now_ms)
        self._blame(failures, now_ms)
        return [
            (candidates[position], Satisfied(new.id, new.seq, degree_u8, detail))
            for position, degree_u8, detail in found
        ]

    def _find_owed(self, subscriber: int, now_ms: int) -> None:
        """Find again what a subscriber is owed that was not kept for want of room, some notifications at a
        time, until there is no room for more.
        """
        self._carried.begin_to_find(subscriber)
        subscriptions = [
            one
            for one in self._table.subscriptions()
            if one.item.origin == subscriber and self._is_matched(one)
        ]
        carried = [one for one in self._carried.all() if not self._has_already(subscriber, one.item.id)]
        for at in range(0, len(carried), _AT_A_TIME):
            if self._carried.is_deferred(subscriber):
                break
            self._match_with(subscriptions, carried[at : at + _AT_A_TIME], now_ms, from_before=True)

    def _learn_withdrawal(self, item: Item, now_ms: int) -> Status:
        said = Withdrawal.decode(item.payload)
        if self._table.tombstone_count >= self.limits.tombstones:
            return NO_ROOM
        status, ended, older = self._table.withdraw(item, said)
        if status is not STORED:
            return status
        if older is not None:
            self._let_go_of(older.item, Reason.REPLACED, now_ms)
        if ended is not None:
            self._match_no_more(ended, now_ms)
            self._forget_services(ended)
            self._release(*ended.key, now_ms)
            self._let_go_of(ended.item, Reason.WITHDRAWN, now_ms)
        self._hold(item)
        self._parts.add_removals(item, said)
        return STORED

    def _learn_announcement(self, item: Item, via: int, now_ms: int) -> Status:
        older = self._services.announcement(item.origin)
        if older is not None and older.number > item.number:
            return SUPERSEDED
        self._learn_services(item, via, now_ms, lets_refuse=True)
        for subscription in self._table.subscriptions():
            self._services.add(subscription, self._publishers_for(subscription, now_ms))
        if older is not None:
            self._parts.ask_anew(item.origin)
            self._let_go_of(older, Reason.REPLACED, now_ms)
        self._hold(item)
        if len(self._services) > self.limits.announcements:
            earliest = self._services.earliest_born()
            self._services.forget(earliest)
            self._parts.ask_anew(earliest.origin)
            self._let_go_of(earliest, Reason.OLDEST, now_ms)
            if earliest is item:
                return NO_ROOM
        self._offer_to_publisher(item.origin)
        return STORED

    def _learn_services(self, item: Item, via: int, now_ms: int, *, lets_refuse: bool = False) -> None:
        """Tell the directory of an announcement, which is the newest of its publisher in any case."""
        self._quarantine.attempt(
            Work.LOOKUP,
            item,
            now_ms,
            self._services.tell_directory,
            item,
            via,
            now_ms,
            otherwise=None,
            lets_refuse=lets_refuse,
        )
        self._services.note(item)

    def _learn_receipt(self, item: Item, now_ms: int) -> Status:
        notification = self._receipts.add(item)
        self._carried.delivered(notification, item.origin)
        self._let_go_if_done(notification, now_ms)
        self._hold(item)
        while len(self._receipts) > self.limits.receipts:
            self._let_go_of(self._receipts.oldest(), Reason.OLDEST, now_ms)
        return STORED if item.id in self._items else NO_ROOM

    def _learn_notification(self, item: Item, now_ms: int) -> Status:
        found = self._matchers.match(item, self._witnesses, now_ms)
        if found is None:
            return UNKNOWN_LANGUAGE
        item = self._ledger.kept(item)
        carried = self._carried.add(item)
        matches, failures = found
        if failures:
            self._blame(failures, now_ms)
        if matches:
            self._owe_all(carried, matches, now_ms)
        self._hold(item)
        for victim, reason in self._carried.make_room(now_ms):
            self._let_go_of(victim, reason, now_ms)
        return STORED if item.id in self._items else NO_ROOM

    def _learn_for_ends(self, item: Item, now_ms: int) -> Status:
        """Take a notification for the ends of this device. Which of their subscriptions it satisfies is found
        here; whoever brought it may know only some of them.
        """
        if not self._hosts:
            return UNEXPECTED
        item = item.but(payload=Notify.decode(item.payload).vector)
        status = self._learn_notification(item, now_ms)
        if status is not STORED or self._carried.is_owed(item.id):
            return status
        has_it = any(self._receipts.has(item.id, end) for end in self._hosts)
        self._forget_copy(item, now_ms)
        return KNOWN if has_it else SUPERSEDED

    def _may_owe(self, item: Item, subscriber: int) -> bool:
        return item.type != NOTIFY or subscriber in self._hosts

    def _witnesses(self, item: Item) -> tuple[list[Subscription], list[Item]]:
        """Return what tells whose fault it is that a matcher failed with a notification: the subscriptions in
        it, and a few other notifications, good ones if there are any.
        """
        language = item.language
        others = [one.item for one in self._carried.all() if one.item.language == language]
        others = [one for one in others if one.id != item.id]
        good = [one for one in others if not self._quarantine.holds(one, Work.MATCHING)]
        return self._matched_subscriptions(language), (good or others)[-_FEW:]

    def _matched_subscriptions(self, language: int) -> list[Subscription]:
        """Return the subscriptions to notifications of a language with which no matcher has failed."""
        return [
            one
            for one in self._table.subscriptions()
            if self._matchers.hears(one.item.language, language) and self._is_matched(one)
        ]

    def _is_matched(self, subscription: Subscription) -> bool:
        return not self._quarantine.holds(subscription.item, Work.MATCHING)

    def _owe_all(
        self, carried: Carried, matches: Iterable[Match], now_ms: int, *, from_before: bool = False
    ) -> None:
        item = carried.item
        owed: dict[int, list[Satisfied]] = {}
        for key, degree_u8, detail in matches:
            subscription = self._table.get(key)
            if subscription is None or not subscription.since_ms <= item.created_ms < subscription.until_ms:
                continue
            if not self._may_owe(item, key[0]):
                continue
            if self._receipts.has(item.id, key[0]):
                self._carried.had_already(carried)
            elif self._is_matched(subscription):
                satisfied = Satisfied(subscription.id, subscription.seq, degree_u8, detail)
                owed.setdefault(key[0], []).append(satisfied)
        for subscriber, several in owed.items():
            self._owe(carried, subscriber, several, now_ms, from_before)

    def _owe(
        self,
        carried: Carried,
        subscriber: int,
        satisfied: Sequence[Satisfied],
        now_ms: int,
        from_before: bool = False,
    ) -> None:
        self._carried.owe(carried, subscriber, satisfied)
        for one in satisfied:
            self._events.append(
                NotificationMatched(
                    now_ms, carried.item, subscriber, one.id, one.seq, one.degree_u8, from_before, one.detail
                )
            )

    # ------------------------------------------------------------------ holding and letting go

    def _hold(self, item: Item) -> None:
        self._items[item.id] = item
        self._ledger.keep(item)

    def _could_not_take(self, item: Item, now_ms: int) -> Status:
        """Hold a message that this node can do nothing with, and relay it; of too many the oldest goes."""
        self._hold(item)
        self._set_aside[item.id] = None
        if len(self._set_aside) > self.limits.quarantined:
            oldest = self._items[next(iter(self._set_aside))]
            self._carried.remove(oldest.id)
            self._let_go_of(oldest, Reason.OLDEST, now_ms)
        return STORED

    def _let_go_of(self, item: Item, reason: Reason, now_ms: int) -> None:
        self._items.pop(item.id, None)
        self._set_aside.pop(item.id, None)
        self._parts.remove(item.id)
        self._receipts.remove(item)
        self._ledger.let_go(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    def _release(self, subscriber: int, id: int, now_ms: int) -> None:
        """Owe nothing more for this subscription."""
        waiting = self._carried.owed_to(subscriber) if subscriber in self._hosts else ()
        self._carried.release(subscriber, id)
        for item_id in waiting:
            self._let_go_if_done(item_id, now_ms)

    def _let_go_if_done(self, item_id: ItemId, now_ms: int) -> None:
        """Let go of a copy that came for the ends of this device, if none of them is owed it any more."""
        item = self._items.get(item_id)
        if item is not None and item.type == NOTIFY and not self._carried.is_owed(item_id):
            self._forget_copy(item, now_ms)

    def _forget_copy(self, item: Item, now_ms: int) -> None:
        """Let go of a copy as if it had never been here: another mediator may make this one a carrier."""
        self._carried.remove(item.id)
        del self._items[item.id]
        self._ledger.forget(item.id)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[Reason.DELIVERED]))

    def _ended(self, item_id: ItemId, now_ms: int) -> bool:
        item = self._items.pop(item_id, None)
        if item is None:
            return False
        self._set_aside.pop(item_id, None)
        self._parts.remove(item_id)
        self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        kind = item.type
        if kind in (NOTIFICATION, NOTIFY):
            self._carried.remove(item_id)
        elif kind == RECEIPT:
            self._receipts.remove(item)
        elif kind == UNSUBSCRIBE:
            self._table.tombstone_ended((item.origin, item.payload[0]), item)
        elif kind == ANNOUNCE:
            self._services.forget(item)
            self._parts.ask_anew(item.origin)
        return True

    def _restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        for item in sorted(held, key=lambda item: _RESTORED_IN_ORDER[item.type]):
            self._items[item.id] = item
            self._quarantine.attempt(
                Work.TAKING, item, now_ms, self._restore_one, item, now_ms, otherwise=None
            )
            if self._quarantine.holds(item, Work.TAKING):
                self._set_aside[item.id] = None

    def _restore_one(self, item: Item, now_ms: int) -> None:
        kind = item.type
        if kind in (NOTIFICATION, NOTIFY):
            carried = self._carried.add(item)
            nothing: tuple[Sequence[Match], Sequence[Failure]] = ((), ())
            matches, failures = self._quarantine.attempt(
                Work.MATCHING, item, now_ms, self._match_again, item, now_ms, otherwise=nothing
            )
            self._blame(failures, now_ms)
            self._owe_all(carried, matches, now_ms, from_before=True)
        elif kind == RECEIPT:
            self._receipts.add(item)
        elif kind == UNSUBSCRIBE:
            said = Withdrawal.decode(item.payload)
            self._table.withdraw(item, said)
            self._parts.add_removals(item, said)
        elif kind == ANNOUNCE:
            self._learn_services(item, self.node, now_ms)
        else:
            subscription = Subscription.of(item, _said_by(item))
            self._table.put(subscription)
            self._match_from_now_on(subscription, now_ms)
            self._services.add(subscription, self._publishers_for(subscription, now_ms))
            self._parts.add(item.id, self._parts_of(subscription, now_ms))

    def _match_again(self, item: Item, now_ms: int) -> tuple[Sequence[Match], Sequence[Failure]]:
        return self._matchers.match(item, self._witnesses, now_ms) or ((), ())

    # ------------------------------------------------------------------ who is to hear of it: dens/node.py

    @abstractmethod
    def _notify(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        """Give this notification to a subscriber that turned out to be owed it, or to whoever is a way to it,
        if they are in contact."""

    @abstractmethod
    def _has_already(self, subscriber: int, item_id: ItemId) -> bool:
        """Say whether a subscriber in contact said that it has this one."""

    @abstractmethod
    def _offer_to_publishers(self, key: SubscriptionKey, item: Item, publishers: Iterable[int]) -> None:
        """Ask those of these publishers that are in contact to look for this subscription."""

    @abstractmethod
    def _offer_to_publisher(self, publisher: int) -> None:
        """Ask a publisher, if it is in contact, to look for everything that it can serve."""
