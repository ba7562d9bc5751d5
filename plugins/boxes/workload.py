"""Effects of ordering a batch: completions, average response time, and inequality of events.

All events of a batch arrive at 0 and are served one by one, so event i is done when the estimate and all
events before it are done: C_i = T_est + c_1 + … + c_i in the order of execution.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

import numpy as np
import numpy.typing as npt

NOTHING: Final = Fraction(0)


def order_by_workload(workloads: Sequence[int]) -> list[int]:
    """Return the positions of events by workload, of equals the one that arrived first.

    >>> order_by_workload([3, 1, 2, 1])
    [1, 3, 2, 0]
    """
    return sorted(range(len(workloads)), key=lambda position: (workloads[position], position))


def completions(work: Sequence[int], order: Sequence[int], estimate: int = 0) -> list[int]:
    """Return the completion times, in the order of execution."""
    return list(accumulate((work[position] for position in order), initial=estimate))[1:]


def average_response(work: Sequence[int], order: Sequence[int], estimate: int = 0) -> Fraction:
    """Return the mean of the completions, 0 without events."""
    done = completions(work, order, estimate)
    return Fraction(sum(done), len(done)) if done else NOTHING


def random_order_response(work: Sequence[int]) -> Fraction:
    """Return the expectation over all orders without an estimate: (b + 1)/2 times the mean work, exactly."""
    return Fraction((len(work) + 1) * sum(work), 2 * len(work)) if work else NOTHING


def perfect_response(work: Sequence[int]) -> Fraction:
    """Return the average response if all work is known in advance and the shortest goes first."""
    return average_response(work, order_by_workload(work))


def gini(work: Sequence[int]) -> Fraction:
    """Return the Gini coefficient of the work of a batch: perfect ÷ random order is 1 - G·b/(b + 1)."""
    if not sum(work):
        return NOTHING
    ranked = sum((2 * rank - len(work) - 1) * one for rank, one in enumerate(sorted(work), start=1))
    return Fraction(ranked, len(work) * sum(work))


def by_point(table: npt.NDArray[Any], points: int) -> tuple[list[npt.NDArray[np.int64] | None], list[int]]:
    """Group a table of (point, place) by point: the places of each, and their number."""
    order = np.argsort(table[:, 0], kind="stable")
    workloads = np.bincount(table[:, 0], minlength=points)
    places = np.ascontiguousarray(table[order, 1]).astype(np.int64)
    return list(np.split(places, np.cumsum(workloads)[:-1])), workloads.tolist()
