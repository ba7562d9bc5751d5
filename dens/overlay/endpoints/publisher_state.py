"""What a publisher holds, durably, and what messages mean to it.

A notification stays in the outbox until it expires (or room is needed), and every mediator that does not
know it gets it: which mediator will be the first to meet the subscriber, a publisher cannot know. Mediators
whose policy counts copies say so in their summary; then one mediator gets the notification, with the whole
budget, and no other does, unless it turns out that the first one did not take it. Filters
are installed in the filter host (a watchdog) with their remaining lifetime, survive a restart, and are never
brought back by an older copy.
"""

from typing import Final

from dens.interfaces import FilterHost, SubscriptionKey
from dens.overlay.covering.leases import CUT, RELIABLE, Leases, longer_code
from dens.overlay.endpoints.advertisements import OwnAdvertisements
from dens.overlay.endpoints.directory_client import DirectoryClient
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import (
    CopyDropped,
    FilterInstalled,
    FilterRemoved,
    MessageCreated,
    MessageExpired,
    OffersHeard,
)
from dens.overlay.session.context import NodeContext
from dens.overlay.session.lookup import LOOKUP_TIMEOUT_MS
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Work
from dens.overlay.session.role import NodeRole
from dens.overlay.storage.notification_store import NotificationStore
from dens.overlay.storage.reservations import COUNTED, Reservation
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable, is_newer
from dens.overlay.wire.broker_messages import Advertised
from dens.overlay.wire.codes import (
    BAD_PAYLOAD,
    HAS_IT,
    REASON_NAMES,
    STATUS_NAMES,
    MessageType,
    Reason,
    Role,
    Status,
)
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Subscribed, Withdrawal
from dens.overlay.wire.summary import Summary
from watchdog import codes
from watchdog.header import HEADER_ID, HEADER_LIFETIME, framed

_HOST_CODES: Final = {
    codes.INSTALLED: Status.STORED,
    codes.KNOWN: Status.STORED,
    codes.REPLACED: Status.STORED,
    codes.STALE: Status.SUPERSEDED,
    codes.FULL: Status.NO_ROOM,
    codes.UNKNOWN_LANGUAGE: Status.UNKNOWN_LANGUAGE,
    codes.BAD_VECTOR: Status.BAD_PAYLOAD,
    codes.OVER: Status.EXPIRED,
    codes.WITHDRAWN: Status.SUPERSEDED,
    codes.NOT_MEASURED: Status.NOT_MEASURED,
    codes.UNKNOWN_SOURCE: Status.UNKNOWN_SOURCE,
    codes.SOURCE_FAILED: Status.SOURCE_FAILED,
}
"""Wire status for each result code of a filter host."""
_SOURCE_REFUSALS: Final = (Status.NOT_MEASURED, Status.UNKNOWN_SOURCE, Status.SOURCE_FAILED)
"""What may be otherwise another time, without the subscription being another."""
_TOMBSTONES: Final = frozenset({MessageType.REMOVE, MessageType.UNADVERTISE})
_ID_COUNT: Final = 256
"""So many subscriptions one node can name."""
_SUMMARY_SLACK_BYTES: Final = 32
"""A summary with so much room left has left nothing out."""


class PublisherState(NodeRole):
    """The memory of a publisher."""

    __slots__ = (
        "_context",
        "_counting",
        "_durable",
        "_events",
        "_filter_host",
        "_is_cut",
        "_leases",
        "_limits",
        "_quarantine",
        "_relayed",
        "_unserved",
        "advertisements",
        "announcement",
        "directory_client",
        "filters",
        "outbox",
    )

    role = Role.PUBLISHER

    def __init__(
        self,
        context: NodeContext,
        filter_host: FilterHost,
        knowledge: DirectoryClient,
        covering: bool = False,
    ) -> None:
        self._context = context
        self.directory_client: Final = knowledge
        self._durable = context.durable
        self._events = context.events
        self._limits = context.limits
        self._quarantine = context.quarantine
        self._filter_host = filter_host
        self.announcement: Item | None = None
        self.advertisements: Final = OwnAdvertisements()
        self.outbox: Final = NotificationStore(context.limits)
        self.filters: Final = SubscriptionTable(linger_ms=0)
        self._relayed: dict[ItemId, Item] = {}
        self._unserved: set[SubscriptionKey] = set()
        self._counting: set[int] = set()
        """The mediators in contact that count copies."""
        self._is_cut = False
        """Whether the summary that was formed last leaves something out."""
        self._leases = Leases(context) if covering else None
        """Who may rely on which filters, where mediators spare what is covered."""

    # ------------------------------------------------------------------ what the application asked

    def announce(self, item: Item, now_ms: int) -> None:
        """Hold what this node can measure, in place of what was said before, and offer it."""
        older = self.announcement
        if older is not None:
            self._drop_own(older, Reason.REPLACED, now_ms)
        self.announcement = item
        self._publish(item, now_ms)

    def advertise(self, item: Item, now_ms: int) -> None:
        """Tell all of what this node may publish from now on, hold that, in place of its older revision, and
        offer it to mediators. What the filter host does not take is refused.
        """
        new = Subscription.of(item, Subscribed(0, Advertised.decode(item.payload).vector))
        status = _HOST_CODES[self._give_host(new, now_ms)] if new.body else Status.STORED
        if status is not Status.STORED:
            raise LocalProtocolError(
                f"advertisement {new.id} cannot be told here: {STATUS_NAMES[status].replace('_', ' ')}"
            )
        replaced = self.advertisements.put(new)
        if replaced is not None:
            self._drop_own(replaced.item, Reason.REPLACED, now_ms)
        self._publish(item, now_ms)

    def unadvertise(self, item: Item, now_ms: int) -> None:
        """Hold that this node no longer publishes something, and offer that to mediators."""
        ended = self.advertisements.withdraw(item)
        if ended is not None:
            self._drop_own(ended.item, Reason.WITHDRAWN, now_ms)
            if ended.body:
                self._filter_host.remove(self._context.node, ended.id, ended.seq, now_ms)
        self._publish(item, now_ms)

    def _drop_own(self, item: Item, reason: Reason, now_ms: int) -> None:
        self._durable.release(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    def publish(self, item: Item, now_ms: int) -> None:
        """Put a notification into the outbox, make room, and offer it."""
        self.outbox.add(item)
        self._publish(item, now_ms)
        for victim, reason in self.outbox.make_room(now_ms):
            self._drop_own(victim, reason, now_ms)

    def _publish(self, item: Item, now_ms: int) -> None:
        self._durable.keep(item)
        self._events.append(MessageCreated(now_ms, item))
        for session in self._context.sessions.values():
            self._offer(item, session)

    def is_taken(self, item_id: ItemId) -> bool:
        """Return whether a mediator in contact has this message."""
        return any(session.is_ready and session.knows(item_id) for session in self._context.sessions.values())

    # ------------------------------------------------------------------ what messages mean to a publisher

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Take up what was held before a restart, and install what is in force."""
        for item in sorted(held, key=lambda item: item.type not in _TOMBSTONES):
            if item.type == MessageType.NOTIFICATION:
                self.outbox.add(item)
            elif item.type in (MessageType.ADVERTISE, MessageType.UNADVERTISE):
                self.advertisements.restore(item)
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
        for own in self.advertisements.in_force.values():
            if own.until_ms > now_ms and own.body:
                self._quarantine.attempt(
                    Work.FILTERING, own.item, now_ms, self._give_host, own, now_ms, otherwise=0
                )

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
        code = self._give_host(new, now_ms)
        status = _HOST_CODES[code]
        if status is Status.STORED:
            self._events.append(FilterInstalled(now_ms, new.item, peer, code))
        return status

    def _give_host(self, new: Subscription, now_ms: int) -> int:
        """Return the code with which the filter host answers."""
        return self._filter_host.install(
            new.item.origin, new.id, new.seq, new.item.language, new.body, new.until_ms - now_ms, now_ms
        )

    def _filter_removed(self, old: Subscription, reason: Reason, now_ms: int) -> None:
        self._events.append(FilterRemoved(now_ms, old.item.origin, old.id, old.seq, REASON_NAMES[reason]))

    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Tell what is known of others: of its own messages a mediator tells it."""
        leases = self._leases
        if leases is not None and (said := leases.summary_sent(session)) is not None:
            return said
        known = self._durable.known.encode_others(self._context.node, most_bytes)
        self._is_cut = len(known) + _SUMMARY_SLACK_BYTES > most_bytes
        if leases is not None:
            leases.note_summary(session, known, is_whole=not self._is_cut)
        return known

    def summary_note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return the note of a summary: mediators may rely on the filters that are here, or the summary
        leaves something out.
        """
        if self._leases is not None:
            return RELIABLE if self._leases.got_whole_summary(session) else CUT
        return CUT if self._is_cut else b""

    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Offer what a mediator lacks of its own messages, and try again what no source served."""
        self._counting.discard(session.peer)
        if note == COUNTED:
            self._counting.add(session.peer)
            self._settle_reservations(session, known)
        for key in sorted(self._unserved):
            held_filter = self.filters.get(key)
            if held_filter is None or held_filter.until_ms <= now_ms:
                self._unserved.discard(key)
            else:
                self._install_again(held_filter, now_ms)
        for item_id in self._durable.known.lacking_of(self._context.node, known):
            item = self.held(item_id)
            if item is not None:
                self._offer(item, session)
        if session.role is Role.MEDIATOR:
            self.directory_client.on_mediator_met(session.peer, now_ms)

    def lookup_due_ms(self) -> int:
        """Return when a mediator that was met should be asked what others offer."""
        return self.directory_client.due_ms

    def next_question(self, now_ms: int) -> tuple[bytes, int, int] | None:
        """Ask the mediators that are met, and nobody behind them, for all that they know."""
        self.directory_client.on_lookup_starting(now_ms)
        return b"", 1, LOOKUP_TIMEOUT_MS

    def on_lookup_done(self, heard: OffersHeard, now_ms: int) -> None:
        """Keep what was told."""
        self.directory_client.learn(heard, now_ms)
        self.directory_client.back_off(is_news=False)

    def _offer(self, item: Item, session: PeerSession) -> None:
        """Queue a message for a mediator. Notifications wait until it knows what is advertised, so that none
        is refused for having overtaken that.
        """
        if not session.is_ready or session.role is not Role.MEDIATOR:
            return
        if item.type != MessageType.NOTIFICATION:
            session.offer(0, item.id, item.type)
        elif self.advertisements.are_known(session.knows) and self._may_give(item.id, session.peer):
            session.offer(1, item.id, item.type)

    def _may_give(self, item_id: ItemId, peer: int) -> bool:
        """Return whether a mediator may be given a notification: among those that count copies, one is."""
        if peer not in self._counting:
            return True
        reserved = self._durable.reservations.by_item.get(item_id)
        return reserved is None or peer in reserved

    def reserves_copies(self) -> bool:
        """Return whether mediators may count copies."""
        return True

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message as it is; a notification not, where another mediator has it."""
        if type == MessageType.NOTIFICATION and not self._may_give(item.id, session.peer):
            return None
        return item

    def on_transmit(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Reserve all copies for a mediator that counts them."""
        if session.peer in self._counting and item.id not in self._durable.reservations.by_item:
            self._durable.reserve(item.id, session.peer, Reservation(0, 0, session.peer_session))

    def _settle_reservations(self, session: PeerSession, known: Summary) -> None:
        """Decide about notifications that a mediator has not answered, by its summary, as mediators do."""
        peer = session.peer
        for item_id, reservation in self._durable.reservations.sent_to(peer):
            if session.is_unanswered(item_id):
                continue
            if item_id in known:
                self._durable.reserve(item_id, peer, Reservation(0, 0, reservation.session, True))
            elif reservation.session < session.peer_session:
                self._give_back(item_id, peer)

    def _give_back(self, item_id: ItemId, peer: int) -> None:
        """Take back what a mediator did not take, and offer it to the others."""
        self._durable.settle(item_id, peer)
        item = self.held(item_id)
        if item is not None:
            for session in self._context.sessions.values():
                self._offer(item, session)

    def on_acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Offer notifications to a mediator that has just learnt what is advertised; note whether one that
        counts copies took them.
        """
        reserved = self._durable.reservations.by_item.get(item.id)
        own = None if reserved is None else reserved.get(session.peer)
        if own is not None and not own.is_settled:
            if status in HAS_IT:
                self._durable.reserve(item.id, session.peer, Reservation(0, 0, own.session, True))
            else:
                self._give_back(item.id, session.peer)
        if item.type == MessageType.ADVERTISE and self.advertisements.are_known(session.knows):
            for carried in self.outbox.all():
                self._offer(carried.item, session)

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        """Take an install or a removal."""
        if session.role is not Role.MEDIATOR:
            return Status.UNEXPECTED
        status: Status | None
        if item.type == MessageType.INSTALL:
            status = self._install(item, session.peer, now_ms)
        elif item.type == MessageType.REMOVE:
            status = self._remove(item, session.peer, now_ms)
        else:
            return Status.UNEXPECTED
        if status is Status.SUPERSEDED and (self._leases is None or item.type == MessageType.REMOVE):
            self._durable.know(item)
        elif status is Status.STORED:
            self._context.mark(item.id, session)
        return status

    def _install(self, item: Item, peer: int, now_ms: int) -> Status | None:
        if self._leases is not None:
            item = item.replace(lifetime_q=longer_code(item.lifetime_q))
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
        if self._leases is not None:
            self._rely(self._leases, new, replaced, peer, now_ms)
        self._relayed[item.id] = item
        self._durable.keep(item)
        return Status.STORED

    def _rely(
        self, leases: Leases, new: Subscription, replaced: Subscription | None, peer: int, now_ms: int
    ) -> None:
        """Let mediators rely on a new filter; those that may rely on what it replaced still can."""
        if replaced is not None and replaced.body == new.body:
            leases.renewed(replaced)
            return
        if replaced is not None:
            leases.ended(replaced.key)
            if replaced.until_ms > now_ms:
                self._keep_looking(replaced, peer, now_ms)
        leases.installed(new)

    def _keep_looking(self, old: Subscription, peer: int, now_ms: int) -> None:
        """Look for a body that a newer revision replaced in this node's own name, until its lifetime is over.
        There are 256 such names; of more, the one that ends first goes.
        """
        if not self._durable.has_numbers:
            return
        node, own = self._context.node, self.filters
        kept = {id: one for id in range(_ID_COUNT) if (one := own.get((node, id))) is not None}
        id = next((id for id in range(_ID_COUNT) if id not in kept), None)
        if id is None:
            id = min(kept, key=lambda one: (kept[one].until_ms, one))
        seq = (kept[id].seq + 1) % 256 if id in kept else 0
        vector = framed(id, seq, old.vector[HEADER_LIFETIME], old.body)
        made = old.item
        number = self._durable.item_number()
        item = Item(
            MessageType.INSTALL, made.language, node, number, made.created_ms, made.lifetime_q, 0, vector
        )
        new = Subscription.of(item, Subscribed.from_subscribe(vector))
        if self._host_install(new, peer, now_ms) is Status.STORED:
            replaced = own.put(new)
            if replaced is not None:
                self._forget_relayed(replaced.item)
            self._relayed[item.id] = item
            self._durable.keep(item)

    def _may_end(self, said: Withdrawal, origin: int, peer: int, now_ms: int) -> bool:
        """Return whether a filter may be taken away, as far as those go who may rely on it."""
        held = self.filters.get((origin, said.id))
        if self._leases is None or held is None or is_newer(held.seq, said.seq):
            return True
        return self._leases.may_remove(held, peer, said.seq) or held.until_ms <= now_ms

    def _remove(self, item: Item, peer: int, now_ms: int) -> Status:
        said = Withdrawal.decode(item.payload)
        if not self._may_end(said, item.origin, peer, now_ms):
            return Status.RELIED_ON
        if self.filters.tombstone_count >= self._limits.tombstones:
            return Status.NO_ROOM
        status, ended, older = self.filters.withdraw(item, said)
        if status is not Status.STORED:
            return status
        if older is not None:
            self._forget_relayed(older.item)
        if ended is not None:
            self._forget_relayed(ended.item)
            if self._leases is not None:
                self._leases.ended(ended.key)
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
        self._durable.keep(item)
        return Status.STORED

    def _forget_relayed(self, item: Item) -> None:
        del self._relayed[item.id]
        self._durable.release(item)

    def held(self, item_id: ItemId) -> Item | None:
        """Return a message of its own."""
        carried = self.outbox.get(item_id)
        if carried is not None:
            return carried.item
        announcement = self.announcement
        if announcement is not None and announcement.id == item_id:
            return announcement
        return self.advertisements.get(item_id)

    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Ask for it no more; unless mediators would take that for a filter that is here."""
        if self._leases is None:
            self._durable.know(item)
        return BAD_PAYLOAD

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget a message whose lifetime is over."""
        relayed = self._relayed.pop(item_id, None)
        item = relayed or self.held(item_id)
        if item is None:
            return False
        if relayed is None:
            if self.outbox.remove(item_id) is None and self.advertisements.expire(item_id, now_ms) is None:
                self.announcement = None
            self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        elif relayed.type == MessageType.REMOVE:
            self.filters.forget_tombstone((relayed.origin, relayed.payload[HEADER_ID]), relayed)
        else:
            while (ended := self.filters.pop_expired(now_ms)) is not None:
                if self._leases is not None:
                    self._leases.ended(ended.key)
                # The host forgets by itself; being told to remove it would make it refuse a late renewal.
                self._filter_removed(ended, Reason.LIFETIME_OVER, now_ms)
        return relayed is not None
