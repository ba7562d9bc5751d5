"""How much of what was owed arrived, and how fast: the definitions, for whoever counts pairs.

A *pair* is (notification, subscriber). By the end of a run, or of what is known of it, it is

- `delivered`;
- `withdrawn`: it had not arrived when its subscription was withdrawn, within its lifetime;
- `missed`: its notification's lifetime was over and it had not arrived;
- `lost`: it had not arrived, its lifetime was not over, and no copy is left (`copies_left.py`); or
- `open`: it had not arrived, its lifetime was not over and there is a copy, so that it might still have.

The first that is true counts. Four figures are shown beside each other, because the first alone depends on
when the run stops:

- the *delivery ratio*, delivered / owed, which is The ONE's: every other pair counts as not delivered;
- how many are *open*;
- the ratio among the pairs that had their *whole lifetime*: it was over by the end, and their subscription
  was not withdrawn before;
- the *estimate* (Kaplan and Meier's) of the share that arrives within its lifetime. It makes use of open
  pairs for as long as they were watched, and of withdrawn ones until the withdrawal. Missed and lost pairs
  never arrive. Where no pair had its whole lifetime, neither of the last two is known.

A delay runs from the event to the application. `delivered_delay` is about delivered pairs alone, `delay`
about all that are owed, with open pairs as censored. Reports ask Spark for the same figures
(`metrics/delivery.py`, `metrics/delay.py`); a law holds both to the same numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from spark_analysis.answers import Served
from spark_analysis.survival import Estimate, estimate


class Pair(NamedTuple):
    """An expected delivery; times in milliseconds."""

    event_ms: int
    lifetime_ms: int
    delivered_ms: int | None
    withdrawn_ms: int | None = None
    """When the last of its subscriptions was withdrawn; None: never."""
    is_lost: bool = False
    """Whether it is known that no copy is left."""


@dataclass(frozen=True, slots=True)
class PairFigures:
    """What became of all pairs that are owed; delays in milliseconds."""

    served: Served
    delay: Estimate
    delivered_delay: Estimate

    @property
    def estimate(self) -> float | None:
        """Return the estimated share of pairs that arrive within their lifetime."""
        if not self.served.whole or self.delay.left is None:
            return None
        return 1 - self.delay.left


def pair_figures(pairs: Iterable[Pair], end_ms: int) -> PairFigures:
    """Return the figures of these pairs as of `end_ms`."""
    counts = dict.fromkeys(("owed", "delivered", "missed", "open", "whole_delivered", "lost", "withdrawn"), 0)
    watched: list[tuple[float, int, int, int]] = []
    for event_ms, lifetime_ms, delivered_ms, withdrawn_ms, is_lost in pairs:
        counts["owed"] += 1
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
    return PairFigures(Served(**counts), estimate(watched), estimate(row for row in watched if row[1]))
