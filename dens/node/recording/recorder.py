"""Records the events of engines, watchdogs and the air as rows of a trace, for emulated and real nodes.

The journal only observes, so a run is the same with and without it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dens.interfaces import ResultReader
from dens.node.recording.matching_meter import MatchingStep
from dens.overlay.events import (
    DatagramRefused,
    Event,
    HoldingsEnded,
    MessageEvent,
    NotificationDelivered,
    NotificationMade,
    NotificationMatched,
    RoutesChanged,
)
from dens.overlay.wire.codes import TYPE_NAMES
from dens.overlay.wire.envelope import peek
from dens.overlay.wire.item import LIFETIME_MS, NUMBER_BITS, NUMBER_MASK, OLDEST_AGE_MS, Item, ItemId
from dens.trace.writer import NOTHING, TraceWriter
from plugins.readings import present_bytes
from watchdog.header import HEADER_ID, HEADER_LIFETIME, HEADER_REVISION
from watchdog.reading import Reading, Release
from watchdog.vector import VectorError

_FrameFields = tuple[int, int, int, int, int, int, int]
"""Fields of a frame's envelope: type (as a code), language, origin, number, bytes, hops, age_ms."""

_LAST_STAMP: Final = 65_535
"""Stamps count seconds modulo 65,536."""
_MADE: Final = NotificationMade.kind
_DELIVERED: Final = NotificationDelivered.kind
_UNREADABLE: Final = "unreadable"
"""The type of a frame whose envelope cannot be read."""

_AT, _KIND, _NODE, _BUFFER_NODE = 0, 1, 2, 1
"""Places in a row of `messages`, and of `buffers`."""


def _in_order(rows: NDArray[np.int64], expired: int) -> NDArray[np.int64]:
    """Return rows of `messages` by time. Expiries come last within a millisecond, sorted by node, because
    nodes report them with a delay that must not affect the trace.
    """
    is_end = rows[:, _KIND] == expired
    ends = rows[is_end]
    rows = np.concatenate((rows[~is_end], ends[np.argsort(ends[:, _NODE], kind="stable")]))
    return rows[np.argsort(rows[:, _AT], kind="stable")]


def _by_time_and_node(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows of `buffers` by time and node; those of one node are in order."""
    return rows[np.lexsort((rows[:, _BUFFER_NODE], rows[:, _AT]))]


class Journal:
    """Turns events into rows and counts them. `results` are the result readers by language."""

    def __init__(
        self, trace: TraceWriter, tag_bytes: int, results: Mapping[int, ResultReader] | None = None
    ) -> None:
        self._results = dict(results or {})
        self._counts: dict[str, int] = {}
        self._tally = [0] * 64
        """Number of rows of each kind, by its code."""
        self.delivered: dict[int, int] = {}
        """Number of notifications delivered to applications, by language."""
        self._trace = trace
        self._tag_bytes = tag_bytes
        messages = trace["messages"]
        self._row, self._packed = messages.numbers.extend, messages.packed
        self._kind = messages.codes("kind")
        self._sent, self._received = self._kind["sent"], self._kind["received"]
        self._type = messages.codes("type")
        self._types = {number: self._type[name] for number, name in TYPE_NAMES.items()}
        self._reason = messages.codes("reason")
        buffers = trace["buffers"]
        self._buffer_row, self._buffer_packed = buffers.numbers.extend, buffers.packed
        self._buffers: dict[int, tuple[int, int, int]] = {}
        self._on_air: dict[int, tuple[bytes, _FrameFields]] = {}
        messages.arrange = partial(_in_order, expired=self._kind["expired"])
        buffers.arrange = _by_time_and_node

    # ------------------------------------------------------------------ the beginning

    def node(self, number: int, name: str, group: str, role: str) -> None:
        """A node takes part, and is up from the start."""
        self._trace["nodes"].append(number, name, group, role)
        self._trace["node_state"].append(0, number, "up", "start")

    def state(self, at_ms: int, number: int, state: str, reason: str) -> None:
        """A node goes down or comes up."""
        self._trace["node_state"].append(at_ms, number, state, reason)

    # ------------------------------------------------------------------ the air

    def frame_sent(self, at_ms: int, sender: int, receiver: int, data: bytes, header: int = 0) -> None:
        """A frame leaves. Its fields are kept until it arrives, because a node sends one frame at a time.
        `header` are the bytes that a frame over several hops has in addition."""
        fields = self._read(data, header)
        self._on_air[sender] = data, fields
        self._tally[self._sent] += 1
        self._row(self._packed(at_ms, self._sent, sender, receiver, *fields, NOTHING))

    def frame_received(self, at_ms: int, sender: int, receiver: int, data: bytes, header: int = 0) -> None:
        """A frame arrived."""
        self._tally[self._received] += 1
        on_air = self._on_air.pop(sender, None)
        fields = on_air[1] if on_air is not None and on_air[0] is data else self._read(data, header)
        self._row(self._packed(at_ms, self._received, receiver, sender, *fields, NOTHING))

    def frame_lost(
        self, at_ms: int, sender: int, receiver: int, data: bytes, reason: str, header: int = 0
    ) -> None:
        """A frame will not arrive. The row is the sender's, because no other node knows of it."""
        self._on_air.pop(sender, None)
        self._frame(at_ms, self._kind["lost"], sender, receiver, self._read(data, header), reason)

    def frame_refused(self, node: int, data: bytes, refused: DatagramRefused) -> None:
        """An engine refused the frame that it just received."""
        fields = self._read(data)
        self._frame(refused.at_ms, self._kind["refused"], node, refused.peer, fields, refused.reason)

    def _frame(self, at_ms: int, kind: int, node: int, peer: int, fields: _FrameFields, reason: str) -> None:
        self._tally[kind] += 1
        self._row(self._packed(at_ms, kind, node, peer, *fields, self._reason[reason]))

    def _read(self, data: bytes, header: int = 0) -> _FrameFields:
        envelope = peek(data)
        if envelope is None:
            return self._type[_UNREADABLE], 0, 0, 0, len(data) + header, 0, 0
        kind, language, origin, number, age_ms, hops = envelope
        return self._types[kind], language, origin, number, len(data) + header, hops, age_ms

    # ------------------------------------------------------------------ engines

    def event(self, node: int, event: Event) -> None:
        """Something happened in an engine."""
        if isinstance(event, MessageEvent):
            self._message(node, event)
        elif isinstance(event, HoldingsEnded):
            self.buffer(event.at_ms, node, event.subscriptions, event.notifications, event.octets)
        elif isinstance(event, NotificationMatched):
            item = event.item
            self._trace["matches"].append(
                event.at_ms, node, item.origin, item.number, event.subscriber, event.id, event.seq,
                event.degree_u8, 0.0, event.detail or None,
            )  # fmt: skip
        elif isinstance(event, RoutesChanged):
            self._trace["routing"].append(
                event.at_ms, node, event.neighbour, event.advertisements, event.subscriptions, event.covered,
                event.mergers,
            )  # fmt: skip

    def composite(self, at_ms: int, item: Item) -> None:
        """A DENS node created a composite notification."""
        self._trace["composites"].append(
            at_ms, item.origin, item.number, item.language, item.created_ms, LIFETIME_MS[item.lifetime_q],
            item.payload,
        )  # fmt: skip
        self._record_results(at_ms, item.id, item.language, item.payload)

    def _record_results(self, at_ms: int, message: ItemId, language: int, vector: bytes) -> None:
        """Record the results of a notification, if its language has a result reader."""
        reader = self._results.get(language)
        with suppress(VectorError):  # the receiver reports an invalid notification
            for result in () if reader is None else reader(vector):
                self._trace["results"].append(
                    at_ms, message >> NUMBER_BITS, message & NUMBER_MASK, language, result.identity,
                    result.rank,
                )  # fmt: skip

    def matching(self, at_ms: int, node: int, step: MatchingStep, cost_us: float) -> None:
        """A mediator matched one or several notifications."""
        work = step.work
        self._trace["matching_work"].append(
            at_ms, node, step.origin, step.number, step.notifications, step.matches, work.feature_tests,
            work.memberships, work.aggregations, work.pairs, work.rows, cost_us,
        )  # fmt: skip

    def _message(self, node: int, event: MessageEvent) -> None:
        at_ms, item, peer, reason = event.at_ms, event.item, event.peer, event.reason
        kind = self._kind[event.kind]
        self._tally[kind] += 1
        if event.kind == _MADE:
            self.composite(at_ms, item)
        elif event.kind == _DELIVERED:
            self.delivered[item.language] = self.delivered.get(item.language, 0) + 1
        age_ms = at_ms - item.created_ms
        self._row(
            self._packed(
                at_ms, kind, node, NOTHING if peer is None else peer, self._types[item.type],
                item.language, item.origin, item.number, item.size + self._tag_bytes, item.hops,
                age_ms if 0 <= age_ms < OLDEST_AGE_MS else item.age_ms(at_ms),
                NOTHING if reason is None else self._reason[reason],
            )
        )  # fmt: skip

    def buffer(self, at_ms: int, node: int, subscriptions: int, notifications: int, octets: int) -> None:
        """Record the holdings of a node if they have changed."""
        held = (subscriptions, notifications, octets)
        if self._buffers.get(node) != held:
            self._buffers[node] = held
            self._buffer_row(self._buffer_packed(at_ms, node, subscriptions, notifications, octets))

    # ------------------------------------------------------------------ applications and sensors

    def subscribed(self, at_ms: int, node: int, language: int, vector: bytes, document: str | None) -> None:
        """An application subscribed."""
        self._count("subscribed")
        self._revision(node, language, vector, at_ms, None, document)

    def withdrawn(self, at_ms: int, node: int, language: int, vector: bytes, created_ms: int) -> None:
        """An application withdrew the subscription of `created_ms`. This is a second row, because a follower
        may have read the first one already."""
        self._revision(node, language, vector, created_ms, at_ms, None)

    def _revision(
        self,
        node: int,
        language: int,
        vector: bytes,
        created_ms: int,
        withdrawn_ms: int | None,
        document: str | None,
    ) -> None:
        id, seq, expires_ms = (
            vector[HEADER_ID],
            vector[HEADER_REVISION],
            created_ms + LIFETIME_MS[vector[HEADER_LIFETIME]],
        )
        self._trace["subscriptions"].append(
            node, id, seq, language, created_ms, expires_ms, withdrawn_ms, vector, document
        )

    def judged(
        self,
        at_ms: int,
        node: int,
        reading: Reading,
        installed: int,
        releases: Sequence[Release],
        suppressed: str | None,
        cost_us: float,
        exact: bytes | None = None,
    ) -> None:
        """A watchdog evaluated a reading and released this; a rule may have suppressed more of it.

        `exact` are the values of the source if their encoding in bytes loses precision.
        """
        self._count("readings")
        if not releases:
            self._count("kept")
        mask, values = present_bytes(reading)
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
            suppressed,
            cost_us,
            exact,
            None if reading.stamp_s == at_ms // 1000 & _LAST_STAMP else reading.stamp_s,
        )

    def offered(
        self,
        at_ms: int,
        node: int,
        event_number: int,
        language: int,
        vector: bytes,
        installed: int,
        released: int,
    ) -> None:
        """A document source offered this to its filter, which has `installed` subscriptions and released
        `released` notifications. Documents and readings of a source are numbered separately.
        """
        self._count("documents")
        self._trace["documents"].append(at_ms, node, event_number, language, vector, installed, released)

    def published(
        self,
        at_ms: int,
        message: ItemId,
        language: int,
        vector: bytes,
        lifetime_q: int,
        event_number: int,
        event: int | None = None,
    ) -> None:
        """A notification left its source. `event_number` is the number of the reading within its event class,
        or of the document.
        """
        self._count("published")
        self._trace["notifications"].append(
            at_ms, message >> NUMBER_BITS, message & NUMBER_MASK, language, event_number,
            LIFETIME_MS[lifetime_q], vector, event,
        )  # fmt: skip
        if language in self._results:
            self._record_results(at_ms, message, language, vector)

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts of all events."""
        return self._counts | {kind: self._tally[code] for kind, code in self._kind.items()}

    def _count(self, what: str) -> None:
        self._counts[what] = self._counts.get(what, 0) + 1
