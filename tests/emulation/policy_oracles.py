"""What each replication policy delivers, from its definition and the table of contacts alone.

Slow and obvious on purpose, and independent of `dens/`: no engines, no sessions, no bytes. Links are ideal:
whatever may cross does so in the moment in which a contact begins or a message is made. A device is one
thing that is met, whatever roles it has; its subscriber has what the device is given.

    direct           a mediator keeps a message until it meets the device of a subscriber it is pending for
    epidemic         every mediator gets everything
    spray_and_wait   a mediator with n > 1 copies gives half of them to one without, and keeps the others
    prophet          a copy to a mediator likelier to meet a device it is pending for
    dens             the same while n > 2; of two the second goes to a mediator likelier by a sixteenth

Whatever the policy: a mediator that meets the device of a subscriber with a pending message delivers it,
which costs no copies and makes no node a carrier. Who gets a message from its publisher begins with all
copies: the mediator on its device, or one that a publisher alone meets: each one where copies are not
counted, else the first one.

Likelihoods are those of PRoPHET: ½ of the way to 1 at a meeting, 0.98 for each whole 30 s since they last
rose, 0.9 through others. Who asks for what, and who has what, goes to every mediator that is met.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

CREATED, UP, DOWN = 0, 1, 2


@dataclass(frozen=True)
class Device:
    """What a device can do."""

    carries: bool = True
    """It has a mediator."""
    asks: bool = True
    """It has a subscriber."""


@dataclass(frozen=True)
class Event:
    """A message: where and when it was made, for the subscribers of which devices, and its end."""

    source: int
    owed_to: frozenset[int]
    created_ms: float
    expires_ms: float = float("inf")


Contact = tuple[int, int, float, float]
"""(a, b, begin_ms, end_ms)"""
Delivered = set[tuple[int, int]]
"""(position of the message, device)"""


@dataclass
class Ground:
    """Who has what at the moment."""

    devices: Mapping[int, Device]
    events: list[Event]
    now_ms: float = 0.0
    open: list[tuple[int, int]] = field(default_factory=list)
    copies: dict[tuple[int, int], int] = field(default_factory=dict)
    """(device, message) → how many copies its mediator may still make, itself included."""
    delivered: Delivered = field(default_factory=set)
    facts: dict[int, set[tuple[str, int, int]]] = field(default_factory=dict)
    """What each mediator has learnt: ("asks", device, 0) and ("has", device, message)."""
    likelihoods: dict[int, dict[int, tuple[float, float]]] = field(default_factory=dict)
    """For each device how likely it was to meet others, and when that last rose."""
    told: dict[tuple[int, int], dict[int, float]] = field(default_factory=dict)
    """(device, peer) → how likely the peer reported it was to meet others, when their contact began."""

    def likelihood(self, device: int, other: int) -> float:
        """Return how likely a device is to meet another."""
        value, since_ms = self.likelihoods[device].get(other, (0.0, self.now_ms))
        return value * 0.98 ** int((self.now_ms - since_ms) // 30_000)

    def known_owed(self, device: int, message: int) -> list[int]:
        """Return the other nodes for which a device knows a message to be pending."""
        return [
            other
            for other in self.events[message].owed_to
            if other != device
            and ("asks", other, 0) in self.facts[device]
            and ("has", other, message) not in self.facts[device]
        ]


Share = Callable[[Ground, int, int, int], tuple[int, int] | None]
"""(ground, giver, taker, message) → copies of the taker and of the giver afterwards, or None."""


def direct(ground: Ground, giver: int, taker: int, message: int) -> tuple[int, int] | None:
    """Give no mediator a copy."""
    return None


def epidemic(ground: Ground, giver: int, taker: int, message: int) -> tuple[int, int] | None:
    """Give every mediator a copy."""
    return 1, 1


def spray_and_wait(ground: Ground, giver: int, taker: int, message: int) -> tuple[int, int] | None:
    """Give half while there is more than one."""
    copies = ground.copies[giver, message]
    return (copies // 2, copies // 2) if copies > 1 else None


def _is_likelier(ground: Ground, giver: int, taker: int, message: int, by: float) -> bool:
    for owed in ground.known_owed(giver, message):
        theirs = 1.0 if owed == taker else ground.told[giver, taker].get(owed, 0.0)
        if theirs > ground.likelihood(giver, owed) + by:
            return True
    return False


def prophet(ground: Ground, giver: int, taker: int, message: int) -> tuple[int, int] | None:
    """Give a copy to whoever is likelier."""
    return (1, 1) if _is_likelier(ground, giver, taker, message, 0.0) else None


def dens(ground: Ground, giver: int, taker: int, message: int) -> tuple[int, int] | None:
    """Spray, and give the second of two copies to whoever is clearly likelier."""
    sprayed = spray_and_wait(ground, giver, taker, message)
    if sprayed == (1, 1) and not _is_likelier(ground, giver, taker, message, 1 / 16):
        return None
    return sprayed


ORACLES: dict[str, tuple[Share, int]] = {
    "direct": (direct, 1),
    "epidemic": (epidemic, 1),
    "spray_and_wait": (spray_and_wait, 8),
    "prophet": (prophet, 1),
    "dens": (dens, 8),
}
"""Name → rule and copies at the beginning."""
COUNTED = {"spray_and_wait", "dens"}


def delivered_by(
    name: str, devices: Mapping[int, Device], contacts: Iterable[Contact], events: list[Event]
) -> Delivered:
    """Return which message reaches the subscriber of which device under a policy.

    At equal times messages are made first, then contacts begin, then contacts end.
    """
    share, budget = ORACLES[name]
    left = 0 if name in COUNTED else budget
    ground = Ground(devices, events)
    for device, roles in devices.items():
        ground.facts[device] = {("asks", device, 0)} if roles.asks else set()
        ground.likelihoods[device] = {}
    steps: list[tuple[float, int, int, int]] = []
    for message, event in enumerate(events):
        steps.append((event.created_ms, CREATED, message, 0))
    for a, b, begin_ms, end_ms in contacts:
        steps += [(begin_ms, UP, a, b), (end_ms, DOWN, a, b)]
    for at_ms, kind, one, other in sorted(steps):
        ground.now_ms = at_ms
        if kind == DOWN:
            ground.open.remove((one, other))
            continue
        if kind == CREATED:
            source = events[one].source
            ground.copies[source, one] = budget
            if source in events[one].owed_to:
                _deliver(ground, source, one)
        else:
            ground.open.append((one, other))
            _meet(ground, one, other)
        _let_cross(ground, share, left)
    return ground.delivered


def _meet(ground: Ground, a: int, b: int) -> None:
    """Let two devices learn how likely they are to meet others, each from what the other knew before."""
    before = {
        one: {other: ground.likelihood(one, other) for other in ground.likelihoods[one]} for one in (a, b)
    }
    for one, peer in ((a, b), (b, a)):
        rise = ground.likelihood(one, peer)
        ground.likelihoods[one][peer] = (rise + (1 - rise) / 2, ground.now_ms)
        ground.told[one, peer] = before[peer] if ground.devices[peer].carries else {}
        for other, theirs in ground.told[one, peer].items():
            through = ground.likelihood(one, peer) * theirs * 0.9
            if other != one and through > ground.likelihood(one, other):
                ground.likelihoods[one][other] = (through, ground.now_ms)


def _let_cross(ground: Ground, share: Share, left: int) -> None:
    """Let everything cross that may, until nothing more does; `left` copies stay at a publisher that gave a
    message away.
    """
    is_done = False
    while not is_done:
        is_done = True
        for a, b in ground.open:
            for giver, taker in ((a, b), (b, a)):
                if ground.devices[taker].carries and not ground.facts[giver] <= ground.facts[taker]:
                    ground.facts[taker] |= ground.facts[giver]
                    is_done = False
        for a, b in ground.open:
            for giver, taker in ((a, b), (b, a)):
                for message, event in enumerate(ground.events):
                    is_there = (giver, message) in ground.copies and ground.now_ms < event.expires_ms
                    if is_there and _cross(ground, share, left, giver, taker, message):
                        is_done = False


def _cross(ground: Ground, share: Share, left: int, giver: int, taker: int, message: int) -> bool:
    """Let a message go from one device to another if it may; return whether it did."""
    event, has_moved = ground.events[message], False
    if ground.devices[taker].carries and (taker, message) not in ground.copies:
        if ground.devices[giver].carries:
            shared = share(ground, giver, taker, message)
        else:
            copies = ground.copies[giver, message]
            shared = (copies, left) if copies else None
        if shared is not None:
            ground.copies[taker, message], ground.copies[giver, message] = shared
            has_moved = True
    is_owed = taker in event.owed_to and (message, taker) not in ground.delivered
    if is_owed and (ground.devices[giver].carries or has_moved):
        _deliver(ground, taker, message)
        has_moved = True
    return has_moved


def _deliver(ground: Ground, device: int, message: int) -> None:
    ground.delivered.add((message, device))
    ground.facts[device].add(("has", device, message))


def judged(run: Path, name: str) -> tuple[Delivered, Delivered]:
    """Return what a run with plain messages delivered, and what its policy would on the contacts of the run.
    A device is named as its slots are, up to the dot.
    """

    def rows(table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(run / "trace" / table).to_pylist()
        return found

    numbers = {row["name"]: row["node"] for row in rows("nodes")}
    device = {row["node"]: numbers[str(row["name"]).partition(".")[0]] for row in rows("nodes")}
    devices = {number: Device(False, False) for number in device.values()}
    for row in rows("nodes"):
        number, roles = device[row["node"]], devices[device[row["node"]]]
        devices[number] = Device(
            roles.carries or row["role"] == "mediator", roles.asks or row["role"] == "subscriber"
        )
    contacts = [(row["a"], row["b"], row["begin_ms"], row["end_ms"]) for row in rows("contacts")]
    made = rows("notifications")
    events = [
        Event(
            device[row["origin"]],
            frozenset({device[int.from_bytes(row["vector"][:2], "big")]}),
            row["at_ms"],
            row["at_ms"] + row["lifetime_ms"],
        )
        for row in made
    ]
    positions = {(row["origin"], row["number"]): index for index, row in enumerate(made)}
    delivered = {
        (positions[row["origin"], row["number"]], device[row["node"]])
        for row in rows("messages")
        if row["kind"] == "delivered"
    }
    return delivered, delivered_by(name, devices, contacts, events)
