"""What metrics are made of, whoever found it out: Spark for reports, plain Arrow for sweeps, live figures.

A metric says which of these it needs. Whoever cannot give that leaves the metric out: while a run goes on
nobody knows its radio use, and ground truth is asked of Spark alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa

from spark_analysis.answers import GroundTruth
from spark_analysis.matching_figures import MatchingDone
from spark_analysis.metrics.overhead import RadioUse
from spark_analysis.pair_figures import PairFigures

Count = Callable[[pa.RecordBatch], Mapping[str, float]]
"""From some rows of a table to sums over them, each under a name; those of all rows are added up."""


class Tables(Protocol):
    """The tables of a trace, asked for sums; the same question in Spark's workers and without Spark."""

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        """Return the sums of what `count` gives for these columns of every part of a table.

        A name that no part gave is not there. `count` may travel to other machines: it stands at the top of
        a module.
        """
        ...


@dataclass(frozen=True, slots=True)
class ReadingsKept:
    """How many readings the watchdogs judged, and how many of them they kept at home."""

    judged: int
    kept: int

    @property
    def share(self) -> float | None:
        """Return kept / judged."""
        return self.kept / self.judged if self.judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a run, as far as metrics ask for it; None where nobody here knows it."""

    pairs: PairFigures | None = None
    radio: RadioUse | None = None
    readings: ReadingsKept | None = None
    matching: MatchingDone | None = None
    truth: GroundTruth | None = None
    tables: Tables | None = None


REPORTED: Final = frozenset({"pairs", "radio", "readings", "matching", "truth", "tables"})
"""What a report knows: everything."""
SWEPT: Final = frozenset({"pairs", "radio", "readings", "matching", "tables"})
"""What is found without Spark, for sweeps and `dens compare`."""
FOLLOWED: Final = frozenset({"pairs"})
"""What is known while a run goes on."""
