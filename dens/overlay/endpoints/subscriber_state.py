"""State of a subscriber, and its reaction to messages; subscriber.py has the interface of the application.

Its own messages (subscriptions, renewals, withdrawals, receipts) are held until they expire and offered to
every mediator that does not know them. A notification is added to the durable inbox and to the known
messages, and acknowledged when both are committed.
"""

from collections.abc import Iterator
from typing import Final

from dens.interfaces import Signer
from dens.overlay.endpoints.directory_client import DirectoryClient
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import (
    CopyDropped,
    MessageCreated,
    MessageExpired,
    NotificationDelivered,
    OffersHeard,
)
from dens.overlay.session.context import NodeContext
from dens.overlay.session.lookup import LOOKUP_TIMEOUT_MS
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.results import ResultTracker
from dens.overlay.session.role import NodeRole
from dens.overlay.session.signatures import signed
from dens.overlay.storage.subscription_table import Subscription, is_newer
from dens.overlay.wire.codes import BAD_PAYLOAD, REASON_NAMES, UNVERIFIED, MessageType, Reason, Role, Status
from dens.overlay.wire.item import LIFETIME_MS, Item, ItemId, lifetime_code_ms
from dens.overlay.wire.messages import Notify, Receipt, Subscribed, Withdrawal
from dens.overlay.wire.summary import Summary
from watchdog.header import HEADER_ID

_PRIORITY = {
    MessageType.UNSUBSCRIBE: 0,
    MessageType.SUBSCRIBE: 1,
    MessageType.RENEW: 1,
    MessageType.RECEIPT: 2,
}


class SubscriberState(NodeRole):
    """Subscriptions, tombstones, receipts and inbox of a subscriber."""

    __slots__ = (
        "_context",
        "_durable",
        "_events",
        "_limits",
        "_own",
        "_receipts",
        "_results",
        "_sessions",
        "_signer",
        "_withdrawn",
        "directory_client",
        "in_force",
        "reach",
        "signed_withdrawals",
        "used",
    )

    role = Role.SUBSCRIBER

    def __init__(
        self,
        context: NodeContext,
        signer: Signer | None,
        directory_client: DirectoryClient,
        results: ResultTracker,
    ) -> None:
        self._context = context
        self._results = results
        self.directory_client: Final = directory_client
        self._durable = context.durable
        self._events = context.events
        self._limits = context.limits
        self._sessions = context.sessions
        self._signer = signer
        self._own: dict[ItemId, Item] = {}
        self.in_force: Final[dict[int, Subscription]] = {}
        self.used: Final[dict[int, tuple[int, int]]] = {}
        """Per id the newest revision that may exist at a node, and until when."""
        self.reach: Final[dict[int, int]] = {}
        """Per id the number of following ids that such a revision occupies."""
        self._withdrawn: dict[int, tuple[int, int]] = {}
        self._receipts: dict[ItemId, None] = {}
        self.signed_withdrawals: Final[dict[int, ItemId]] = {}
        """Per id the withdrawal of an earlier run that was signed at this start."""

    # ------------------------------------------------------------------ called by the endpoint

    def make(self, type: int, language: int, lifetime_q: int, payload: bytes, created_ms: int) -> Item:
        """Return a new message, signed if this subscriber has a signer."""
        return signed(self._context.make(type, language, lifetime_q, payload, created_ms), self._signer)

    def check_free(self, id: int, seq: int, occupies: int) -> None:
        """Refuse a subscription whose ids belong to another one, or whose revision is not newer than all used
        ones.
        """
        if not 0 <= occupies <= 255 - id:
            raise LocalProtocolError(
                f"subscription {id} cannot occupy {occupies} ids after its own; ids end at 255"
            )
        last = id + occupies
        for other, other_last in self._occupied_ids(except_for=id):
            if other <= last and id <= other_last:
                raise LocalProtocolError(
                    f"subscription {other} occupies the ids {other} to {other_last}; use other ids than "
                    f"{id} to {last}, or unsubscribe {other}"
                )
        for used_id in range(id, last + 1):
            used = self.used.get(used_id)
            if used is not None and not is_newer(seq, used[0]):
                raise LocalProtocolError(
                    f"revision {seq} of subscription {used_id} is not newer than {used[0]}, which was used "
                    "already"
                )

    def is_free(self, first: int, last: int, except_for: int = -1) -> bool:
        """Return whether no other subscription in force has any of these ids."""
        return all(last < other or other_last < first for other, other_last in self._occupied_ids(except_for))

    def _occupied_ids(self, except_for: int) -> Iterator[tuple[int, int]]:
        """Yield the first and last id of every subscription in force but this one."""
        for id, current in self.in_force.items():
            if id != except_for:
                yield id, id + self._durable.occupied(current.item.id)

    def current(self, id: int, now_ms: int) -> Subscription:
        """Return the subscription in force with this id, or raise LocalProtocolError."""
        current = self.in_force.get(id)
        if current is None or current.until_ms <= now_ms:
            raise LocalProtocolError(f"no subscription {id} is in force; subscribe first")
        return current

    def put_in_force(self, item: Item, payload: Subscribed, now_ms: int) -> None:
        """Replace the older revision of a subscription, and offer it to mediators."""
        replaced = self.in_force.get(payload.id)
        if replaced is not None:
            self.drop(replaced.item, Reason.REPLACED, now_ms)
        self._hold_subscription(item, payload)
        self._publish(item, now_ms)
        if any(session.is_ready and session.role is Role.MEDIATOR for session in self._sessions.values()):
            self.directory_client.schedule(now_ms)

    def _hold_subscription(self, item: Item, payload: Subscribed) -> None:
        current = self.in_force.get(payload.id)
        if current is None or item.number > current.item.number:
            self.in_force[payload.id] = Subscription.of(item, payload)
        self._note_used(payload.id, payload.seq, item.expires_ms, self._durable.occupied(item.id))

    def _note_used(self, id: int, seq: int, until_ms: int, occupies: int) -> None:
        """Note a revision that may exist at a node until then, with this id and those that it occupies."""
        for used_id in range(id, id + occupies + 1):
            used = self.used.get(used_id)
            if used is None:
                self.used[used_id] = (seq, until_ms)
            else:
                self.used[used_id] = (seq if is_newer(seq, used[0]) else used[0], max(until_ms, used[1]))
        if occupies > self.reach.get(id, 0):
            self.reach[id] = occupies

    def withdraw(self, id: int, seq: int, until_ms: int, now_ms: int) -> ItemId:
        """Make a tombstone that outlives every copy of all revisions of this id, with one step to spare for
        slow clocks.
        """
        lifetime_q = min(lifetime_code_ms(max(0, until_ms - now_ms)) + 1, 255)
        withdrawal = Withdrawal(id, seq, self.reach.get(id, 0))
        item = self.make(MessageType.UNSUBSCRIBE, 0, lifetime_q, withdrawal.encode(), now_ms)
        self._durable.skip_numbers(withdrawal.occupied)
        self._note_withdrawn(item, withdrawal)
        self._publish(item, now_ms)
        return item.id

    def _note_withdrawn(self, item: Item, withdrawal: Withdrawal) -> None:
        self._withdrawn[withdrawal.id] = (withdrawal.seq, item.number)
        self._note_used(withdrawal.id, withdrawal.seq, item.expires_ms, withdrawal.occupied)

    def _is_current(self, id: int, seq: int) -> bool:
        """Return whether this revision was neither withdrawn nor replaced. One that only expired is still
        current.
        """
        withdrawn, used = self._withdrawn.get(id), self.used.get(id)
        if withdrawn is not None and not is_newer(seq, withdrawn[0]):
            return False
        return used is None or not is_newer(used[0], seq)

    def _publish(self, item: Item, now_ms: int) -> None:
        self._own[item.id] = item
        self._durable.keep(item)
        self._events.append(MessageCreated(now_ms, item))
        for session in self._sessions.values():
            self._offer(item, session)

    def drop(self, item: Item, reason: Reason, now_ms: int) -> None:
        """Release a message, and report the reason."""
        self._own.pop(item.id, None)
        self._receipts.pop(item.id, None)
        self._durable.release(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    # ------------------------------------------------------------------ NodeRole

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Load the held messages, and deliver the inbox."""
        for item in map(self._signed_again, held):
            self._own[item.id] = item
            if item.type == MessageType.SUBSCRIBE:
                self._hold_subscription(item, Subscribed.from_subscribe(item.payload))
            elif item.type == MessageType.RENEW:
                self._hold_subscription(item, Subscribed.from_renew(item.payload))
            elif item.type == MessageType.RECEIPT:
                self._receipts[item.id] = None
            else:
                self._note_withdrawn(item, Withdrawal.decode(item.payload))
        for item in inbox:
            word = UNVERIFIED if self._durable.is_unverified(item.id) else None
            self._deliver(item, Notify.decode(item.payload), None, word, now_ms)

    def _signed_again(self, item: Item) -> Item:
        """Sign a withdrawal or receipt of an earlier run that this signer has not signed: nodes that know its
        key refuse it otherwise. Subscriptions are renewed by the application, with a newer revision.
        """
        if item.type not in (MessageType.UNSUBSCRIBE, MessageType.RECEIPT):
            return item
        again = signed(item, self._signer)
        if again != item:
            self._durable.rewrite(again)
            if item.type == MessageType.UNSUBSCRIBE:
                self.signed_withdrawals[Withdrawal.decode(item.payload).id] = item.id
        return again

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

    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Return the known messages of other origins: a mediator states those of this node in its own
        summary.
        """
        return self._durable.known.encode_others(self._context.node, most_bytes)

    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Offer a mediator the messages of this node that it lacks."""
        for item_id in self._durable.known.lacking_of(self._context.node, known):
            item = self._own.get(item_id)
            if item is not None:
                self._offer(item, session)
        if session.role is Role.MEDIATOR and self.in_force:
            self.directory_client.on_mediator_met(session.peer, now_ms)

    def lookup_due_ms(self) -> int:
        """Return when to look up publishers for the subscriptions in force."""
        return self.directory_client.due_ms

    def next_question(self, now_ms: int) -> tuple[bytes, int, int] | None:
        """Query the partition about all subscriptions in force."""
        self.directory_client.on_lookup_starting(now_ms)
        question = self.directory_client.question_for(self.in_force.values(), now_ms)
        return None if question is None else (question, self._limits.lookup_hops, LOOKUP_TIMEOUT_MS)

    def on_lookup_started(self, number: int) -> None:
        """Wait for the result of this look-up."""
        self.directory_client.on_lookup_started(number)

    def on_lookup_done(self, heard: OffersHeard, now_ms: int) -> None:
        """Add the offers to the directory, and report subscriptions that no publisher in reach can serve."""
        self.directory_client.learn(heard, now_ms)
        self.directory_client.judge([self.in_force[id] for id in sorted(self.in_force)], heard, now_ms)

    def _offer(self, item: Item, session: PeerSession) -> None:
        if session.is_ready and session.role is Role.MEDIATOR:
            session.offer(_PRIORITY[MessageType(item.type)], item.id, item.type)

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Store a notification for current subscriptions in the inbox, deliver it, and make a receipt."""
        if session.role is not Role.MEDIATOR or item.type != MessageType.NOTIFY:
            return Status.UNEXPECTED
        notify = Notify.decode(item.payload)
        satisfied = tuple(entry for entry in notify.satisfied if self._is_current(entry[0], entry[1]))
        if not satisfied:
            return Status.SUPERSEDED
        if not self._has_room_for(item.origin):
            return Status.NO_ROOM
        results = self._results.read_results(item.language, notify.vector)
        if results and not self._results.has_room_for(results, now_ms):
            return Status.NO_ROOM
        until_ms = item.expires_ms
        self._durable.know(item)
        if results:
            is_shown = self._results.is_shown(results, now_ms)
            self._results.note(item, results, now_ms, item.origin)
            if not is_shown:
                return Status.KNOWN
        current = Notify(satisfied, notify.vector)
        self._durable.add_to_inbox(item.replace(payload=current.encode()))
        self._deliver(item, current, session.peer, self._context.mark(item.id, session), now_ms)
        if self._durable.has_numbers:  # Without a receipt mediators carry it for longer; nothing is lost.
            self._give_receipt(item.id, until_ms, now_ms)
        return Status.STORED

    def _give_receipt(self, notification: ItemId, until_ms: int, now_ms: int) -> None:
        lifetime_q = lifetime_code_ms(min(until_ms - now_ms, LIFETIME_MS[255]))
        receipt = self.make(MessageType.RECEIPT, 0, lifetime_q, Receipt(notification).encode(), now_ms)
        self._receipts[receipt.id] = None
        self._publish(receipt, now_ms)
        while len(self._receipts) > self._limits.receipts:
            self.drop(self._own[next(iter(self._receipts))], Reason.OLDEST, now_ms)

    def _has_room_for(self, origin: int) -> bool:
        """Return whether one more message may be remembered; an origin above its share leaves
        half to others.
        """
        known, limits = self._durable.known, self._limits
        is_above = 100 * known.released_count_of(origin) >= limits.known_items * limits.origin_share_percent
        return known.released_count < (limits.known_items // 2 if is_above else limits.known_items)

    def held(self, item_id: ItemId) -> Item | None:
        """Return a message of this node."""
        return self._own.get(item_id)

    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Remember the message as known, so that it is not sent again."""
        self._durable.know(item)
        return BAD_PAYLOAD

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Remove an expired message."""
        item = self._own.pop(item_id, None)
        if item is None:
            return False
        self._receipts.pop(item_id, None)
        self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        for id, current in list(self.in_force.items()):
            if current.item.id == item_id:
                del self.in_force[id]
                self._durable.label(id, None)
        if item.type == MessageType.UNSUBSCRIBE:
            id = item.payload[HEADER_ID]
            if self._withdrawn.get(id, (0, -1))[1] == item.number:
                del self._withdrawn[id]
        for id, (_, until_ms) in list(self.used.items()):
            if until_ms <= now_ms:
                del self.used[id]
                self.reach.pop(id, None)
        return False
