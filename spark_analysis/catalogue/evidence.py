"""What metrics are made of, whoever found it out: Spark for reports, plain Arrow for sweeps, live figures.

A metric says which of these it needs. Whoever cannot give that leaves the metric out: while a run goes on
its radio use is not known, and the fates of ground truth are asked of Spark alone.
"""

from dataclasses import dataclass
from typing import Final

from spark_analysis.answers import GroundTruth
from spark_analysis.matching_figures import MatchingDone
from spark_analysis.pair_figures import PairFigures
from spark_analysis.radio_use import RadioUse
from spark_analysis.summed_tables import Tables


@dataclass(frozen=True, slots=True)
class ReadingsKept:
    """How many readings the watchdogs judged, and how many of them they kept at home."""

    judged: int
    kept: int

    @property
    def share(self) -> float | None:
        """Return kept / judged."""
        return self.kept / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class WantedTold:
    """How many pairs of reading or document and subscriber should have been told, and how many of these were
    delivered."""

    wanted: int
    delivered: int

    @property
    def share(self) -> float | None:
        """Return delivered / wanted."""
        return self.delivered / self.wanted if self.wanted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a run, as far as metrics ask for it; None where nobody here knows it."""

    pairs: PairFigures | None = None
    radio: RadioUse | None = None
    readings: ReadingsKept | None = None
    matching: MatchingDone | None = None
    wanted: WantedTold | None = None
    truth: GroundTruth | None = None
    tables: Tables | None = None


REPORTED: Final = frozenset({"pairs", "radio", "readings", "matching", "wanted", "truth", "tables"})
"""What a report knows: everything."""
SWEPT: Final = frozenset({"pairs", "radio", "readings", "matching", "wanted", "tables"})
"""What is found without Spark, for sweeps and `dens compare`."""
FOLLOWED: Final = frozenset({"pairs"})
"""What is known while a run goes on."""
