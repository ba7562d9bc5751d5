"""Bodies as columns of `plugins.kernels.rows.rows`: one by one, or many plain ones at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plugins.board_vectors import AGGREGATOR_AT, SubscriptionBody
from plugins.fuzzy.codec import FuzzyCodec
from plugins.kernels.rows.rows import Group
from watchdog import breakdown
from watchdog.aggregators import KNOWN_AGGREGATORS, WEIGHTED_MEAN, WITH_BLOCK, WITH_RULES
from watchdog.blocks import GENERATOR, NAMED_FUNCTIONS
from watchdog.header import BODY_AT
from watchdog.membership import SLOPES
from watchdog.vector import VectorError

Bytes = npt.NDArray[np.uint8]

_TRIPLES_AT = AGGREGATOR_AT + 1
"""Offset of the constraints in a body without a block."""

_SLOPES = np.array(SLOPES, np.uint16)
_PLAIN = np.array([(KNOWN_AGGREGATORS & ~WITH_BLOCK) >> kind & 1 for kind in range(16)], np.bool_)
"""By number: whether the aggregator exists and its vectors have no block."""


def group_of(parts: SubscriptionBody) -> Group:
    age = 8 * parts.feature_bytes - 1
    needs = sum(1 << index for index in parts.attributes if index != age)
    flips = sum(1 << rank for rank, (_, _, g) in enumerate(parts.constraints) if g & 128)
    aged = age in parts.attributes
    size = len(parts.attributes)
    return Group(parts.event, needs, aged, parts.aggregator, flips, size, _pattern(parts))


def _pattern(parts: SubscriptionBody) -> bytes:
    """Return what the group needs beside its constraints. Weights differ by row and are stored there.

    A built-in function is expanded to its generator, so that compiled code need not know names.
    """
    if parts.aggregator == WEIGHTED_MEAN or not parts.block:
        return b""
    block = parts.block
    if WITH_RULES >> parts.aggregator & 1 and block[0] < NAMED_FUNCTIONS:
        block = bytes([GENERATOR]) + breakdown.named(block[0])
    return bytes([len(block)]) + block


def row_of(parts: SubscriptionBody) -> tuple[int, Bytes, npt.NDArray[np.uint16], bytes]:
    """Return (floor, (v, V) by rank, slopes by rank, weights or nothing)."""
    triples = np.array(parts.constraints, np.uint8)
    weights = parts.block if parts.aggregator == WEIGHTED_MEAN else b""
    return floor_of(parts.threshold), triples[:, :2], _SLOPES[triples[:, 2] & 127], weights


def floor_of(threshold: int) -> int:
    """Return one below the minimum degree of a threshold t: 17·t, but above 0."""
    return max(17 * threshold, 1) - 1


@dataclass(frozen=True, slots=True)
class Columns:
    """Many subscriptions: their groups with the rows of each, and the data that differs by row."""

    groups: list[tuple[Group, npt.NDArray[np.int64]]]
    floors: Bytes
    cores: Bytes
    slopes: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Fields:
    """Many plain subscriptions as columns. `needs` excludes the age."""

    events: npt.NDArray[np.int64]
    needs: npt.NDArray[np.int64]
    aged: npt.NDArray[np.bool_]
    kinds: Bytes
    floors: Bytes
    triples: Bytes


def plain_fields(bodies: Bytes, width: int) -> Fields:
    """Decode bodies of one length without blocks. A malformed one raises `VectorError`, with offsets of the
    whole vector.
    """
    count, length = bodies.shape
    size = (length - _TRIPLES_AT - 2 * width) // 3
    if size < 1 or length != _TRIPLES_AT + 3 * size + 2 * width:
        raise VectorError(BODY_AT + length, "no plain subscription has this length")
    triples = bodies[:, _TRIPLES_AT : _TRIPLES_AT + 3 * size].reshape(count, size, 3)
    event_masks = _masks(bodies[:, length - 2 * width : length - width])
    masks = _masks(bodies[:, length - width :])
    age = np.uint64(1 << 8 * width - 1)
    kinds = bodies[:, AGGREGATOR_AT] & 15
    if not _PLAIN[kinds].all():
        raise VectorError(BODY_AT + AGGREGATOR_AT, "only aggregators without a block can be added together")
    if (np.bitwise_count(masks) != size).any():
        raise VectorError(BODY_AT + length, "the length does not agree with the features")
    if (np.bitwise_count(event_masks) != 1).any():
        at = BODY_AT + length - 2 * width
        raise VectorError(at, "the event feature must name exactly one event class")
    wrong = np.argwhere(triples[:, :, 0] > triples[:, :, 1])
    if len(wrong):
        raise VectorError(BODY_AT + _TRIPLES_AT + 3 * int(wrong[0, 1]), "v is greater than V")
    return Fields(
        events=np.bitwise_count(event_masks - np.uint64(1)).astype(np.int64),
        needs=(masks & ~age).astype(np.int64),
        aged=(masks & age) != 0,
        kinds=kinds.astype(np.uint8),
        floors=(np.maximum(17 * (bodies[:, AGGREGATOR_AT] >> 4).astype(np.int64), 1) - 1).astype(np.uint8),
        triples=triples,
    )


def _masks(features: Bytes) -> npt.NDArray[np.uint64]:
    masks = np.zeros(len(features), np.uint64)
    for column in range(features.shape[1]):
        masks = masks << np.uint64(8) | features[:, column]
    return masks


def plain_columns(codec: FuzzyCodec, bodies: Bytes) -> Columns:
    """Return bodies of one length, with aggregators without a block, as columns. A malformed one raises
    `VectorError`.
    """
    width = codec.feature_bytes
    fields = plain_fields(bodies, width)
    triples, kinds = fields.triples, fields.kinds
    count, size, _ = triples.shape
    length = bodies.shape[1]
    flips = ((triples[:, :, 2] >> 7).astype(np.int64) << np.arange(size)).sum(axis=1)
    features = bodies[:, length - 2 * width :]
    shared = np.concatenate([features, kinds[:, None], flips.view(np.uint8).reshape(count, 8)], 1)
    forms = np.ascontiguousarray(shared).view(np.dtype((np.void, shared.shape[1]))).reshape(-1)
    _, first, of_row = np.unique(forms, return_index=True, return_inverse=True)
    order = np.argsort(of_row, kind="stable")
    ends = np.searchsorted(of_row[order], np.arange(1, len(first) + 1))
    groups = []
    for number, rows in enumerate(np.split(order, ends[:-1])):
        parts = codec.subscription(bodies[first[number]].tobytes())
        groups.append((group_of(parts), rows))
    return Columns(groups, fields.floors, triples[:, :, :2], _SLOPES[triples[:, :, 2] & 127])
