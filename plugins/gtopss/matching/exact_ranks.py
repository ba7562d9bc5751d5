"""Exact order of values that doubles cannot distinguish: numbers beyond their precision, texts with a common
prefix.

Compiled code compares values as doubles. If two of one kind have the same double, it compares *ranks*: a
constant has an odd one, by its exact value among the constants of its kind and double; a node has the rank of
the constant that it equals, or an even one between those of its neighbours. So each value is compared exactly
once, for any number of patterns.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from knowledge_manager.graphs.values import value_of
from plugins.gtopss.pattern import Constant
from plugins.kernels.graphs.decode import DOUBLE
from plugins.kernels.graphs.index import Ints, ValueArrays


class ExactRanks:
    """Ranks the constants of an index as far as nodes require it."""

    def __init__(self, values: ValueArrays, term: Callable[[int], Constant]) -> None:
        self.ranks: Ints = np.zeros(len(values.doubles), np.int32)
        self._values = values
        self._term = term
        self._exact: dict[tuple[int, float], list[Any]] = {}
        """Rising exact values of the constants of a kind and double; only those that some constant has."""

    def rank(self, group: int, double: float, worth: object) -> int:
        """Return the rank of an exact value among the constants of its kind and double."""
        known = self._exact.get((group, double))
        if known is None:
            known = self._ranked(group, double)
        at = bisect_left(known, worth)
        return 2 * at + (at < len(known) and known[at] == worth)

    @cached_property
    def _order(self) -> tuple[Any, Any, Any]:
        """Return the constants by kind and double, and both of these in that order."""
        order = np.lexsort((self._values.doubles, self._values.kinds[:, 0]))
        return order, self._values.kinds[order, 0], self._values.doubles[order]

    def _ranked(self, group: int, double: float) -> list[Any]:
        """Rank the constants of a kind and double; return their exact values."""
        order, groups, doubles = self._order
        first, last = np.searchsorted(groups, [group, group + 1])
        begin, end = first + np.searchsorted(doubles[first:last], [double, np.nextafter(double, np.inf)])
        worths = {}
        for number in order[begin:end].tolist():
            value = value_of(self._term(number))
            if value is not None and not self._values.kinds[number, 1] & DOUBLE:
                worths[number] = value.worth
        known: list[Any] = sorted(set(worths.values()))
        for number, worth in worths.items():
            self.ranks[number] = 2 * bisect_left(known, worth) + 1
        if known:
            self._exact[group, double] = known
        return known
