"""What happened at a node, as a line for people and as a document for programs."""

from datetime import datetime
from typing import Any

from dens.events import (
    CopyReplicated,
    DatagramRefused,
    DuplicateReceived,
    Event,
    FilterInstalled,
    FilterRemoved,
    MessageAcknowledged,
    MessageEvent,
    NotificationDelivered,
    NotificationMatched,
    NumberShared,
)
from studio.node.clock import NETWORK_EPOCH_MS

_UNTOLD = (DuplicateReceived, MessageAcknowledged)
"""People are told what changed, not that it was said again."""


def event_document(event: Event) -> dict[str, Any]:
    """Return an event as plain data; every event has its time and its word."""
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
            document |= {"vector": item.payload.hex(), "satisfied": [list(one) for one in event.satisfied]}
        return document
    if isinstance(event, DatagramRefused):
        facts: dict[str, Any] = {"event": "refused", "type": None, "peer": event.peer, "bytes": event.size}
        return {"at_ms": event.at_ms, **facts, "reason": event.reason}
    if isinstance(event, FilterRemoved):
        facts = {"event": "removed", "subscriber": event.subscriber, "id": event.id, "seq": event.seq}
        return {"at_ms": event.at_ms, **facts, "reason": event.reason}
    if isinstance(event, NumberShared):
        return {"at_ms": event.at_ms, "event": "shared", "node": event.node, "places": list(event.places)}
    facts = {"at_ms": event.at_ms, "origin": event.item.origin, "number": event.item.number}
    if isinstance(event, FilterInstalled):
        return {**facts, "event": "installed", "peer": event.peer, "code": event.code}
    satisfied = {"subscriber": event.subscriber, "id": event.id, "seq": event.seq, "degree": event.degree_u8}
    return {**facts, "event": "matched", **satisfied, "from_before": event.from_before}


def event_line(event: Event) -> str | None:
    """Return an event as a person reads it, or None where it is not worth a line."""
    if isinstance(event, _UNTOLD):
        return None
    if isinstance(event, MessageEvent):
        what = f"{event.kind} {event.item.type_name} {event.item.origin}/{event.item.number}"
        if event.peer is not None:
            what += f" {'copy from node' if isinstance(event, CopyReplicated) else 'from'} {event.peer}"
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
        one, other = event.places
        told = (
            f"two call themselves {event.node}: {one} and {other}; give each a number of its own, with --as"
        )
        return _at(event.at_ms, told)
    if isinstance(event, FilterInstalled):
        subscription = f"{event.item.origin}'s subscription {event.item.payload[0]}"
        return _at(event.at_ms, f"looks for {subscription} from now on")
    return _at(event.at_ms, f"looks for {event.subscriber}'s subscription {event.id} no more: {event.reason}")


def _at(at_ms: int, what: str) -> str:
    return f"{datetime.fromtimestamp((NETWORK_EPOCH_MS + at_ms) / 1000):%H:%M:%S} {what}"


class Teller:
    """Tells events as they come. Bytes that are refused for one reason from one peer are told once."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._refused: set[tuple[int, str]] = set()

    def line(self, event: Event) -> str | None:
        """Return what is to be printed of this event, or None."""
        if self._as_json:
            import json

            return json.dumps(event_document(event))
        if isinstance(event, DatagramRefused):
            if (event.peer, event.reason) in self._refused:
                return None
            self._refused.add((event.peer, event.reason))
        return event_line(event)
