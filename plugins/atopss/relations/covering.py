"""The covering forest in rows: comparisons of cuts (`plugins.atopss.relations.cuts`) as comparisons of
bounds.

A plain subscription, an *and* by the minimum with each attribute once, has six bounds per predicate: both
levels, and begin and end of the cuts at them, encoded so that a covering one has no higher bound. They are
searched in compiled code. Other subscriptions are rare: they are compared one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from plugins.atopss.codec import AtopssCodec
from plugins.atopss.relations.cuts import bounds, counted, covers, levels
from plugins.atopss.relations.merging import names_of
from plugins.atopss.shapes.scale import FULL, LEAST, THIRTIETH
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Predicate, Subscription
from plugins.kernels import cover
from plugins.kernels.cover_nodes import CoverNodes
from plugins.language import SubscriptionKey
from plugins.relations import ForestStatistics

Numbers = npt.NDArray[np.int64]

_WIDTH: Final = cover.TRIPLE + 6
_PLAIN, _OTHER = 0, 1
"""Kinds of nodes; only the first can be compared by bounds."""
_LOWEST: Final = -(1 << 62)
"""The bound without a required necessity: it covers everything."""
_COMPLEMENT: Final = 128
_USUAL_LENGTH: Final = 1 << 14
"""Assumed length of an axis without a domain; it affects only the selectivity of bytes."""
_LAST_BYTE: Final = 255
_UNKNOWN: Final = (0, _LAST_BYTE, _COMPLEMENT, *[0] * 6)
"""The numbers of a constraint without bounds."""


@dataclass(frozen=True, slots=True)
class PlainColumns:
    """Plain subscriptions of one event and one size as columns, with straight sides and no complements.

    `attributes` are ascending in each row; `corners` has four numbers, `levels` two in thirtieths, per
    attribute.
    """

    event: int
    attributes: Numbers
    corners: Numbers
    levels: Numbers

    def subscription(self, row: int) -> Subscription:
        predicates = tuple(
            Predicate(
                int(attribute), Shape(*corners.tolist()), possibility=int(both[0]), necessity=int(both[1])
            )
            for attribute, corners, both in zip(
                self.attributes[row], self.corners[row], self.levels[row], strict=True
            )
        )
        return Subscription(self.event, predicates)

    def bounds(self, lengths: Mapping[int, int]) -> Numbers:
        """Return the numbers of all predicates, as stored in the forest."""
        m1, m2, m3, m4 = (self.corners[:, :, corner] for corner in range(4))
        axis = np.full(cover.AGE, _USUAL_LENGTH, np.int64)
        axis[list(lengths)] = [max(length, 1) for length in lengths.values()]
        ends = np.full((cover.AGE, 2), [_LOWEST, -_LOWEST], np.int64)
        ends[list(lengths)] = [[0, FULL * length] for length in lengths.values()] or ends[:0]
        low, high = np.moveaxis(ends[self.attributes], -1, 0)
        found = np.empty((*self.attributes.shape, _WIDTH), np.int64)
        found[:, :, cover.TRIPLE : cover.TRIPLE + 2] = self.levels
        for kind in range(2):
            level = THIRTIETH * self.levels[:, :, kind]
            q = 257 * (np.maximum(level, LEAST) if kind == 0 else level)
            first, last = FULL * m1 + (m2 - m1) * q, FULL * m4 - (m4 - m3) * q
            first, last = np.maximum(first, low), np.minimum(last, high)
            if kind == 0:
                full = FULL * axis[self.attributes]
                found[:, :, 0], found[:, :, 1] = (
                    np.clip(end * _LAST_BYTE // full, 0, _LAST_BYTE) for end in (first, last)
                )
                found[:, :, 2] = 0
            else:
                first, last = np.where(level, first, _LOWEST), np.where(level, last, -_LOWEST)
            found[:, :, 5 + 2 * kind], found[:, :, 6 + 2 * kind] = first, -last
        return found


class AtopssForest:
    """Maintains covering trees under insertions and removals."""

    def __init__(self, codec: AtopssCodec) -> None:
        self._codec = codec
        self._nodes = CoverNodes(_WIDTH, (0, -1))
        self._wanted: dict[SubscriptionKey, Subscription | tuple[PlainColumns, int]] = {}
        self._others: set[SubscriptionKey] = set()
        self._patterns: dict[Subscription, int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a subscription; a known key is replaced. An invalid body raises `VectorError`."""
        wanted = self._codec.subscription(body)
        self.remove(key)
        self._wanted[key] = wanted
        needs = sum(1 << attribute for attribute in wanted.attributes)
        if names_of(wanted) is not None:
            rows = sorted((leaf.attribute, self._bounds(leaf, wanted)) for leaf in wanted.predicates)
            floor = max(levels(leaf, wanted)[0] for leaf in wanted.predicates)
            chosen = self._nodes.new([key], len(rows))
            head = (wanted.event, needs, 0, _PLAIN, floor, cover.NO_PATTERN, 1)
            self._nodes.describe(chosen, head, [row for _, row in rows])
        else:
            self._others.add(key)
            pattern = self._patterns.setdefault(replace(wanted, stamp_s=0), len(self._patterns) + 1)
            chosen = self._nodes.new([key], len(wanted.attributes))
            head = (wanted.event, needs, 0, _OTHER, 0, pattern, 0)
            self._nodes.describe(chosen, head, [_UNKNOWN] * len(wanted.attributes))
        self._nodes.insert(chosen)
        self._settle(key)

    def insert_all(self, keys: Sequence[SubscriptionKey], columns: PlainColumns) -> None:
        """Insert many new plain subscriptions, in this order."""
        count, size = columns.attributes.shape
        lengths = self._codec.lengths(columns.event)
        heads = np.zeros((count, 7), np.int64)
        heads[:, 0] = columns.event
        heads[:, 1] = (np.int64(1) << columns.attributes).sum(axis=1)
        heads[:, 4] = columns.levels[:, :, 0].max(axis=1)
        heads[:, 6] = 1
        chosen = self._nodes.new(keys, size)
        self._nodes.describe(chosen, heads, columns.bounds(lengths))
        self._wanted.update(zip(keys, ((columns, row) for row in range(count)), strict=True))
        self._nodes.insert(chosen)
        if self._others:
            for key in keys:
                self._settle(key)

    def remove(self, key: SubscriptionKey) -> None:
        """Remove a subscription; an unknown key is ignored. The children of a root move to another root or
        become roots.
        """
        if key not in self._wanted:
            return
        orphans = self.children(key) if self._others and self._nodes.parent(key) is None else []
        self._nodes.remove([key])
        self._others.discard(key)
        del self._wanted[key]
        for orphan in orphans:
            self._settle(orphan)

    def remove_all(self, keys: Sequence[SubscriptionKey]) -> None:
        """Remove many held subscriptions, in this order."""
        if self._others:
            for key in keys:
                self.remove(key)
            return
        self._nodes.remove(keys)
        for key in keys:
            del self._wanted[key]

    def parent(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return the key that covers it, or None for a root."""
        return self._nodes.parent(key)

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        return self._nodes.children(key)

    def roots(self) -> list[SubscriptionKey]:
        return self._nodes.roots()

    def statistics(self) -> ForestStatistics:
        return self._nodes.statistics()

    def _settle(self, key: SubscriptionKey) -> None:
        """Compare a root with the roots that bounds cannot compare: others with all, all with others."""
        if not self._others or self._nodes.parent(key) is not None:
            return
        wanted = self._subscription(key)
        among = self.roots() if key in self._others else sorted(self._others)
        roots = [one for one in among if one != key and self._nodes.parent(one) is None]
        lengths = self._codec.lengths(wanted.event)
        above = next((root for root in roots if covers(self._subscription(root), wanted, lengths)), None)
        if above is not None:
            self._nodes.move(key, above)
            return
        for root in roots:
            if covers(wanted, self._subscription(root), lengths):
                self._nodes.move(root, key)

    def _subscription(self, key: SubscriptionKey) -> Subscription:
        found = self._wanted[key]
        return found if isinstance(found, Subscription) else found[0].subscription(found[1])

    def _bounds(self, leaf: Predicate, whole: Subscription) -> list[int]:
        possible, necessary = levels(leaf, whole)
        level, sure = counted((possible, necessary))
        shape, length = leaf.shape, self._codec.lengths(whole.event).get(leaf.attribute)
        full = FULL * max(_USUAL_LENGTH if length is None else length, 1)
        ends = (
            min(max(x * _LAST_BYTE // full, 0), _LAST_BYTE) for x in (shape.first(level), shape.last(level))
        )
        none = [_LOWEST, _LOWEST]
        return [
            *ends,
            _COMPLEMENT if leaf.complement else 0,
            possible,
            necessary,
            *bounds(leaf, level, length),
            *(bounds(leaf, sure, length) if necessary else none),
        ]
