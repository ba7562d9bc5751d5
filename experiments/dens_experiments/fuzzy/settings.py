"""The settings of a figure: the options of the request, and defaults."""

from dataclasses import dataclass, replace
from typing import Final

from dens_experiments.family import Request, UnknownFigure
from dens_experiments.fuzzy.workload import MOST_ATTRIBUTES, WORKLOADS, Workload
from plugins.fuzzy import FEATURE_CONDITIONS

COUNTS: Final = (40, 100, 200, 500, 1000)
SMALL_COUNTS: Final = (40, 200, 1000)
SEEDS: Final = (1, 2, 3, 4, 5)
SMALL_SEEDS: Final = (1, 2, 3)
MOST_SUBSCRIPTIONS: Final = 60_000
"""Keys of the experiments are 16-bit numbers."""

TAKES: Final = frozenset(
    {"counts", "seeds", "repetitions", "workload", "attributes", "condition", "similarity"}
)


@dataclass(frozen=True, slots=True)
class Settings:
    """A workload, how many subscriptions, which seeds, how often each time is taken, and how many events."""

    workload: Workload
    counts: tuple[int, ...]
    seeds: tuple[int, ...]
    repetitions: int
    events: int

    def words(self) -> dict[str, str]:
        """Return how it is measured, for people."""
        seeds = f"{len(self.seeds)} ({self.seeds[0]} … {self.seeds[-1]})" if len(self.seeds) > 1 else "1"
        return {
            "workload": self.workload.words(),
            "seeds": seeds,
            "value": f"mean over seeds ± half of the 95 % t interval, each the least of {self.repetitions}",
        }


def settings_of(
    request: Request,
    counts: tuple[int, ...] = COUNTS,
    small_counts: tuple[int, ...] = SMALL_COUNTS,
) -> Settings:
    """Return what to measure with, or raise `UnknownFigure` for values that mean nothing."""
    return Settings(
        workload_of(request),
        _checked_counts(request.counts) or (small_counts if request.small else counts),
        request.seeds or (SMALL_SEEDS if request.small else SEEDS),
        request.repetitions or (2 if request.small else 3),
        20 if request.small else 40,
    )


def workload_of(request: Request) -> Workload:
    """Return the workload of the request with its changes."""
    name = request.workload or "paper"
    if name not in WORKLOADS:
        raise UnknownFigure(f"workload {name!r} is unknown; there are: {', '.join(WORKLOADS)}")
    found = WORKLOADS[name]
    if request.condition is not None:
        if request.condition not in FEATURE_CONDITIONS:
            there_are = ", ".join(FEATURE_CONDITIONS)
            raise UnknownFigure(f"condition {request.condition!r} is unknown; there are: {there_are}")
        found = replace(found, condition=request.condition)
    if request.attributes is not None:
        least, most, of = request.attributes
        if not 1 <= least <= most <= of <= MOST_ATTRIBUTES:
            raise UnknownFigure(
                f"attributes {least}-{most}/{of} cannot be drawn; say A-B/N with 1 ≤ A ≤ B ≤ N ≤ "
                f"{MOST_ATTRIBUTES}"
            )
        found = replace(found, attributes=(least, most, of))
    if request.similarity is not None:
        if not 0 <= request.similarity < 1:
            raise UnknownFigure(f"similarity {request.similarity:g} is not a share from 0 to below 1")
        found = replace(found, similarity=request.similarity)
    return found


def _checked_counts(counts: tuple[int, ...] | None) -> tuple[int, ...] | None:
    for count in counts or ():
        if not 1 <= count <= MOST_SUBSCRIPTIONS:
            raise UnknownFigure(f"{count} subscriptions cannot be measured; say 1 to {MOST_SUBSCRIPTIONS}")
    return counts
