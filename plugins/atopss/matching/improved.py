"""`improved`: the regular algorithm with the predicates of an attribute sorted (ICDE 2004, figure 10).

They are sorted by their corners. The first one that begins after the end of the value ends the search; those
that end before the value begins are skipped one by one, because m1 does not order m4. Complements match
wherever their shape does not, so all of them are evaluated.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable

from plugins.atopss.matching.encodings import Encoding, Pair
from plugins.atopss.matching.regular import Predicates, RegularMatcher
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Predicate


class SortedPredicates(Predicates):
    """The distinct predicates of one attribute by (m1, m2, m3, m4, arrival)."""

    def __init__(self) -> None:
        super().__init__()
        self._sorted: list[tuple[int, int, int, int, int]] = []
        self._complements: list[int] = []

    def enter(self, number: int, predicate: Predicate) -> None:
        super().enter(number, predicate)
        if predicate.complement:
            insort(self._complements, number)
        else:
            insort(self._sorted, _place(number, predicate.shape))

    def leave(self, number: int) -> None:
        predicate = self._numbers[number]
        super().leave(number)
        if predicate.complement:
            del self._complements[bisect_left(self._complements, number)]
        else:
            del self._sorted[bisect_left(self._sorted, _place(number, predicate.shape))]

    def judged(self, value: Shape, encoding: Encoding) -> Iterable[tuple[int, Pair]]:
        """Yield the predicates whose shapes overlap the value, and all complements."""
        for number in self._complements:
            yield number, encoding.degrees(self._numbers[number], value)
        is_upright = value.m3 == value.m4
        for m1, m2, _, m4, number in self._sorted:
            if m1 > value.m4:
                break
            if m4 < value.m1 or (m1 == value.m4 and not (is_upright and m1 == m2)):
                continue
            yield number, encoding.degrees(self._numbers[number], value)


def _place(number: int, shape: Shape) -> tuple[int, int, int, int, int]:
    return shape.m1, shape.m2, shape.m3, shape.m4, number


class ImprovedMatcher(RegularMatcher):
    """Holds each distinct predicate once, sorted."""

    def predicates(self) -> SortedPredicates:
        return SortedPredicates()
