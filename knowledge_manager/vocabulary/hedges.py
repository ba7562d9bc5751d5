"""Hedges: words that modify the curve of a term, as in "very high" or "not slightly cold".

This is the only table of them: vocabularies, subscriptions and curves use it, and tests compare the schema of
the subscription language and docs/how-to/subscriptions.md with it. A new hedge is one entry of `HEDGES`, with
its line in the schema and the docs; tests/knowledge_manager/test_hedges.py covers it without changes.

`bend` takes one degree or an array of degrees in [0, 1], so it uses operators only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Hedge:
    """A word, its description, and its effect on degrees.

    Every hedge maps 0 to 0 and 1 to 1, and is increasing; one that `turns_over` maps 0 to 1 and 1 to 0, and
    is decreasing. So a crisp set stays crisp, or becomes its complement.
    """

    name: str
    meaning: str
    bend: Callable[[Any], Any]
    turns_over: bool = False


def _sharper(degree: Any) -> Any:
    """Return Zadeh's contrast intensification: two parabolas that meet at one half."""
    is_low = degree < 0.5
    return is_low * (2.0 * degree**2) + (1 - is_low) * (1.0 - 2.0 * (1.0 - degree) ** 2)


HEDGES: Final[dict[str, Hedge]] = {
    hedge.name: hedge
    for hedge in (
        Hedge("very", "the square of the degree", lambda degree: degree**2),
        Hedge("extremely", "its cube", lambda degree: degree**3),
        Hedge("more_or_less", "its square root", lambda degree: degree**0.5),
        Hedge("slightly", "its cube root", lambda degree: degree ** (1.0 / 3.0)),
        Hedge("indeed", "sharper: smaller below one half, greater above", _sharper),
        Hedge("not", "one minus the degree", lambda degree: 1.0 - degree, turns_over=True),
    )
}
"""Every hedge by its word. They stack, the one nearest to the term first."""
