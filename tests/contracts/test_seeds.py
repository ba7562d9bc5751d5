"""A sweep takes as many seeds as a run. The analysis does not know the emulator, so both say how many."""

from emulation.random.seeds import MOST_RUNS
from spark_analysis.sweep.plan import MOST_SEEDS


def test_a_sweep_takes_as_many_seeds_as_a_run() -> None:
    assert MOST_SEEDS == MOST_RUNS
