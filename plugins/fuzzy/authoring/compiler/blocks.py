"""Builds the pattern block: weights, a pattern, or the rules of a function, as the aggregator needs it."""

from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

from documents.problems import DocumentError
from plugins.authoring.document import SubscriptionDocument
from plugins.authoring.reader import own_text
from plugins.fuzzy.authoring.compiler.expressions import BadExpression, parse_expression
from plugins.fuzzy.authoring.compiler.predicates import ParsedSubscription
from plugins.fuzzy.authoring.compiler.rules import fit_rules, is_constant
from plugins.fuzzy.authoring.schema import NAMESPACE
from plugins.fuzzy.patterns import pattern_bytes
from watchdog.aggregators import TAKAGI_SUGENO_0, WEIGHTED_MEAN, WITH_RULES

NAMED_FUNCTIONS: Final = {"geometric_mean": 0, "harmonic_mean": 1}
"""Functions whose rules are part of the code on the board."""


@dataclass(frozen=True, slots=True)
class FunctionError:
    """How far fitted rules stray from an author's function, in degrees 0..1, where all degrees are above
    0.1.
    """

    largest: float
    mean: float


@dataclass(frozen=True, slots=True)
class Block:
    """The bytes after the block's length byte, what fitted rules miss where there are any, and whether the
    function depends on no degree at all.
    """

    content: bytes = b""
    function_error: FunctionError | None = None
    is_constant: bool = False


def pattern_block(asked: ParsedSubscription, document: SubscriptionDocument) -> Block:
    """Return the block that the combination needs, empty for most aggregators; what is wrong raises
    `DocumentError`.
    """
    aggregator = asked.combination.aggregator
    try:
        if aggregator == WEIGHTED_MEAN:
            return Block(_weights(asked))
        if WITH_RULES >> aggregator & 1:
            return _rules(asked)
        if asked.pattern is not None:
            return Block(pattern_bytes(asked.pattern))
    except _Unusable as error:
        raise DocumentError([document.problem(asked.combination.span, error.code, str(error))]) from None
    except BadExpression as error:
        raise DocumentError([document.problem(asked.combination.span, "D123", str(error))]) from None
    except ValueError as error:
        raise DocumentError([document.problem(asked.combination.span, "D121", str(error))]) from None
    return Block()


class _Unusable(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _weights(asked: ParsedSubscription) -> bytes:
    """Return one byte for each weight: as they are where all are whole numbers up to 255, else scaled to
    255.
    """
    weights = [spec.weight for spec in asked.specs]
    largest = max(weights)
    if largest == 0:
        raise _Unusable("D125", "all weights are 0; give at least one predicate a weight")
    if largest <= 255 and all(weight == int(weight) for weight in weights):
        return bytes(int(weight) for weight in weights)
    return bytes(max(1, round(255 * (weight / largest))) if weight else 0 for weight in weights)


def _rules(asked: ParsedSubscription) -> Block:
    count = len(asked.specs)
    if count < 2:
        raise _Unusable("D123", "a function is broken down into pairs; it needs at least two predicates")
    element = asked.combination.function
    text = "geometric_mean" if element is None else own_text(element)
    table = None if element is None else element.find(f"{{{NAMESPACE}}}table")
    if table is not None and not text:
        return Block(bytes.fromhex((table.text or "").strip()))
    if table is not None:
        raise _Unusable("D123", "a function is an expression or a <table>, not both")
    if text in NAMED_FUNCTIONS:
        return Block(bytes([NAMED_FUNCTIONS[text]]))
    order = 0 if asked.combination.aggregator == TAKAGI_SUGENO_0 else 1
    function = parse_expression(text, _names(asked))
    fitted = fit_rules(function, count, order)
    if fitted is None:
        raise _Unusable("D123", "the rules of this function do not fit into a vector; use fewer predicates")
    missed = FunctionError(fitted.largest_error, fitted.mean_error)
    return Block(fitted.block, missed, is_constant(function, count))


def _names(asked: ParsedSubscription) -> dict[str, int]:
    """Return what an expression may call each predicate: the table's name, or the author's word for it."""
    names = {"age" if spec.attribute is None else spec.name: rank for rank, spec in enumerate(asked.specs)}
    for rank, spec in enumerate(asked.specs):
        word = normalize("NFKC", spec.word.strip())
        if word.isidentifier():
            names.setdefault(word, rank)
    return names
