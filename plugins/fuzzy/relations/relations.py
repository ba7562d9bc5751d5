"""Relations of two subscriptions: covering, intersection, merging.

*s covers t* if every event that matches t matches s. The test is sufficient:

- the same event class, and s constrains no attribute that t does not (including the age). Fewer only if t
  aggregates by minimum or product: dropping a predicate can lower a mean. Under `exact` both constrain the
  same attributes, except the age.
- on every attribute of s the degree under s is at least that under t, for all 256 values;
- the threshold of s is not higher;
- the aggregator of s is not lower in product ≤ min ≤ harmonic ≤ geometric ≤ arithmetic ≤ max. This order, and
  monotonicity, hold for the integers (`watchdog.aggregate`). A weighted mean, and a pattern without *not*,
  covers within the same block. A pattern with *not* and a function with a table need not be monotonic; they
  cover only with the same constraints.

A node that has forwarded s need not forward t.
"""

import numpy as np

from plugins.board_vectors import SubscriptionBody, encode_body
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.relations.covering import CoveringForest
from watchdog.aggregators import ANY_ZERO_IS_ZERO, MIN
from watchdog.membership import degree


class FuzzyRelations:
    """`covers`, `intersects` and `merge` under one feature condition."""

    def __init__(self, features: str = "subset", feature_bytes: int = 1) -> None:
        if features not in FEATURE_CONDITIONS:
            raise ValueError(f'unknown feature condition "{features}" (expected one of {FEATURE_CONDITIONS})')
        self._features = features
        self._codec = FuzzyCodec(None, feature_bytes)

    def forest(self) -> CoveringForest:
        return CoveringForest(self._features, self._codec.feature_bytes)

    def covers(self, a: bytes, b: bytes) -> bool:
        """Return whether every event that matches b certainly matches a."""
        forest = self.forest()
        forest.insert((0, 0), a)
        forest.insert((0, 1), b)
        return forest.cover_of((0, 1)) == (0, 0)

    def intersects(self, a: bytes, b: bytes) -> bool:
        """Return whether an event may match both; False is certain."""
        one, other = self._codec.subscription(a), self._codec.subscription(b)
        if one.event != other.event:
            return False
        age = 8 * self._codec.feature_bytes - 1
        if self._features == "exact" and set(one.attributes) - {age} != set(other.attributes) - {age}:
            return False
        return all(
            bool((_enough(one, attribute) & _enough(other, attribute)).any())
            for attribute in set(one.attributes) & set(other.attributes)
        )

    def merge(self, a: bytes, b: bytes) -> bytes | None:
        """Return a body that covers both, or None if there is none of this form.

        It has the creation time of a, the lower threshold, and on every attribute the narrowest constraint
        that contains both.
        """
        one, other = self._codec.subscription(a), self._codec.subscription(b)
        same = ("event", "attributes", "aggregator", "block")
        if any(getattr(one, name) != getattr(other, name) for name in same):
            return None
        triples = []
        for (v, V, g), (w, W, h) in zip(one.constraints, other.constraints, strict=True):
            if g & 128 != h & 128:
                return None
            outer, inner = (max, min) if g & 128 else (min, max)
            triple = (outer(v, w), inner(V, W), outer(g, h))
            if triple[0] > triple[1]:
                return None
            triples.append(triple)
        merged = encode_body(
            SubscriptionBody(
                stamp_s=one.stamp_s,
                threshold=min(one.threshold, other.threshold),
                aggregator=one.aggregator,
                block=one.block,
                constraints=tuple(triples),
                event=one.event,
                attributes=one.attributes,
                feature_bytes=one.feature_bytes,
            )
        )
        return merged if self.covers(merged, a) and self.covers(merged, b) else None


def _enough(parts: SubscriptionBody, attribute: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return, for each of 256 values, whether this subscription can still match."""
    if not ANY_ZERO_IS_ZERO >> parts.aggregator & 1:
        return np.ones(256, np.bool_)
    triple = parts.constraints[parts.attributes.index(attribute)]
    least = max(17 * parts.threshold, 1) if parts.aggregator == MIN else 1
    return np.array([degree(x, *triple) >= least for x in range(256)])
