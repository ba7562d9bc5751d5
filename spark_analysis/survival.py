"""The survival curve of censored times (Kaplan and Meier 1958), from a life table."""

from collections.abc import Iterable

from spark_analysis.metrics.contacts import BINS_PER_DECADE


def survival(life_table: Iterable[tuple[int, int, int]]) -> tuple[tuple[float, float], ...]:
    """Return (seconds, share of times longer than that) for each bin of (bin, ended, censored), in order.

    A censored time counts as at risk in its own bin and in every bin before it, and not after: the usual
    convention that a censoring at t happens just after the events at t. Without any ended time the curve
    stays at 1, and it is empty without any time at all.
    """
    bins = sorted(life_table)
    at_risk = sum(ended + censored for _, ended, censored in bins)
    alive, curve = 1.0, []
    for bin_, ended, censored in bins:
        alive *= 1 - ended / at_risk
        at_risk -= ended + censored
        curve.append((10 ** (bin_ / BINS_PER_DECADE) / 1000, alive))
    return tuple(curve)
