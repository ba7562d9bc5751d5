"""The role of a broker: how it handles messages, and what it sends to which peers.

    from a subscriber   SUBSCRIBE, RENEW     held and matched here; requested from neighbours
                        UNSUBSCRIBE          no longer
                        RECEIPT              the notification is no longer pending
    from a publisher    ANNOUNCE             added to the directory, for look-ups
                        ADVERTISE, UNADVERTISE, NOTIFICATION as from a neighbour, if advertised
    from a neighbour    note of a summary    its distances from publishers; a nearer one becomes the parent
                        ADVERTISE            part of its publisher's tree; forwarded to other neighbours
                        UNADVERTISE          no longer
                        JOIN                 requested from neighbours too
                        PRUNE                no longer
                        NOTIFICATION         for endpoints that subscribed and neighbours that joined

A broker holds a notification until all receivers have it, and carries it nowhere. The state for its endpoints
is that of any mediator (dens/overlay/mediator/state.py). JOINs of a neighbour that lost its store stay until
the neighbour repeats them, or has been in contact for one patience.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dens.interfaces import Identities
from dens.overlay.broker.advertisements import Advertisements
from dens.overlay.broker.distances import Distances
from dens.overlay.broker.entries import Entries, Entry
from dens.overlay.broker.forwarding import Forwarding
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.broker.outbox import Outbox
from dens.overlay.broker.quotas import Quota
from dens.overlay.broker.requests import Requests, Wanted
from dens.overlay.events import CopyReplicated, MessageStored, RoutesChanged
from dens.overlay.mediator.delivery import Delivery
from dens.overlay.mediator.handlers import MessageHandlers
from dens.overlay.mediator.pending import read_subscription
from dens.overlay.mediator.rendering import notify_of
from dens.overlay.mediator.role import MediatingRole
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Work
from dens.overlay.session.signatures import verifies_signature
from dens.overlay.storage.notification_store import Carried
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire import summary
from dens.overlay.wire.broker_messages import Prune
from dens.overlay.wire.codes import (
    ADVERTISE,
    ANNOUNCE,
    BAD_PAYLOAD,
    FOREIGN_ORIGIN,
    JOIN,
    MEDIATOR,
    NO_ROOM,
    NOT_ADVERTISED,
    NOT_SIGNED,
    NOTIFICATION,
    NOTIFY,
    PRUNE,
    PUBLISHER,
    QUARANTINED,
    RECEIPT,
    RENEW,
    STORED,
    SUBSCRIBE,
    SUBSCRIBER,
    SUPERSEDED,
    UNADVERTISE,
    UNEXPECTED,
    UNKNOWN_LANGUAGE,
    UNSUBSCRIBE,
    WORK,
    Reason,
    Role,
    Status,
)
from dens.overlay.wire.item import NEVER_MS, NUMBER_BITS, Item, ItemId, item_id
from dens.overlay.wire.messages import SummaryMessage, Withdrawal, read_receipt
from dens.overlay.wire.summary import Summary

_SUBSCRIBERS: Final = frozenset({SUBSCRIBER})
_PUBLISHERS: Final = frozenset({PUBLISHER})
_NEIGHBOURS: Final = frozenset({MEDIATOR})
_PUBLISHERS_AND_NEIGHBOURS: Final = frozenset({PUBLISHER, MEDIATOR})


class BrokerRow:
    """How a broker treats the messages of one type."""

    __slots__ = ("expire", "handle", "restore", "senders")

    def __init__(
        self,
        senders: frozenset[Role],
        handle: Callable[[Item, PeerSession, int], Status],
        restore: Callable[[Item, int], None] | None = None,
        expire: Callable[[Item, int], None] | None = None,
    ) -> None:
        self.senders: Final = senders
        """The roles that may send it."""
        self.handle: Final = handle
        """(item, session, now_ms): takes a new message."""
        self.restore: Final = restore
        """(item, now_ms): takes up a message after a restart; None if the handlers of a
        mediator do, or if it is not held."""
        self.expire: Final = expire
        """(item, now_ms): forgets an expired message, beyond what a mediator does."""


class Broker(MediatingRole):
    """Handles messages, sends requests to neighbours, forwards and delivers notifications."""

    __slots__ = (
        "_delivery",
        "_distances",
        "_handlers",
        "_identities",
        "_options",
        "_outbox",
        "_quota",
        "_reported_routes",
        "_reports",
        "_restore_ms",
        "_restored",
        "_rows",
        "_stale",
        "_stale_ms",
        "advertisements",
        "entries",
        "forwarding",
        "requests",
        "strays",
    )

    def __init__(
        self,
        context: NodeContext,
        state: MediatorState,
        advertisements: Advertisements,
        entries: Entries,
        requests: Requests,
        options: BrokerOptions,
        identities: Identities | None,
    ) -> None:
        super().__init__(context, state)
        self._quota: Quota[ItemId] = Quota(context.limits.joins, context.limits)
        """JOINs by neighbour."""
        self._options = options
        self._identities = identities
        self._handlers = MessageHandlers(context, state, self._notify)
        self._delivery = Delivery(context, state, self._notify)
        self._outbox = Outbox(context, state.items)
        self._distances = Distances(context.sessions)
        self._stale: dict[ItemId, int] = {}
        """JOINs that the summary of their neighbour does not name, and until when it may repeat them."""
        self._stale_ms = NEVER_MS
        self._reports = False
        """Whether the tables may have changed since the last report."""
        self._reported_routes: dict[int, tuple[int, int, int, int]] = {}
        self.advertisements = advertisements
        self.entries = entries
        self.requests = requests
        self.forwarding = Forwarding(context, state, advertisements, entries, requests.neighbours, options)
        self._restored: deque[ItemId] = deque()
        """Notifications from before a restart whose receivers are not computed yet."""
        self._restore_ms = NEVER_MS
        self._rows: Final = {
            SUBSCRIBE: BrokerRow(_SUBSCRIBERS, self._handle_subscription),
            RENEW: BrokerRow(_SUBSCRIBERS, self._handle_subscription),
            UNSUBSCRIBE: BrokerRow(_SUBSCRIBERS, self._handle_subscription),
            RECEIPT: BrokerRow(_SUBSCRIBERS, self._handle_receipt),
            ANNOUNCE: BrokerRow(_PUBLISHERS, self._handle_announcement),
            NOTIFICATION: BrokerRow(
                _PUBLISHERS_AND_NEIGHBOURS, self._handle_notification, None, self._expire_notification
            ),
            ADVERTISE: BrokerRow(
                _PUBLISHERS_AND_NEIGHBOURS,
                self._handle_advertisement,
                self._restore_advertisement,
                self._expire_advertisement,
            ),
            UNADVERTISE: BrokerRow(
                _PUBLISHERS_AND_NEIGHBOURS,
                self._handle_advertisement,
                self._restore_advertisement,
                self._expire_advertisement,
            ),
            JOIN: BrokerRow(_NEIGHBOURS, self._handle_join, self._restore_join, self._expire_join),
            PRUNE: BrokerRow(_NEIGHBOURS, self._handle_prune, None, self._expire_join),
        }
        """By message type."""
        self.strays = 0
        """Number of PRUNEs for unknown JOINs."""

    # ------------------------------------------------------------------ engine

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Restore the held messages; recompute requests and receivers."""
        self.forwarding.started(now_ms)
        of_mediator = self._handlers.rows
        self._handlers.restore([item for item in held if item.type in of_mediator], now_ms)
        for item in sorted(held, key=lambda item: item.type != UNADVERTISE):
            if item.type not in of_mediator:
                self._state.items[item.id] = item
                row = self._rows[item.type]
                if row.restore is not None:
                    row.restore(item, now_ms)
        own = [item for item in held if item.type in (JOIN, PRUNE) and item.origin == self._context.node]
        for publisher in self.advertisements.trees:
            self.advertisements.newly_announced(publisher, now_ms)
        wanted = [Wanted(one.key, one.item, one.body) for one in self._state.table.subscriptions()]
        wanted += [
            Wanted(entry.held.key, entry.held.item, entry.held.body, entry.held.item.origin, entry.publisher)
            for entry in self.entries.all()
        ]
        for entry in self.entries.all():
            self._quota.note(entry.held.item.id, entry.held.item.origin)
        self.requests.restore(own, wanted, now_ms)
        self._send_changes()
        for item in held:
            if item.type == NOTIFICATION and item.id in self._state.items:
                self._restored.append(item.id)
        self._restore_some(now_ms)
        for waiting in self._restored:
            self.forwarding.hold(waiting, now_ms)

    def _restore_some(self, now_ms: int) -> None:
        """Compute receivers of notifications from before a restart, a bounded number of units per step."""
        work = self._context.work
        end = work.total + self._context.limits.work_step
        while self._restored and work.total < end:
            item = self._state.items.get(self._restored.popleft())
            if item is not None:
                self.forwarding.restore(item, now_ms)
                self.forwarding.offer(item.id, now_ms)
        self._restore_ms = now_ms if self._restored else NEVER_MS

    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Reject it: a broker forwards only what it can match."""
        return BAD_PAYLOAD

    def _read_mediator_summary(self, message: SummaryMessage) -> Summary:
        return summary.decode(message.known, 0, message.first, message.last)

    def relays_as_held(self) -> bool:
        """Return True: notifications are forwarded unchanged."""
        return True

    # ------------------------------------------------------------------ receiving

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Verify and handle a message."""
        role = session.role
        row = self._rows.get(item.type)
        if row is None or role is None or role not in row.senders:
            return UNEXPECTED
        if not verifies_signature(item, self._identities, self._context.quarantine, session.peer, now_ms):
            return NOT_SIGNED
        status = row.handle(item, session, now_ms)
        if status is STORED or status is QUARANTINED:
            happened = CopyReplicated if role is MEDIATOR else MessageStored
            self._context.events.append(
                happened(now_ms, item, session.peer, self._context.mark(item.id, session))
            )
        elif status is SUPERSEDED:
            self._durable.know(item)
        return status

    def _handle_subscription(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        status = self._handlers.handle(item, session.peer, now_ms)
        if status is STORED or status is QUARANTINED:
            self._request_for_endpoint(item, now_ms)
        return status

    def _handle_receipt(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        status = self._handlers.handle(item, session.peer, now_ms)
        if status is STORED:
            self.forwarding.delivered(read_receipt(item.payload), now_ms)
        return status

    def _handle_announcement(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        return self._handlers.handle(item, session.peer, now_ms)

    def _request_for_endpoint(self, item: Item, now_ms: int) -> None:
        """Request what an endpoint subscribed to, or stop requesting it."""
        if item.type == UNSUBSCRIBE:
            key = item.origin, Withdrawal.decode(item.payload).id
            if self._state.table.get(key) is None:
                self.requests.remove(key, now_ms)
        else:
            new = Subscription.of(item, read_subscription(item))
            self.requests.add(Wanted(new.key, item, new.body), now_ms)
        self._send_changes()

    def _handle_advertisement(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        giver = session.peer
        if item.type == ADVERTISE:
            status = self.advertisements.learn(item, giver, now_ms)
        else:
            status = self.advertisements.withdraw(item, giver, now_ms)
        if status is STORED:
            self._tree_changed(item.origin, item if item.type == UNADVERTISE else None, now_ms)
        return status

    def _tree_changed(self, publisher: int, withdrawal: Item | None, now_ms: int) -> None:
        """Announce the changes of a publisher's tree to neighbours, and update the requests to it."""
        makes = self.advertisements.newly_announced(publisher, now_ms)
        breaks = [] if withdrawal is None else [withdrawal]
        tree = self.advertisements.trees.get(publisher)
        if tree is not None and self._passes_advertisements:
            others = [one for one in self.requests.neighbours if one not in (tree.parent, publisher)]
            self._outbox.send(
                [(one, item) for one in others for item in makes],
                [(one, item) for one in others for item in breaks],
            )
        if self._options.advertisements:
            self.requests.review(publisher, now_ms)
        self._send_changes()
        self._move_nearer(publisher, now_ms)
        self.forwarding.tree_changed(publisher, now_ms)

    def _move_nearer(self, publisher: int, now_ms: int) -> None:
        """Make the nearest neighbour in contact the parent if that reduces the distance."""
        tree = self.advertisements.trees.get(publisher)
        if tree is None or not self._passes_advertisements:
            return
        nearest = self._distances.nearest(publisher, tree.generation)
        if nearest is None or nearest[0] + 1 >= tree.hops:
            return
        former = tree.parent
        self.advertisements.move(publisher, nearest[1], nearest[0] + 1)
        self._outbox.send([(former, tree.held[id].item) for id in tree.announced], ())
        self.requests.move(publisher, former, now_ms)
        self._send_changes()
        self.forwarding.tree_changed(publisher, now_ms)

    @property
    def _passes_advertisements(self) -> bool:
        return self._options.advertisements and not self._options.floods

    def _restore_advertisement(self, item: Item, now_ms: int) -> None:
        self.advertisements.restore(item)

    def _expire_advertisement(self, item: Item, now_ms: int) -> None:
        self.advertisements.on_expired(item, now_ms)
        self._tree_changed(item.origin, None, now_ms)

    def _handle_join(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        if item.origin != session.peer:
            return FOREIGN_ORIGIN
        if not self._state.pending.judges(item.language):
            return UNKNOWN_LANGUAGE
        if not self._quota.has_room(item.origin):
            self._forget_stale(self.entries.of(item.origin), now_ms)
        if not self._quota.has_room(item.origin):
            return NO_ROOM
        entry = self.entries.add(item, now_ms)
        self._quota.note(item.id, item.origin)
        self._state.hold(item)
        held = entry.held
        self.requests.add(Wanted(held.key, item, held.body, item.origin, entry.publisher), now_ms)
        self._send_changes()
        self._forget_stale([one for one in self.entries.of(item.origin) if entry.repeats(one)], now_ms)
        self.forwarding.joined(entry, now_ms)
        return STORED

    def _forget_stale(self, entries: Iterable[Entry], now_ms: int) -> None:
        """Forget the stale ones among these JOINs."""
        for entry in entries:
            if entry.held.item.id in self._stale:
                self._forget_entry(entry.held.item.id, Reason.WITHDRAWN, now_ms)

    def _name_stale(self, session: PeerSession, now_ms: int) -> None:
        """Note the JOINs that a neighbour's summary does not name: it lost its store. They stay until it
        repeats its requests.
        """
        for entry in self.entries.of(session.peer):
            joined = entry.held.item.id
            if session.knows(joined):
                self._stale.pop(joined, None)
            elif joined not in self._stale:
                self._stale[joined] = now_ms + self._options.patience_ms
        self._stale_ms = min(self._stale.values(), default=NEVER_MS)

    def _end_stale(self, now_ms: int) -> None:
        """Forget JOINs that were not repeated in time. A neighbour that is not in contact has more time."""
        for joined, until_ms in list(self._stale.items()):
            if until_ms > now_ms or joined not in self._stale:
                continue
            if joined >> NUMBER_BITS in self._sessions:
                self._forget_entry(joined, Reason.WITHDRAWN, now_ms)
            else:
                self._stale[joined] = now_ms + self._options.patience_ms
        self._stale_ms = min(self._stale.values(), default=NEVER_MS)

    def _restore_join(self, item: Item, now_ms: int) -> None:
        if item.origin == self._context.node:
            return  # `requests` restores the JOINs of this broker.
        self._context.quarantine.attempt(
            Work.TAKING, item, now_ms, self.entries.add, item, now_ms, otherwise=None
        )

    def _expire_join(self, item: Item, now_ms: int) -> None:
        if item.origin == self._context.node:
            self.requests.on_expired(item)
            return
        entry = self.entries.remove(item.id, now_ms)
        self._quota.forget(item.id)
        self._stale.pop(item.id, None)
        if entry is not None:
            self.requests.remove(entry.held.key, now_ms)
            self._send_changes()

    def _handle_prune(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Forget a JOIN of the same neighbour. An unknown one counts as known from now on, because it would
        come too late.
        """
        if item.origin != session.peer:
            return FOREIGN_ORIGIN
        joined = item_id(item.origin, Prune.decode(item.payload).number)
        if self._forget_entry(joined, Reason.WITHDRAWN, now_ms):
            self._durable.know(item)
            return STORED
        if joined not in self._durable.known:
            self.strays += 1
            self._durable.know(item.replace(number=Prune.decode(item.payload).number))
        return SUPERSEDED

    def _forget_entry(self, joined: ItemId, reason: Reason, now_ms: int) -> bool:
        entry = self.entries.remove(joined, now_ms)
        self._quota.forget(joined)
        self._stale.pop(joined, None)
        if entry is None:
            return False
        self.requests.remove(entry.held.key, now_ms)
        self._send_changes()
        self._state.release(entry.held.item, reason, now_ms)
        return True

    def _send_changes(self) -> None:
        """Send the collected changes of the tables."""
        self._reports = True
        requests = self.requests
        if requests.cancelled:
            self._outbox.cancel(requests.cancelled)
            requests.cancelled.clear()
        if requests.makes or requests.breaks:
            self._outbox.send(requests.makes, requests.breaks)
            requests.makes.clear()
            requests.breaks.clear()

    def _handle_notification(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        is_of_end = session.role is PUBLISHER and self._options.advertisements
        if is_of_end and not self.advertisements.admit(item, now_ms):
            return NOT_ADVERTISED
        if self._context.work.is_spent(item.origin, now_ms):
            return WORK
        receivers = self.forwarding.receivers(item, session.peer, now_ms)
        status = self._handlers.handle(item, session.peer, now_ms)
        if status is STORED:
            self.forwarding.begin(item.id, receivers, session.peer, now_ms)
        return status

    # ------------------------------------------------------------------ sending

    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Queue what a peer lacks."""
        peer = session.peer
        if session.role is MEDIATOR:
            self.forwarding.met(peer)
            self.requests.met(peer, now_ms)
            self._send_changes()
            self.on_summary_part(session, known, 0, now_ms)
            for publisher in self._distances.hear(session, note):
                self._move_nearer(publisher, now_ms)
        elif session.role is SUBSCRIBER:
            pending = self._state.carried.pending_for(peer)
            self._delivery.met(session, now_ms)
            for one in pending:
                if session.knows(one):
                    self.forwarding.delivered(one, now_ms)
                else:
                    self.forwarding.release_if_done(one, now_ms)
        self._report(now_ms)

    def on_summary_part(self, session: PeerSession, known: Summary, first: int, now_ms: int) -> None:
        """Queue what a neighbour lacks of the origins that its summary covers; note stale JOINs."""
        peer = session.peer
        if peer <= session.covered:
            self._name_stale(session, now_ms)
        makes, breaks = self.requests.messages_for(peer)
        if self._passes_advertisements:
            more_makes, more_breaks = self.advertisements.messages_for(peer)
            makes, breaks = makes + more_makes, breaks + more_breaks
        for item in self._outbox.met(session, makes, breaks):
            if item.type == PRUNE:
                self.requests.pruned(peer, item, now_ms)
        self._send_changes()
        self.forwarding.offer_lacking(session, now_ms)

    def summary_note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return the distances of this broker from each publisher, for a neighbour."""
        if session.role is not MEDIATOR or not self._passes_advertisements:
            return b""
        return self._distances.note(self.advertisements.trees, session.peer)

    def on_stored(self, items: Sequence[Item], giver: PeerSession, now_ms: int) -> None:
        """Offer notifications to their receivers in contact."""
        for item in items:
            carried = self._state.carried.get(item.id) if item.type == NOTIFICATION else None
            if carried is None:
                continue
            self.forwarding.offer(item.id, now_ms)
            for subscriber in list(carried.pending):
                self._notify(carried, subscriber, now_ms)
            self.forwarding.release_if_done(item.id, now_ms)
        self._delivery.deferred.find_by(now_ms)
        self._report(now_ms)

    def _notify(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        if self._delivery.offer(carried, subscriber):
            self.forwarding.delivered(carried.item.id, now_ms)

    def held(self, item_id: ItemId) -> Item | None:
        """Return a held message. The caller may send it."""
        self.requests.sent(item_id)
        return self._state.items.get(item_id)

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message in the form that its receiver needs."""
        if type != NOTIFY:
            return item
        carried = self._state.carried.get(item.id)
        return None if carried is None else notify_of(item, carried.pending.get(session.peer))

    def on_acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Take the status of a message."""
        if item.type == NOTIFY:
            if self._delivery.acknowledged(item, status, session):
                self.forwarding.delivered(item.id, now_ms)
            self._delivery.deferred.find_more(session, now_ms)
        elif item.type == NOTIFICATION:
            self.forwarding.answered(item.id, status, session.peer, now_ms)
        else:
            self._outbox.on_acknowledged(session.peer, item.id)
            if item.type == PRUNE:
                self.requests.pruned(session.peer, item, now_ms)
                self._send_changes()

    def timer_due(self, now_ms: int) -> None:
        """Do deferred work and deliveries, give up receivers that do not return, renew JOINs."""
        if self._restore_ms <= now_ms:
            self._restore_some(now_ms)
        if self._handlers.waiting.due_ms <= now_ms:
            for item_id in self._handlers.step(now_ms):
                self.forwarding.release_if_done(item_id, now_ms)
        if self._delivery.deferred.find_ms <= now_ms:
            self._delivery.deferred.find_for_all(now_ms)
        self.forwarding.expire_waiting(now_ms)
        if self.requests.renew_ms <= now_ms:
            self.requests.renew(now_ms)
            self._send_changes()
        if self.requests.leave_ms <= now_ms:
            self.requests.leave(now_ms)
            self._send_changes()
        if self._stale_ms <= now_ms:
            self._end_stale(now_ms)

    def next_timer_ms(self) -> int:
        """Return when the next of these is due."""
        requests = self.requests
        return min(
            self._restore_ms,
            self._handlers.waiting.due_ms,
            self._delivery.deferred.find_ms,
            self.forwarding.due_ms,
            requests.renew_ms,
            requests.leave_ms,
            self._stale_ms,
        )

    def expire_state(self, until_ms: int, now_ms: int) -> bool:
        """Remove subscriptions whose linger time is over, and their requests."""
        over: list[Subscription] = self._state.expire_subscriptions(until_ms, now_ms)
        for one in over:
            self.requests.remove(one.key, now_ms)
        self._send_changes()
        return bool(over)

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget an expired message."""
        item = self._state.items.get(item_id)
        is_held = self._handlers.expire(item_id, now_ms)
        if item is None:
            return is_held
        row = self._rows.get(item.type)
        if row is not None and row.expire is not None:
            row.expire(item, now_ms)
        return is_held

    def _expire_notification(self, item: Item, now_ms: int) -> None:
        self.forwarding.forget(item.id)

    def _report(self, now_ms: int) -> None:
        """Report changes of the routing tables of each neighbour."""
        if not self._reports:
            return
        self._reports = False
        for neighbour in self.requests.neighbours:
            routes = (self.advertisements.via(neighbour), *self.requests.counts(neighbour))
            if self._reported_routes.get(neighbour) != routes:
                self._reported_routes[neighbour] = routes
                self._context.events.append(RoutesChanged(now_ms, neighbour, *routes))
