"""What happened at a node, as a line for people and as a document for programs."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, NamedTuple

from dens.node.clock import NETWORK_EPOCH_MS
from dens.node.links.rates import Rate, Rates
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
_UNTOLD: Final = (*_REPEATED, HoldingsEnded, RoutesChanged)
"""People are told what changed, not that it was said again, and what ended, not what is left."""
_UNTOLD_WORDS: Final = frozenset(kind.kind for kind in _REPEATED)
_VERSION: Final = REASON_NAMES[Reason.VERSION]
_MOST_TOLD: Final = 64
"""So many kinds of what happens too often are told apart."""


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
    """Return an event as a person reads it, or None where it is not worth a line."""
    if isinstance(event, _UNTOLD):
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
        one, other = event.places
        told = (
            f"two call themselves {event.node}: {one} and {other}; give each a number of its own, with --as"
        )
        return _at(event.at_ms, told)
    if isinstance(event, ContactOpened):
        return _at(event.at_ms, f"contact with {event.peer} ({event.place}) opened")
    if isinstance(event, ContactClosed):
        return _at(event.at_ms, f"contact with {event.peer} ({event.place}) closed: {event.reason}")
    if isinstance(event, OffersHeard):
        if not event.offers:
            return None
        others = "1 other offers" if len(event.offers) == 1 else f"{len(event.offers)} others offer"
        return _at(event.at_ms, f"heard what {others}")
    if isinstance(event, FilterInstalled):
        subscription = f"{event.item.origin}'s subscription {event.item.payload[HEADER_ID]}"
        return _at(event.at_ms, f"looks for {subscription} from now on")
    return _at(event.at_ms, f"looks for {event.subscriber}'s subscription {event.id} no more: {event.reason}")


def _at(at_ms: int, what: str) -> str:
    return f"{datetime.fromtimestamp((NETWORK_EPOCH_MS + at_ms) / 1000):%H:%M:%S} {what}"


class Often(NamedTuple):
    """What may happen as often as somebody else likes: bytes or messages that are refused, or come again."""

    event: str
    what: str
    """Bytes, or the type of a message."""
    peer: int | None
    reason: str | None

    @classmethod
    def of(cls, event: Event) -> "Often | None":
        """Return it where an event is of that kind."""
        if isinstance(event, DatagramRefused):
            return cls(event.kind, "bytes", event.peer, event.reason)
        if isinstance(event, MessageRefused | DuplicateReceived | MessageUndecided):
            return cls(event.kind, event.item.type_name, event.peer, event.reason)
        return None


def rate_document(rate: Rate[Often], at_ms: int) -> dict[str, Any]:
    """Return how often something happened again, as plain data."""
    of = {"of": None} if rate.what is None else dict(zip(("of", *Often._fields[1:]), rate.what, strict=True))
    return {"at_ms": at_ms, "event": "rate", **of, "count": rate.times, "within_ms": rate.within_ms}


def rate_line(rate: Rate[Often], at_ms: int) -> str:
    """Return the same as a person reads it."""
    often = f"{rate.times:,} times more within {rate.within_ms / 1000:,.0f} s"
    if rate.what is None:
        return _at(at_ms, f"refused or repeated {often}: of other peers and for other reasons")
    because = "" if rate.what.reason is None else f": {rate.what.reason}"
    return _at(at_ms, f"{rate.what.event} {rate.what.what} from {rate.what.peer} {often}{because}")


class Teller:
    """Tells events as they come. What others can make happen as often as they like is told at a bounded rate,
    because a log must not grow with a flood: the first at once, then how many there were.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._rates: Rates[Often] = Rates(_MOST_TOLD)
        self._advised: set[int] = set()
        self._quarantined = 0
        self._undecided = 0

    def lines(self, event: Event) -> list[str]:
        """Return what is to be printed when this has happened."""
        return [*self.rates(event.at_ms), *self._of(event)]

    def rates(self, at_ms: int, *, at_the_end: bool = False) -> list[str]:
        """Return what is to be printed of what went on happening until now."""
        due = self._rates.due(at_ms, at_the_end=at_the_end)
        if self._as_json:
            return [json.dumps(rate_document(rate, at_ms)) for rate in due]
        return [
            rate_line(rate, at_ms)
            for rate in due
            if rate.what is None or rate.what.event not in _UNTOLD_WORDS
        ]

    def summary(self, at_ms: int, quarantined_held: int) -> list[str]:
        """Return what is to be printed at the end: how many messages were quarantined and undecided in this
        life, and how many are held that are quarantined. Nothing, where there was none of it.
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
        return [_at(at_ms, f"{what}; {self._undecided:,} were undecided for want of work")]

    def _of(self, event: Event) -> list[str]:
        if isinstance(event, MessageQuarantined):
            self._quarantined += 1
        elif isinstance(event, MessageUndecided):
            self._undecided += 1
        often = Often.of(event)
        if often is not None and not self._rates.is_first(often, event.at_ms):
            return []
        if self._as_json:
            return [json.dumps(event_document(event))]
        line = event_line(event)
        return [] if line is None else [line + self._advice(event)]

    def _advice(self, event: Event) -> str:
        """Return what to do about a peer of another version, once for each peer."""
        if not isinstance(event, DatagramRefused) or event.reason != _VERSION:
            return ""
        if event.peer in self._advised or len(self._advised) == _MOST_TOLD:
            return ""
        self._advised.add(event.peer)
        return f"; {UPDATE_ADVICE}"


def _entry(one: Satisfied) -> list[int | str]:
    """Return (id, revision, degree) of a subscription, and in hexadecimal what its language knows more."""
    return [one.id, one.seq, one.degree_u8, *([one.detail.hex()] if one.detail else [])]
