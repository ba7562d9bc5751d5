"""Reads how predicates are combined: an aggregating function, a function to break down, or a pattern.

The leaves of a pattern are predicates in document order here; they become ranks when all attributes are
known.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lxml import etree

from dens.config.problems import did_you_mean, likely_meant, listed
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.spans import Span
from plugins.fuzzy import NAMESPACE
from plugins.fuzzy.authoring.compiler.aggregators import (
    AggregatingFunctions,
    guarded,
    registered_aggregators,
)
from plugins.fuzzy.authoring.compiler.expressions import Expression
from plugins.fuzzy.patterns import NORMS
from watchdog.aggregators import (
    AGGREGATOR_NAMES,
    MIN,
    PATTERN_BREAKDOWN,
    PATTERN_EXACT,
    TAKAGI_SUGENO_1,
    WITH_PATTERN,
    WITH_RULES,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

AGGREGATING_FUNCTIONS: Final = {
    name: number for number, name in AGGREGATOR_NAMES.items() if not WITH_PATTERN >> number & 1
}
"""The names of aggregating functions in XML."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One way to combine. `pattern` is the pattern's element and `norm` its T-norm, `function` the element of
    an expression to break down, `plugged` an aggregating function of another package with its name. Rules
    have the aggregator's order if the document requests one (`is_order_asked`), else the better one.
    """

    aggregator: int
    span: Span
    pattern: "Element | None" = None
    function: "Element | None" = None
    norm: int = 0
    plugged: tuple[str, Expression] | None = None
    is_order_asked: bool = False


def read_combination(
    root: "Element", reader: PredicateReader, plugged: AggregatingFunctions | None = None
) -> Combination:
    """Return how the subscription combines its predicates, by default the minimum.

    `plugged` replaces the registered aggregating functions of other packages.
    """
    aggregating = _only(root, "aggregating-function", reader)
    function = _only(root, "function", reader)
    pattern = _only(root, "predicate-pattern", reader)
    if pattern is not None:
        if aggregating is not None or function is not None:
            message = "a <predicate-pattern> cannot be combined with another aggregation; remove one"
            reader.complain(reader.document.span(pattern), "D120", message)
        aggregator = (
            PATTERN_BREAKDOWN if pattern.get("evaluate", "exact").strip() == "breakdown" else PATTERN_EXACT
        )
        norm = NORMS.index(pattern.get("t-norm", NORMS[0]).strip())
        return Combination(aggregator, reader.document.span(pattern), pattern=pattern, norm=norm)
    aggregator = MIN if function is None else TAKAGI_SUGENO_1
    span = reader.document.span(root if function is None else function)
    if aggregating is not None:
        name = (aggregating.text or "").strip()
        span = reader.document.text_span(aggregating)
        others = registered_aggregators() if plugged is None else plugged
        if name in others and name not in AGGREGATING_FUNCTIONS:
            if function is not None:
                message = f"{name} cannot be combined with a <function>; remove one"
                reader.complain(reader.document.span(function), "D120", message)
            return Combination(TAKAGI_SUGENO_1, span, plugged=(name, guarded(name, others[name])))
        if name not in AGGREGATING_FUNCTIONS:
            every = [*AGGREGATING_FUNCTIONS, *others]
            known = listed(every, 12)
            hint = did_you_mean(name, every)
            message = f'aggregating function "{name}" is unknown ({known}){hint}'
            reader.complain(span, "D117", message, name, likely_meant(name, every))
        aggregator = AGGREGATING_FUNCTIONS.get(name, MIN)
    if function is not None and not WITH_RULES >> aggregator & 1:
        message = "a <function> is approximated by takagi_sugeno_0 or takagi_sugeno_1 only"
        reader.complain(reader.document.span(function), "D120", message)
    return Combination(aggregator, span, function=function, is_order_asked=aggregating is not None)


def _only(root: "Element", name: str, reader: PredicateReader) -> "Element | None":
    """Return the child with that name, if any. More than one is reported."""
    found = list(root.iterchildren(f"{{{NAMESPACE}}}{name}"))
    for extra in found[1:]:
        reader.complain(reader.document.span(extra), "D120", f"<{name}> occurs twice; keep one")
    return found[0] if found else None


def local_name(element: "Element") -> str:
    """Return the name of an element of our namespace, empty for any other."""
    name = etree.QName(element)
    return name.localname if name.namespace == NAMESPACE else ""
