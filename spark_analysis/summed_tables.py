"""Sums over trace tables, computed in Spark workers or without Spark."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

Count = Callable[[pa.RecordBatch], Mapping[str, float]]
"""Maps a batch of rows to named sums; the sums of all batches are added."""


class Tables(Protocol):
    """The tables of a trace."""

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        """Return the sums of `count` over all parts of a table, restricted to these columns.

        Names that no part returned are missing. `count` must be picklable.
        """
        ...
