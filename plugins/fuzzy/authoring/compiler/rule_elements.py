"""Reads `<rule>` elements: local linear models, one per pair of regions.

    <function>
      <rule at="0 0">0</rule>
      <rule at="0 1">0.2 * heart_rate</rule> …

defines the function near these two degrees. Rules with constant models make a table of order zero, others one
of order one.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from plugins.authoring.constants import BadConstant, plain_number
from plugins.fuzzy.authoring.compiler.expressions import BadExpression, linear_form
from watchdog.blocks import ONE_TABLE, TABLE_PER_PAIR

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MOST_REGIONS: Final = 8
HALF_A_STEP: Final = 1 / 510

Pair = tuple[int, int]
EVERY_PAIR: Final[Pair] = (-1, -1)
"""The pair of a rule that names none."""

Model = tuple[float, float, float]
"""The value at the centres, and its slopes in the first and the second degree."""


def rules_block(
    rules: "list[Element]", in_order: list[int], names: Mapping[str, int], order: int | None
) -> tuple[bytes, int]:
    """Return the block of the rules and its order, or raise `BadExpression`.

    `in_order` are the ranks of the predicates in document order, `names` their names.
    """
    count = len(in_order)
    models: dict[Pair, dict[Pair, Model]] = {}
    for rule in rules:
        pair, is_turned = _pair(rule, in_order, names)
        at = _centres(rule, is_turned)
        columns = {name: pair.index(rank) for name, rank in names.items() if rank in pair}
        first, second = (1, 0) if is_turned else (0, 1)
        form = linear_form((rule.text or "").strip(), {**columns, "first": first, "second": second})
        value = form[0] + form[1] * at[0] / 255 + form[2] * at[1] / 255
        table = models.setdefault(pair, {})
        if at in table:
            raise BadExpression(f'two rules have at="{rule.get("at")}"; remove one')
        table[at] = _checked((value, form[1], form[2]), rule)
    centres = sorted({centre for table in models.values() for at in table for centre in at})
    if not 2 <= len(centres) <= MOST_REGIONS:
        raise BadExpression(f"rules have {len(centres)} degrees along a side; expected 2 to {MOST_REGIONS}")
    pairs = [EVERY_PAIR] if EVERY_PAIR in models else list(combinations(range(count), 2))
    flat = not any(model[1] or model[2] for table in models.values() for model in table.values())
    chosen = order if order is not None else (0 if flat else 1)
    if chosen == 0 and not flat:
        raise BadExpression("takagi_sugeno_0 has no slopes; use takagi_sugeno_1")
    content = b""
    for pair in pairs:
        table = models.get(pair, {})
        for at in ((a, b) for a in centres for b in centres):
            if at not in table:
                where = f'at="{at[0] / 255:.3g} {at[1] / 255:.3g}"'
                raise BadExpression(f"no rule {where}; each pair of centres of each pair needs one")
            content += _coefficients(table[at], chosen)
    function = ONE_TABLE if len(pairs) == 1 else TABLE_PER_PAIR
    return bytes([function, len(centres), *centres]) + content, chosen


def _pair(rule: "Element", in_order: list[int], names: Mapping[str, int]) -> tuple[Pair, bool]:
    """Return the ranks of a rule, lower first, and whether it names them in reverse.

    With more than two predicates, a rule that names none applies to every pair.
    """
    of = rule.get("of")
    if of is None:
        if len(in_order) > 2:
            return EVERY_PAIR, False
        ranks = in_order
    else:
        words = of.split()
        for word in words:
            if word not in names:
                raise BadExpression(f'of="{of}": "{word}" has no predicate here')
        ranks = [names[word] for word in words]
        if len(ranks) != 2 or ranks[0] == ranks[1]:
            raise BadExpression(f'of="{of}" must name two predicates')
    low, high = sorted(ranks)
    return (low, high), ranks[0] > ranks[1]


def _centres(rule: "Element", is_turned: bool) -> Pair:
    text = str(rule.get("at"))
    try:
        places = [plain_number(word) for word in text.split()]
    except BadConstant as error:
        raise BadExpression(f'at="{text}": {error}') from None
    if len(places) != 2 or not all(0 <= place <= 1 for place in places):
        raise BadExpression(f'at="{text}" must be two degrees from 0 to 1')
    a, b = (round(255 * place) for place in places)
    return (b, a) if is_turned else (a, b)


def _checked(model: Model, rule: "Element") -> Model:
    where = f'the rule at "{rule.get("at")}"'
    if not -HALF_A_STEP < model[0] < 1 + HALF_A_STEP:
        raise BadExpression(f"{where} is {model[0]:.3g} there, outside 0..1")
    if any(not -128.5 < 64 * slope < 127.5 for slope in model[1:]):
        raise BadExpression(f"{where} has a slope above 2")
    return model


def _coefficients(model: Model, order: int) -> bytes:
    constant = int(np.clip(round(255 * model[0]), 0, 255))
    if order == 0:
        return bytes([constant])
    return bytes([constant, *(round(64 * slope) & 255 for slope in model[1:])])
