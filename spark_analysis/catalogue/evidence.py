"""The input of metrics: computed by Spark for reports, by Arrow for sweeps, and incrementally for the live
view.

A metric names the evidence it needs and is omitted if it is not available: radio use is unknown while a run
is in progress, and the fates of ground truth need Spark.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from spark_analysis.matching_figures import MatchingWork
from spark_analysis.pair_figures import PairFigures
from spark_analysis.radio_use import RadioUse
from spark_analysis.summed_tables import Tables

if TYPE_CHECKING:
    from spark_analysis.metrics.truth import GroundTruth


@dataclass(frozen=True, slots=True)
class ReadingCounts:
    """Readings that the watchdogs filtered, and those they suppressed."""

    judged: int
    kept: int

    @property
    def share(self) -> float | None:
        """Return kept / judged."""
        return self.kept / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class WantedPairs:
    """Pairs of reading or document and subscriber that match, and those that were delivered."""

    wanted: int
    delivered: int

    @property
    def share(self) -> float | None:
        """Return delivered / wanted."""
        return self.delivered / self.wanted if self.wanted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The known facts of a run; None if they are not available."""

    pairs: PairFigures | None = None
    radio: RadioUse | None = None
    readings: ReadingCounts | None = None
    matching: MatchingWork | None = None
    wanted: WantedPairs | None = None
    truth: "GroundTruth | None" = None
    tables: Tables | None = None


REPORTED: Final = frozenset({"pairs", "radio", "readings", "matching", "wanted", "truth", "tables"})
"""Evidence of reports: all of it."""
SWEPT: Final = frozenset({"pairs", "radio", "readings", "matching", "wanted", "tables"})
"""Evidence without Spark, for sweeps and `dens compare`."""
FOLLOWED: Final = frozenset({"pairs"})
"""Evidence while a run is in progress."""
