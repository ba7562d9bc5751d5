"""How large a benchmark is. `DENS_BENCH_SMALL=1` makes every benchmark as small as it can run at all.

Small sizes show that a benchmark works (tests/benchmarks/test_every_benchmark.py). Their figures have no
meaning.
"""

import os
from typing import Final, TypeVar

T = TypeVar("T")

SMALL: Final = os.environ.get("DENS_BENCH_SMALL") == "1"


def sized(full: T, small: T) -> T:
    """Return the size that this process measures with."""
    return small if SMALL else full
