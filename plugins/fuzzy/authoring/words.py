"""Texts of vectors: constraints, combinations and whole subscriptions."""

import math
from fractions import Fraction

from knowledge_manager.durations import written_duration
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.constants import shown_unit
from plugins.authoring.output.byte_words import Names, value_words
from plugins.authoring.output.reading_words import amount_words, reading_words
from plugins.board_vectors import SubscriptionBody, Triple
from plugins.byte_readings import first_reading, last_reading
from plugins.fuzzy.named_functions import NAMED
from plugins.fuzzy.patterns import NORMS, Joined, Leaf, Not, Pattern, norm_of, pattern_from_bytes
from watchdog.aggregators import AGGREGATOR_NAMES, PATTERN_BREAKDOWN, WEIGHTED_MEAN, WITH_PATTERN, WITH_RULES
from watchdog.lifetime import lifetime_s

_CRISP = 127


def constraint_words(triple: Triple, attribute: Attribute | None, *, age: bool = False) -> str:
    """Return the text of (v, V, g) for an attribute: the core, the slope outside, and the complement.

    The core is described by its first and last reading, so that the text holds for exactly the readings with
    full degree (or, complemented, degree 0).
    """
    v, V, g = triple
    core = _core_words(v, V, attribute, age=age)
    if v == 0 and V == 255:
        return "never holds" if g & 128 else f"is {core}"
    is_ = "is not" if g & 128 else "is"
    return f"{is_} {core}" + ("" if g & 127 == _CRISP else f", {_falling_words(triple, attribute, age=age)}")


def _core_words(v: int, V: int, attribute: Attribute | None, *, age: bool) -> str:
    if v == 0 and V == 255:
        return "anything"
    if attribute is None:
        low, high = (value_words(byte, None, age=age) for byte in (v, V))
        return _span_words(low, high, reaches_low=v == 0, reaches_high=V == 255)
    if attribute.type == "nominal":
        return " or ".join(attribute.values[v : V + 1]) or f"value {v}"
    first, last = first_reading(v, attribute), last_reading(V, attribute)
    if first > last:
        beside = f"{reading_words(last, attribute)} and {reading_words(first, attribute)}"
        return f"something between {beside}, which no reading has"
    low, high = reading_words(first, attribute), reading_words(last, attribute)
    return _span_words(low, high, reaches_low=v == 0, reaches_high=V == 255)


def _span_words(low: str, high: str, *, reaches_low: bool, reaches_high: bool) -> str:
    if low == high:
        return low
    if reaches_low:
        return f"at most {high}"
    return f"at least {low}" if reaches_high else f"between {low} and {high}"


def _falling_words(triple: Triple, attribute: Attribute | None, *, age: bool) -> str:
    """Return where outside the core the degree reaches 0, on each side if the scale has steps of different
    sizes.
    """
    v, V, g = triple
    steps: float = 255 / (0.5 * 2 ** ((g & 127) / 18))
    if age and v == 0 and V + math.ceil(steps) <= 255:
        return f"falling to 0 at {value_words(V + math.ceil(steps), None, age=True)}"
    if attribute is None or attribute.type == "nominal":
        return f"falling to 0 over {steps:.3g} of 255 steps outside"
    if not attribute.breakpoints and attribute.type == "number":
        width = (attribute.hi - attribute.lo) * steps / 255
        return f"falling to 0 over {width:.3g} {shown_unit(attribute) or 'units'} outside"
    if not attribute.breakpoints:
        amount = (attribute.hi_scaled - attribute.lo_scaled) * Fraction(steps / 255)
        return f"falling to 0 over {amount_words(amount, attribute)} outside"
    ends = []
    if v > 0:
        reached = v - math.ceil(steps)
        ends.append(f"at {value_words(reached, attribute)}" if reached >= 0 else "below the domain")
    if V < 255:
        reached = V + math.ceil(steps)
        ends.append(f"at {value_words(reached, attribute)}" if reached <= 255 else "above the domain")
    return f"falling to 0 {' and '.join(ends)}"


def pattern_words(pattern: Pattern, names: list[str]) -> str:
    match pattern:
        case Leaf(rank):
            return names[rank]
        case Not(part):
            return f"not {_bracketed(part, names)}"
        case Joined(connective, parts):
            return f" {connective} ".join(_bracketed(part, names) for part in parts)


def _bracketed(pattern: Pattern, names: list[str]) -> str:
    text = pattern_words(pattern, names)
    return f"({text})" if isinstance(pattern, Joined) else text


def combination_words(parts: SubscriptionBody, names: list[str]) -> str:
    """Return how the degrees of the predicates are combined."""
    if WITH_PATTERN >> parts.aggregator & 1:
        pattern = pattern_words(pattern_from_bytes(parts.block, len(names)), names)
        norm = norm_of(parts.block)
        by = f", with the T-norm {NORMS[norm]} for and" if norm else ""
        return pattern + by + (", broken down into pairs" if parts.aggregator == PATTERN_BREAKDOWN else "")
    if parts.aggregator == WEIGHTED_MEAN:
        weights = ", ".join(f"{name} {weight}" for name, weight in zip(names, parts.block, strict=True))
        return f"weighted_mean ({weights})"
    if WITH_RULES >> parts.aggregator & 1:
        function = parts.block[0]
        what = "a function of the document"
        if function < len(NAMED):
            what = f"{NAMED[function].title} within {NAMED[function].stated_error:.3f}"
        return f"{AGGREGATOR_NAMES[parts.aggregator]} ({what}, broken down into pairs)"
    return AGGREGATOR_NAMES[parts.aggregator]


def threshold_words(threshold: int) -> str:
    """Return the text of the minimum degree."""
    return f"at least {threshold / 15:.3g}" if threshold else "any above 0"


def subscription_words(parts: SubscriptionBody, names: Names, lifetime_q: int) -> list[str]:
    """Return the subscription in sentences, one per line."""
    called = [names.attribute(parts.event, index) for index in parts.attributes]
    lines = [f"{names.event(parts.event)} events where"]
    for index, triple, name in zip(parts.attributes, parts.constraints, called, strict=True):
        attribute = names.attribute_of(parts.event, index)
        lines.append(f"  {name} {constraint_words(triple, attribute, age=names.is_age(index))}")
    lines.append(f"combined by {combination_words(parts, called)};")
    lives = written_duration(lifetime_s(lifetime_q))
    lines.append(f"the degree is {threshold_words(parts.threshold)}; it lives {lives}.")
    return lines
