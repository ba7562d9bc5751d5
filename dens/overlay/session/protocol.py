"""Interface of a sans-IO protocol engine.

A driver (emulator, socket loop, test) owns the clock and the link. After every call it sends
`datagrams_to_send`, drains `next_event`, and schedules `timer_due` at `next_timer_ms`. The link may lose,
repeat, reorder or truncate datagrams. A crash discards the engine; a restart creates a new one from the same
store.
"""

from typing import Protocol

from dens.overlay.events import Event


class Datagram:
    """Bytes for one peer. A driver without a contact drops them."""

    __slots__ = ("data", "peer")

    def __init__(self, peer: int, data: bytes) -> None:
        self.peer = peer
        self.data = data

    def __repr__(self) -> str:
        return f"Datagram({self.peer}, {self.data!r})"


class ProtocolEngine(Protocol):
    """Implemented by `SubscriberEndpoint`, `PublisherEndpoint` and `DensNode`."""

    def receive(self, data: bytes, peer: int, now_ms: int) -> bool:
        """Process bytes from a peer; invalid ones raise nothing.

        Return whether they are authentic and new in this contact. Only such bytes are a sign of life:
        anything else can be forged or recorded.
        """
        ...

    def contact_opened(self, peer: int, now_ms: int, *, is_trusted: bool = False) -> None:
        """Start a session with a peer in range; an open one is restarted.

        A link is trusted if the configuration of the node says so: a cable to a board that cannot make tags.
        Nothing on it is authenticated, and what arrives over it is marked as unverified.
        """
        ...

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """End the session with a peer out of range, if there is one."""
        ...

    def next_timer_ms(self) -> int | None:
        """Return when to call `timer_due` next, or None. A time in the past means now."""
        ...

    def next_expiry_ms(self) -> int | None:
        """Return when something expires, or may expire, that no event has reported yet, or None.

        Every call with a time reports expiries, with the time at which they happened. A driver that needs the
        events earlier calls `timer_due`; messages and stores do not depend on it.
        """
        ...

    def timer_due(self, now_ms: int) -> None:
        """Process expiries and timers. Calling it early or late is harmless."""
        ...

    def datagrams_to_send(self, now_ms: int) -> list[Datagram]:
        """Commit the store, then return the datagrams to send now, in order."""
        ...

    def next_event(self) -> Event | None:
        """Return the next event, or None."""
        ...
