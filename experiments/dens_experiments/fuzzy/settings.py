"""What a figure is measured with: the options that were asked for, and what it takes where none was."""

from dataclasses import dataclass, replace
from typing import Final

from dens_experiments.family import Asked, NotThere
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
    asked: Asked,
    counts: tuple[int, ...] = COUNTS,
    small_counts: tuple[int, ...] = SMALL_COUNTS,
) -> Settings:
    """Return what to measure with, or raise `NotThere` for values that mean nothing."""
    return Settings(
        workload_of(asked),
        _checked_counts(asked.counts) or (small_counts if asked.small else counts),
        asked.seeds or (SMALL_SEEDS if asked.small else SEEDS),
        asked.repetitions or (2 if asked.small else 3),
        20 if asked.small else 40,
    )


def workload_of(asked: Asked) -> Workload:
    """Return the workload that was asked for, changed as was asked for."""
    name = asked.workload or "paper"
    if name not in WORKLOADS:
        raise NotThere(f"workload {name!r} is unknown; there are: {', '.join(WORKLOADS)}")
    found = WORKLOADS[name]
    if asked.condition is not None:
        if asked.condition not in FEATURE_CONDITIONS:
            there_are = ", ".join(FEATURE_CONDITIONS)
            raise NotThere(f"condition {asked.condition!r} is unknown; there are: {there_are}")
        found = replace(found, condition=asked.condition)
    if asked.attributes is not None:
        least, most, of = asked.attributes
        if not 1 <= least <= most <= of <= MOST_ATTRIBUTES:
            raise NotThere(
                f"attributes {least}-{most}/{of} cannot be drawn; say A-B/N with 1 ≤ A ≤ B ≤ N ≤ "
                f"{MOST_ATTRIBUTES}"
            )
        found = replace(found, attributes=(least, most, of))
    if asked.similarity is not None:
        if not 0 <= asked.similarity < 1:
            raise NotThere(f"similarity {asked.similarity:g} is no share from 0 to below 1")
        found = replace(found, similarity=asked.similarity)
    return found


def _checked_counts(counts: tuple[int, ...] | None) -> tuple[int, ...] | None:
    for count in counts or ():
        if not 1 <= count <= MOST_SUBSCRIPTIONS:
            raise NotThere(f"{count} subscriptions cannot be measured; say 1 to {MOST_SUBSCRIPTIONS}")
    return counts
