"""A synthetic run of any size, written in columns: an emulator would take too long for that many rows.

Two hundred nodes for twelve hours. Every notification has the same sixty steps; it is delivered to three of
the five or so subscribers that subscribed to its value.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dens.trace.schema import ADDED_COLUMNS, SCHEMA_VERSION, TABLES

END_MS: Final = 12 * 3_600_000
SUBSCRIBERS: Final = 20
MEDIATORS: Final = 40
PUBLISHERS: Final = 140
NODES: Final = SUBSCRIBERS + MEDIATORS + PUBLISHERS
PART_ROWS: Final = 100_000
LIFETIME_MS: Final = 3_600_000

STEPS: Final = (
    ("created",) * 1 + ("sent",) * 14 + ("received",) * 13 + ("lost",) + ("stored",) * 9 + ("replicated",) * 9
    + ("delivered",) * 3 + ("duplicate",) * 2 + ("acknowledged",) * 4 + ("expired",) * 4
)  # fmt: skip
"""The steps of one notification, in this order."""

SHARES: Final = {
    "messages": 0.70,
    "filter_decisions": 0.10,
    "buffers": 0.08,
    "contacts": 0.06,
    "matches": 0.03,
}
"""Which share of all rows a table has; the rest are legs."""

_INTERVAL: Final = 51
_MASK: Final = bytes((0b11,))

Columns = dict[str, Any]
Numbers = npt.NDArray[Any]


def write_trace(folder: Path, rows: int) -> int:
    """Write a run of about this many rows and return how many deliveries are expected."""
    notifications = max(1, int(rows * SHARES["messages"]) // len(STEPS))
    counts = {name: int(rows * share) for name, share in SHARES.items() if name != "messages"}
    _write(folder, "nodes", NODES, _nodes)
    _write(folder, "subscriptions", SUBSCRIBERS, _subscriptions)
    _write(folder, "notifications", notifications, lambda at: _notifications(at, notifications))
    _write(folder, "messages", notifications * len(STEPS), lambda at: _messages(at, notifications))
    _write(folder, "filter_decisions", counts["filter_decisions"], lambda at: _readings(at, counts))
    _write(folder, "buffers", counts["buffers"], lambda at: _buffers(at, counts["buffers"]))
    _write(folder, "contacts", counts["contacts"], lambda at: _contacts(at, counts["contacts"]))
    _write(folder, "matches", counts["matches"], lambda at: _matches(at, counts["matches"]))
    legs = rows - notifications * len(STEPS) - sum(counts.values())
    _write(folder, "motion", max(legs, NODES), lambda at: _legs(at, max(legs, NODES)))
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "status": "complete",
        "simulated_ms": END_MS,
        "seed": 1,
        "scenario": {"name": "made", "title": "Rows without a world", "vocabularies": ["medical"]},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    values = _value(np.arange(notifications))
    return int(sum(np.count_nonzero(_wants(subscriber, values)) for subscriber in range(SUBSCRIBERS)))


def _write(folder: Path, table: str, rows: int, columns_of: Any) -> None:
    place = folder / "trace" / table
    place.mkdir(parents=True)
    for part, at in enumerate(_pieces(rows)):
        nothing = {name: pa.nulls(len(at), pa.binary()) for name in ADDED_COLUMNS.get(table, ())}
        columns = pa.table({**columns_of(at), **nothing}).select(TABLES[table].names).cast(TABLES[table])
        pq.write_table(columns, place / f"part-{part:05}.parquet", compression="zstd")


def _pieces(rows: int) -> Iterator[Numbers]:
    for begin in range(0, rows, PART_ROWS):
        yield np.arange(begin, min(begin + PART_ROWS, rows), dtype=np.int64)


def _rng(at: Numbers, salt: int) -> Numbers:
    """Return numbers from 0 to 2³²−1 that depend on the row alone."""
    mixed = (at.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)


def _value(notification: Numbers) -> Numbers:
    return (notification * 37 % 256).astype(np.uint8)


def _wants(subscriber: int, values: Numbers) -> Numbers:
    low = subscriber * 10
    return (values >= low) & (values < low + _INTERVAL)


def _words(words: list[str], which: Numbers) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(which.astype(np.int8)), pa.array(words)).cast(pa.string())


def _nodes(at: Numbers) -> Columns:
    kinds = np.searchsorted([SUBSCRIBERS, SUBSCRIBERS + MEDIATORS], at, side="right")
    groups, roles = ["medics", "helpers", "patients"], ["subscriber", "mediator", "publisher"]
    names = [f"{groups[kind]}-{node}" for node, kind in zip(at, kinds, strict=True)]
    return {"node": at, "name": names, "group": _words(groups, kinds), "role": _words(roles, kinds)}


def _subscriptions(at: Numbers) -> Columns:
    vectors = [
        bytes((0, 0, 100, 0, 0, 0)) + bytes((s * 10, s * 10 + _INTERVAL - 1, 127)) + bytes((1, 1)) for s in at
    ]
    zero = np.zeros(len(at), np.int64)
    return {
        "subscriber": at, "id": zero, "seq": zero, "language": zero + 1, "created_ms": zero,
        "expires_ms": zero + END_MS, "withdrawn_ms": pa.nulls(len(at), pa.int64()), "vector": vectors,
        "document": pa.nulls(len(at), pa.string()),
    }  # fmt: skip


def _told_ms(notification: Numbers, notifications: int) -> Numbers:
    return notification * END_MS // notifications


def _fixed(columns: list[Numbers]) -> pa.Array:
    """Return rows of bytes as binary, each row's bytes from the columns."""
    table = np.ascontiguousarray(np.stack(columns, axis=1).astype(np.uint8))
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(table.shape[1]), len(table), [None, pa.py_buffer(table.tobytes())]
    ).cast(pa.binary())


def _notifications(at: Numbers, notifications: int) -> Columns:
    zero = np.zeros(len(at), np.int64)
    header = [zero, zero, zero + 95, zero, zero, zero + 240]
    return {
        "at_ms": _told_ms(at, notifications), "origin": SUBSCRIBERS + MEDIATORS + at % PUBLISHERS,
        "number": at // PUBLISHERS, "language": zero + 1, "event_number": at // PUBLISHERS % 65536,
        "lifetime_ms": zero + LIFETIME_MS, "vector": _fixed([*header, _value(at), zero + 1, zero + 1]),
    }  # fmt: skip


def _messages(at: Numbers, notifications: int) -> Columns:
    told, step = at // len(STEPS), at % len(STEPS)
    kinds = list(dict.fromkeys(STEPS))
    kind = np.array([kinds.index(word) for word in STEPS])[step]
    origin = SUBSCRIBERS + MEDIATORS + told % PUBLISHERS
    later = np.where(step == 0, 0, _rng(at, 1) % 1_800_000).astype(np.int64)
    mediator = SUBSCRIBERS + (_rng(at, 2) % MEDIATORS).astype(np.int64)
    # Values ask for five or six neighbouring subscribers; three of them in turn are served.
    first = np.clip((_value(told).astype(np.int64) - _INTERVAL + 10) // 10, 0, SUBSCRIBERS - 1)
    served = np.clip(first + step - STEPS.index("delivered"), 0, SUBSCRIBERS - 1)
    is_delivery = kind == kinds.index("delivered")
    node = np.where(step == 0, origin, np.where(is_delivery, served, mediator))
    lost = kind == kinds.index("lost")
    return {
        "at_ms": _told_ms(told, notifications) + later, "kind": _words(kinds, kind), "node": node,
        "peer": mediator, "type": _words(["notification", "notify"], is_delivery.astype(int)),
        "language": np.ones(len(at), np.int64), "origin": origin, "number": told // PUBLISHERS,
        "bytes": 40 + step, "hops": 1 + step % 5, "age_ms": later,
        "reason": pa.array(np.where(lost, "radio", None), pa.string()),
    }  # fmt: skip


def _readings(at: Numbers, counts: dict[str, int]) -> Columns:
    zero, released = np.zeros(len(at), np.int64), (at % 10 == 0).astype(np.int64)
    values = (_rng(at, 3) % 256).astype(np.int64)
    return {
        "at_ms": at * END_MS // counts["filter_decisions"],
        "node": SUBSCRIBERS + MEDIATORS + at % PUBLISHERS,
        "event_number": at // PUBLISHERS % 65536, "event": zero, "attributes": _fixed([zero + _MASK[0]]),
        "values": _fixed([values, values]), "installed": zero + SUBSCRIBERS, "released": released,
        "degree_u8": released * 255, "suppressed": pa.nulls(len(at), pa.string()), "cost_us": zero + 120.0,
    }  # fmt: skip


def _buffers(at: Numbers, rows: int) -> Columns:
    held = (_rng(at, 4) % 500).astype(np.int64)
    return {
        "at_ms": at * END_MS // rows, "node": SUBSCRIBERS + at % MEDIATORS,
        "subscriptions": np.full(len(at), SUBSCRIBERS), "notifications": held,
        "notification_bytes": held * 45,
    }  # fmt: skip


def _contacts(at: Numbers, rows: int) -> Columns:
    a = (_rng(at, 5) % (NODES - 1)).astype(np.int64)
    b = a + 1 + (_rng(at, 6) % 20).astype(np.int64)
    begin = at * (END_MS / rows)
    return {
        "a": a, "b": np.minimum(b, NODES - 1), "begin_ms": begin,
        "end_ms": np.minimum(begin + 1000.0 + _rng(at, 7) % 60_000, END_MS), "censored": at < 0,
    }  # fmt: skip


def _matches(at: Numbers, rows: int) -> Columns:
    zero = np.zeros(len(at), np.int64)
    return {
        "at_ms": at * END_MS // rows, "node": SUBSCRIBERS + at % MEDIATORS, "origin": zero + 100,
        "number": at,
        "subscriber": at % SUBSCRIBERS, "id": zero, "seq": zero, "degree_u8": zero + 255,
        "cost_us": zero + 30.0,
    }  # fmt: skip


def _legs(at: Numbers, rows: int) -> Columns:
    """Node after node, each with the same number of legs, one after the other; the last has what is left."""
    each = rows // NODES
    node = np.minimum(at // each, NODES - 1)
    number = at - node * each
    legs = np.where(node == NODES - 1, rows - (NODES - 1) * each, each)
    x0, y0 = _rng(at, 8) % 2000, _rng(at, 9) % 1500
    x1, y1 = _rng(at + 1, 8) % 2000, _rng(at + 1, 9) % 1500
    return {
        "node": node, "begin_ms": END_MS * number / legs, "end_ms": END_MS * (number + 1) / legs,
        "x0_m": x0.astype(float), "y0_m": y0.astype(float), "x1_m": x1.astype(float),
        "y1_m": y1.astype(float),
    }  # fmt: skip
