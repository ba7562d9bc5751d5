"""Covering, merging and advertisements, for brokers and `dens cover`."""

from functools import lru_cache

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.relations.covering import AtopssForest
from plugins.atopss.relations.cuts import covers, meet
from plugins.atopss.relations.merging import NOT_ALIKE, Names, Similarity, merged, names_of, similarity
from plugins.atopss.shapes.scale import LEAST, THIRTIETH
from plugins.atopss.subscriptions import Form, Norm, Predicate, Subscription
from plugins.atopss.terms import conjunctions
from plugins.atopss.vectors import encode_subscription

MOST_TERMS = 64
_REMEMBERED = 1 << 14
"""Size of the cache of decoded bodies: tables compare the same ones repeatedly."""


class AtopssRelations:
    """Relations of bodies. `covers` returns True only if it is certain."""

    def __init__(self, table: MissionTable | None) -> None:
        self._codec = AtopssCodec(table)
        self._read = lru_cache(_REMEMBERED)(self._codec.subscription)

    def covers(self, one: bytes, other: bytes) -> bool:
        """Return whether `one` certainly matches whatever `other` matches."""
        return self._covers(self._read(one), self._read(other))

    def _covers(self, one: Subscription, other: Subscription) -> bool:
        return covers(one, other, self._codec.lengths(one.event))

    def stands_for(self, one: bytes, other: bytes) -> bool:
        """Return whether a source that filters for `one` releases all that `other` needs: it covers it, and
        has the same attributes, because a source releases only those.
        """
        first, second = self._codec.subscription(one), self._codec.subscription(other)
        return first.attributes == second.attributes and self._covers(first, second)

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Return whether something may satisfy both. An unknown value satisfies nearly all, so only another
        event class excludes it.
        """
        return self._codec.subscription(one).event == self._codec.subscription(other).event

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        """Return whether an announced publication may satisfy a subscription: for some term every attribute
        is announced, and the required cut overlaps the announced values.
        """
        announced, subscription = self._codec.subscription(advertisement), self._codec.subscription(wanted)
        if announced.event != subscription.event:
            return False
        lengths = self._codec.lengths(subscription.event)
        supports = {leaf.attribute: leaf.shape for leaf in announced.predicates}
        is_min = subscription.norm == Norm.MIN
        return any(
            all(
                leaf.attribute in supports
                and meet(
                    leaf,
                    _least(leaf, subscription, is_min),
                    supports[leaf.attribute],
                    lengths.get(leaf.attribute),
                )
                for leaf in term
            )
            for term in conjunctions(subscription, MOST_TERMS)
        )

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that covers both, or None if there is none worth it."""
        found = merged(self._read(one), self._read(other))
        return None if found is None else encode_subscription(found)

    def names(self, body: bytes) -> Names | None:
        """Return event and attributes of a body that can be merged with others that have the same; None for
        others.
        """
        return names_of(self._read(body))

    def similarity(self, one: bytes, other: bytes, least: Similarity = NOT_ALIKE) -> Similarity | None:
        """Return the similarity of two bodies; None if they cannot be merged, or if it is below
        the minimum.
        """
        first, second = self._read(one), self._read(other)
        return similarity(first, second, self._codec.lengths(first.event), least)

    def forest(self) -> AtopssForest:
        return AtopssForest(self._codec)


def _least(leaf: Predicate, wanted: Subscription, is_min: bool) -> int:
    """Return the level that a predicate of a term must reach."""
    whole = wanted.possibility if is_min and wanted.form == Form.AND else 0
    return max(THIRTIETH * leaf.possibility, THIRTIETH * whole, LEAST)
