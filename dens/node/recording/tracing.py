"""A DENS node that records a trace for `dens live` and `dens report`.

The trace never harms the node: if it can no longer be written, that is reported and the node continues
without it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from dens.node.links.neighbours import LONGEST_SILENCE_MS
from dens.node.recording.node_trace import NodeTrace
from dens.node.recording.trace_folder import TraceFolder
from dens.node.settings.node_file import NodePlan
from dens.overlay.events import Event
from dens.overlay.session.engine import Engine
from dens.overlay.session.protocol import Datagram
from dens.overlay.storage.store import Space, Store, item_of
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import MessageType
from dens.trace.writer import TraceError

_ABOUT_OTHERS: Final = frozenset({int(MessageType.UNSUBSCRIBE), int(MessageType.RECEIPT)})
"""Messages that refer to other messages, which have to be recorded first."""


class TracedNode:
    """An engine that records a trace of what it does."""

    def __init__(self, node: Engine, trace: NodeTrace, say: Callable[[str], None]) -> None:
        self._node = node
        self._trace: NodeTrace | None = trace
        self._say = say
        self._came = b""
        self._now_ms = 0

    def receive(self, data: bytes, peer: int, now_ms: int) -> bool:
        """Process and record a datagram. It is recorded before the events that follow from it."""
        self._now_ms, self._came = now_ms, data
        is_news = self._node.receive(data, peer, now_ms)
        self._write(lambda trace: trace.heard(data, peer, now_ms, is_news=is_news))
        role = self._node.role_of(peer)
        if role is not None:
            self._write(lambda trace: trace.add_node(peer, role))
        return is_news

    def contact_opened(self, peer: int, now_ms: int, *, is_trusted: bool = False) -> None:
        """Pass on that a peer may be in range. The contact is recorded when the peer is heard."""
        self._node.contact_opened(peer, now_ms, is_trusted=is_trusted)

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """Record that a peer is out of range."""
        self._write(lambda trace: trace.contact_lost(peer))
        self._node.contact_lost(peer, now_ms)

    def next_timer_ms(self) -> int | None:
        """Return when the node or its trace needs a timer."""
        flush_ms = None if self._trace is None else self._trace.flush_ms
        return min((due for due in (self._node.next_timer_ms(), flush_ms) if due is not None), default=None)

    def next_expiry_ms(self) -> int | None:
        """Return when the next message expires whose expiry is not reported yet."""
        return self._node.next_expiry_ms()

    def timer_due(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._node.timer_due(now_ms)
        if self._trace is not None and self._trace.flush_ms is not None and self._trace.flush_ms <= now_ms:
            self._write(lambda trace: trace.flush(now_ms))

    def datagrams_to_send(self, now_ms: int) -> list[Datagram]:
        """Return and record the datagrams of the engine."""
        self._now_ms = now_ms
        datagrams = self._node.datagrams_to_send(now_ms)
        self._write(lambda trace: trace.sent(datagrams, now_ms))
        return datagrams

    def next_event(self) -> Event | None:
        """Return and record the next event. After the last one the holdings of the node are recorded."""
        event = self._node.next_event()
        if event is None:
            self._write(lambda trace: trace.settled(self._node.held(), self._now_ms))
        else:
            self._write(lambda trace: trace.on_event(event, self._came))
        return event

    def end(self, now_ms: int) -> None:
        """Record everything that has expired, and the end of the node."""
        self._node.expire(now_ms)
        while self.next_event() is not None:
            pass
        self._write(lambda trace: trace.end(now_ms))
        if self._trace is not None and self._trace.unwritten:
            self._say(f"{self._trace.unwritten:,} refused or repeated datagrams are not in the trace")

    def _write(self, what: Callable[[NodeTrace], None]) -> None:
        if self._trace is None:
            return
        try:
            what(self._trace)
        except TraceError as error:
            self._trace = None
            self._say(f"{error.filename}: {error.strerror}; the node continues without a trace")


def traced_node(
    engine: Engine, plan: NodePlan, store: Store, folder: Path, now_ms: int, say: Callable[[str], None]
) -> TracedNode:
    """Return the engine with a trace in this folder. A folder with other content is refused."""
    silence_ms = 0 if plan.settings.udp is None else 1000 * plan.settings.udp.silence_s
    tag_bytes = Authenticator(engine.node, plan.secret).tag_bytes
    trace = NodeTrace(
        TraceFolder(folder, plan, now_ms),
        engine.node,
        tag_bytes,
        LONGEST_SILENCE_MS + silence_ms,
        now_ms,
        {
            number: language.results
            for number, language in plan.languages.items()
            if language.results is not None
        },
    )
    held = (item_of(key, value) for space, key, value in store.load() if space == Space.ITEM)
    trace.learn(sorted(held, key=lambda item: item.type in _ABOUT_OTHERS))
    return TracedNode(engine, trace, say)
