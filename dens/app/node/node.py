"""A node without clock, sockets or threads: bytes and time in, bytes and events out."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from dens.app.errors import BadArgument
from dens.app.subscriptions.readings import read_values
from dens.app.subscriptions.subscription import Subscription
from dens.node.assembly import assembly_of
from dens.node.filter_host import source_host
from dens.node.processes.publisher import announce, watchdog_for
from dens.node.storage.opening import MEDIATOR, PUBLISHER, SUBSCRIBER, open_store
from dens.node.storage.owner import Owner
from dens.node.storage.sqlite import SqliteStore
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.storage.memory import MemoryStore
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.vocabulary.event_class import EventClass

if TYPE_CHECKING:
    from dens.overlay.events import Event
    from dens.overlay.session.protocol import ProtocolEngine
    from dens.overlay.storage.store import Store
    from knowledge_manager.mission_table import MissionTable

Role = Literal["mediator", "subscriber", "publisher"]

_OWNERS: Final = {"mediator": MEDIATOR, "subscriber": SUBSCRIBER, "publisher": PUBLISHER}


class Node:
    """A mediator, subscriber or publisher, driven by its caller.

    The caller owns the clock and the links. It calls `advance` when `next_timer_ms` is due and after every
    other call, sends the datagrams that `advance` returns, and passes arriving ones to `receive`. Times are
    milliseconds since any fixed moment. Datagrams may be lost, repeated or reordered.
    """

    def __init__(
        self,
        number: int,
        vocabularies: "MissionTable",
        role: Role = "mediator",
        *,
        measures: Mapping[str, Sequence[str]] | None = None,
        store: str | Path | None = None,
        mission_key: bytes | None = None,
        now_ms: int = 0,
    ) -> None:
        """Create a node, or restart it from its store.

        `measures` maps the event classes of a publisher to the attributes that it measures. Without `store`,
        an SQLite file, the node keeps its state in memory.
        """
        self.number = number
        self.role = role
        self._table = vocabularies
        self._now_ms = now_ms
        self._readings = 0
        self._watchdog = watchdog_for(vocabularies)
        if role not in _OWNERS:
            raise BadArgument(f'"{role}": use mediator, subscriber or publisher')
        self._store = _open(store, role, number, now_ms)
        assembly = assembly_of(vocabularies, mission_key=mission_key)
        self._engine: ProtocolEngine
        if role == "mediator":
            self._engine = assembly.mediator(number, self._store, now_ms)
        elif role == "subscriber":
            self._engine = assembly.subscriber(number, self._store, now_ms)
        else:
            host = source_host(self._watchdog, number)
            self._engine = assembly.publisher(number, self._store, now_ms, filter_host=host)
        self._measured = LocalDataDictionary(vocabularies)
        for event, attributes in (measures or {}).items():
            self._measured.offer(event, attributes)
        if measures:
            announce(self._publisher(), self._measured, now_ms)

    def contact_opened(self, peer: int, now_ms: int) -> None:
        """Note that a peer is in range."""
        self._engine.contact_opened(peer, now_ms)

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """Note that a peer is out of range."""
        self._engine.contact_lost(peer, now_ms)

    def receive(self, data: bytes, peer: int, now_ms: int) -> None:
        """Process a datagram from a peer. Invalid bytes are counted, never raised."""
        self._engine.receive(data, peer, now_ms)

    def advance(self, now_ms: int) -> list[tuple[int, bytes]]:
        """Run due timers, commit the store, and return the datagrams to send: (peer, bytes)."""
        self._engine.timer_due(now_ms)
        return [(datagram.peer, datagram.data) for datagram in self._engine.datagrams_to_send(now_ms)]

    def next_timer_ms(self) -> int | None:
        """Return when `advance` is due next; None if only input can change anything."""
        return self._engine.next_timer_ms()

    def events(self) -> "Iterator[Event]":
        """Yield what happened since the last call. `NotificationDelivered` is for the application."""
        while (event := self._engine.next_event()) is not None:
            yield event

    def subscribe(self, subscription: Subscription, now_ms: int) -> None:
        """Issue a subscription. Only subscribers can."""
        if not isinstance(self._engine, SubscriberEndpoint):
            raise BadArgument(f"node {self.number} is a {self.role}; only subscribers subscribe")
        self._engine.subscribe(subscription.vector, subscription.language_id, now_ms)

    def measure(self, values: Mapping[str, object], now_ms: int) -> int:
        """Filter a reading, and publish what subscriptions ask for; return the number of notifications.

        `values` maps attributes to values, as for `dens.match`. Only publishers can.
        """
        publisher = self._publisher()
        measured = [source.event for source in self._measured.sources if isinstance(source.event, EventClass)]
        reading = read_values(values, self._table, measured, number=self._readings, now_s=now_ms // 1000)
        self._readings += 1
        released = self._watchdog.feed(reading, now_ms)
        for language, release in released:
            publisher.publish(language, release.vector, release.lifetime, now_ms)
        return len(released)

    def close(self) -> None:
        """Close the store. What was committed is kept."""
        if isinstance(self._store, SqliteStore):
            self._store.close()

    def _publisher(self) -> PublisherEndpoint:
        if not isinstance(self._engine, PublisherEndpoint):
            raise BadArgument(f"node {self.number} is a {self.role}; only publishers measure")
        return self._engine


def _open(path: str | Path | None, role: Role, number: int, now_ms: int) -> "Store":
    if path is None:
        return MemoryStore()
    warn = logging.getLogger("dens").warning
    return open_store(Path(path), Owner(_OWNERS[role], number), now_ms, warn, recover=False)
