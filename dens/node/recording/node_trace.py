"""One node's view of the network as the rows of a trace.

What the node sent, received, stored and matched is exact. A delivery to a remote subscriber is known from its
receipt, which carries the time, so deliveries are recorded when their receipts arrive; their hops are those
of the notification to this node plus those of the receipt. A contact lasts from the first to the last
datagram of a neighbour. Readings that watchdogs did not release are unknown here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from dens.interfaces import ResultReader
from dens.node.recording.recorder import Journal
from dens.node.recording.trace_folder import TraceFolder
from dens.overlay.events import (
    CopyReplicated,
    DatagramRefused,
    Event,
    HoldingsEnded,
    MessageEvent,
    MessageStored,
    NotificationDelivered,
    NotificationMade,
    NotificationMatched,
    RoutesChanged,
)
from dens.overlay.session.protocol import Datagram
from dens.overlay.storage.subscription_table import is_newer
from dens.overlay.wire.codes import ORIGIN_ROLES, MessageType, Role
from dens.overlay.wire.envelope import MOST_HOPS
from dens.overlay.wire.item import LIFETIME_MS, Item, ItemId
from dens.overlay.wire.messages import Subscribed, Withdrawal, read_receipt

FLUSH_MS: Final = 5_000
"""Longest time until a follower sees a row."""
MOST_NOISE: Final = 1_000
"""Limit of refused or repeated datagrams that are recorded between two flushes."""
_WITHDRAWN: Final = 6
"""The place of `withdrawn_ms` in a row of `subscriptions`."""


class NodeTrace:
    """Turns the events of one node into rows. Times are converted from the node's clock to the trace's."""

    def __init__(
        self,
        folder: TraceFolder,
        node: int,
        tag_bytes: int,
        gap_ms: int,
        now_ms: int,
        results: Mapping[int, ResultReader] | None = None,
    ) -> None:
        """A neighbour that is silent for `gap_ms` was out of contact meanwhile. `results` are the result
        readers of languages in which several notifications may have the same result.
        """
        self._composed = frozenset(results or ())
        self._folder = folder
        self._node = node
        self._gap_ms = gap_ms
        self._began_ms = folder.began_ms
        self._journal = Journal(folder.writer, tag_bytes, results)
        self._written = folder.written
        self._carried: dict[ItemId, Item] = {}
        """Notifications whose receipts may still arrive."""
        self._contacts: dict[int, tuple[int, int]] = {}
        """Times of the first and the last datagram of each neighbour in contact."""
        self._flush_ms: int | None = None
        self._noise = 0
        self._is_written = True
        self.unwritten = 0
        """Number of refused or repeated datagrams that were not recorded."""
        self._begin(now_ms)

    def _begin(self, now_ms: int) -> None:
        if self._node not in self._written.nodes:  # also if an earlier process was killed before
            self._written.nodes.add(self._node)
            self._journal.node(self._node, f"node-{self._node}", "mediators", "mediator")
        else:
            if not self._folder.was_ended:
                self._end_contacts_of_the_killed()
                reached_ms = max(self._folder.goes_on_ms or 0, self._written.started_ms)
                self._journal.state(reached_ms, self._node, "down", "crash")
            self._journal.state(self._at(now_ms), self._node, "up", "restart")
        self._folder.writer.checkpoint()

    def _end_contacts_of_the_killed(self) -> None:
        """Write the contacts that were open when an earlier process was killed."""
        for peer, at_ms in self._written.heard:
            self._in_contact(peer, at_ms + self._began_ms)
        for peer, (first_ms, last_ms) in self._contacts.items():
            if (*sorted((self._node, peer)), float(self._at(first_ms))) not in self._written.contacts:
                self._contact(peer, first_ms, last_ms, censored=True)
        self._contacts.clear()

    def _at(self, time_ms: int) -> int:
        return time_ms - self._began_ms

    # ------------------------------------------------------------------ links

    def heard(self, data: bytes, peer: int, now_ms: int, *, is_news: bool) -> None:
        """Record a received datagram. Only new ones prove a contact; others (a flood, a replay) are recorded
        up to a limit.
        """
        ended = self._in_contact(peer, now_ms) if is_news else None
        if ended is not None:
            self._contact(peer, *ended, censored=False)
        self._noise += not is_news
        self._is_written = is_news or self._noise <= MOST_NOISE
        if self._is_written:
            self._journal.frame_received(self._at(now_ms), peer, self._node, data)
        else:
            self.unwritten += 1

    def _in_contact(self, peer: int, now_ms: int) -> tuple[int, int] | None:
        """Extend the contact with a neighbour. After a long silence return the contact that ended."""
        first_ms, last_ms = self._contacts.get(peer, (now_ms, now_ms))
        is_new = now_ms - last_ms > self._gap_ms
        self._contacts[peer] = now_ms if is_new else first_ms, now_ms
        return (first_ms, last_ms) if is_new else None

    def sent(self, datagrams: Iterable[Datagram], now_ms: int) -> None:
        """Record datagrams that were passed to links."""
        for datagram in datagrams:
            self._journal.frame_sent(self._at(now_ms), self._node, datagram.peer, datagram.data)

    def contact_lost(self, peer: int) -> None:
        """End the contact with a neighbour."""
        if peer in self._contacts:
            self._contact(peer, *self._contacts.pop(peer), censored=False)

    def add_node(self, number: int, role: Role) -> None:
        """Record a node when it is seen for the first time."""
        if number not in self._written.nodes:
            self._written.nodes.add(number)
            word = role.name.lower()
            self._folder.writer["nodes"].append(number, f"node-{number}", f"{word}s", word)

    def _contact(self, peer: int, first_ms: int, last_ms: int, *, censored: bool) -> None:
        a, b = sorted((self._node, peer))
        begin_ms, end_ms = float(self._at(first_ms)), float(self._at(last_ms))
        self._folder.writer["contacts"].append(a, b, begin_ms, end_ms, censored)

    # ------------------------------------------------------------------ the engine

    def on_event(self, event: Event, data: bytes) -> None:
        """Record an event of the engine; `data` is the latest datagram."""
        if isinstance(event, MessageEvent):
            self._journal.event(self._node, event.in_time_of(self._began_ms))
            if isinstance(event, NotificationMade):
                self._carry(event.item)
            elif isinstance(event, MessageStored | CopyReplicated):
                self.learn([event.item])
        elif isinstance(event, HoldingsEnded):
            self._journal.event(self._node, event.at(self._at(event.at_ms)))
        elif isinstance(event, RoutesChanged):
            self._journal.event(self._node, replace(event, at_ms=self._at(event.at_ms)))
        elif isinstance(event, NotificationMatched) and not event.from_before:
            self._journal.event(self._node, event.at(self._at(event.at_ms), event.item.created_ms))
        elif isinstance(event, DatagramRefused) and self._is_written:
            refused = replace(event, at_ms=self._at(event.at_ms))
            self._journal.frame_refused(self._node, data, refused)

    def learn(self, items: Iterable[Item]) -> None:
        """Record messages that the node holds, as far as they are not recorded yet."""
        for item in items:
            if item.language not in self._composed or item.type != MessageType.NOTIFICATION:
                self.add_node(item.origin, ORIGIN_ROLES[item.type])
            if item.type == MessageType.SUBSCRIBE:
                self._subscription(item, Subscribed.from_subscribe(item.payload))
            elif item.type == MessageType.RENEW:
                self._subscription(item, Subscribed.from_renew(item.payload))
            elif item.type == MessageType.UNSUBSCRIBE:
                self._withdrawal(item, Withdrawal.decode(item.payload))
            elif item.type == MessageType.NOTIFICATION:
                self._notification(item)
            elif item.type == MessageType.RECEIPT:
                self._receipt(item)

    def offered(
        self, event_number: int, language: int, vector: bytes, installed: int, released: int, now_ms: int
    ) -> None:
        """Record that a document source offered a document to its filter, which released `released`."""
        at_ms = self._at(now_ms)
        self._journal.offered(at_ms, self._node, event_number, language, vector, installed, released)

    def _subscription(self, item: Item, said: Subscribed) -> None:
        key = (item.origin, said.id, said.seq)
        row = (
            *key, item.language, self._at(item.created_ms) - said.in_force_ms,
            self._at(item.created_ms) + LIFETIME_MS[said.lifetime_q], None, said.vector, None,
        )  # fmt: skip
        self._revision(key, row)

    def _withdrawal(self, item: Item, said: Withdrawal) -> None:
        for key, row in list(self._written.revisions.items()):
            is_meant = key[:2] == (item.origin, said.id) and not is_newer(key[2], said.seq)
            if is_meant and row[_WITHDRAWN] is None:
                at_ms = self._at(item.created_ms)
                self._revision(key, (*row[:_WITHDRAWN], at_ms, *row[_WITHDRAWN + 1 :]))

    def _revision(self, key: tuple[int, int, int], row: tuple[Any, ...]) -> None:
        before = self._written.revisions.get(key)
        if before is None or (before[_WITHDRAWN] is None and before != row):
            self._written.revisions[key] = row
            self._folder.writer["subscriptions"].append(*row)

    def _carry(self, item: Item) -> bool:
        """Keep a notification whose receipt may arrive; return whether it is to be recorded."""
        if item.created_ms < self._began_ms:
            return False  # what happened before the trace began is not in it
        self._carried[item.id] = item
        is_new = item.id not in self._written.notifications
        self._written.notifications[item.id] = self._at(item.expires_ms)
        return is_new

    def _notification(self, item: Item) -> None:
        if self._carry(item):
            at_ms = self._at(item.created_ms)
            if item.language in self._composed:  # a source or a DENS node may have made it: unknown
                self._journal.composite(at_ms, item.replace(created_ms=at_ms))
                return
            number = int.from_bytes(item.payload[:2], "big")
            self._journal.published(at_ms, item.id, item.language, item.payload, item.lifetime_q, number)

    def _receipt(self, item: Item) -> None:
        id = read_receipt(item.payload)
        notification = self._carried.get(id)
        if notification is not None and (item.origin, id) not in self._written.deliveries:
            self._written.deliveries.add((item.origin, id))
            notification = notification.replace(hops=min(notification.hops + item.hops, MOST_HOPS))
            seen = NotificationDelivered(item.created_ms, notification)
            self._journal.event(item.origin, seen.in_time_of(self._began_ms))

    # ------------------------------------------------------------------ time

    def settled(self, held: tuple[int, int, int], now_ms: int) -> None:
        """The node holds this much, and nothing more has happened until now."""
        self._journal.buffer(self._at(now_ms), self._node, *held)
        if self._flush_ms is None and self._folder.writer.collected:
            self._flush_ms = now_ms + FLUSH_MS

    @property
    def flush_ms(self) -> int | None:
        """Return when the collected rows are to be written."""
        return self._flush_ms

    def flush(self, now_ms: int) -> None:
        """Write the collected rows, and forget messages that have expired."""
        self._flush_ms = None
        self._noise = 0
        self._folder.writer.checkpoint()
        self._folder.write_manifest("running", self._at(now_ms))
        self._written.forget_expired(self._at(now_ms))
        self._carried = {id: item for id, item in self._carried.items() if item.expires_ms > now_ms}

    def end(self, now_ms: int) -> None:
        """Record the end of the node; contacts that are still open are marked as censored."""
        for peer, (first_ms, last_ms) in self._contacts.items():
            self._contact(peer, first_ms, last_ms, censored=now_ms - last_ms <= self._gap_ms)
        self._contacts.clear()
        self._journal.state(self._at(now_ms), self._node, "down", "stop")
        self._folder.writer.checkpoint()
        self._folder.write_manifest("complete", self._at(now_ms))
