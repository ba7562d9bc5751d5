"""A made-up run from seeded random numbers: every table that the analysis reads, in plain rows.

Vectors are put together byte by byte from docs/reference/vector-format.md (no code of ours takes part), with
crisp constraints, so that the oracle beside it can decide a match with two comparisons.
"""

import random
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

EVENT = 0
END_MS = 3_600_000
LIFETIME_MS = 900_000


@dataclass(frozen=True)
class Wish:
    """A subscription as the oracle sees it: closed intervals by attribute, and when it is in force."""

    subscriber: int
    id: int
    seq: int
    intervals: dict[int, tuple[int, int]]
    created_ms: int
    expires_ms: int
    withdrawn_ms: int | None


@dataclass(frozen=True)
class Told:
    """A notification as the oracle sees it."""

    origin: int
    number: int
    at_ms: int
    values: dict[int, int]


def mask(attributes: dict[int, Any]) -> int:
    return sum(1 << attribute for attribute in attributes)


def subscription_vector(subscription: Wish) -> bytes:
    constraints = b"".join(bytes((*subscription.intervals[a], 127)) for a in sorted(subscription.intervals))
    header = bytes((subscription.id, subscription.seq, 100, 0, 0, 0))
    return header + constraints + bytes((1 << EVENT, mask(subscription.intervals)))


def notification_vector(told: Told) -> bytes:
    header = bytes((told.number >> 8 & 255, told.number & 255, 95, 0, 0, 15 << 4))
    return (
        header + bytes(told.values[a] for a in sorted(told.values)) + bytes((1 << EVENT, mask(told.values)))
    )


@dataclass(frozen=True)
class SyntheticRun:
    """The rows of a run, and the facts they were made from."""

    tables: dict[str, list[Row]]
    wishes: list[Wish]
    told: list[Told]


def synthetic_run(seed: int) -> SyntheticRun:
    """Make a run: 3 subscribers, 2 mediators, 4 publishers, an hour."""
    chance = random.Random(seed)
    subscribers, mediators, publishers = range(3), range(3, 5), range(5, 9)
    wishes = _wishes(chance, subscribers)
    told = [
        Told(publisher, number, at_ms, {a: chance.randrange(256) for a in (0, 1, 3)})
        for publisher in publishers
        for number, at_ms in enumerate(sorted(chance.randrange(END_MS) for _ in range(40)))
    ]
    tables: dict[str, list[Row]] = {
        "nodes": [
            {"node": node, "name": f"{group}-{node}", "group": group, "role": role}
            for nodes, group, role in (
                (subscribers[:2], "medics", "subscriber"),
                (subscribers[2:], "drivers", "subscriber"),
                (mediators, "relays", "mediator"),
                (publishers, "patients", "publisher"),
            )
            for node in nodes
        ],
        "motion": _motion(chance, 9),
        "contacts": _contacts(chance, 9),
        "subscriptions": [
            {
                "subscriber": subscription.subscriber,
                "id": subscription.id,
                "seq": subscription.seq,
                "language": 1,
                "created_ms": subscription.created_ms,
                "expires_ms": subscription.expires_ms,
                "withdrawn_ms": subscription.withdrawn_ms,
                "vector": subscription_vector(subscription),
                "document": f"subscription-{subscription.id}.xml",
            }
            for subscription in wishes
        ],
        "notifications": [
            {
                "at_ms": one.at_ms,
                "origin": one.origin,
                "number": one.number,
                "language": 1,
                "event_number": one.number,
                "lifetime_ms": LIFETIME_MS,
                "vector": notification_vector(one),
                "event": EVENT,
            }
            for one in told
        ],
        "messages": _messages(chance, told, subscribers),
        "filter_decisions": _filter_decisions(chance, publishers),
        "matching_work": [
            {
                "at_ms": one.at_ms + 5,
                "node": 3 + place % 2,
                "origin": one.origin,
                "number": one.number,
                "notifications": 1,
                "matches": place % 3,
                "feature_tests": 20 + place,
                "memberships": 3 * place,
                "aggregations": place,
                "pairs": place % 5,
                "rows": place % 7,
                "cost_us": 10.0 + place,
            }
            for place, one in enumerate(told)
        ]
        + [_late_matching()],
        "buffers": [
            {
                "at_ms": at_ms,
                "node": node,
                "subscriptions": 1,
                "notifications": held,
                "notification_bytes": 30 * held,
            }
            for at_ms, node, held in ((0, 3, 0), (10, 3, 5), (END_MS // 2, 3, 3), (END_MS // 2, 4, 4))
        ],
    }
    return SyntheticRun(tables, wishes, told)


def _wishes(chance: random.Random, subscribers: range) -> list[Wish]:
    wishes = []
    for subscriber in subscribers:
        for id_ in range(2):
            for seq in range(2):
                created_ms = chance.randrange(END_MS // 2)
                intervals = {}
                for attribute in chance.sample((0, 1, 3), chance.randrange(1, 4)):
                    low = chance.randrange(160)
                    intervals[attribute] = (low, min(low + chance.randrange(80, 200), 255))
                wishes.append(
                    Wish(
                        subscriber=subscriber,
                        id=id_,
                        seq=seq,
                        intervals=intervals,
                        created_ms=created_ms,
                        expires_ms=created_ms + chance.randrange(1, END_MS),
                        withdrawn_ms=created_ms + chance.randrange(END_MS) if chance.random() < 0.3 else None,
                    )
                )
    return wishes


def _messages(chance: random.Random, told: list[Told], subscribers: range) -> list[Row]:
    rows: list[Row] = []

    def step(
        at_ms: int,
        kind: str,
        one: Told,
        node: int,
        hops: int,
        reason: str | None = None,
        peer: int | None = None,
    ) -> None:
        rows.append(
            {
                "at_ms": at_ms,
                "kind": kind,
                "node": node,
                "peer": peer,
                "type": "notify" if node in subscribers else "notification",
                "language": 1,
                "origin": one.origin,
                "number": one.number,
                "bytes": 30 + hops,
                "hops": hops,
                "age_ms": at_ms - one.at_ms,
                "reason": reason,
            }
        )

    for one in told:
        step(one.at_ms, "created", one, one.origin, 0)
        came = 0
        for copy in range(chance.randrange(5)):
            step(one.at_ms + copy, "sent", one, 3, 1, peer=4)
            arrived = chance.random() < 0.8
            reason = None if arrived else "radio"
            step(one.at_ms + copy + 1, "received" if arrived else "lost", one, 4, 1, reason, 3)
            if arrived:
                step(one.at_ms + copy + 1, "duplicate" if came else "replicated", one, 4, 1, peer=3)
                came += 1
        if chance.random() < 0.3:
            step(one.at_ms + 10, "dropped", one, one.origin, 0, "oldest")
        if came and chance.random() < 0.5:
            step(one.at_ms + 10, "dropped", one, 4, 1, "oldest")
        for subscriber in subscribers:
            if chance.random() < 0.6:
                delay_ms = int(chance.expovariate(1 / 300_000))
                if delay_ms < LIFETIME_MS and one.at_ms + delay_ms < END_MS:
                    step(one.at_ms + delay_ms, "received", one, subscriber, 2, peer=4)
                    step(one.at_ms + delay_ms, "delivered", one, subscriber, 2, peer=4)
    return rows


def _contacts(chance: random.Random, nodes: int) -> list[Row]:
    rows = []
    for a in range(nodes):
        for b in range(a + 1, nodes):
            at_ms = chance.choice((0.0, chance.expovariate(1 / 900_000)))
            while at_ms < END_MS:
                end_ms = at_ms + chance.expovariate(1 / 60_000)
                rows.append(
                    {
                        "a": a,
                        "b": b,
                        "begin_ms": at_ms,
                        "end_ms": min(end_ms, float(END_MS)),
                        "censored": end_ms >= END_MS,
                    }
                )
                at_ms = end_ms + 1 + chance.expovariate(1 / 900_000)
    chance.shuffle(rows)
    return rows


def _motion(chance: random.Random, nodes: int) -> list[Row]:
    rows = []
    for node in range(nodes):
        x, y, at_ms = chance.uniform(0, 1000), chance.uniform(0, 800), 0.0
        while at_ms < END_MS:
            end_ms = min(at_ms + chance.uniform(60_000, 600_000), float(END_MS))
            to_x, to_y = chance.uniform(0, 1000), chance.uniform(0, 800)
            rows.append(
                {
                    "node": node,
                    "begin_ms": at_ms,
                    "end_ms": end_ms,
                    "x0_m": x,
                    "y0_m": y,
                    "x1_m": to_x,
                    "y1_m": to_y,
                }
            )
            x, y, at_ms = to_x, to_y, end_ms
    return rows


def _late_matching() -> Row:
    """A subscription that came late, matched with nine notifications that were carried."""
    counts = dict.fromkeys(("feature_tests", "memberships", "aggregations", "pairs"), 9)
    return {
        "at_ms": END_MS - 1,
        "node": 3,
        "origin": None,
        "number": None,
        "notifications": 9,
        "matches": 1,
        **counts,
        "rows": 0,
        "cost_us": 500.0,
    }


def _filter_decisions(chance: random.Random, publishers: range) -> list[Row]:
    rows = []
    for publisher in publishers:
        for number in range(50):
            released = chance.choice((0, 0, 0, 1, 2))
            present = chance.choice((1, 3, 7))
            rows.append(
                {
                    "at_ms": number * 1000,
                    "node": publisher,
                    "event_number": number,
                    "event": EVENT,
                    "attributes": bytes((present,)),
                    "values": bytes(present.bit_count()),
                    "installed": chance.randrange(3) if not released else 2,
                    "released": released,
                    "degree_u8": 200 if released else 0,
                    "suppressed": chance.choice((None, "interval")) if not released else None,
                    "cost_us": 100.0 + number,
                }
            )
    return rows
