"""How much of what was owed arrived, and how fast: the definitions, for whoever counts pairs.

A *pair* is (notification, subscriber). By the end of a run, or of what is known of it, it is

- `delivered`,
- `missed`: its notification's lifetime was over and it had not arrived, or
- `open`: it had not arrived and its lifetime was not over, so that it might still have.

Four figures are shown beside each other, because the first alone depends on when one stops to look:

- the *delivery ratio*, delivered / owed, which is The ONE's: an open pair counts like a missed one;
- how many are *open*;
- the ratio among the pairs that had their *whole lifetime*: those whose lifetime was over by the end;
- the *estimate* (Kaplan and Meier's) of the share that arrives within its lifetime. It makes use of open
  pairs for as long as they were watched. A missed pair is one that never arrives. Where no pair had its whole
  lifetime, neither of the last two is known.

A delay runs from the event to the application. `delivered_delay` is about delivered pairs alone, `delay`
about all that are owed, with open pairs as censored. Reports ask Spark for the same figures
(`metrics/delivery.py`, `metrics/delay.py`); a law holds both to the same numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spark_analysis.answers import Served
from spark_analysis.survival import Estimate, estimate

Pair = tuple[int, int, int | None]
"""When its event was, how long its notification lives, and when it was delivered, all in milliseconds."""


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
    owed = delivered = missed = still_open = whole_delivered = 0
    watched: list[tuple[float, int, int, int]] = []
    for event_ms, lifetime_ms, delivered_ms in pairs:
        owed += 1
        is_over = event_ms + lifetime_ms <= end_ms
        if delivered_ms is not None:
            delivered += 1
            whole_delivered += is_over
            watched.append((delivered_ms - event_ms, 1, 0, 0))
        elif is_over:
            missed += 1
            watched.append((lifetime_ms, 0, 0, 1))
        else:
            still_open += 1
            watched.append((end_ms - event_ms, 0, 1, 0))
    return PairFigures(
        Served(owed, delivered, missed, still_open, whole_delivered),
        estimate(watched),
        estimate(row for row in watched if row[1]),
    )
