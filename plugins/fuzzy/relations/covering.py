"""The covering forest (paper 004, §4.4 and figure 5.c).

No root covers another root. A subscription that a root covers is in its tree; one that covers roots replaces
them and they become its children. If a root does not match, nothing in its tree matches. (The paper compares
slopes in the wrong direction, and covers means across features; see docs/explanation/matching.md.)

    >>> forest = CoveringForest()
    >>> forest.insert((7, 0), bytes.fromhex("00000064c8280101"))
    >>> forest.insert((8, 0), bytes.fromhex("0000006e96280101"))
    >>> forest.cover_of((8, 0))
    (7, 0)
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from plugins.board_vectors import SubscriptionBody
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.columns import floor_of, plain_fields
from plugins.kernels import cover
from plugins.kernels.cover_nodes import CoverNodes
from plugins.language import SubscriptionKey
from plugins.relations import ForestStatistics
from watchdog.aggregators import ASCENDING, WITH_PATTERN, WITH_RULES
from watchdog.membership import SLOPES
from watchdog.tokens import NOT

_RANKS: Final = tuple(ASCENDING.index(kind) if kind in ASCENDING else -1 for kind in range(16))
"""The rank of each comparable aggregator."""


class CoveringForest:
    """Maintains covering trees under insertions and removals."""

    def __init__(self, features: str = "subset", feature_bytes: int = 1) -> None:
        self._codec = FuzzyCodec(None, feature_bytes)
        self._nodes = CoverNodes(cover.TRIPLE, _RANKS, SLOPES, is_exact=features == "exact")
        self._patterns: dict[tuple[int, bytes], int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a subscription; a known key is replaced. An invalid body raises `VectorError`."""
        parts = self._codec.subscription(body)
        self.remove(key)
        chosen = self._nodes.new([key], len(parts.attributes))
        age = 8 * parts.feature_bytes - 1
        needs = sum(1 << index for index in parts.attributes if index != age)
        head = (parts.event, needs, age in parts.attributes, parts.aggregator, floor_of(parts.threshold))
        self._nodes.describe(chosen, (*head, self._pattern(parts), _grows(parts)), parts.constraints)
        self._nodes.insert(chosen)

    def remove(self, key: SubscriptionKey) -> None:
        """Remove a subscription; an unknown key is ignored. The children of a root move to another root or
        become roots.
        """
        if key in self._nodes.numbers:
            self._nodes.remove([key])

    def insert_all(self, keys: list[SubscriptionKey], bodies: npt.NDArray[np.uint8]) -> None:
        """Insert many new subscriptions of one length, with plain aggregators, in this order."""
        fields = plain_fields(bodies, self._codec.feature_bytes)
        count, size, _ = fields.triples.shape
        described = (fields.events, fields.needs, fields.aged, fields.kinds, fields.floors)
        heads = np.column_stack([*described, np.full(count, cover.NO_PATTERN), np.ones(count, np.int64)])
        chosen = self._nodes.new(keys, size)
        self._nodes.describe(chosen, heads, fields.triples)
        self._nodes.insert(chosen)

    def remove_all(self, keys: list[SubscriptionKey]) -> None:
        """Remove many held subscriptions, in this order."""
        self._nodes.remove(keys)

    def cover_of(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return the key that covers it, or None for a root."""
        return self._nodes.parent(key)

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        return self._nodes.children(key)

    def roots(self) -> list[SubscriptionKey]:
        return self._nodes.roots()

    def statistics(self) -> ForestStatistics:
        return self._nodes.statistics()

    def _pattern(self, parts: SubscriptionBody) -> int:
        """Return a number that identifies the block and its aggregator."""
        if _RANKS[parts.aggregator] >= 0:
            return cover.NO_PATTERN
        return self._patterns.setdefault((parts.aggregator, parts.block), len(self._patterns) + 1)


def _grows(parts: SubscriptionBody) -> bool:
    """Return whether the aggregation is monotonic."""
    if WITH_RULES >> parts.aggregator & 1:
        return False
    return not WITH_PATTERN >> parts.aggregator & 1 or len(parts.block) == 1 or NOT not in parts.block
