"""SUB/DENS, the subscriber's end: it asks, hears, and says that it has heard.

What it makes (subscriptions, renewals, withdrawals, receipts) it keeps until it expires and offers to every
mediator that does not know it. A notification is shown to the application once: it is put into a durable
inbox together with the mark that it was seen, acknowledged when both are committed, and leaves the inbox,
durably, just before `next_event` hands it over. After a crash the inbox is handed over first. An application
that could not take a delivery, because its output ended, hands it back.
"""

from dens.arguments import checked_bytes, checked_code
from dens.collaborators import Signer
from dens.engine import Engine
from dens.errors import LocalProtocolError
from dens.events import CopyDropped, Event, MessageCreated, MessageExpired, NotificationDelivered
from dens.identity import signed
from dens.item import LIFETIME_MS, OLDEST_AGE_MS, Item, ItemId, lifetime_code_ms
from dens.limits import Limits
from dens.messages import Notify, Receipt, Subscribed, Withdrawal
from dens.numbers import REASON_NAMES, UNVERIFIED, MessageType, Reason, Role, Status
from dens.peer_session import PeerSession
from dens.seal import Sealer
from dens.store import Store
from dens.subscription_table import Subscription, is_newer
from dens.summary import Summary

_PRIORITY = {
    MessageType.UNSUBSCRIBE: 0,
    MessageType.SUBSCRIBE: 1,
    MessageType.RENEW: 1,
    MessageType.RECEIPT: 2,
}


class SubscriberEnd(Engine):
    """A node that subscribes."""

    role = Role.SUBSCRIBER

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        signer: Signer | None = None,
        sealer: Sealer | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._signer = signer
        self._own: dict[ItemId, Item] = {}
        self._in_force: dict[int, Subscription] = {}
        self._used: dict[int, tuple[int, int]] = {}
        self._reach: dict[int, int] = {}
        self._buried: dict[int, tuple[int, int]] = {}
        self._receipts: dict[ItemId, None] = {}
        super().__init__(node, table_check, store, now_ms, sealer=sealer, limits=limits)

    # ------------------------------------------------------------------ what the application asks

    def subscribe(self, vector: bytes, language: int, now_ms: int, *, occupies: int = 0) -> ItemId:
        """Ask for what this vector describes; its first three bytes are id, revision and lifetime code.

        A newer revision of the same id replaces the older one. An id whose revision is not newer than one
        that was used and may still be somewhere is refused. A subscription that mediators may take apart
        (dens/parts.py) occupies the ids of its parts, which follow its own, and as many message numbers.
        """
        checked_bytes(vector, "a subscription vector")
        if len(vector) < 3:
            raise LocalProtocolError(
                f"{len(vector)} bytes are no subscription vector; it begins with id, revision, lifetime"
            )
        id, seq, lifetime_q = vector[0], vector[1], vector[2]
        self._check_free(id, seq, occupies)
        used, reach = self._used.get(id), self._reach.get(id, 0)
        self._ledger.require_numbers(2 + occupies + reach)
        item = self._make(MessageType.SUBSCRIBE, language, lifetime_q, vector, now_ms)
        self._ledger.occupy(item.id, occupies)
        if used is not None and (used[1] > item.expires_ms or occupies or reach):
            # The older one outlives this one, or a source may have it in another form than this one.
            self._bury(id, used[0], used[1], now_ms)
        self._put_in_force(item, Subscribed(0, vector), now_ms)
        return item.id

    def _check_free(self, id: int, seq: int, occupies: int) -> None:
        """Refuse a subscription whose ids are another's, or whose revision is not newer than all there were
        under them.
        """
        if not 0 <= occupies <= 255 - id:
            raise LocalProtocolError(
                f"subscription {id} cannot occupy {occupies} ids after its own; ids end at 255"
            )
        last = id + occupies
        for other, current in self._in_force.items():
            other_last = other + self._ledger.occupied(current.item.id)
            if other != id and other <= last and id <= other_last:
                raise LocalProtocolError(
                    f"subscription {other} occupies the ids {other} to {other_last}; take others than "
                    f"{id} to {last}, or unsubscribe {other}"
                )
        for one in range(id, last + 1):
            used = self._used.get(one)
            if used is not None and not is_newer(seq, used[0]):
                raise LocalProtocolError(
                    f"revision {seq} of subscription {one} is not newer than {used[0]}, which was used "
                    "already"
                )

    def next_seq(self, id: int, occupies: int = 0) -> int:
        """Return a revision under which `subscribe` takes this id, and those that it occupies: newer than all
        that may be somewhere.
        """
        used = [self._used[one][0] for one in range(id, id + occupies + 1) if one in self._used]
        if not used:
            return 0
        for step in range(1, 128):
            seq = (used[0] + step) % 256
            if all(is_newer(seq, one) for one in used):
                return seq
        raise LocalProtocolError(
            f"no revision is newer than all that were used under the ids {id} to {id + occupies}; take others"
        )

    def renew(self, id: int, lifetime_q: int, now_ms: int) -> ItemId:
        """Keep a subscription in force for this lifetime from now on, without changing it."""
        checked_code(lifetime_q, "lifetime code")
        current = self._current(id, now_ms)
        in_force_ms = max(0, now_ms - current.since_ms)  # a clock may have been set back
        if in_force_ms > OLDEST_AGE_MS:
            raise LocalProtocolError(f"subscription {id} is too old to be renewed; subscribe anew")
        said = Subscribed(in_force_ms, current.vector)
        if now_ms + LIFETIME_MS[lifetime_q] < current.until_ms:
            raise LocalProtocolError(
                f"subscription {id} is in force for longer than that; a renewal never shortens"
            )
        occupies = self._ledger.occupied(current.item.id)
        self._ledger.require_numbers(1 + occupies)
        item = self._make(MessageType.RENEW, current.item.language, lifetime_q, said.encode_renew(), now_ms)
        self._ledger.occupy(item.id, occupies)
        self._put_in_force(item, said, now_ms)
        return item.id

    def unsubscribe(self, id: int, now_ms: int) -> ItemId:
        """Take a subscription back: no copy of it, wherever it is, will be served when this has got there."""
        current = self._current(id, now_ms)
        self._ledger.require_numbers(1 + self._reach.get(id, 0))
        del self._in_force[id]
        self._drop(current.item, Reason.WITHDRAWN, now_ms)
        return self._bury(id, current.seq, self._used[id][1], now_ms)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions are in force, and that no notification is kept."""
        return len(self._in_force), 0, 0

    @property
    def in_force(self) -> tuple[Subscription, ...]:
        """Return the subscriptions in force, by id."""
        return tuple(self._in_force[id] for id in sorted(self._in_force))

    def _current(self, id: int, now_ms: int) -> Subscription:
        current = self._in_force.get(id)
        if current is None or current.until_ms <= now_ms:
            raise LocalProtocolError(f"no subscription {id} is in force; subscribe first")
        return current

    def _put_in_force(self, item: Item, said: Subscribed, now_ms: int) -> None:
        replaced = self._in_force.get(said.id)
        if replaced is not None:
            self._drop(replaced.item, Reason.REPLACED, now_ms)
        self._hold_subscription(item, said)
        self._publish(item, now_ms)

    def _hold_subscription(self, item: Item, said: Subscribed) -> None:
        current = self._in_force.get(said.id)
        if current is None or item.number > current.item.number:
            self._in_force[said.id] = Subscription.of(item, said)
        self._note_used(said.id, said.seq, item.expires_ms, self._ledger.occupied(item.id))

    def _note_used(self, id: int, seq: int, until_ms: int, occupies: int) -> None:
        """Note which revision may be somewhere until then, under this id and those that it occupies."""
        for one in range(id, id + occupies + 1):
            used = self._used.get(one)
            if used is None:
                self._used[one] = (seq, until_ms)
            else:
                self._used[one] = (seq if is_newer(seq, used[0]) else used[0], max(until_ms, used[1]))
        if occupies > self._reach.get(id, 0):
            self._reach[id] = occupies

    def _bury(self, id: int, seq: int, until_ms: int, now_ms: int) -> ItemId:
        """Make a tombstone that outlives every copy of that id's revisions, with a step to spare for slow
        clocks.
        """
        lifetime_q = min(lifetime_code_ms(max(0, until_ms - now_ms)) + 1, 255)
        said = Withdrawal(id, seq, self._reach.get(id, 0))
        item = self._make(MessageType.UNSUBSCRIBE, 0, lifetime_q, said.encode(), now_ms)
        self._ledger.skip_numbers(said.occupied)
        self._note_buried(item, said)
        self._publish(item, now_ms)
        return item.id

    def _note_buried(self, item: Item, said: Withdrawal) -> None:
        self._buried[said.id] = (said.seq, item.number)
        self._note_used(said.id, said.seq, item.expires_ms, said.occupied)

    def _is_wanted(self, id: int, seq: int) -> bool:
        """Say whether this revision was neither withdrawn nor replaced. One that only expired is wanted
        still.
        """
        buried, used = self._buried.get(id), self._used.get(id)
        if buried is not None and not is_newer(seq, buried[0]):
            return False
        return used is None or not is_newer(used[0], seq)

    def _publish(self, item: Item, now_ms: int) -> None:
        self._own[item.id] = item
        self._ledger.keep(item)
        self._events.append(MessageCreated(now_ms, item))
        for session in self._sessions.values():
            self._offer(item, session)

    def _drop(self, item: Item, reason: Reason, now_ms: int) -> None:
        self._own.pop(item.id, None)
        self._receipts.pop(item.id, None)
        self._ledger.let_go(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    # ------------------------------------------------------------------ events

    def next_event(self) -> Event | None:
        """Return the next thing that happened; a delivery is taken out of the inbox durably first."""
        event = super().next_event()
        if isinstance(event, NotificationDelivered):
            self._ledger.take_from_inbox(event.item.id)
            self._ledger.commit()
        return event

    def hand_back(self, event: NotificationDelivered) -> None:
        """Keep, durably, a delivery that the application could not take, for the next start."""
        shown = Notify(event.satisfied, event.item.payload)
        self._ledger.put_into_inbox(event.item.but(payload=shown.encode()))
        if event.reason == UNVERIFIED:
            self._ledger.mark_unverified(event.item.id)
        self._ledger.commit()

    def _make(self, type: int, language: int, lifetime_q: int, payload: bytes, created_ms: int) -> Item:
        return signed(super()._make(type, language, lifetime_q, payload, created_ms), self._signer)

    # ------------------------------------------------------------------ what messages mean to a subscriber

    def _restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        for item in held:
            self._own[item.id] = item
            if item.type == MessageType.SUBSCRIBE:
                self._hold_subscription(item, Subscribed.from_subscribe(item.payload))
            elif item.type == MessageType.RENEW:
                self._hold_subscription(item, Subscribed.from_renew(item.payload))
            elif item.type == MessageType.RECEIPT:
                self._receipts[item.id] = None
            else:
                self._note_buried(item, Withdrawal.decode(item.payload))
        for item in inbox:
            word = UNVERIFIED if self.is_unverified(item.id) else None
            self._deliver(item, Notify.decode(item.payload), None, word, now_ms)

    def _deliver(self, item: Item, notify: Notify, peer: int | None, word: str | None, now_ms: int) -> None:
        notification = Item(
            MessageType.NOTIFICATION,
            item.language,
            item.origin,
            item.number,
            item.created_ms,
            item.lifetime_q,
            item.hops,
            notify.vector,
        )
        self._events.append(
            NotificationDelivered(now_ms, notification, peer, word, satisfied=notify.satisfied)
        )

    def _summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        return self._ledger.known.encode_others(self.node, most_bytes)

    def _peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        for item_id in self._ledger.known.lacking_of(self.node, known):
            item = self._own.get(item_id)
            if item is not None:
                self._offer(item, session)

    def _offer(self, item: Item, session: PeerSession) -> None:
        if session.is_ready and session.role is Role.MEDIATOR:
            session.offer(_PRIORITY[MessageType(item.type)], item.id, item.type)

    def _take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        if session.role is not Role.MEDIATOR or item.type != MessageType.NOTIFY:
            return Status.UNEXPECTED
        notify = Notify.decode(item.payload)
        satisfied = tuple(one for one in notify.satisfied if self._is_wanted(one[0], one[1]))
        if not satisfied:
            return Status.SUPERSEDED
        if not self._has_room_for(item.origin):
            return Status.NO_ROOM
        until_ms = item.expires_ms
        self._ledger.know(item)
        wanted = Notify(satisfied, notify.vector)
        self._ledger.put_into_inbox(item.but(payload=wanted.encode()))
        self._deliver(item, wanted, session.peer, self._mark(item.id, session), now_ms)
        if self._ledger.has_numbers:  # Without a receipt it is carried for longer, and nothing is lost.
            self._give_receipt(item.id, until_ms, now_ms)
        return Status.STORED

    def _give_receipt(self, notification: ItemId, until_ms: int, now_ms: int) -> None:
        lifetime_q = lifetime_code_ms(min(until_ms - now_ms, LIFETIME_MS[255]))
        receipt = self._make(MessageType.RECEIPT, 0, lifetime_q, Receipt(notification).encode(), now_ms)
        self._receipts[receipt.id] = None
        self._publish(receipt, now_ms)
        while len(self._receipts) > self.limits.receipts:
            self._drop(self._own[next(iter(self._receipts))], Reason.OLDEST, now_ms)

    def _has_room_for(self, origin: int) -> bool:
        """Say whether one more may be remembered; an origin above its share has to leave half for others."""
        known, limits = self._ledger.known, self.limits
        is_above = 100 * known.done_count_of(origin) >= limits.known_items * limits.origin_share_percent
        return known.done_count < (limits.known_items // 2 if is_above else limits.known_items)

    def _held(self, item_id: ItemId) -> Item | None:
        return self._own.get(item_id)

    def _acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Nothing changes: what a mediator has, its next summary says."""

    def _ended(self, item_id: ItemId, now_ms: int) -> bool:
        item = self._own.pop(item_id, None)
        if item is None:
            return False
        self._receipts.pop(item_id, None)
        self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        for id, current in list(self._in_force.items()):
            if current.item.id == item_id:
                del self._in_force[id]
        if item.type == MessageType.UNSUBSCRIBE:
            id = item.payload[0]
            if self._buried.get(id, (0, -1))[1] == item.number:
                del self._buried[id]
        for id, (_, until_ms) in list(self._used.items()):
            if until_ms <= now_ms:
                del self._used[id]
                self._reach.pop(id, None)
        return False
