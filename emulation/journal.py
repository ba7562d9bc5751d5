"""Writes down what happens: one row in the trace for everything that engines, watchdogs and the air tell.

The journal only listens. Whatever it is told, nothing in the world changes, so a run with and without it
is the same.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from dens.envelope import peek
from dens.events import DatagramRefused, Event, MessageEvent, NotificationMatched
from dens.item import LIFETIME_MS, ItemId
from dens.numbers import TYPE_NAMES
from emulation.contacts.contact import Contacts
from emulation.mobility.model import Legs
from emulation.trace.writer import NOTHING, TraceWriter
from watchdog.filter import Release
from watchdog.reading import Reading

_Told = tuple[int, int, int, int, int, int, int]
"""What the envelope of a frame tells: type (as a code), language, origin, number, bytes, hops, age_ms."""

_UNREADABLE: Final = "unreadable"
"""The type of a frame whose envelope says nothing."""


class Journal:
    """Turns what happens into rows, and counts it."""

    def __init__(self, trace: TraceWriter, tag_bytes: int) -> None:
        self.counts: dict[str, int] = {}
        self._trace = trace
        self._tag_bytes = tag_bytes
        messages = trace["messages"]
        self._row = messages.numbers.extend
        self._kind = messages.codes("kind")
        self._type = messages.codes("type")
        self._types = {number: self._type[name] for number, name in TYPE_NAMES.items()}
        self._reason = messages.codes("reason")
        self._buffers: dict[int, tuple[int, int, int]] = {}
        self._on_air: dict[int, tuple[bytes, _Told]] = {}

    # ------------------------------------------------------------------ the beginning

    def node(self, number: int, name: str, group: str, role: str) -> None:
        """A node takes part, and is up from the start."""
        self._trace["nodes"].append(number, name, group, role)
        self._trace["node_state"].append(0, number, "up", "start")

    def motion(self, walks: Sequence[Legs]) -> None:
        """These are the walks of all nodes."""
        node = np.repeat(np.arange(len(walks), dtype=np.int32), [len(legs) for legs in walks])
        names = ("begin_ms", "end_ms", "x0_m", "y0_m", "x1_m", "y1_m")
        columns = [np.concatenate([getattr(legs, name) for legs in walks]) for name in names]
        self._trace["motion"].extend([node, *columns])

    def contacts(self, contacts: Contacts) -> None:
        """These are all contacts."""
        self._trace["contacts"].extend(
            [contacts.a, contacts.b, contacts.begin_ms, contacts.end_ms, contacts.censored]
        )

    # ------------------------------------------------------------------ the air

    def frame_sent(self, at_ms: int, sender: int, receiver: int, data: bytes) -> None:
        """A frame leaves. What it tells is kept until its end: a node is in one transfer at a time."""
        told = self._read(data)
        self._on_air[sender] = data, told
        self._frame(at_ms, "sent", sender, receiver, told, None)

    def frame_received(self, at_ms: int, sender: int, receiver: int, data: bytes) -> None:
        """A frame is there."""
        self._frame(at_ms, "received", receiver, sender, self._told(sender, data), None)

    def frame_lost(self, at_ms: int, sender: int, receiver: int, data: bytes, reason: str) -> None:
        """A frame will not arrive; the sender's row, because nobody else knows of it."""
        self._frame(at_ms, "lost", sender, receiver, self._told(sender, data), reason)

    def frame_refused(self, node: int, data: bytes, refused: DatagramRefused) -> None:
        """An engine could do nothing with the frame that it just got."""
        self._frame(refused.at_ms, "refused", node, refused.peer, self._read(data), refused.reason)

    def _told(self, sender: int, data: bytes) -> _Told:
        sent, told = self._on_air.get(sender, (b"", None))
        return told if told is not None and sent is data else self._read(data)

    def _frame(self, at_ms: int, kind: str, node: int, peer: int, told: _Told, reason: str | None) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        why = NOTHING if reason is None else self._reason[reason]
        self._row((at_ms, self._kind[kind], node, peer, *told, why))

    def _read(self, data: bytes) -> _Told:
        told = peek(data)
        if told is None:
            return self._type[_UNREADABLE], 0, 0, 0, len(data), 0, 0
        kind, language, origin, number, age_ms, hops = told
        return self._types[kind], language, origin, number, len(data), hops, age_ms

    # ------------------------------------------------------------------ engines

    def event(self, node: int, event: Event) -> None:
        """Something happened in an engine."""
        if isinstance(event, MessageEvent):
            self._message(node, event)
        elif isinstance(event, NotificationMatched):
            self._count("matched")
            item = event.item
            self._trace["matches"].append(
                event.at_ms, node, item.origin, item.number, event.subscriber, event.id, event.seq,
                event.degree_u8, 0.0,
            )  # fmt: skip

    def _message(self, node: int, event: MessageEvent) -> None:
        item, kind, peer, reason = event.item, event.kind, event.peer, event.reason
        at_ms = event.at_ms
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self._row(
            (
                at_ms, self._kind[kind], node, NOTHING if peer is None else peer, self._types[item.type],
                item.language, item.origin, item.number, item.size + self._tag_bytes, item.hops,
                item.age_ms(at_ms), NOTHING if reason is None else self._reason[reason],
            )
        )  # fmt: skip

    def buffer(self, at_ms: int, node: int, subscriptions: int, notifications: int, octets: int) -> None:
        """A node holds this much; a row is written only if that is news."""
        held = (subscriptions, notifications, octets)
        if self._buffers.get(node) != held:
            self._buffers[node] = held
            self._trace["buffers"].append(at_ms, node, *held)

    # ------------------------------------------------------------------ applications and sensors

    def subscribed(self, at_ms: int, node: int, language: int, vector: bytes, document: str | None) -> None:
        """An application asked for something."""
        self._count("subscribed")
        expires_ms = at_ms + LIFETIME_MS[vector[2]]
        self._trace["subscriptions"].append(
            node, vector[0], vector[1], language, at_ms, expires_ms, None, vector, document
        )

    def judged(
        self, at_ms: int, node: int, reading: Reading, installed: int, releases: Sequence[Release]
    ) -> None:
        """A watchdog looked at a reading and let this out."""
        self._count("readings")
        if not releases:
            self._count("kept")
        mask = bytes(reading.mask)
        present = int.from_bytes(mask, "big")
        values = bytes(value for index, value in enumerate(reading.row) if present >> index & 1)
        degree = max((release.degree_u8 for release in releases), default=0)
        self._trace["filter_decisions"].append(
            at_ms,
            node,
            reading.number,
            reading.event,
            mask,
            values,
            installed,
            len(releases),
            degree,
            None,
            0.0,
        )

    def published(
        self, at_ms: int, message: ItemId, language: int, vector: bytes, lifetime_q: int, event_number: int
    ) -> None:
        """A notification left its source."""
        self._count("published")
        self._trace["notifications"].append(
            at_ms, *message, language, event_number, LIFETIME_MS[lifetime_q], vector
        )

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
