"""What each kind of message changes in what a mediator holds.

    SUBSCRIBE, RENEW   put in force, match against what is carried
    UNSUBSCRIBE        end it, owe nothing more for it
    ANNOUNCE           tell the directory
    NOTIFICATION       match, carry, make room
    NOTIFY             the same, for the ends of this device alone
    RECEIPT            owe that subscriber this notification no longer

What came as a NOTIFY is held as one: it is owed to the ends hosted here only, and let go of when they have
it. Whom a mediator tells of what it learnt is said in dens/mediator.py.
"""

from typing import Final

from dens.context import NodeContext
from dens.item import Item
from dens.mediator_state import MediatorState
from dens.messages import Notify, Withdrawal
from dens.numbers import (
    ANNOUNCE,
    KNOWN,
    NO_ROOM,
    NOTIFICATION,
    NOTIFY,
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
from dens.owing import Found, said_by
from dens.quarantine import Work
from dens.subscription_table import Subscription

_RESTORED_IN_ORDER: Final = {
    int(MessageType.UNSUBSCRIBE): 0,
    int(MessageType.ANNOUNCE): 1,
    int(MessageType.SUBSCRIBE): 2,
    int(MessageType.RENEW): 2,
    int(MessageType.RECEIPT): 3,
    int(MessageType.NOTIFICATION): 4,
    int(MessageType.NOTIFY): 4,
}


class Learning:
    """Takes messages into the state of a mediator."""

    __slots__ = ("_ledger", "_limits", "_node", "_quarantine", "_state")

    def __init__(self, context: NodeContext, state: MediatorState) -> None:
        self._node = context.node
        self._limits = context.limits
        self._ledger = context.ledger
        self._quarantine = context.quarantine
        self._state = state

    def learn(self, item: Item, via: int, tell: Found, now_ms: int) -> Status:
        """Take a message that is new; say how. `tell` is told who turned out to be owed something."""
        kind = item.type
        if kind == NOTIFICATION:
            return self._learn_notification(item, now_ms)
        if kind == NOTIFY:
            return self._learn_for_ends(item, now_ms)
        if kind == RECEIPT:
            return self._learn_receipt(item, now_ms)
        if kind == SUBSCRIBE:
            return self._learn_subscription(item, tell, now_ms)
        if kind == RENEW:
            return self._learn_subscription(item, tell, now_ms)
        if kind == UNSUBSCRIBE:
            return self._learn_withdrawal(item, now_ms)
        if kind == ANNOUNCE:
            return self._learn_announcement(item, via, now_ms)
        return UNEXPECTED

    def _learn_subscription(self, item: Item, tell: Found, now_ms: int) -> Status:
        state = self._state
        new = Subscription.of(item, said_by(item))
        if not state.owing.judges(item.language):
            return UNKNOWN_LANGUAGE
        status = state.table.judge(new)
        if status is not STORED:
            return status
        current = state.table.get(new.key)
        if current is None and len(state.table) >= self._limits.subscriptions:
            return NO_ROOM
        publishers = self._publishers_for(new, now_ms, lets_refuse=True)
        parts = self._parts_of(new, now_ms, lets_refuse=True)
        is_matched = state.owing.match_from_now_on(new, now_ms, lets_refuse=True)
        if current is not None:
            state.let_go_of(current.item, Reason.REPLACED, now_ms)
            if current.item.language != item.language or not is_matched:
                state.owing.match_no_more(current, now_ms)
            if current.seq != new.seq:
                state.release(item.origin, new.id, now_ms)
        state.table.put(new)
        state.hold(item)
        state.parts.add(item.id, parts)
        if is_matched:
            state.owing.match_with((new,), state.carried.all(), tell, now_ms)
        state.services.add(new, publishers)
        return STORED

    def _publishers_for(
        self, subscription: Subscription, now_ms: int, *, lets_refuse: bool = False
    ) -> tuple[int, ...]:
        return self._quarantine.attempt(
            Work.LOOKUP,
            subscription.item,
            now_ms,
            self._state.services.publishers_for,
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
            self._state.parts.take_apart,
            subscription,
            otherwise=(),
            lets_refuse=lets_refuse,
        )

    def _learn_withdrawal(self, item: Item, now_ms: int) -> Status:
        state = self._state
        said = Withdrawal.decode(item.payload)
        if state.table.tombstone_count >= self._limits.tombstones:
            return NO_ROOM
        status, ended, older = state.table.withdraw(item, said)
        if status is not STORED:
            return status
        if older is not None:
            state.let_go_of(older.item, Reason.REPLACED, now_ms)
        if ended is not None:
            state.owing.match_no_more(ended, now_ms)
            state.forget_services(ended)
            state.release(*ended.key, now_ms)
            state.let_go_of(ended.item, Reason.WITHDRAWN, now_ms)
        state.hold(item)
        state.parts.add_removals(item, said)
        return STORED

    def _learn_announcement(self, item: Item, via: int, now_ms: int) -> Status:
        state = self._state
        older = state.services.announcement(item.origin)
        if older is not None and older.number > item.number:
            return SUPERSEDED
        self._learn_services(item, via, now_ms, lets_refuse=True)
        for subscription in state.table.subscriptions():
            state.services.add(subscription, self._publishers_for(subscription, now_ms))
        if older is not None:
            state.parts.ask_anew(item.origin)
            state.let_go_of(older, Reason.REPLACED, now_ms)
        state.hold(item)
        if len(state.services) > self._limits.announcements:
            earliest = state.services.earliest_born()
            state.services.forget(earliest)
            state.parts.ask_anew(earliest.origin)
            state.let_go_of(earliest, Reason.OLDEST, now_ms)
            if earliest is item:
                return NO_ROOM
        return STORED

    def _learn_services(self, item: Item, via: int, now_ms: int, *, lets_refuse: bool = False) -> None:
        """Tell the directory of an announcement, which is the newest of its publisher in any case."""
        state = self._state
        self._quarantine.attempt(
            Work.LOOKUP,
            item,
            now_ms,
            state.services.tell_directory,
            item,
            via,
            now_ms,
            otherwise=None,
            lets_refuse=lets_refuse,
        )
        state.services.note(item)

    def _learn_receipt(self, item: Item, now_ms: int) -> Status:
        state = self._state
        notification = state.receipts.add(item)
        state.carried.delivered(notification, item.origin)
        state.let_go_if_done(notification, now_ms)
        state.hold(item)
        while len(state.receipts) > self._limits.receipts:
            state.let_go_of(state.receipts.oldest(), Reason.OLDEST, now_ms)
        return STORED if item.id in state.items else NO_ROOM

    def _learn_notification(self, item: Item, now_ms: int) -> Status:
        state = self._state
        found = state.owing.match(item, now_ms)
        if found is None:
            return UNKNOWN_LANGUAGE
        item = self._ledger.kept(item)
        carried = state.carried.add(item)
        state.owing.owe_matched(carried, found, now_ms)
        state.hold(item)
        for victim, reason in state.carried.make_room(now_ms):
            state.let_go_of(victim, reason, now_ms)
        return STORED if item.id in state.items else NO_ROOM

    def _learn_for_ends(self, item: Item, now_ms: int) -> Status:
        """Take a notification for the ends of this device. Which of their subscriptions it satisfies is found
        here; whoever brought it may know only some of them.
        """
        state = self._state
        if not state.hosts:
            return UNEXPECTED
        item = item.but(payload=Notify.decode(item.payload).vector)
        status = self._learn_notification(item, now_ms)
        if status is not STORED or state.carried.is_owed(item.id):
            return status
        has_it = any(state.receipts.has(item.id, end) for end in state.hosts)
        state.forget_copy(item, now_ms)
        return KNOWN if has_it else SUPERSEDED

    def restore(self, held: list[Item], now_ms: int) -> None:
        """Take up what was held before a restart."""
        state = self._state
        for item in sorted(held, key=lambda item: _RESTORED_IN_ORDER[item.type]):
            state.items[item.id] = item
            self._quarantine.attempt(
                Work.TAKING, item, now_ms, self._restore_one, item, now_ms, otherwise=None
            )
            if self._quarantine.holds(item, Work.TAKING):
                state.set_aside[item.id] = None

    def _restore_one(self, item: Item, now_ms: int) -> None:
        state = self._state
        kind = item.type
        if kind in (NOTIFICATION, NOTIFY):
            state.owing.owe_again(state.carried.add(item), now_ms)
        elif kind == RECEIPT:
            state.receipts.add(item)
        elif kind == UNSUBSCRIBE:
            said = Withdrawal.decode(item.payload)
            state.table.withdraw(item, said)
            state.parts.add_removals(item, said)
        elif kind == ANNOUNCE:
            self._learn_services(item, self._node, now_ms)
        else:
            subscription = Subscription.of(item, said_by(item))
            state.table.put(subscription)
            state.owing.match_from_now_on(subscription, now_ms)
            state.services.add(subscription, self._publishers_for(subscription, now_ms))
            state.parts.add(item.id, self._parts_of(subscription, now_ms))
