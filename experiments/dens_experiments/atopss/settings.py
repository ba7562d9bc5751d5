"""The settings of a figure: the options of the request, and defaults."""

from dataclasses import dataclass
from typing import Final

from dens_experiments.atopss.workload import ATTRIBUTES, WORKLOADS, Workload
from dens_experiments.family import Request, UnknownFigure

SEEDS: Final = (1, 2, 3, 4, 5)
FEWER_SEEDS: Final = (1, 2, 3)
"""Where a value takes minutes."""
SMALL_SEEDS: Final = (1, 2)
MOST_SUBSCRIPTIONS: Final = 1_000_000
TAKES: Final = frozenset({"counts", "seeds", "workload"})
TIMED: Final = TAKES | {"repetitions"}


@dataclass(frozen=True, slots=True)
class Settings:
    """A workload, how many subscriptions, which seeds, how often a time is taken."""

    name: str
    counts: tuple[int, ...]
    seeds: tuple[int, ...]
    repetitions: int

    def workload(self, seed: int) -> Workload:
        """Return the workload of a seed."""
        return Workload(self.name, seed)

    def words(self, predicates: int, values: int, *, is_timed: bool = False) -> dict[str, str]:
        """Return how it is measured, for people."""
        seeds = f"{len(self.seeds)} ({self.seeds[0]} … {self.seeds[-1]})" if len(self.seeds) > 1 else "1"
        of_times = f", each the least of {self.repetitions}" if is_timed else ""
        drawn = f"{self.name}: {predicates} predicates and {values} values of {ATTRIBUTES} attributes"
        return {
            "workload": drawn,
            "seeds": seeds,
            "value": f"mean over seeds ± half of the 95 % t interval{of_times}",
        }


def settings_of(
    request: Request,
    counts: tuple[int, ...] = (1000, 10_000, 100_000),
    small_counts: tuple[int, ...] = (500, 2000),
    name: str = "distinct",
    seeds: tuple[int, ...] = SEEDS,
) -> Settings:
    """Return what to measure with, or raise `UnknownFigure` for values that mean nothing."""
    workload = request.workload or name
    if workload not in WORKLOADS:
        raise UnknownFigure(f"workload {workload!r} is unknown; there are: {', '.join(WORKLOADS)}")
    for count in request.counts or ():
        if not 1 <= count <= MOST_SUBSCRIPTIONS:
            raise UnknownFigure(f"{count} subscriptions cannot be measured; say 1 to {MOST_SUBSCRIPTIONS:,}")
    return Settings(
        workload,
        request.counts or (small_counts if request.small else counts),
        request.seeds or (SMALL_SEEDS if request.small else seeds),
        request.repetitions or (1 if request.small else 2),
    )
