"""Costs of estimates on this machine, relative to the tests of searches: κ and φ of `replay`.

A test of an estimate is made for all events at once and costs less or more than one of a search; and every
estimate has a fixed cost. Runs that count units use neither.
"""

import numpy as np

from plugins.boxes.batch_search import BatchSearch, Clock
from plugins.boxes.index import LevelledIndex, Sides, Words
from plugins.boxes.profile import UNITS, Prices


def measured_prices(index: LevelledIndex, points: Sides, present: Words, clock: Clock) -> Prices:
    """Return the best fit to the estimates of a batch at all levels, in tests of its searches; units if there
    is nothing to fit.
    """
    tests, seconds, searched, spent = [], [], 0, 0.0
    for level in range(2, index.height + 1):
        batch = BatchSearch(index, points, present, level, clock)
        for _ in batch.results():
            pass
        tests.append(float(batch.trace.estimate))
        seconds.append(batch.trace.estimate_s)
        searched += sum(batch.trace.work)
        spent += batch.trace.done_s[-1] - batch.trace.estimate_s if len(points) else 0.0
    if len(tests) < 2 or not searched or spent <= 0:
        return UNITS
    of_a_test = spent / searched
    slope, fixed = np.polyfit(tests, seconds, 1)
    return Prices(max(float(slope), 0.0) / of_a_test, max(float(fixed), 0.0) / of_a_test)
