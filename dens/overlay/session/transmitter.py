"""Transmitter: forms the datagrams that leave for one peer now, with their tags.

The session (dens/overlay/session/peer_session.py) has the send queue, the window and the retransmission
timers. First comes a HELLO if one is due, then retransmissions, then queued messages as far as the window
permits. Messages to a mediator share datagrams, together with acknowledgements; an endpoint, which may be a
board, receives every message in a datagram of its own.
"""

from typing import Final

from dens.overlay.session.context import NodeContext
from dens.overlay.session.flights import Flight
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.protocol import Datagram
from dens.overlay.session.quarantine import Work
from dens.overlay.session.role import NodeRole
from dens.overlay.wire import envelope
from dens.overlay.wire.codes import (
    ACKNOWLEDGEMENT,
    BATCH,
    HELLO,
    LAST_NODE,
    MEDIATOR,
    NOTIFICATION,
    NOTIFY,
    SUMMARY,
)
from dens.overlay.wire.envelope import pack
from dens.overlay.wire.item import NUMBER_MASK, Item, ItemId
from dens.overlay.wire.item import item_id as item_id_of
from dens.overlay.wire.messages import Acknowledgement, Batch, Hello, SummaryMessage

_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})
"""Types with a form per receiver; all others are relayed as they are held."""
_BATCH_MAX: Final = 256
"""Messages per datagram."""
_ACKS_MAX: Final = 4_096
"""Acknowledgements per datagram; they take 37 KB."""


class _DatagramDraft:
    """Messages gathered for one datagram."""

    __slots__ = ("bodies", "items", "size")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.bodies: list[bytes] = []
        self.size = 0


class Transmitter:
    """Forms the outgoing datagrams of an engine."""

    __slots__ = (
        "_authenticator",
        "_durable",
        "_hello_ms",
        "_node",
        "_node_role",
        "_quarantine",
        "_relays_as_held",
        "_reserves_copies",
        "_summary_bytes",
        "_table_check",
    )

    def __init__(self, context: NodeContext, table_check: int, node_role: NodeRole) -> None:
        self._node = context.node
        self._hello_ms = context.limits.hello_ms
        self._summary_bytes = context.limits.summary_bytes
        self._table_check = table_check
        self._authenticator = context.authenticator
        self._durable = context.durable
        self._quarantine = context.quarantine
        self._node_role = node_role
        self._relays_as_held = node_role.relays_as_held()
        self._reserves_copies = node_role.reserves_copies()

    def transmit(self, session: PeerSession, now_ms: int, out: list[Datagram]) -> None:
        """Append the datagrams that are due for one peer to `out`."""
        if session.is_hello_queued or (not session.is_heard and session.hello_due_ms <= now_ms):
            session.is_hello_queued = False
            session.hello_due_ms = now_ms + self._hello_ms
            self._transmit_link(HELLO, self._hello(session).encode(), session, out)
        if session.link_messages:
            for type, payload in session.link_messages:
                self._transmit_link(type, payload, session, out)
            session.link_messages.clear()
        load = _DatagramDraft()
        while (flight := session.flights.next_retransmission(now_ms)) is not None:
            for sent in flight.items.values():
                item = self._form(sent.id, sent.type, session, now_ms)
                if item is not None:
                    self._gather(item, load, session, now_ms, out, flight)
            self._flush(load, session, now_ms, out, flight)
        while (queued := session.next_queued()) is not None:
            item = self._form(*queued, session, now_ms)
            if item is None:
                session.queue.pop()
                continue
            if not session.flights.has_room(item.size, load.size):
                break
            session.queue.pop()
            self._gather(item, load, session, now_ms, out)
        self._flush(load, session, now_ms, out)
        if session.acks_due_ms <= now_ms:
            entries = session.take_acks()
            for at in range(0, len(entries), _ACKS_MAX):
                payload = Acknowledgement(entries[at : at + _ACKS_MAX]).encode()
                self._transmit_link(ACKNOWLEDGEMENT, payload, session, out)

    def _form(self, item_id: ItemId, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message in the form for this peer, or None if it need not be sent."""
        if type == SUMMARY:
            return self._summary(item_id, session, now_ms)
        item = self._node_role.held(item_id)
        if item is None or item.expires_ms <= now_ms:
            return None
        if item.type == type and (
            type not in _EVENTS or (type == NOTIFICATION and self._relays_as_held and not item.copies)
        ):
            return item
        work = Work.SHARING if type == NOTIFICATION else Work.FORMING
        return self._quarantine.attempt(
            work,
            item,
            now_ms,
            self._checked_frame,
            item,
            type,
            session,
            now_ms,
            otherwise=None,
            peer=session.peer,
        )

    def _checked_frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        frame = self._node_role.frame(item, type, session, now_ms)
        if frame is not None:
            envelope.check_fits(frame)
        return frame

    def _gather(
        self,
        item: Item,
        load: _DatagramDraft,
        session: PeerSession,
        now_ms: int,
        out: list[Datagram],
        again: Flight | None = None,
    ) -> None:
        """Add a message to the datagram; send the datagram first if the message does not fit."""
        if self._reserves_copies and item.type == NOTIFICATION:
            self._node_role.on_transmit(item, session, now_ms)
        if load.items and (
            session.role is not MEDIATOR
            or item.type == SUMMARY
            or len(load.items) == _BATCH_MAX
            or not session.flights.may_share_datagram(load.size + item.size, load.items[0].type == SUMMARY)
        ):
            self._flush(load, session, now_ms, out, again)
        if item.type == SUMMARY:
            load.bodies.append(pack(item, self._table_check, 0, 0, 0))
        else:
            load.bodies.append(pack(item, self._table_check, item.age_ms(now_ms), item.hops + 1, 0))
        load.items.append(item)
        load.size += item.size

    def _flush(
        self,
        load: _DatagramDraft,
        session: PeerSession,
        now_ms: int,
        out: list[Datagram],
        again: Flight | None = None,
    ) -> None:
        """Send the gathered messages in one datagram, together with pending acknowledgements."""
        items, bodies = load.items, load.bodies
        if not items:
            return
        if session.acks and session.role is MEDIATOR and session.may_carry_acks(load.size):
            number = self._durable.link_number()
            payload = Acknowledgement(session.take_acks()).encode()
            bodies.insert(
                1 if items[0].type == SUMMARY else 0,
                envelope.pack_link(ACKNOWLEDGEMENT, self._node, number, self._table_check, 0, payload),
            )
        number = 0
        if len(bodies) > 1:
            number = self._transmit_link(BATCH, Batch(tuple(bodies)).encode(), session, out)
        else:
            [body] = bodies
            if session.flags:
                body = bytes((body[0] | session.flags,)) + body[1:]
            self._emit(body, session.peer_session, session, out)
        session.flights.note_sent(items, number if len(items) > 1 else 0, now_ms, again)
        load.items, load.bodies, load.size = [], [], 0

    def _transmit_link(self, type: int, payload: bytes, session: PeerSession, out: list[Datagram]) -> int:
        """Send a link message; return its number."""
        number = self._durable.link_number()
        body = envelope.pack_link(type, self._node, number, self._table_check, session.flags, payload)
        self._emit(body, 0 if type == HELLO else session.peer_session, session, out)
        return number

    def _emit(self, body: bytes, addressed_to: int, session: PeerSession, out: list[Datagram]) -> None:
        if session.flags:
            body += self._authenticator.tag(body, self._node_role.role, session.peer, addressed_to)
        out.append(Datagram(session.peer, body))

    def _hello(self, session: PeerSession) -> Hello:
        return Hello(self._node_role.role, session.own_session, session.peer_session)

    def _summary(self, item_id: ItemId, session: PeerSession, now_ms: int) -> Item:
        """Return our summary, or a part of it. The interval of a part is fixed when it is first formed; then
        the next part is queued.
        """
        node_role, hello = self._node_role, self._hello(session)
        first, chosen = session.parts[item_id]
        known, last = node_role.summary_part(session, first, chosen, self._summary_bytes)
        if chosen is None:
            session.parts[item_id] = first, last
            if last != LAST_NODE:
                session.queue_summary(item_id_of(self._node, self._durable.link_number()), last + 1)
        if first:
            part_of = next(iter(session.parts)) & NUMBER_MASK
            message = SummaryMessage(hello, b"", known, (), first, last, part_of)
        else:
            note, hosts = node_role.summary_note(session, now_ms), node_role.hosts_for(session)
            message = SummaryMessage(hello, note, known, hosts, 0, last)
        return Item(SUMMARY, 0, self._node, item_id & NUMBER_MASK, now_ms, 0, 0, message.encode())
