"""State of a publisher, and its reaction to messages; publisher.py has the interface of the application.

A notification stays in the outbox until it expires or space is needed, and every mediator that does not know
it receives it: a publisher cannot know which mediator will meet the subscriber first. Mediators whose policy
counts copies state that in their summary; then exactly one mediator receives the notification, with the whole
budget, unless it turns out not to have stored it.
"""

from typing import Final

from dens.interfaces import FilterHost
from dens.overlay.covering.leases import CUT, RELIABLE
from dens.overlay.endpoints.advertisements import OwnAdvertisements
from dens.overlay.endpoints.directory_client import DirectoryClient
from dens.overlay.endpoints.installed_filters import InstalledFilters
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import CopyDropped, MessageCreated, MessageExpired, OffersHeard
from dens.overlay.session.context import NodeContext
from dens.overlay.session.lookup import LOOKUP_TIMEOUT_MS
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Work
from dens.overlay.session.role import NodeRole
from dens.overlay.storage.notification_store import NotificationStore
from dens.overlay.storage.reservations import COUNTED, Reservation
from dens.overlay.storage.subscription_table import Subscription
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
from dens.overlay.wire.messages import Subscribed
from dens.overlay.wire.summary import Summary

_TOMBSTONES: Final = frozenset({MessageType.REMOVE, MessageType.UNADVERTISE})
_SUMMARY_SLACK_BYTES: Final = 32
"""A summary with this much space left is complete."""


class PublisherState(NodeRole):
    """Outbox, announcement, advertisements and filters of a publisher."""

    __slots__ = (
        "_context",
        "_counting",
        "_durable",
        "_events",
        "_is_cut",
        "_quarantine",
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
        directory_client: DirectoryClient,
        covering: bool = False,
    ) -> None:
        self._context = context
        self.directory_client: Final = directory_client
        self._durable = context.durable
        self._events = context.events
        self._quarantine = context.quarantine
        self.announcement: Item | None = None
        self.advertisements: Final = OwnAdvertisements()
        self.outbox: Final = NotificationStore(context.limits)
        self.filters: Final = InstalledFilters(context, filter_host, covering)
        self._counting: set[int] = set()
        """The mediators in contact that count copies."""
        self._is_cut = False
        """Whether the last summary was incomplete."""

    # ------------------------------------------------------------------ called by the endpoint

    def announce(self, item: Item, now_ms: int) -> None:
        """Replace the announcement, and offer it to mediators."""
        older = self.announcement
        if older is not None:
            self._drop_own(older, Reason.REPLACED, now_ms)
        self.announcement = item
        self._publish(item, now_ms)

    def advertise(self, item: Item, now_ms: int) -> None:
        """Install an advertisement in the filter host, in place of its older revision, and offer it to
        mediators. One that the filter host refuses raises LocalProtocolError.
        """
        new = Subscription.of(item, Subscribed(0, Advertised.decode(item.payload).vector))
        status = self.filters.install_advertised(new, now_ms) if new.body else Status.STORED
        if status is not Status.STORED:
            raise LocalProtocolError(
                f"the filter host refuses advertisement {new.id}: {STATUS_NAMES[status].replace('_', ' ')}"
            )
        replaced = self.advertisements.put(new)
        if replaced is not None:
            self._drop_own(replaced.item, Reason.REPLACED, now_ms)
        self._publish(item, now_ms)

    def unadvertise(self, item: Item, now_ms: int) -> None:
        """Withdraw an advertisement, and offer the tombstone to mediators."""
        ended = self.advertisements.withdraw(item)
        if ended is not None:
            self._drop_own(ended.item, Reason.WITHDRAWN, now_ms)
            if ended.body:
                self.filters.remove_advertised(ended, now_ms)
        self._publish(item, now_ms)

    def _drop_own(self, item: Item, reason: Reason, now_ms: int) -> None:
        self._durable.release(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    def publish(self, item: Item, now_ms: int) -> None:
        """Add a notification to the outbox, make room, and offer it."""
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

    # ------------------------------------------------------------------ NodeRole

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Load the held messages, and install filters and advertisements in force."""
        for item in sorted(held, key=lambda item: item.type not in _TOMBSTONES):
            if item.type == MessageType.NOTIFICATION:
                self.outbox.add(item)
            elif item.type in (MessageType.ADVERTISE, MessageType.UNADVERTISE):
                self.advertisements.restore(item)
            elif item.type == MessageType.ANNOUNCE:
                self.announcement = item
            else:
                self.filters.restore(item)
        self.filters.install_restored(now_ms)
        for own in self.advertisements.in_force.values():
            if own.until_ms > now_ms and own.body:
                self._quarantine.attempt(
                    Work.FILTERING,
                    own.item,
                    now_ms,
                    self.filters.install_advertised,
                    own,
                    now_ms,
                    otherwise=Status.STORED,
                )

    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Return the known messages of other origins: a mediator states those of this node in its own
        summary.
        """
        leases = self.filters.leases
        if leases is not None and (sent := leases.summary_sent(session)) is not None:
            return sent
        known = self._durable.known.encode_others(self._context.node, most_bytes)
        self._is_cut = len(known) + _SUMMARY_SLACK_BYTES > most_bytes
        if leases is not None:
            leases.note_summary(session, known, is_whole=not self._is_cut)
        return known

    def summary_note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return the note of a summary: the filters here grant leases, or the summary is incomplete."""
        leases = self.filters.leases
        if leases is not None:
            return RELIABLE if leases.got_whole_summary(session) else CUT
        return CUT if self._is_cut else b""

    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Offer a mediator the messages of this node that it lacks, and retry filters whose source did not
        run.
        """
        self._counting.discard(session.peer)
        if note == COUNTED:
            self._counting.add(session.peer)
            self._settle_reservations(session, known)
        self.filters.retry_unserved(now_ms)
        for item_id in self._durable.known.lacking_of(self._context.node, known):
            item = self.held(item_id)
            if item is not None:
                self._offer(item, session)
        if session.role is Role.MEDIATOR:
            self.directory_client.on_mediator_met(session.peer, now_ms)

    def lookup_due_ms(self) -> int:
        """Return when to query a mediator for the offers of others."""
        return self.directory_client.due_ms

    def next_question(self, now_ms: int) -> tuple[bytes, int, int] | None:
        """Query the mediators in contact, and no further ones, for all offers."""
        self.directory_client.on_lookup_starting(now_ms)
        return b"", 1, LOOKUP_TIMEOUT_MS

    def on_lookup_done(self, heard: OffersHeard, now_ms: int) -> None:
        """Add the offers to the directory."""
        self.directory_client.learn(heard, now_ms)
        self.directory_client.back_off(is_news=False)

    def _offer(self, item: Item, session: PeerSession) -> None:
        """Queue a message for a mediator. Notifications wait until it knows the advertisements, so that none
        is refused for having overtaken them.
        """
        if not session.is_ready or session.role is not Role.MEDIATOR:
            return
        if item.type != MessageType.NOTIFICATION:
            session.offer(0, item.id, item.type)
        elif self.advertisements.are_known(session.knows) and self._may_give(item.id, session.peer):
            session.offer(1, item.id, item.type)

    def _may_give(self, item_id: ItemId, peer: int) -> bool:
        """Return whether a mediator may receive a notification: only one of those that count copies may."""
        if peer not in self._counting:
            return True
        reserved = self._durable.reservations.by_item.get(item_id)
        return reserved is None or peer in reserved

    def reserves_copies(self) -> bool:
        """Return True: mediators may count copies."""
        return True

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message unchanged; None for a notification that another mediator has with all copies."""
        if type == MessageType.NOTIFICATION and not self._may_give(item.id, session.peer):
            return None
        return item

    def on_transmit(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Reserve all copies for a mediator that counts them."""
        if session.peer in self._counting and item.id not in self._durable.reservations.by_item:
            self._durable.reserve(item.id, session.peer, Reservation(0, 0, session.peer_session))

    def _settle_reservations(self, session: PeerSession, known: Summary) -> None:
        """Settle or return unacknowledged notifications by the summary of a mediator, as mediators do."""
        peer = session.peer
        for item_id, reservation in self._durable.reservations.sent_to(peer):
            if session.is_unanswered(item_id):
                continue
            if item_id in known:
                self._durable.reserve(item_id, peer, Reservation(0, 0, reservation.session, True))
            elif reservation.session < session.peer_session:
                self._return_copies(item_id, peer)

    def _return_copies(self, item_id: ItemId, peer: int) -> None:
        """Take back a notification that a mediator did not store, and offer it to the others."""
        self._durable.settle(item_id, peer)
        item = self.held(item_id)
        if item is not None:
            for session in self._context.sessions.values():
                self._offer(item, session)

    def on_acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Settle the reservation of a mediator that counts copies; offer notifications to one that has just
        received the advertisements.
        """
        reserved = self._durable.reservations.by_item.get(item.id)
        own = None if reserved is None else reserved.get(session.peer)
        if own is not None and not own.is_settled:
            if status in HAS_IT:
                self._durable.reserve(item.id, session.peer, Reservation(0, 0, own.session, True))
            else:
                self._return_copies(item.id, session.peer)
        if item.type == MessageType.ADVERTISE and self.advertisements.are_known(session.knows):
            for carried in self.outbox.all():
                self._offer(carried.item, session)

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        """Process an INSTALL or REMOVE."""
        if session.role is not Role.MEDIATOR:
            return Status.UNEXPECTED
        status: Status | None
        if item.type == MessageType.INSTALL:
            status = self.filters.install(item, session.peer, now_ms)
        elif item.type == MessageType.REMOVE:
            status = self.filters.remove(item, session.peer, now_ms)
        else:
            return Status.UNEXPECTED
        if status is Status.SUPERSEDED and (self.filters.leases is None or item.type == MessageType.REMOVE):
            self._durable.know(item)
        elif status is Status.STORED:
            self._context.mark(item.id, session)
        return status

    def held(self, item_id: ItemId) -> Item | None:
        """Return a message of this node."""
        carried = self.outbox.get(item_id)
        if carried is not None:
            return carried.item
        announcement = self.announcement
        if announcement is not None and announcement.id == item_id:
            return announcement
        return self.advertisements.get(item_id)

    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Remember the message as known, unless mediators would take that for an installed filter."""
        if self.filters.leases is None:
            self._durable.know(item)
        return BAD_PAYLOAD

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Remove an expired message; only filters are remembered for longer."""
        if self.filters.on_expired(item_id, now_ms):
            return True
        item = self.held(item_id)
        if item is not None:
            if self.outbox.remove(item_id) is None and self.advertisements.expire(item_id, now_ms) is None:
                self.announcement = None
            self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        return False
