"""From a vector back to XML that compiles to the same vector.

The curves of the document are lost; the result has the bytes themselves, as `universal` fuzzifiers, and the
tables of functions as rules. Subscription number, revision and stamp are options of the compiler; a comment
lists them.
"""

from itertools import combinations, product
from xml.sax.saxutils import quoteattr

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import SubscriptionBody, Triple, subscription_body
from plugins.fuzzy import NAMESPACE
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.named_functions import NAMED
from plugins.fuzzy.patterns import NORMS, Joined, Leaf, Not, Pattern, norm_of, pattern_from_bytes
from watchdog.aggregators import (
    AGGREGATOR_NAMES,
    MIN,
    PATTERN_BREAKDOWN,
    TAKAGI_SUGENO_0,
    WEIGHTED_MEAN,
    WITH_PATTERN,
    WITH_RULES,
)
from watchdog.blocks import GENERATOR, SUM_OF_PAIRS, TABLE_PER_PAIR
from watchdog.header import BODY_AT
from watchdog.lifetime import lifetime_code, lifetime_s


def decompile(vector: bytes, table: MissionTable) -> str:
    """Return a subscription document for the vector. Bytes that are not a subscription raise
    `VectorError`.
    """
    parts = FuzzyCodec(table).subscription(subscription_body(vector))
    event = table.event_at(parts.event)
    predicates = [
        _predicate(event.attribute_at(index).name if index != table.age_index else None, triple, weight)
        for index, triple, weight in zip(parts.attributes, parts.constraints, _weights(parts), strict=True)
    ]
    called = [
        "age" if index == table.age_index else event.attribute_at(index).name for index in parts.attributes
    ]
    body = _combined(parts, predicates, called)
    id, seq, lifetime_q = vector[:BODY_AT]
    threshold = f' threshold="{_threshold(parts.threshold)}"' if parts.threshold else ""
    head = f"<subscription xmlns={quoteattr(NAMESPACE)} event={quoteattr(event.name)}"
    return "\n".join(
        [
            f"<!-- compile with id {id}, seq {seq}, stamp {parts.stamp_s} -->",
            f"{head} valid={quoteattr(_valid(lifetime_q))}{threshold}>",
            *body,
            "</subscription>",
            "",
        ]
    )


def _threshold(t: int) -> str:
    """Return the shortest decimal number that the compiler rounds up to t fifteenths."""
    tenths = 10 * t // 15
    return f"{tenths / 10:g}" if 15 * tenths > 10 * (t - 1) else f"{100 * t // 15 / 100:g}"


def _valid(code: int) -> str:
    seconds = lifetime_s(code)
    return written_duration(seconds) if lifetime_code(seconds) == code else f"code:{code}"


def _weights(parts: SubscriptionBody) -> list[str]:
    if parts.aggregator != WEIGHTED_MEAN:
        return [""] * len(parts.constraints)
    return [f' weight="{weight}"' for weight in parts.block]


def _predicate(attribute: str | None, triple: Triple, weight: str) -> list[str]:
    v, V, g = triple
    bytes_ = f'<universal v="{v}" V="{V}" g="{g}"/>'
    if attribute is None:
        return [f"<within-last{weight}>{bytes_}</within-last>"]
    return [
        f"<approximate-predicate attribute={quoteattr(attribute)}{weight}>",
        f'  <fuzzy-set term="wanted">{bytes_}</fuzzy-set>',
        "  <is>wanted</is>",
        "</approximate-predicate>",
    ]


def _combined(parts: SubscriptionBody, predicates: list[list[str]], called: list[str]) -> list[str]:
    if WITH_PATTERN >> parts.aggregator & 1:
        return _pattern(parts, predicates)
    lines = [line for predicate in predicates for line in predicate]
    if parts.aggregator != MIN:
        lines.append(f"<aggregating-function>{AGGREGATOR_NAMES[parts.aggregator]}</aggregating-function>")
    if WITH_RULES >> parts.aggregator & 1:
        lines += _function(parts, called)
    return _indented(lines)


def _function(parts: SubscriptionBody, called: list[str]) -> list[str]:
    """Return a function by its name or its rules, else by its bytes."""
    function = parts.block[0]
    if function < len(NAMED):
        return [f"<function>{NAMED[function].name}</function>"]
    if function in (GENERATOR, SUM_OF_PAIRS):
        return [f"<function><table>{parts.block.hex()}</table></function>"]
    regions = parts.block[1]
    centres = parts.block[2 : 2 + regions]
    size = 1 if parts.aggregator == TAKAGI_SUGENO_0 else 3
    pairs = [""]
    if function == TABLE_PER_PAIR:
        pairs = [f' of="{first} {second}"' for first, second in combinations(called, 2)]
    rules = []
    at = 2 + regions
    for pair in pairs:
        for a, b in product(centres, repeat=2):
            model = _linear(parts.block[at : at + size], a, b)
            rules.append(f'<rule{pair} at="{a / 255:.4g} {b / 255:.4g}">{model}</rule>')
            at += size
    return ["<function>", *_indented(rules), "</function>"]


def _linear(rule: bytes, a: int, b: int) -> str:
    """Return the model of a rule at the centres a and b as an expression in both degrees."""
    slopes = [((slope ^ 128) - 128) / 64 for slope in rule[1:]]
    constant = rule[0] / 255 - sum(slope * x / 255 for slope, x in zip(slopes, (a, b), strict=False))
    terms = [f"{constant:.5g}" if abs(constant) > 1e-9 else "0"]
    terms += [
        f"{slope:+g} * {name}" for slope, name in zip(slopes, ("first", "second"), strict=False) if slope
    ]
    return " ".join(terms)


def _pattern(parts: SubscriptionBody, predicates: list[list[str]]) -> list[str]:
    evaluate = "breakdown" if parts.aggregator == PATTERN_BREAKDOWN else "exact"
    nested = _nested(pattern_from_bytes(parts.block, len(predicates)), predicates)
    norm = norm_of(parts.block)
    by = f' t-norm="{NORMS[norm]}"' if norm else ""
    opening = f'<predicate-pattern evaluate="{evaluate}"{by}>'
    return _indented([opening, *_indented(nested), "</predicate-pattern>"])


def _nested(pattern: Pattern, predicates: list[list[str]]) -> list[str]:
    match pattern:
        case Leaf(rank):
            return predicates[rank]
        case Not(part):
            return ["<not>", *_indented(_nested(part, predicates)), "</not>"]
        case Joined(connective, parts):
            inner = [line for part in parts for line in _nested(part, predicates)]
            return [f"<{connective}>", *_indented(inner), f"</{connective}>"]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
