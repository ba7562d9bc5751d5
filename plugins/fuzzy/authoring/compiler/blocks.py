"""Builds the pattern block of the aggregator: weights, a pattern, or the rules of a function.

Few subscriptions have a function, so the modules about rules are imported on use.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import normalize

from dens.config.problems import DocumentError
from plugins.authoring.xml.document import SubscriptionDocument
from plugins.authoring.xml.reader import own_text
from plugins.fuzzy import NAMESPACE
from plugins.fuzzy.authoring.compiler.expressions import BadExpression, Expression, parse_expression
from plugins.fuzzy.authoring.compiler.predicates import ParsedSubscription
from plugins.fuzzy.named_functions import NAMED, NUMBERS
from plugins.fuzzy.patterns import pattern_bytes
from watchdog.aggregators import TAKAGI_SUGENO_0, WEIGHTED_MEAN, WITH_RULES

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


@dataclass(frozen=True, slots=True)
class FunctionError:
    """Error of rules against the function that was broken down, in degrees 0..1. For a built-in function
    `largest` holds for any number of degrees.
    """

    largest: float
    mean: float


@dataclass(frozen=True, slots=True)
class Block:
    """The aggregator, the bytes after the block's length byte, the error of rules if there are any, and
    whether the function is constant.
    """

    aggregator: int
    content: bytes = b""
    function_error: FunctionError | None = None
    is_constant: bool = False


def pattern_block(parsed: ParsedSubscription, document: SubscriptionDocument) -> Block:
    """Return the block of a combination, empty for most aggregators. Errors raise `DocumentError`."""
    combination = parsed.combination
    aggregator = combination.aggregator
    try:
        if aggregator == WEIGHTED_MEAN:
            return Block(aggregator, _weights(parsed))
        if WITH_RULES >> aggregator & 1:
            return _rules(parsed)
        if parsed.pattern is not None:
            return Block(aggregator, pattern_bytes(parsed.pattern, combination.norm))
    except _Unusable as error:
        raise DocumentError([document.problem(combination.span, error.code, str(error))]) from None
    except BadExpression as error:
        code = "D123" if combination.plugged is None else "D722"
        raise DocumentError([document.problem(combination.span, code, str(error))]) from None
    except ValueError as error:
        raise DocumentError([document.problem(combination.span, "D121", str(error))]) from None
    return Block(aggregator)


class _Unusable(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _weights(parsed: ParsedSubscription) -> bytes:
    """Return one byte per weight: unchanged if all are integers up to 255, else scaled to 255."""
    weights = [spec.weight for spec in parsed.specs]
    largest = max(weights)
    if largest == 0:
        raise _Unusable("D125", "all weights are 0; set at least one")
    if largest <= 255 and all(weight == int(weight) for weight in weights):
        return bytes(int(weight) for weight in weights)
    return bytes(max(1, round(255 * (weight / largest))) if weight else 0 for weight in weights)


def _rules(parsed: ParsedSubscription) -> Block:
    combination = parsed.combination
    count = len(parsed.specs)
    if count < 2:
        raise _Unusable("D123", "a function is broken down into pairs; it needs at least two predicates")
    order = combination.aggregator - TAKAGI_SUGENO_0 if combination.is_order_asked else None
    if combination.plugged is not None:
        return _fitted(combination.plugged[1], count, None)
    element = combination.function
    text = NAMED[0].name if element is None else own_text(element)
    parts = [] if element is None else list(element)
    if parts and text:
        raise _Unusable("D123", "a function is an expression, <rule>s or a <table>, not several of them")
    if parts and parts[0].tag == f"{{{NAMESPACE}}}table":
        return Block(combination.aggregator, bytes.fromhex((parts[0].text or "").strip()))
    if parts:
        return _authors_rules(parsed, parts, order)
    if text in NUMBERS:
        return _fitted(NAMED[NUMBERS[text]].of_degrees, count, order)
    return _fitted(parse_expression(text, _names(parsed)), count, order)


def _fitted(function: Expression, count: int, order: int | None) -> Block:
    from plugins.fuzzy.authoring.compiler.rules import fit_rules, is_constant

    fitted = fit_rules(function, count, order)
    if fitted is None:
        raise _Unusable("D123", "the rules of this function do not fit into a vector; use fewer predicates")
    missed = FunctionError(fitted.largest_error, fitted.mean_error)
    return Block(fitted.aggregator, fitted.block, missed, is_constant(function, count))


def _authors_rules(parsed: ParsedSubscription, rules: "list[Element]", order: int | None) -> Block:
    from plugins.fuzzy.authoring.compiler.rule_elements import rules_block
    from plugins.fuzzy.authoring.compiler.rules import LONGEST_BLOCK

    places = [(spec.span.line, spec.span.column, rank) for rank, spec in enumerate(parsed.specs)]
    in_order = [rank for *_, rank in sorted(places)]
    try:
        content, chosen = rules_block(rules, in_order, _names(parsed), order)
    except BadExpression as error:
        raise _Unusable("D723", str(error)) from None
    if len(content) > LONGEST_BLOCK:
        room = f"a vector has room for {LONGEST_BLOCK} bytes of rules, these are {len(content)}"
        raise _Unusable("D723", f"{room}; use fewer centres, or one table for all pairs")
    return Block(TAKAGI_SUGENO_0 + chosen, content)


def _names(parsed: ParsedSubscription) -> dict[str, int]:
    """Return the names of each predicate in an expression: that of the table and that of the document."""
    names = {"age" if spec.attribute is None else spec.name: rank for rank, spec in enumerate(parsed.specs)}
    for rank, spec in enumerate(parsed.specs):
        word = normalize("NFKC", spec.word.strip())
        if word.isidentifier():
            names.setdefault(word, rank)
    return names
