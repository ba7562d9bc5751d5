"""Builds the pattern block: weights or a pattern, as the aggregator needs it."""

from dataclasses import dataclass

from knowledge_manager.documents import DocumentError, Problem
from plugins.fuzzy.compiler.document import SubscriptionDocument
from plugins.fuzzy.compiler.predicates import Asked
from plugins.fuzzy.patterns import pattern_bytes
from plugins.fuzzy.vectors import WEIGHTED_MEAN


@dataclass(frozen=True, slots=True)
class Block:
    """The bytes after the block's length byte, and what has to be said about them."""

    content: bytes = b""
    warnings: tuple[Problem, ...] = ()


def pattern_block(asked: Asked, document: SubscriptionDocument) -> Block:
    """Return the block that the combination needs, empty for most aggregators."""
    if asked.combination.aggregator == WEIGHTED_MEAN:
        return Block(_weights(asked, document))
    if asked.pattern is not None:
        try:
            return Block(pattern_bytes(asked.pattern))
        except ValueError as error:
            raise DocumentError([document.problem(asked.combination.span, "D121", str(error))]) from None
    return Block()


def _weights(asked: Asked, document: SubscriptionDocument) -> bytes:
    """Return one byte for each weight: as they are where all are whole numbers up to 255, else scaled to
    255.
    """
    weights = [wish.weight for wish in asked.wishes]
    largest = max(weights)
    if largest == 0:
        message = "all weights are 0; give at least one predicate a weight"
        raise DocumentError([document.problem(asked.combination.span, "D125", message)])
    if largest <= 255 and all(weight == int(weight) for weight in weights):
        return bytes(int(weight) for weight in weights)
    return bytes(max(1, round(255 * weight / largest)) if weight else 0 for weight in weights)
