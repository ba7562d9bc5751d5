"""Formats the events of a node: a line for people, a document for programs."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, NamedTuple

from dens.node.clock import NETWORK_EPOCH_MS
from dens.node.links.log_throttle import LogThrottle, Repetition
from dens.overlay.events import (
    ContactClosed,
    ContactOpened,
    CopyReplicated,
    DatagramRefused,
    DuplicateReceived,
    Event,
    FilterInstalled,
    FilterRemoved,
    HoldingsEnded,
    InstallSpared,
    MessageAcknowledged,
    MessageEvent,
    MessageQuarantined,
    MessageRefused,
    MessageUndecided,
    NotificationDelivered,
    NotificationMatched,
    NumberShared,
    OffersHeard,
    RoutesChanged,
)
from dens.overlay.wire.codes import REASON_NAMES, Reason
from dens.overlay.wire.envelope import UPDATE_ADVICE
from dens.overlay.wire.messages import Satisfied
from watchdog.header import HEADER_ID

_REPEATED: Final = (DuplicateReceived, MessageAcknowledged)
_JSON_ONLY: Final = (*_REPEATED, HoldingsEnded, RoutesChanged)
"""Not printed for people: repetitions, and what is still held."""
_JSON_ONLY_KINDS: Final = frozenset(kind.kind for kind in _REPEATED)
_VERSION: Final = REASON_NAMES[Reason.VERSION]
_MOST_KINDS: Final = 64
"""Kinds of repeated events that are counted separately."""


def event_document(event: Event) -> dict[str, Any]:
    """Return an event as plain data for JSON."""
    if isinstance(event, MessageEvent):
        item = event.item
        document: dict[str, Any] = {
            "at_ms": event.at_ms,
            "event": event.kind,
            "type": item.type_name,
            "origin": item.origin,
            "number": item.number,
            "peer": event.peer,
            "reason": event.reason,
        }
        if isinstance(event, NotificationDelivered):
            document |= {"vector": item.payload.hex(), "satisfied": [_entry(one) for one in event.satisfied]}
        return document
    if isinstance(event, DatagramRefused):
        facts: dict[str, Any] = {"event": "refused", "type": None, "peer": event.peer, "bytes": event.size}
        return {"at_ms": event.at_ms, **facts, "reason": event.reason}
    if isinstance(event, FilterRemoved):
        facts = {"event": "removed", "subscriber": event.subscriber, "id": event.id, "seq": event.seq}
        return {"at_ms": event.at_ms, **facts, "reason": event.reason}
    if isinstance(event, NumberShared):
        return {"at_ms": event.at_ms, "event": "shared", "node": event.node, "places": list(event.places)}
    if isinstance(event, ContactOpened):
        facts = {"event": "contact_opened", "peer": event.peer, "address": event.place}
        return {"at_ms": event.at_ms, **facts}
    if isinstance(event, ContactClosed):
        facts = {"event": "contact_closed", "peer": event.peer, "address": event.place}
        return {"at_ms": event.at_ms, **facts, "reason": event.reason}
    if isinstance(event, HoldingsEnded):
        facts = {"event": "holds", "subscriptions": event.subscriptions, "bytes": event.octets}
        return {"at_ms": event.at_ms, **facts, "notifications": event.notifications}
    if isinstance(event, RoutesChanged):
        return {"event": "routes", **asdict(event)}
    if isinstance(event, OffersHeard):
        facts = {"event": "offers", "number": event.number, "mediators": event.mediators}
        offers = [
            {
                "node": item.origin,
                "distance": distance,
                "hops": item.hops,
                "age_s": item.age_ms(event.at_ms) // 1000,
            }
            for distance, item in event.offers
        ]
        return {"at_ms": event.at_ms, **facts, "missing": list(event.missing), "offers": offers}
    facts = {"at_ms": event.at_ms, "origin": event.item.origin, "number": event.item.number}
    if isinstance(event, FilterInstalled):
        return {**facts, "event": "installed", "peer": event.peer, "code": event.code}
    satisfied = {"subscriber": event.subscriber, "id": event.id, "seq": event.seq, "degree": event.degree_u8}
    return {**facts, "event": "matched", **satisfied, "from_before": event.from_before}


def event_line(event: Event) -> str | None:
    """Return an event as a line for people, None if it is not shown to them."""
    if isinstance(event, _JSON_ONLY):
        return None
    if isinstance(event, MessageEvent):
        what = f"{event.kind} {event.item.type_name} {event.item.origin}/{event.item.number}"
        if event.peer is not None:
            way = "at" if isinstance(event, InstallSpared) else "from"
            what += f" {'copy from node' if isinstance(event, CopyReplicated) else way} {event.peer}"
        if event.reason is not None:
            what += f", {event.reason}" if event.reason == "unverified" else f": {event.reason}"
        return _at(event.at_ms, what)
    if isinstance(event, NotificationMatched):
        what = f"notification {event.item.origin}/{event.item.number}: for {event.subscriber}"
        word = "still matched from before:" if event.from_before else "matched"
        return _at(
            event.at_ms, f"{word} {what}'s subscription {event.id} (degree {event.degree_u8 / 255:.2f})"
        )
    if isinstance(event, DatagramRefused):
        return _at(event.at_ms, f"refused {event.size} bytes from {event.peer}: {event.reason}")
    if isinstance(event, NumberShared):
        first, second = event.places
        conflict = f"two nodes use the number {event.node}: {first} and {second}"
        return _at(event.at_ms, f"{conflict}; give each its own number with --as")
    if isinstance(event, ContactOpened):
        return _at(event.at_ms, f"contact with {event.peer} ({event.place}) opened")
    if isinstance(event, ContactClosed):
        return _at(event.at_ms, f"contact with {event.peer} ({event.place}) closed: {event.reason}")
    if isinstance(event, OffersHeard):
        if not event.offers:
            return None
        nodes = "1 node" if len(event.offers) == 1 else f"{len(event.offers)} nodes"
        return _at(event.at_ms, f"received the offers of {nodes}")
    if isinstance(event, FilterInstalled):
        subscription = f"{event.item.origin}'s subscription {event.item.payload[HEADER_ID]}"
        return _at(event.at_ms, f"installed the filter of {subscription}")
    removed = f"removed the filter of {event.subscriber}'s subscription {event.id}"
    return _at(event.at_ms, f"{removed}: {event.reason}")


def _at(at_ms: int, what: str) -> str:
    return f"{datetime.fromtimestamp((NETWORK_EPOCH_MS + at_ms) / 1000):%H:%M:%S} {what}"


class RepeatedEvent(NamedTuple):
    """An event that peers can cause at any rate: refused bytes, and refused or repeated messages."""

    event: str
    what: str
    """"bytes", or the type of the message."""
    peer: int | None
    reason: str | None

    @classmethod
    def of(cls, event: Event) -> "RepeatedEvent | None":
        """Return the kind of a repeatable event, None for others."""
        if isinstance(event, DatagramRefused):
            return cls(event.kind, "bytes", event.peer, event.reason)
        if isinstance(event, MessageRefused | DuplicateReceived | MessageUndecided):
            return cls(event.kind, event.item.type_name, event.peer, event.reason)
        return None


def rate_document(rate: Repetition[RepeatedEvent], at_ms: int) -> dict[str, Any]:
    """Return a repetition as plain data for JSON."""
    of = (
        {"of": None}
        if rate.what is None
        else dict(zip(("of", *RepeatedEvent._fields[1:]), rate.what, strict=True))
    )
    return {"at_ms": at_ms, "event": "rate", **of, "count": rate.times, "within_ms": rate.within_ms}


def rate_line(rate: Repetition[RepeatedEvent], at_ms: int) -> str:
    """Return a repetition as a line for people."""
    often = f"{rate.times:,} times more within {rate.within_ms / 1000:,.0f} s"
    if rate.what is None:
        return _at(at_ms, f"refused or repeated {often}: of other peers and for other reasons")
    because = "" if rate.what.reason is None else f": {rate.what.reason}"
    return _at(at_ms, f"{rate.what.event} {rate.what.what} from {rate.what.peer} {often}{because}")


class EventFormatter:
    """Formats events. Events that peers can cause at any rate are throttled, so that a flood cannot fill a
    log: the first is printed at once, then only counts.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._throttle: LogThrottle[RepeatedEvent] = LogThrottle(_MOST_KINDS)
        self._advised: set[int] = set()
        self._quarantined = 0
        self._undecided = 0

    def lines(self, event: Event) -> list[str]:
        """Return the lines to print for an event."""
        return [*self.rates(event.at_ms), *self._of(event)]

    def rates(self, at_ms: int, *, at_the_end: bool = False) -> list[str]:
        """Return the lines to print for repetitions that are due."""
        due = self._throttle.due(at_ms, at_the_end=at_the_end)
        if self._as_json:
            return [json.dumps(rate_document(rate, at_ms)) for rate in due]
        return [
            rate_line(rate, at_ms)
            for rate in due
            if rate.what is None or rate.what.event not in _JSON_ONLY_KINDS
        ]

    def summary(self, at_ms: int, quarantined_held: int) -> list[str]:
        """Return the lines to print at the end: messages quarantined and undecided since the start, and
        quarantined messages still held. Empty if all are 0.
        """
        counts = {
            "quarantined": self._quarantined,
            "undecided": self._undecided,
            "quarantined_held": quarantined_held,
        }
        if not any(counts.values()):
            return []
        if self._as_json:
            return [json.dumps({"at_ms": at_ms, "event": "summary", **counts})]
        what = f"quarantined {self._quarantined:,} messages, {quarantined_held:,} are held"
        return [_at(at_ms, f"{what}; {self._undecided:,} were undecided because the work budget was used up")]

    def _of(self, event: Event) -> list[str]:
        if isinstance(event, MessageQuarantined):
            self._quarantined += 1
        elif isinstance(event, MessageUndecided):
            self._undecided += 1
        repeated = RepeatedEvent.of(event)
        if repeated is not None and not self._throttle.is_first(repeated, event.at_ms):
            return []
        if self._as_json:
            return [json.dumps(event_document(event))]
        line = event_line(event)
        return [] if line is None else [line + self._advice(event)]

    def _advice(self, event: Event) -> str:
        """Return advice about a peer of another version, once per peer."""
        if not isinstance(event, DatagramRefused) or event.reason != _VERSION:
            return ""
        if event.peer in self._advised or len(self._advised) == _MOST_KINDS:
            return ""
        self._advised.add(event.peer)
        return f"; {UPDATE_ADVICE}"


def _entry(satisfied: Satisfied) -> list[int | str]:
    """Return id, revision and degree of a subscription, and the detail of its language as hex if any."""
    detail = [satisfied.detail.hex()] if satisfied.detail else []
    return [satisfied.id, satisfied.seq, satisfied.degree_u8, *detail]
