"""PUB/DENS, the publisher's end: it says what it can measure, looks for what it is asked for, and sends what
it found.

A notification stays in the outbox until it expires (or room is needed), and every mediator that does not
know it gets it: which mediator will be the first to meet the subscriber, a publisher cannot know. Filters
are installed in the filter host (a watchdog) with their remaining lifetime, survive a restart, and are never
brought back by an older copy.
"""

from typing import Final

from dens.arguments import checked_bytes
from dens.collaborators import FilterHost
from dens.engine import Engine
from dens.events import CopyDropped, FilterInstalled, FilterRemoved, MessageCreated, MessageExpired
from dens.item import Item, ItemId
from dens.limits import Limits
from dens.messages import Subscribed, Withdrawal
from dens.notification_store import NotificationStore
from dens.numbers import REASON_NAMES, MessageType, Reason, Role, Status
from dens.peer_session import PeerSession
from dens.quarantine import Work
from dens.seal import Sealer
from dens.store import Store
from dens.subscription_table import Subscription, SubscriptionTable
from dens.summary import Summary

ANNOUNCE_LIFETIME_Q: Final = 168
"""2²¹ seconds, about 24 days: what a publisher can measure seldom changes."""

_HOST_CODES: Final = {
    0: Status.STORED,
    1: Status.STORED,
    2: Status.STORED,
    3: Status.SUPERSEDED,
    4: Status.NO_ROOM,
    5: Status.UNKNOWN_LANGUAGE,
    6: Status.BAD_PAYLOAD,
    7: Status.EXPIRED,
    8: Status.SUPERSEDED,
}
"""What a watchdog's answer to an install means on the air."""


class PublisherEnd(Engine):
    """A node that measures."""

    role = Role.PUBLISHER

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        filter_host: FilterHost,
        sealer: Sealer | None = None,
        limits: Limits | None = None,
    ) -> None:
        bounds = limits or Limits()
        self._filter_host = filter_host
        self._announcement: Item | None = None
        self._outbox = NotificationStore(bounds)
        self._filters = SubscriptionTable(linger_ms=0)
        self._relayed: dict[ItemId, Item] = {}
        super().__init__(node, table_check, store, now_ms, sealer=sealer, limits=bounds)

    # ------------------------------------------------------------------ what the application asks

    def announce(self, extract: bytes, now_ms: int, lifetime_q: int = ANNOUNCE_LIFETIME_Q) -> ItemId:
        """Say what this node can measure; it replaces what was said before. The same again is nothing new."""
        checked_bytes(extract, "an extract")
        older = self._announcement
        if older is not None and older.payload == extract and older.lifetime_q == lifetime_q:
            return older.id
        item = self._make(MessageType.ANNOUNCE, 0, lifetime_q, extract, now_ms)
        if older is not None:
            self._ledger.let_go(older)
            self._events.append(CopyDropped(now_ms, older, None, REASON_NAMES[Reason.REPLACED]))
        self._announcement = item
        self._publish(item, now_ms)
        return item.id

    def publish(self, language: int, vector: bytes, lifetime_q: int, now_ms: int) -> ItemId:
        """Send this notification to whoever asked; its event time is now."""
        checked_bytes(vector, "a notification vector")
        self.timer_due(now_ms)
        item = self._make(MessageType.NOTIFICATION, language, lifetime_q, vector, now_ms)
        self._outbox.add(item)
        self._publish(item, now_ms)
        for victim, reason in self._outbox.make_room(now_ms):
            self._ledger.let_go(victim)
            self._events.append(CopyDropped(now_ms, victim, None, REASON_NAMES[reason]))
        return item.id

    def held(self) -> tuple[int, int, int]:
        """Return how many filters and notifications are held, and the bytes of the latter."""
        return len(self._filters), len(self._outbox), self._outbox.total_bytes

    @property
    def notification_count(self) -> int:
        """Return how many notifications are kept."""
        return len(self._outbox)

    @property
    def notification_bytes(self) -> int:
        """Return their bytes."""
        return self._outbox.total_bytes

    @property
    def filter_count(self) -> int:
        """Return how many subscriptions are installed."""
        return len(self._filters)

    def _publish(self, item: Item, now_ms: int) -> None:
        self._ledger.keep(item)
        self._events.append(MessageCreated(now_ms, item))
        for session in self._sessions.values():
            self._offer(item, session)

    # ------------------------------------------------------------------ what messages mean to a publisher

    def _restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        for item in sorted(held, key=lambda item: item.type != MessageType.REMOVE):
            if item.type == MessageType.NOTIFICATION:
                self._outbox.add(item)
            elif item.type == MessageType.ANNOUNCE:
                self._announcement = item
            elif item.type == MessageType.REMOVE:
                self._relayed[item.id] = item
                self._filters.withdraw(item, Withdrawal.decode(item.payload))
            else:
                self._relayed[item.id] = item
                self._filters.put(Subscription.of(item, Subscribed.from_subscribe(item.payload)))
        for subscription in self._filters.subscriptions():
            if subscription.until_ms > now_ms:
                self._host_install(subscription, None, now_ms)

    def _host_install(self, new: Subscription, peer: int | None, now_ms: int) -> Status | None:
        """Hand a subscription to the filter host; return what it answered, None where it could not."""
        return self._quarantine.attempt(
            Work.FILTERING, new.item, now_ms, self._ask_host, new, peer, now_ms, otherwise=None, peer=peer
        )

    def _ask_host(self, new: Subscription, peer: int | None, now_ms: int) -> Status:
        code = self._filter_host.install(
            new.item.origin, new.id, new.seq, new.item.language, new.body, new.until_ms - now_ms, now_ms
        )
        status = _HOST_CODES[code]
        if status is Status.STORED:
            self._events.append(FilterInstalled(now_ms, new.item, peer, code))
        return status

    def _filter_removed(self, old: Subscription, reason: Reason, now_ms: int) -> None:
        self._events.append(FilterRemoved(now_ms, old.item.origin, old.id, old.seq, REASON_NAMES[reason]))

    def _summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        return self._ledger.known.encode_others(self.node, most_bytes)

    def is_taken(self, item_id: ItemId) -> bool:
        """Say whether a mediator in contact has this message: it acknowledged it in this contact, or its
        summary names it, where the acknowledgement of an earlier contact was lost.
        """
        return any(session.is_ready and session.knows(item_id) for session in self._sessions.values())

    def _peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        for item_id in self._ledger.known.lacking_of(self.node, known):
            item = self._held(item_id)
            if item is not None:
                self._offer(item, session)

    def _offer(self, item: Item, session: PeerSession) -> None:
        if session.is_ready and session.role is Role.MEDIATOR:
            session.offer(0 if item.type == MessageType.ANNOUNCE else 1, item.id, item.type)

    def _item_came(self, item: Item, session: PeerSession, now_ms: int) -> bool:
        self.timer_due(now_ms)
        return super()._item_came(item, session, now_ms)

    def _take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        if session.role is not Role.MEDIATOR:
            return Status.UNEXPECTED
        status: Status | None
        if item.type == MessageType.INSTALL:
            status = self._install(item, session.peer, now_ms)
        elif item.type == MessageType.REMOVE:
            status = self._remove(item, now_ms)
        else:
            return Status.UNEXPECTED
        if status is Status.SUPERSEDED:
            self._ledger.know(item)
        elif status is Status.STORED:
            self._mark(item.id, session)
        return status

    def _install(self, item: Item, peer: int, now_ms: int) -> Status | None:
        new = Subscription.of(item, Subscribed.from_subscribe(item.payload))
        status = self._filters.judge(new)
        if status is not Status.STORED:
            return status
        if len(self._filters) >= self.limits.subscriptions and self._filters.get(new.key) is None:
            return Status.NO_ROOM
        answer = self._host_install(new, peer, now_ms)
        if answer is not Status.STORED:
            return answer
        replaced = self._filters.put(new)
        if replaced is not None:
            self._forget_relayed(replaced.item)
        self._relayed[item.id] = item
        self._ledger.keep(item)
        return Status.STORED

    def _remove(self, item: Item, now_ms: int) -> Status:
        said = Withdrawal.decode(item.payload)
        if self._filters.tombstone_count >= self.limits.tombstones:
            return Status.NO_ROOM
        status, ended, older = self._filters.withdraw(item, said)
        if status is not Status.STORED:
            return status
        if older is not None:
            self._forget_relayed(older.item)
        if ended is not None:
            self._forget_relayed(ended.item)
            self._quarantine.attempt(
                Work.ENDING,
                ended.item,
                now_ms,
                self._filter_host.remove,
                ended.item.origin,
                ended.id,
                ended.seq,
                now_ms,
                otherwise=None,
            )
            self._filter_removed(ended, Reason.WITHDRAWN, now_ms)
        self._relayed[item.id] = item
        self._ledger.keep(item)
        return Status.STORED

    def _forget_relayed(self, item: Item) -> None:
        del self._relayed[item.id]
        self._ledger.let_go(item)

    def _held(self, item_id: ItemId) -> Item | None:
        carried = self._outbox.get(item_id)
        if carried is not None:
            return carried.item
        announcement = self._announcement
        return announcement if announcement is not None and announcement.id == item_id else None

    def _acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Nothing changes: what a mediator has, its next summary says."""

    def _ended(self, item_id: ItemId, now_ms: int) -> bool:
        relayed = self._relayed.pop(item_id, None)
        item = relayed or self._held(item_id)
        if item is None:
            return False
        if relayed is None:
            if self._outbox.remove(item_id) is None:
                self._announcement = None
            self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        elif relayed.type == MessageType.REMOVE:
            self._filters.tombstone_ended((relayed.origin, relayed.payload[0]), relayed)
        else:
            while (ended := self._filters.pop_ended(now_ms)) is not None:
                # The host forgets by itself; being told to remove it would make it refuse a late renewal.
                self._filter_removed(ended, Reason.LIFETIME_OVER, now_ms)
        return relayed is not None
