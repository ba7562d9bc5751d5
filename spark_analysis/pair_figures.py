"""Definitions of delivery and delay figures, with and without Spark.

A *pair* is (notification, subscriber), one expected delivery. By the end of a run, or of the known part of
it, it is

- `delivered`;
- `withdrawn`: its subscription was withdrawn before it arrived, within its lifetime;
- `missed`: it expired before it arrived;
- `lost`: it had not arrived, had not expired, and no copy remains (`remaining_copies.py`); or
- `open`: it had not arrived, had not expired, and a copy remains, so that it might still have arrived.

The first that applies counts. Four figures are shown together, because the first alone depends on when the
run stops:

- the *delivery ratio*, delivered / expected, as in The ONE: every other pair counts as not delivered;
- the number of *open* pairs;
- the ratio among the pairs that had their *whole lifetime*: they expired by the end, and their subscription
  was not withdrawn before;
- the *estimate* (Kaplan–Meier) of the share that arrives within its lifetime. Open pairs are censored at the
  end, withdrawn ones at the withdrawal. Missed and lost pairs never arrive. If no pair had its whole
  lifetime, neither of the last two is known.

A delay runs from the event to the application. `delivered_delay` covers delivered pairs only, `delay` all
expected ones, with open pairs as censored. Reports compute the same figures with Spark
(`metrics/delivery.py`, `metrics/estimates.py`); a property test compares both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_analysis import json_keys
from spark_analysis.survival import Estimate, estimate


@dataclass(frozen=True, slots=True)
class DeliveryCounts:
    """Expected deliveries by their outcome; `expected` is their number."""

    expected: int = field(metadata=json_keys.EXPECTED)
    delivered: int
    missed: int
    open: int
    whole_delivered: int
    """Delivered pairs that had their whole lifetime."""
    lost: int = 0
    """Not delivered, not expired, and no copy remains."""
    withdrawn: int = 0
    """The subscription was withdrawn before delivery, within the lifetime."""
    whole: int = field(init=False)
    """Pairs that had their whole lifetime, delivered or not."""
    ratio: float | None = field(init=False)
    """delivered / expected"""
    whole_ratio: float | None = field(init=False)
    """The ratio among the pairs that had their whole lifetime."""

    def __post_init__(self) -> None:
        """Derive the ratios, so that they are always consistent with the counts."""
        whole = self.whole_delivered + self.missed
        object.__setattr__(self, "whole", whole)
        object.__setattr__(self, "ratio", self.delivered / self.expected if self.expected else None)
        object.__setattr__(self, "whole_ratio", self.whole_delivered / whole if whole else None)


class Pair(NamedTuple):
    """An expected delivery; times in milliseconds."""

    event_ms: int
    lifetime_ms: int
    delivered_ms: int | None
    withdrawn_ms: int | None = None
    """When the last of its subscriptions was withdrawn; None: never."""
    is_lost: bool = False
    """Whether it is known that no copy remains."""


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Counts and delays of all pairs; delays in milliseconds."""

    counts: DeliveryCounts
    delay: Estimate
    delivered_delay: Estimate

    @property
    def estimate(self) -> float | None:
        """Return the estimated share of pairs that arrive within their lifetime."""
        if not self.counts.whole or self.delay.left is None:
            return None
        return 1 - self.delay.left


def pair_figures(pairs: Iterable[Pair], end_ms: int) -> PairFigures:
    """Return the figures of these pairs as of `end_ms`."""
    counts = dict.fromkeys(
        ("expected", "delivered", "missed", "open", "whole_delivered", "lost", "withdrawn"), 0
    )
    watched: list[tuple[float, int, int, int]] = []
    for event_ms, lifetime_ms, delivered_ms, withdrawn_ms, is_lost in pairs:
        counts["expected"] += 1
        over_ms = event_ms + lifetime_ms
        is_withdrawn = withdrawn_ms is not None and withdrawn_ms < over_ms and withdrawn_ms <= end_ms
        if delivered_ms is not None:
            counts["delivered"] += 1
            counts["whole_delivered"] += over_ms <= end_ms and not is_withdrawn
            watched.append((delivered_ms - event_ms, 1, 0, 0))
        elif is_withdrawn:
            assert withdrawn_ms is not None
            counts["withdrawn"] += 1
            watched.append((withdrawn_ms - event_ms, 0, 1, 0))
        elif over_ms <= end_ms:
            counts["missed"] += 1
            watched.append((lifetime_ms, 0, 0, 1))
        elif is_lost:
            counts["lost"] += 1
            watched.append((end_ms - event_ms, 0, 0, 1))
        else:
            counts["open"] += 1
            watched.append((end_ms - event_ms, 0, 1, 0))
    return PairFigures(
        DeliveryCounts(**counts), estimate(watched), estimate(row for row in watched if row[1])
    )
