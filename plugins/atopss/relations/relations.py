"""Covering, merging and advertisements, as brokers and `dens cover` ask for them."""

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
"""So many bodies are read once: tables compare the same ones again and again."""


class AtopssRelations:
    """Answers about bodies. `covers` says True only where it is certain; it may miss some."""

    def __init__(self, table: MissionTable | None) -> None:
        self._codec = AtopssCodec(table)
        self._read = lru_cache(_REMEMBERED)(self._codec.subscription)

    def covers(self, one: bytes, other: bytes) -> bool:
        """Say whether whatever satisfies `other` is known to satisfy `one` too."""
        return self._covers(self._read(one), self._read(other))

    def _covers(self, one: Subscription, other: Subscription) -> bool:
        return covers(one, other, self._codec.lengths(one.event))

    def stands_for(self, one: bytes, other: bytes) -> bool:
        """Say whether a source that looks for `one` releases all that `other` needs: it covers it, and names
        the same attributes, for a source tells no more than what is named.
        """
        first, second = self._codec.subscription(one), self._codec.subscription(other)
        return first.attributes == second.attributes and self._covers(first, second)

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Say whether something may satisfy both. A value of which nothing is known satisfies nearly all, so
        only another event class is certain.
        """
        return self._codec.subscription(one).event == self._codec.subscription(other).event

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        """Say whether what an advertisement announces may satisfy a subscription: for some term every
        attribute is announced, and what it must reach meets what may be published.
        """
        announced, asked = self._codec.subscription(advertisement), self._codec.subscription(wanted)
        if announced.event != asked.event:
            return False
        lengths = self._codec.lengths(asked.event)
        supports = {leaf.attribute: leaf.shape for leaf in announced.predicates}
        is_min = asked.norm == Norm.MIN
        return any(
            all(
                leaf.attribute in supports
                and meet(
                    leaf,
                    _least(leaf, asked, is_min),
                    supports[leaf.attribute],
                    lengths.get(leaf.attribute),
                )
                for leaf in term
            )
            for term in conjunctions(asked, MOST_TERMS)
        )

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that covers both, or None where the language has none that is worth it."""
        found = merged(self._read(one), self._read(other))
        return None if found is None else encode_subscription(found)

    def names(self, body: bytes) -> Names | None:
        """Return what a body names that can be merged with others that name the same; None of others."""
        return names_of(self._read(body))

    def similarity(self, one: bytes, other: bytes, least: Similarity = NOT_ALIKE) -> Similarity | None:
        """Return how alike two bodies are; None where they cannot be merged, or are less alike than the
        least.
        """
        first, second = self._read(one), self._read(other)
        return similarity(first, second, self._codec.lengths(first.event), least)

    def forest(self) -> AtopssForest:
        """Return an empty forest of coverings."""
        return AtopssForest(self._codec)


def _least(leaf: Predicate, wanted: Subscription, is_min: bool) -> int:
    """Return the level that a predicate of a term must reach."""
    whole = wanted.possibility if is_min and wanted.form == Form.AND else 0
    return max(THIRTIETH * leaf.possibility, THIRTIETH * whole, LEAST)
