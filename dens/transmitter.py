"""What transmits: which messages leave for one peer now, in which datagrams, with which tags.

A session says what is due (dens/peer_session.py: the send queue, the window, the retransmission timers); here
it becomes bytes. First comes a hello where one is wanted, then acknowledgements, then retransmissions, then
what is queued, as far as the window has room. Small things that subscribers say share a datagram.
"""

from typing import Final

from dens import envelope
from dens.context import NodeContext
from dens.envelope import pack
from dens.item import Item, ItemId, new_tuple
from dens.machine import Datagram
from dens.messages import Acknowledgement, Batch, Hello, SummaryMessage
from dens.numbers import (
    ACKNOWLEDGEMENT,
    BATCH,
    HELLO,
    NOTIFICATION,
    NOTIFY,
    SUMMARY,
    MessageType,
)
from dens.participant import Participant
from dens.peer_session import PeerSession
from dens.quarantine import Work

_SUMMARY_BYTES: Final = 48_000
_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})
"""What is formed anew for each receiver; all else is relayed as it is held."""
_GO_TOGETHER: Final = frozenset(
    {
        int(MessageType.SUBSCRIBE),
        int(MessageType.RENEW),
        int(MessageType.UNSUBSCRIBE),
        int(MessageType.RECEIPT),
    }
)
"""What subscribers say is small and comes in numbers; it may share a datagram."""
_SMALL_BYTES: Final = 128
_MOST_TOGETHER: Final = 32
_MOST_ACKNOWLEDGED: Final = 4_096
"""So many acknowledgements fit into one datagram, with room to spare."""


class Transmitter:
    """What goes out of a node; dens/engine.py is given what comes in."""

    __slots__ = (
        "_authenticator",
        "_hello_ms",
        "_ledger",
        "_node",
        "_participant",
        "_quarantine",
        "_table_check",
    )

    def __init__(self, context: NodeContext, table_check: int, participant: Participant) -> None:
        self._node = context.node
        self._hello_ms = context.limits.hello_ms
        self._table_check = table_check
        self._authenticator = context.authenticator
        self._ledger = context.ledger
        self._quarantine = context.quarantine
        self._participant = participant

    def transmit(self, session: PeerSession, now_ms: int, out: list[Datagram]) -> None:
        """Put out what is due for one peer."""
        if session.owes_hello or (not session.is_heard and session.hello_due_ms <= now_ms):
            session.owes_hello = False
            session.hello_due_ms = now_ms + self._hello_ms
            self._transmit_link(HELLO, self._hello(session).encode(), session, out)
        if session.acks_due_ms <= now_ms:
            entries = session.take_acks()
            for at in range(0, len(entries), _MOST_ACKNOWLEDGED):
                payload = Acknowledgement(entries[at : at + _MOST_ACKNOWLEDGED]).encode()
                self._transmit_link(ACKNOWLEDGEMENT, payload, session, out)
        together: list[bytes] = []
        while (again := session.next_retransmission(now_ms)) is not None:
            item = self._form(*again, session, now_ms)
            if item is None:
                session.give_up(again[0])
            else:
                self._transmit(item, session, now_ms, together, out)
        tag_bytes = self._authenticator.tag_bytes
        while (queued := session.next_queued()) is not None:
            item = self._form(*queued, session, now_ms)
            if item is None:
                session.drop_queued()
                continue
            if not session.has_room(item.size + tag_bytes):
                break
            session.drop_queued()
            self._transmit(item, session, now_ms, together, out)
        if together:
            self._transmit_together(together, session, out)

    def _form(self, item_id: ItemId, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message as it is to be sent, or None where it is not, or no longer, worth it."""
        if type == SUMMARY:
            return self._summary(item_id, session, now_ms)
        item = self._participant.held(item_id)
        if item is None or item.expires_ms <= now_ms:
            return None
        if item.type == type and type not in _EVENTS:
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
        frame = self._participant.frame(item, type, session, now_ms)
        if frame is not None:
            envelope.check_fits(frame)
        return frame

    def _transmit(
        self, item: Item, session: PeerSession, now_ms: int, together: list[bytes], out: list[Datagram]
    ) -> None:
        """Send one message, or put it to those that go together."""
        size = item.size
        session.sent(item, size + self._authenticator.tag_bytes, now_ms)
        type = item.type
        if type in _GO_TOGETHER and size <= _SMALL_BYTES:
            together.append(pack(item, self._table_check, item.age_ms(now_ms), item.hops + 1, 0))
            if len(together) == _MOST_TOGETHER:
                self._transmit_together(together, session, out)
            return
        if together:
            self._transmit_together(together, session, out)
        if type == SUMMARY:
            body = pack(item, self._table_check, 0, 0, session.flags)
        else:
            body = pack(item, self._table_check, item.age_ms(now_ms), item.hops + 1, session.flags)
        self._put_out(body, session.peer_session, session, out)

    def _transmit_together(self, together: list[bytes], session: PeerSession, out: list[Datagram]) -> None:
        """Send these small messages in one datagram, and forget them."""
        if len(together) > 1:
            self._transmit_link(BATCH, Batch(tuple(together)).encode(), session, out)
        else:
            [message] = together
            body = bytes((message[0] | session.flags,)) + message[1:]
            self._put_out(body, session.peer_session, session, out)
        together.clear()

    def _transmit_link(self, type: int, payload: bytes, session: PeerSession, out: list[Datagram]) -> None:
        body = envelope.pack_link(
            type, self._node, self._ledger.link_number(), self._table_check, session.flags, payload
        )
        self._put_out(body, 0 if type == HELLO else session.peer_session, session, out)

    def _put_out(self, body: bytes, addressed_to: int, session: PeerSession, out: list[Datagram]) -> None:
        if session.flags:
            body += self._authenticator.tag(body, addressed_to)
        out.append(new_tuple(Datagram, (session.peer, body)))

    def _hello(self, session: PeerSession) -> Hello:
        return Hello(self._participant.role, session.own_session, session.peer_session)

    def _summary(self, item_id: ItemId, session: PeerSession, now_ms: int) -> Item:
        participant = self._participant
        known = participant.summary_for(session, _SUMMARY_BYTES)
        payload = SummaryMessage(
            self._hello(session), participant.note(session, now_ms), known, participant.told_hosts(session)
        ).encode()
        return Item(SUMMARY, 0, item_id[0], item_id[1], now_ms, 0, 0, payload)
