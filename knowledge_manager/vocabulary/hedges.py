"""The hedges: words that bend the curve of a term, "very high", "not slightly cold".

This is the one table of them. Vocabularies and subscriptions take the words that stand here, curves are bent
by the functions that stand here, and the schema of the subscription language and docs/subscriptions.md are
held to it by tests. A hedge is one expression, so all of them share this file; a new one is one entry of
`HEDGES`, its line in the schema and in the docs, and the laws in `tests/knowledge_manager/test_hedges.py` run
on it unasked.

`bend` is given one degree or an array of degrees in [0, 1], all the same; so it uses operators only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Hedge:
    """A word, what it does in words, and what it does to degrees.

    Every hedge takes 0 and 1 to 0 and 1, and rises; one that `turns_over` takes them to 1 and 0, and falls.
    So a crisp set stays one, or becomes its complement.
    """

    name: str
    meaning: str
    bend: Callable[[Any], Any]
    turns_over: bool = False


def _sharper(degree: Any) -> Any:
    """Return Zadeh's contrast intensification: each half is a parabola, and they meet in the middle."""
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
