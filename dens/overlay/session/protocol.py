"""The verbs by which every protocol machine is driven.

A driver (an emulator, a socket loop, a test) owns the clock and the link. After any verb it asks for
`datagrams_to_send` and sends them, drains `next_event`, and arranges to call `timer_due` at `next_timer_ms`.
The link may lose, repeat, reorder or cut what it is given. A crash is throwing the object away; a restart is
making a new one from the same store.
"""

from typing import Protocol

from dens.overlay.events import Event


class Datagram:
    """Bytes for one peer. Without a contact they are lost, and that is no error."""

    __slots__ = ("data", "peer")

    def __init__(self, peer: int, data: bytes) -> None:
        self.peer = peer
        self.data = data

    def __repr__(self) -> str:
        return f"Datagram({self.peer}, {self.data!r})"


class ProtocolEngine(Protocol):
    """What an emulator or a socket loop drives: `SubscriberEndpoint`, `PublisherEndpoint` and `DensNode`."""

    def receive(self, data: bytes, peer: int, now_ms: int) -> bool:
        """Take bytes that came from a peer; whatever they are, nothing is raised.

        Say whether they are the peer's own and new in this contact: what does not verify, and what was said
        in it before, is no sign of life, because anybody can make the one and record the other.
        """
        ...

    def contact_opened(self, peer: int, now_ms: int, *, is_trusted: bool = False) -> None:
        """Learn that a peer is in range from now on; an open contact is begun again.

        A link is trusted where the node's configuration says so: a cable to a board that cannot make tags.
        Nothing is authenticated on it, and what comes over it is marked as unverified.
        """
        ...

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """Learn that a peer is out of range; without an open contact nothing happens."""
        ...

    def next_timer_ms(self) -> int | None:
        """Return when `timer_due` should be called next, or None. A time in the past means now."""
        ...

    def next_expiry_ms(self) -> int | None:
        """Return when something ends, or may end, that is not told yet, or None.

        Every verb that is given the time tells it, as of when it ended. A driver that wants it told
        sooner calls `timer_due`; to what is said and kept it makes no difference.
        """
        ...

    def timer_due(self, now_ms: int) -> None:
        """Do what has become due: ends, hellos, retries. Calling it early or late is harmless."""
        ...

    def datagrams_to_send(self, now_ms: int) -> list[Datagram]:
        """Commit the store, then return what should be sent now, in order."""
        ...

    def next_event(self) -> Event | None:
        """Return the next thing that happened, or None."""
        ...
