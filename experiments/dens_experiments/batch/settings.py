"""What a figure is measured with: sizes of the index, batches, seeds."""

from dataclasses import dataclass, replace
from typing import Final

from dens_experiments.batch.workload import WORKLOADS, Workload
from dens_experiments.family import Request, UnknownFigure

TAKES: Final = frozenset({"counts", "seeds", "workload", "full"})
MOST_BOXES: Final = 5_000_000
FEW, MANY = 8, 128
"""The two batch sizes of figures 5 and 7, which the paper does not name; figure 8 says 8 for 7e."""
SIZES: Final = (2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Settings:
    """A workload, sizes of the index, seeds, and how much is run of each."""

    workload: Workload
    counts: tuple[int, ...]
    seeds: tuple[int, ...]
    events: int
    """Events whose searches are counted."""
    batches: int
    """Batches of 8 that are timed at each level; of larger ones fewer."""
    rounds: int
    """N of the paper's model."""

    def timed(self, events: int) -> int:
        """Return how many batches of a size are timed."""
        return max(2, self.batches * FEW // events)

    def words(self) -> dict[str, str]:
        """Return how it is measured, for people."""
        return {
            "boxes": f"12 attributes, {self.workload.words()}",
            "tree": "10 entries a node, 20 a leaf, loaded by sort-tile-recursive",
            "seeds": str(len(self.seeds)),
            "value": "mean over seeds ± half of the 95 % t interval, processor time",
        }


_WIDE: Final = WORKLOADS["wide"]
_SMALL: Final = Settings(_WIDE, (20_000, 40_000, 80_000), (1, 2, 3), events=512, batches=16, rounds=16)
_USUAL: Final = Settings(
    _WIDE, (50_000, 100_000, 200_000, 400_000), (1, 2, 3), events=1024, batches=32, rounds=64
)
_FULL: Final = Settings(
    _WIDE, tuple(range(500_000, 3_000_001, 500_000)), (1, 2), events=2048, batches=32, rounds=64
)


def settings_of(request: Request) -> Settings:
    """Return what to measure with, or raise `UnknownFigure` for values that mean nothing."""
    if request.small and request.full:
        raise UnknownFigure("--small and --full cannot both be meant; take one")
    name = request.workload or "wide"
    if name not in WORKLOADS:
        raise UnknownFigure(f"workload {name!r} is unknown; there are: {', '.join(WORKLOADS)}")
    for count in request.counts or ():
        if not 1_000 <= count <= MOST_BOXES:
            raise UnknownFigure(f"{count} boxes cannot be measured; say 1000 to {MOST_BOXES}")
    found = _FULL if request.full else _SMALL if request.small else _USUAL
    return replace(
        found,
        workload=WORKLOADS[name],
        counts=request.counts or found.counts,
        seeds=request.seeds or found.seeds,
    )
