"""State that the parts of one engine share: node number, durable state, sessions, events, limits.

Transmitter, handshake, look-ups and role of an engine each receive the context instead of each other.
"""

from collections import deque
from typing import Final

from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import Event
from dens.overlay.limits import Limits
from dens.overlay.session.arguments import check_code, check_node
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Quarantine
from dens.overlay.session.rate_limit import RateLimit
from dens.overlay.session.work_budget import WorkBudget
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.storage.store import Store
from dens.overlay.wire import envelope
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import UNVERIFIED
from dens.overlay.wire.item import Item, ItemId


class NodeContext:
    """The context of one engine; a restart makes a new one."""

    __slots__ = (
        "authenticator",
        "durable",
        "events",
        "flags",
        "limits",
        "node",
        "quarantine",
        "rate_limit",
        "sessions",
        "work",
    )

    def __init__(
        self,
        node: int,
        store: Store,
        authenticator: Authenticator | None = None,
        limits: Limits | None = None,
        work_exceeded: tuple[type[Exception], ...] = (),
    ) -> None:
        check_node(node)
        if authenticator is not None and authenticator.node != node:
            raise LocalProtocolError(
                f"the authenticator of node {authenticator.node} was given to node {node}; use "
                f"Authenticator({node}, mission key)"
            )
        authenticator, limits = authenticator or Authenticator(node), limits or Limits()
        self.node: Final = node
        self.limits: Final = limits
        self.authenticator: Final = authenticator
        self.flags: Final = envelope.TAGGED if authenticator.tag_bytes else 0
        """`TAGGED` if this mission has a key."""
        self.durable: Final = DurableState(store, limits)
        self.events: Final[deque[Event]] = deque()
        self.work: Final = WorkBudget(limits.work_per_s, limits.work_burst, work_exceeded)
        self.quarantine: Final = Quarantine(self.durable, self.events, self.work.exceeded)
        self.rate_limit: Final = RateLimit(limits.session_ms, limits.session_burst)
        self.sessions: Final[dict[int, PeerSession]] = {}
        """Open contacts, by peer."""

    def make(self, type: int, language: int, lifetime_q: int, payload: bytes, created_ms: int) -> Item:
        """Return a new message of this node, with its next number."""
        check_code(language, "language")
        check_code(lifetime_q, "lifetime code")
        number = self.durable.item_number()
        return Item(type, language, self.node, number, created_ms, lifetime_q, 0, payload)

    def mark(self, item_id: ItemId, session: PeerSession) -> str | None:
        """Mark a stored message as unverified if it came without the tag of this mission; return the reason
        for events.
        """
        if session.flags == self.flags:
            return None
        self.durable.mark_unverified(item_id)
        return UNVERIFIED
