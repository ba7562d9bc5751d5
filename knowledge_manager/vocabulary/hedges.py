"""Hedges: words that modify the curve of a term, as in "very high" or "not slightly cold".

This is the only table of them: vocabularies, subscriptions, curves and the vectors of the approximate
language use it. hedges.xsd lists the same names for the schemas of languages, so that editors complete them.
A new hedge is one entry of `HEDGES`, with its line in hedges.xsd and docs/how-to/subscriptions.md;
tests/knowledge_manager/test_hedges.py compares the three and covers the hedge without changes.

`bend` takes one degree or an array of degrees in [0, 1], so it uses operators only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class SideCodes:
    """The numbers of a hedge in profile bytes (docs/reference/vector-format.md), and its inverse.

    Codes are bytes of stored vectors, so they never change. A new one also needs a line in
    docs/reference/vector-format.md, and wider profile numbers in plugins/atopss/matching/sieve_scan.py, which
    have seven bits.
    """

    code: int
    dual: int
    """The code of 1 - h(1 - u)."""
    inverse: Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Hedge:
    """A word, its description, and its effect on degrees.

    Every hedge maps 0 to 0 and 1 to 1, and is increasing; one that `turns_over` maps 0 to 1 and 1 to 0, and
    is decreasing. So a crisp set stays crisp, or becomes its complement. The approximate language refuses a
    hedge that has no codes and does not turn over, because its vectors cannot express it.
    """

    name: str
    meaning: str
    bend: Callable[[Any], Any]
    turns_over: bool = False
    codes: SideCodes | None = None


def _sharper(degree: Any) -> Any:
    """Return Zadeh's contrast intensification: two parabolas that meet at one half."""
    is_low = degree < 0.5
    return is_low * (2.0 * degree**2) + (1 - is_low) * (1.0 - 2.0 * (1.0 - degree) ** 2)


def _inverse_of_sharper(degree: float) -> float:
    if degree < 0.5:
        return math.sqrt(degree / 2)
    return 1 - math.sqrt((1 - degree) / 2)


HEDGES: Final[dict[str, Hedge]] = {
    hedge.name: hedge
    for hedge in (
        Hedge(
            "very",
            "the square of the degree",
            lambda degree: degree**2,
            codes=SideCodes(1, 6, lambda degree: degree**0.5),
        ),
        Hedge(
            "extremely",
            "its cube",
            lambda degree: degree**3,
            codes=SideCodes(2, 7, lambda degree: degree ** (1.0 / 3.0)),
        ),
        Hedge(
            "more_or_less",
            "its square root",
            lambda degree: degree**0.5,
            codes=SideCodes(3, 8, lambda degree: degree**2),
        ),
        Hedge(
            "slightly",
            "its cube root",
            lambda degree: degree ** (1.0 / 3.0),
            codes=SideCodes(4, 9, lambda degree: degree**3),
        ),
        Hedge(
            "indeed",
            "sharper: smaller below one half, greater above",
            _sharper,
            codes=SideCodes(5, 5, _inverse_of_sharper),
        ),
        Hedge("not", "one minus the degree", lambda degree: 1.0 - degree, turns_over=True),
    )
}
"""Every hedge by its word. They stack, the one nearest to the term first."""
