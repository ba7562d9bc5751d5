"""What a publisher holds, durably, and what messages mean to it.

A notification stays in the outbox until it expires (or room is needed), and every mediator that does not
know it gets it: which mediator will be the first to meet the subscriber, a publisher cannot know. Filters
are installed in the filter host (a watchdog) with their remaining lifetime, survive a restart, and are never
brought back by an older copy.
"""

from typing import Final

from dens.context import NodeContext
from dens.events import CopyDropped, FilterInstalled, FilterRemoved, MessageCreated, MessageExpired
from dens.interfaces import FilterHost, SubscriptionKey
from dens.item import Item, ItemId
from dens.messages import Subscribed, Withdrawal
from dens.notification_store import NotificationStore
from dens.numbers import BAD_PAYLOAD, REASON_NAMES, MessageType, Reason, Role, Status
from dens.participant import Participant
from dens.peer_session import PeerSession
from dens.quarantine import Work
from dens.subscription_table import Subscription, SubscriptionTable
from dens.summary import Summary
from watchdog.header import HEADER_ID

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
    11: Status.NOT_MEASURED,
    12: Status.UNKNOWN_SOURCE,
    13: Status.SOURCE_FAILED,
}
"""What a watchdog's answer to an install means on the air."""
_SOURCE_REFUSALS: Final = (Status.NOT_MEASURED, Status.UNKNOWN_SOURCE, Status.SOURCE_FAILED)
"""What may be otherwise another time, without the subscription being another."""


class PublisherState(Participant):
    """The memory of a publisher."""

    __slots__ = (
        "_context",
        "_events",
        "_filter_host",
        "_ledger",
        "_limits",
        "_quarantine",
        "_relayed",
        "_unserved",
        "announcement",
        "filters",
        "outbox",
    )

    role = Role.PUBLISHER

    def __init__(self, context: NodeContext, filter_host: FilterHost) -> None:
        self._context = context
        self._ledger = context.ledger
        self._events = context.events
        self._limits = context.limits
        self._quarantine = context.quarantine
        self._filter_host = filter_host
        self.announcement: Item | None = None
        self.outbox: Final = NotificationStore(context.limits)
        self.filters: Final = SubscriptionTable(linger_ms=0)
        self._relayed: dict[ItemId, Item] = {}
        self._unserved: set[SubscriptionKey] = set()

    # ------------------------------------------------------------------ what the application asked

    def announce(self, item: Item, now_ms: int) -> None:
        """Hold what this node can measure, in place of what was said before, and offer it."""
        older = self.announcement
        if older is not None:
            self._ledger.let_go(older)
            self._events.append(CopyDropped(now_ms, older, None, REASON_NAMES[Reason.REPLACED]))
        self.announcement = item
        self._publish(item, now_ms)

    def publish(self, item: Item, now_ms: int) -> None:
        """Put a notification into the outbox, make room, and offer it."""
        self.outbox.add(item)
        self._publish(item, now_ms)
        for victim, reason in self.outbox.make_room(now_ms):
            self._ledger.let_go(victim)
            self._events.append(CopyDropped(now_ms, victim, None, REASON_NAMES[reason]))

    def _publish(self, item: Item, now_ms: int) -> None:
        self._ledger.keep(item)
        self._events.append(MessageCreated(now_ms, item))
        for session in self._context.sessions.values():
            self._offer(item, session)

    def is_taken(self, item_id: ItemId) -> bool:
        """Say whether a mediator in contact has this message."""
        return any(session.is_ready and session.knows(item_id) for session in self._context.sessions.values())

    # ------------------------------------------------------------------ what messages mean to a publisher

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Take up what was held before a restart, and install what is in force."""
        for item in sorted(held, key=lambda item: item.type != MessageType.REMOVE):
            if item.type == MessageType.NOTIFICATION:
                self.outbox.add(item)
            elif item.type == MessageType.ANNOUNCE:
                self.announcement = item
            elif item.type == MessageType.REMOVE:
                self._relayed[item.id] = item
                self.filters.withdraw(item, Withdrawal.decode(item.payload))
            else:
                self._relayed[item.id] = item
                self.filters.put(Subscription.of(item, Subscribed.from_subscribe(item.payload)))
        for subscription in self.filters.subscriptions():
            if subscription.until_ms > now_ms:
                self._install_again(subscription, now_ms)

    def _install_again(self, held: Subscription, now_ms: int) -> None:
        """Hand a subscription of an earlier life to the filter host. One whose source does not run today is
        remembered: no mediator offers again what was acknowledged.
        """
        if self._host_install(held, None, now_ms) in _SOURCE_REFUSALS:
            self._unserved.add(held.key)
        else:
            self._unserved.discard(held.key)

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

    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Tell what is known of others: of its own messages a mediator tells it."""
        return self._ledger.seen.encode_others(self._context.node, most_bytes)

    def peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Offer what a mediator lacks of its own messages, and try again what no source served."""
        for key in sorted(self._unserved):
            held_filter = self.filters.get(key)
            if held_filter is None or held_filter.until_ms <= now_ms:
                self._unserved.discard(key)
            else:
                self._install_again(held_filter, now_ms)
        for item_id in self._ledger.seen.lacking_of(self._context.node, known):
            item = self.held(item_id)
            if item is not None:
                self._offer(item, session)

    def _offer(self, item: Item, session: PeerSession) -> None:
        if session.is_ready and session.role is Role.MEDIATOR:
            session.offer(0 if item.type == MessageType.ANNOUNCE else 1, item.id, item.type)

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        """Take an install or a removal."""
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
            self._context.mark(item.id, session)
        return status

    def _install(self, item: Item, peer: int, now_ms: int) -> Status | None:
        new = Subscription.of(item, Subscribed.from_subscribe(item.payload))
        status = self.filters.judge(new)
        if status is not Status.STORED:
            return status
        if len(self.filters) >= self._limits.subscriptions and self.filters.get(new.key) is None:
            return Status.NO_ROOM
        answer = self._host_install(new, peer, now_ms)
        if answer is not Status.STORED:
            return answer
        self._unserved.discard(new.key)
        replaced = self.filters.put(new)
        if replaced is not None:
            self._forget_relayed(replaced.item)
        self._relayed[item.id] = item
        self._ledger.keep(item)
        return Status.STORED

    def _remove(self, item: Item, now_ms: int) -> Status:
        said = Withdrawal.decode(item.payload)
        if self.filters.tombstone_count >= self._limits.tombstones:
            return Status.NO_ROOM
        status, ended, older = self.filters.withdraw(item, said)
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

    def held(self, item_id: ItemId) -> Item | None:
        """Return a message of its own."""
        carried = self.outbox.get(item_id)
        if carried is not None:
            return carried.item
        announcement = self.announcement
        return announcement if announcement is not None and announcement.id == item_id else None

    def could_not_take(self, item: Item, now_ms: int) -> Status:
        """Ask for it no more."""
        self._ledger.know(item)
        return BAD_PAYLOAD

    def ended(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget a message whose lifetime is over."""
        relayed = self._relayed.pop(item_id, None)
        item = relayed or self.held(item_id)
        if item is None:
            return False
        if relayed is None:
            if self.outbox.remove(item_id) is None:
                self.announcement = None
            self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        elif relayed.type == MessageType.REMOVE:
            self.filters.tombstone_ended((relayed.origin, relayed.payload[HEADER_ID]), relayed)
        else:
            while (ended := self.filters.pop_ended(now_ms)) is not None:
                # The host forgets by itself; being told to remove it would make it refuse a late renewal.
                self._filter_removed(ended, Reason.LIFETIME_OVER, now_ms)
        return relayed is not None
