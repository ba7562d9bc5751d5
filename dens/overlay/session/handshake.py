"""Handshake: processes HELLO and SUMMARY, after which a session is ready for messages.

The states of a session are in dens/overlay/session/peer_session.py.
"""

from typing import Final

from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.role import NodeRole
from dens.overlay.wire.codes import BATCH, MEDIATOR, STORED, SUMMARY, Role
from dens.overlay.wire.item import ENVELOPE_BYTES, Item, item_id
from dens.overlay.wire.messages import Hello, SummaryMessage

_ROLES: Final = {int(role): role for role in Role}
_BATCHED_TYPE_AT: Final = 3
_BATCHED_ROLE_AT: Final = 2 + ENVELOPE_BYTES
"""Positions of type and payload of the first message of a batch, after its length in two bytes."""


def summary_role(item: Item) -> int | None:
    """Return the role in a summary, single or first in a batch; None for any other message."""
    payload = item.payload
    if item.type == SUMMARY:
        return payload[0] if payload else 0
    if item.type == BATCH and payload[_BATCHED_TYPE_AT : _BATCHED_TYPE_AT + 1] == bytes((SUMMARY,)):
        return payload[_BATCHED_ROLE_AT] if len(payload) > _BATCHED_ROLE_AT else 0
    return None


class Handshake:
    """Processes HELLO and SUMMARY."""

    __slots__ = ("_durable", "_hello_ms", "_node", "_node_role", "_rate_limit")

    def __init__(self, context: NodeContext, node_role: NodeRole) -> None:
        self._node = context.node
        self._hello_ms = context.limits.hello_ms
        self._durable = context.durable
        self._rate_limit = context.rate_limit
        self._node_role = node_role

    def is_admitted(self, hello: Hello, session: PeerSession, now_ms: int) -> bool:
        """Return whether this HELLO passes the rate limit. Only HELLOs that start a new session count."""
        return hello.session <= session.peer_session or self._rate_limit.admits(session.peer, now_ms)

    def is_summary_admitted(
        self, item: Item, message: SummaryMessage, session: PeerSession, now_ms: int
    ) -> bool:
        """Return whether this SUMMARY passes the rate limit. Only new ones count."""
        return not self._is_new(item, message, session) or self._rate_limit.admits(session.peer, now_ms)

    @staticmethod
    def _is_new(item: Item, message: SummaryMessage, session: PeerSession) -> bool:
        """Return whether a summary starts a session, or changes what the peer is known to have."""
        theirs, known = message.hello.session, session.peer_session
        if message.first:
            return False  # Parts are consecutive: together they cost as much as one summary.
        return theirs > known or (
            theirs == known and session.is_ready and session.summary_number != item.number
        )

    def on_hello(self, hello: Hello, number: int, session: PeerSession, now_ms: int) -> bool:
        """Process a HELLO with this link number; return whether it starts a session. A HELLO repeated while
        ours is old means that ours was lost: it is answered.

        It is not answered if a summary, which repeats the HELLO until it is acknowledged, does: on a slow
        link every old HELLO would cause another for as long as the contact lasts.
        """
        is_new = session.apply_hello(_ROLES[hello.role], hello.session, hello.heard, number)
        has_summary = self._node_role.role is MEDIATOR or session.role is MEDIATOR
        if is_new and has_summary:
            session.queue_summary(item_id(self._node, self._durable.link_number()))
            session.hello_due_ms = now_ms + self._hello_ms  # The summary repeats it.
        elif hello.heard != session.own_session or (
            not has_summary and (is_new or session.hello_due_ms <= now_ms)
        ):
            session.queue_hello()
        return is_new

    def on_summary(self, item: Item, message: SummaryMessage, session: PeerSession, now_ms: int) -> None:
        """Process a summary. An invalid one changes nothing; a late or known one is not decoded."""
        if message.first:
            self._on_summary_part(item, message, session, now_ms)
            return
        theirs = message.hello.session
        is_known = session.is_ready and session.summary_number == item.number
        is_read = theirs > session.peer_session or (theirs == session.peer_session and not is_known)
        known = self._node_role.read_summary(message) if is_read else None
        self.on_hello(message.hello, item.number, session, now_ms)
        if theirs != session.peer_session:
            return
        session.acknowledge(item, STORED, now_ms)
        if known is None:
            return
        session.apply_summary(item.number, known, message.hosts, message.last)
        self._node_role.on_peer_ready(session, known, message.note, now_ms)

    def _on_summary_part(
        self, item: Item, message: SummaryMessage, session: PeerSession, now_ms: int
    ) -> None:
        """Process the next part of the current summary. A part that has overtaken another is not
        acknowledged, so that it is sent again. So every origin is compared once.
        """
        if (
            message.hello.session != session.peer_session
            or not session.is_ready
            or message.part_of != session.summary_number
            or message.first > session.covered + 1
        ):
            return
        known = self._node_role.read_summary(message) if message.first > session.covered else None
        self.on_hello(message.hello, item.number, session, now_ms)
        session.acknowledge(item, STORED, now_ms)
        if known is not None:
            session.apply_summary_part(known, message.last)
            self._node_role.on_summary_part(session, known, message.first, now_ms)
