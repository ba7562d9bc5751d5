"""A DENS node: it stores subscriptions, finds publishers, matches notifications, carries and forwards.

What it does with each kind of message it takes:

    SUBSCRIBE, RENEW   put in force, match against what is carried, relay, install where it can be served
    UNSUBSCRIBE        end it, owe nothing more for it, relay, remove its filters
    ANNOUNCE           tell the directory, relay, install at that publisher what it can serve
    NOTIFICATION       match, carry, relay as the policy says, notify whom it is owed to
    RECEIPT            owe that subscriber this notification no longer, relay

*Owed*: a notification is owed to a subscription revision iff its event time lies in the revision's time in
force and it matches. Who is owed what is not stored but found again after a restart, from the same
subscriptions and notifications.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from dens.collaborators import Directory, FoundMatch, Identities, MatcherFactory
from dens.engine import HAS_IT, Engine
from dens.events import (
    CopyDropped,
    CopyReplicated,
    MessageExpired,
    MessageStored,
    NotificationMatched,
)
from dens.identity import is_its_owners
from dens.item import Item, ItemId
from dens.limits import Limits
from dens.matching import LanguageMatchers
from dens.messages import Notify, Subscribed, SummaryMessage, Withdrawal
from dens.notification_store import Carried, NotificationStore
from dens.numbers import DIRECT_LANGUAGE, REASON_NAMES, MessageType, Reason, Role, Status
from dens.peer_session import PeerSession
from dens.policies.epidemic import Epidemic
from dens.policies.policy import ReplicationPolicy
from dens.receipts import ReceiptBook
from dens.seal import Sealer
from dens.services import ServiceBook
from dens.store import Store
from dens.subscription_table import Subscription, SubscriptionTable
from dens.summary import Summary

_PRIORITY: Final = {
    int(MessageType.UNSUBSCRIBE): 0,
    int(MessageType.SUBSCRIBE): 1,
    int(MessageType.RENEW): 1,
    int(MessageType.RECEIPT): 2,
    int(MessageType.ANNOUNCE): 3,
    int(MessageType.NOTIFICATION): 4,
}
_ASKING: Final = frozenset({int(MessageType.SUBSCRIBE), int(MessageType.RENEW)})
_RESTORED_IN_ORDER: Final = {
    int(MessageType.UNSUBSCRIBE): 0,
    int(MessageType.ANNOUNCE): 1,
    int(MessageType.SUBSCRIBE): 2,
    int(MessageType.RENEW): 2,
    int(MessageType.RECEIPT): 3,
    int(MessageType.NOTIFICATION): 4,
}

# Naming a member of an enumeration costs ten times as much as naming one of these, and every message does
# so dozens of times.
_ANNOUNCE: Final = int(MessageType.ANNOUNCE)
_INSTALL: Final = int(MessageType.INSTALL)
_NOTIFICATION: Final = int(MessageType.NOTIFICATION)
_NOTIFY: Final = int(MessageType.NOTIFY)
_RECEIPT: Final = int(MessageType.RECEIPT)
_REMOVE: Final = int(MessageType.REMOVE)
_RENEW: Final = int(MessageType.RENEW)
_SUBSCRIBE: Final = int(MessageType.SUBSCRIBE)
_UNSUBSCRIBE: Final = int(MessageType.UNSUBSCRIBE)
_MEDIATOR: Final = Role.MEDIATOR
_PUBLISHER: Final = Role.PUBLISHER
_SUBSCRIBER: Final = Role.SUBSCRIBER
_BAD_PAYLOAD: Final = Status.BAD_PAYLOAD
_NOT_SIGNED: Final = Status.NOT_SIGNED
_NO_ROOM: Final = Status.NO_ROOM
_STORED: Final = Status.STORED
_SUPERSEDED: Final = Status.SUPERSEDED
_UNEXPECTED: Final = Status.UNEXPECTED
_UNKNOWN_LANGUAGE: Final = Status.UNKNOWN_LANGUAGE


def _is_refusal(error: Exception) -> bool:
    """Say whether a collaborator refused bytes, which is not the same as being broken."""
    return hasattr(error, "offset")


class DensNode(Engine):
    """A mediator of the overlay."""

    role = _MEDIATOR
    commits_at_once = False

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        matchers: Mapping[int, MatcherFactory],
        directory: Directory,
        policy: ReplicationPolicy | None = None,
        identities: Identities | None = None,
        sealer: Sealer | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._identities = identities
        self._matchers = LanguageMatchers(matchers)
        bounds = limits or Limits()
        self._services = ServiceBook(directory)
        self._policy = policy or Epidemic()
        self._items: dict[ItemId, Item] = {}
        self._table = SubscriptionTable(bounds.linger_ms)
        self._carried = NotificationStore(bounds)
        self._receipts = ReceiptBook()
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
        while (ended := self._table.pop_ended(now_ms)) is not None:
            self._matchers.remove(ended)
            self._services.remove(ended.key)

    def _next_end_ms(self) -> int:
        end_ms, lingering_ms = self._known.wake_ms(), self._table.wake_ms()
        return end_ms if end_ms < lingering_ms else lingering_ms

    def _understand(self, message: SummaryMessage) -> Summary:
        if message.hello.role == _MEDIATOR:
            return self._ledger.known.compare(message.known)
        return super()._understand(message)

    def _note(self, session: PeerSession, now_ms: int) -> bytes:
        return self._policy.note(now_ms) if session.role is _MEDIATOR else b""

    # ------------------------------------------------------------------ taking messages

    def _take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        if self._next_end_ms() <= now_ms:
            self.timer_due(now_ms)
        if self._identities is not None and not is_its_owners(item, self._identities):
            return _NOT_SIGNED
        try:
            status = self._learn(item, session.peer, now_ms)
        except Exception as error:
            if not _is_refusal(error):
                raise
            return _BAD_PAYLOAD
        if status is _STORED:
            happened = CopyReplicated if session.role is _MEDIATOR else MessageStored
            self._events.append(happened(now_ms, item, session.peer, self._mark(item.id, session)))
            self._spread(item, session, now_ms)
        elif status is _SUPERSEDED:
            self._ledger.know(item)
        return status

    def _learn(self, item: Item, via: int, now_ms: int) -> Status:
        kind = item.type
        if kind == _NOTIFICATION:
            return self._learn_notification(item, now_ms)
        if kind == _RECEIPT:
            return self._learn_receipt(item, now_ms)
        if kind == _SUBSCRIBE:
            return self._learn_subscription(item, Subscribed.from_subscribe(item.payload), now_ms)
        if kind == _RENEW:
            return self._learn_subscription(item, Subscribed.from_renew(item.payload), now_ms)
        if kind == _UNSUBSCRIBE:
            return self._learn_withdrawal(item, now_ms)
        if kind == _ANNOUNCE:
            return self._learn_announcement(item, via, now_ms)
        return _UNEXPECTED

    def _learn_subscription(self, item: Item, said: Subscribed, now_ms: int) -> Status:
        if item.language not in self._matchers:
            return _UNKNOWN_LANGUAGE
        new = Subscription.of(item, said)
        status = self._table.judge(new)
        if status is not _STORED:
            return status
        current = self._table.get(new.key)
        if current is None and len(self._table) >= self.limits.subscriptions:
            return _NO_ROOM
        publishers = self._services.publishers_for(new)
        self._matchers.add(new)
        if current is not None:
            self._let_go_of(current.item, Reason.REPLACED, now_ms)
            if current.item.language != item.language:
                self._matchers.remove(current)
            if current.seq != new.seq:
                self._carried.release(item.origin, new.id)
        self._table.put(new)
        self._hold(item)
        self._match_with_carried(new, now_ms)
        self._services.add(new, publishers)
        for publisher in publishers:
            session = self._sessions.get(publisher)
            if session is not None and session.is_ready and session.role is _PUBLISHER:
                session.offer(1, item.id, _INSTALL)
        return _STORED

    def _match_with_carried(self, new: Subscription, now_ms: int) -> None:
        language = new.item.language
        candidates = [
            carried
            for carried in self._carried.all()
            if carried.item.language == language
            and new.since_ms <= carried.item.created_ms < new.until_ms
            and not self._receipts.has(carried.item.id, new.item.origin)
        ]
        if not candidates:
            return
        items = [carried.item for carried in candidates]
        for position, degree_u8 in self._matchers.match_single(new, items, now_ms):
            self._owe(candidates[position], new, degree_u8, now_ms)
            self._notify(candidates[position], new.item.origin)

    def _learn_withdrawal(self, item: Item, now_ms: int) -> Status:
        said = Withdrawal.decode(item.payload)
        if self._table.tombstone_count >= self.limits.tombstones:
            return _NO_ROOM
        status, ended, older = self._table.withdraw(item, said)
        if status is not _STORED:
            return status
        if older is not None:
            self._let_go_of(older.item, Reason.REPLACED, now_ms)
        if ended is not None:
            self._matchers.remove(ended)
            self._services.remove(ended.key)
            self._carried.release(*ended.key)
            self._let_go_of(ended.item, Reason.WITHDRAWN, now_ms)
        self._hold(item)
        return _STORED

    def _learn_announcement(self, item: Item, via: int, now_ms: int) -> Status:
        older = self._services.announcement(item.origin)
        if older is not None and older.number > item.number:
            return _SUPERSEDED
        self._services.learn(item, via, self._table.subscriptions(), now_ms)
        if older is not None:
            self._let_go_of(older, Reason.REPLACED, now_ms)
        self._hold(item)
        if len(self._services) > self.limits.announcements:
            earliest = self._services.earliest_born()
            self._services.forget(earliest.origin)
            self._let_go_of(earliest, Reason.OLDEST, now_ms)
            if earliest is item:
                return _NO_ROOM
        session = self._sessions.get(item.origin)
        if session is not None and session.is_ready:
            self._offer_installs(session)
        return _STORED

    def _learn_receipt(self, item: Item, now_ms: int) -> Status:
        notification = self._receipts.add(item)
        self._carried.delivered(notification, item.origin)
        self._hold(item)
        while len(self._receipts) > self.limits.receipts:
            self._let_go_of(self._receipts.oldest(), Reason.OLDEST, now_ms)
        return _STORED if item.id in self._items else _NO_ROOM

    def _learn_notification(self, item: Item, now_ms: int) -> Status:
        if item.language not in self._matchers:
            return _UNKNOWN_LANGUAGE
        matches = self._matchers.match(item, now_ms)
        item = self._ledger.kept(item)
        carried = self._carried.add(item)
        self._owe_all(carried, matches, now_ms)
        self._hold(item)
        for victim, reason in self._carried.make_room(now_ms):
            self._let_go_of(victim, reason, now_ms)
        return _STORED if item.id in self._items else _NO_ROOM

    def _owe_all(self, carried: Carried, matches: Iterable[FoundMatch], now_ms: int) -> None:
        item = carried.item
        for match in matches:
            subscription = self._table.get(match.key)
            if (
                subscription is not None
                and subscription.since_ms <= item.created_ms < subscription.until_ms
                and not self._receipts.has(item.id, match.key[0])
            ):
                self._owe(carried, subscription, match.degree_u8, now_ms)

    def _owe(self, carried: Carried, subscription: Subscription, degree_u8: int, now_ms: int) -> None:
        subscriber = subscription.item.origin
        satisfied = (subscription.id, subscription.seq, degree_u8)
        self._carried.owe(carried, subscriber, satisfied)
        self._events.append(NotificationMatched(now_ms, carried.item, subscriber, *satisfied))

    # ------------------------------------------------------------------ holding and letting go

    def _hold(self, item: Item) -> None:
        self._items[item.id] = item
        self._ledger.keep(item)

    def _let_go_of(self, item: Item, reason: Reason, now_ms: int) -> None:
        self._items.pop(item.id, None)
        self._receipts.remove(item)
        self._ledger.let_go(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    def _ended(self, item_id: ItemId, now_ms: int) -> bool:
        item = self._items.pop(item_id, None)
        if item is None:
            return False
        self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        kind = item.type
        if kind == _NOTIFICATION:
            self._carried.remove(item_id)
        elif kind == _RECEIPT:
            self._receipts.remove(item)
        elif kind == _UNSUBSCRIBE:
            self._table.tombstone_ended((item.origin, item.payload[0]), item)
        elif kind == _ANNOUNCE:
            self._services.forget(item.origin)
        return True

    def _restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        for item in sorted(held, key=lambda item: _RESTORED_IN_ORDER[item.type]):
            self._items[item.id] = item
            self._restore_one(item, now_ms)

    def _restore_one(self, item: Item, now_ms: int) -> None:
        kind = item.type
        if kind == _NOTIFICATION:
            self._owe_all(self._carried.add(item), self._matchers.match(item, now_ms), now_ms)
        elif kind == _RECEIPT:
            self._receipts.add(item)
        elif kind == _UNSUBSCRIBE:
            self._table.withdraw(item, Withdrawal.decode(item.payload))
        elif kind == _ANNOUNCE:
            self._services.learn(item, self.node, (), now_ms)
        else:
            read = Subscribed.from_subscribe if kind == _SUBSCRIBE else Subscribed.from_renew
            subscription = Subscription.of(item, read(item.payload))
            self._table.put(subscription)
            self._matchers.add(subscription)
            self._services.add(subscription, self._services.publishers_for(subscription))

    # ------------------------------------------------------------------ giving messages

    def _summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        if session.role is _MEDIATOR:
            return self._ledger.known.encode_all(most_bytes)
        return self._ledger.known.encode_only(session.peer, most_bytes)

    def _peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        role = session.role
        self._policy.met(session.peer, role is _MEDIATOR, note, now_ms)
        if role is _MEDIATOR:
            missing = [item for id in known.lacking if (item := self._items.get(id)) is not None]
            missing.sort(key=lambda item: item.created_ms)
            for item in missing:
                self._offer(item, session, now_ms)
        elif role is _SUBSCRIBER:
            for item_id in self._carried.owed_to(session.peer):
                if session.knows(item_id):
                    self._carried.delivered(item_id, session.peer)
                else:
                    session.offer(0, item_id, _NOTIFY)
        else:
            self._offer_removals(session)
            self._offer_installs(session)

    def _offer(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Queue a message for a mediator that has use for it.

        A plain message names its receiver, so who wants it need be known only where the receiver is met, and
        there the receiver says so itself; unless the policy asks.
        """
        if item.type == _NOTIFICATION:
            if session.knows(item.id):
                return
            owed_to = self._carried.subscribers_owed(item.id)
            if self._policy.share(item, owed_to, session.peer, now_ms) is None:
                return
        elif item.language == DIRECT_LANGUAGE and item.type in _ASKING and not self._policy.asks_who_is_owed:
            return
        session.offer(_PRIORITY[item.type], item.id, item.type, item.size)

    def _offer_removals(self, session: PeerSession) -> None:
        for tombstone in self._table.tombstones():
            if session.has_any_of(tombstone.item.origin):
                session.offer(0, tombstone.item.id, _REMOVE)

    def _offer_installs(self, session: PeerSession) -> None:
        for key in self._services.served_by(session.peer):
            subscription = self._table.get(key)
            if subscription is not None:
                session.offer(1, subscription.item.id, _INSTALL)

    def _spread(self, item: Item, giver: PeerSession, now_ms: int) -> None:
        """Give a message that has just been learnt to those in contact whom it concerns, but not back."""
        for session in self._sessions.values():
            if session is giver or not session.is_ready:
                continue
            if session.role is _MEDIATOR:
                self._offer(item, session, now_ms)
            elif session.role is _PUBLISHER and item.type == _UNSUBSCRIBE:
                session.offer(0, item.id, _REMOVE)
        if item.type == _NOTIFICATION:
            carried = self._carried.get(item.id)
            if carried is not None:
                for subscriber in carried.owed:
                    self._notify(carried, subscriber)

    def _notify(self, carried: Carried, subscriber: int) -> None:
        session = self._sessions.get(subscriber)
        if session is not None and session.is_ready and session.role is _SUBSCRIBER:
            session.may_want(carried.item.id)
            session.offer(0, carried.item.id, _NOTIFY, carried.item.size)

    def _frame(self, item_id: ItemId, type: int, session: PeerSession, now_ms: int) -> Item | None:
        item = self._items.get(item_id)
        if item is None:
            return None
        if type == _NOTIFICATION:
            owed_to = self._carried.subscribers_owed(item_id)
            copies = self._policy.share(item, owed_to, session.peer, now_ms)
            if copies is None or copies == item.copies:
                return None if copies is None else item
            return item.but(copies=copies)
        if type == _NOTIFY:
            carried = self._carried.get(item_id)
            satisfied = None if carried is None else carried.owed.get(session.peer)
            if not satisfied:
                return None
            notify = Notify(tuple(satisfied.values()), item.payload)
            return item.but(type=int(type), payload=notify.encode(), copies=0)
        if type == _INSTALL:
            payload = item.payload if item.type == _SUBSCRIBE else item.payload[4:]
            return item.but(type=int(type), payload=payload, signature=b"")
        if type == _REMOVE:
            return item.but(type=int(type), signature=b"")
        return item

    def _acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        if item.type == _NOTIFY:
            if status in HAS_IT:
                self._carried.delivered(item.id, session.peer)
            elif status == _SUPERSEDED:
                self._owe_other_revisions_only(item, session)
        elif item.type == _NOTIFICATION and status == _STORED:
            held = self._items.get(item.id)
            kept = 0 if held is None else self._policy.kept(held, item.copies)
            if held is not None and kept != held.copies:
                lighter = held.but(copies=kept)
                self._items[item.id] = lighter
                self._carried.replace(lighter)
                self._ledger.rewrite(lighter)

    def _owe_other_revisions_only(self, refused: Item, session: PeerSession) -> None:
        """Owe a subscriber no more for what it no longer wants; a newer revision may have come meanwhile."""
        self._carried.release_refused(refused.id, session.peer, Notify.decode(refused.payload).satisfied)
        if session.peer in self._carried.subscribers_owed(refused.id):
            session.may_want(refused.id)
            session.offer(0, refused.id, _NOTIFY)
