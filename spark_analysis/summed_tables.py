"""Tables of a trace that are asked for sums: the same question in Spark's workers and without Spark."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

Count = Callable[[pa.RecordBatch], Mapping[str, float]]
"""From some rows of a table to sums over them, each under a name; those of all rows are added up."""


class Tables(Protocol):
    """The tables of a trace."""

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        """Return the sums of what `count` gives for these columns of every part of a table.

        A name that no part gave is not there. `count` may travel to other machines, so it can be pickled.
        """
        ...
