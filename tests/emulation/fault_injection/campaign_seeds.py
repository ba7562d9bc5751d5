"""The seeds that `make test` and `make soak` run, in portions of one test each."""

import pytest

from tests.sizes import full_in_soak

SEEDS = range(1, full_in_soak(101, 301))
CAMPAIGN = [*SEEDS, *range(SEEDS.stop + 3, 301, 8)]
"""Every eighth plan has limits and languages at their edges. Two planted bugs need more of these."""
PORTION = 25


def portions(seeds: list[int], quick: int) -> list[object]:
    """Return the seeds of each test; those of the first `quick` tests are in `make check`."""
    found = []
    for number, first in enumerate(range(0, len(seeds), PORTION)):
        part = seeds[first : first + PORTION]
        marks = [pytest.mark.slow] if number >= quick else []
        found.append(pytest.param(part, id=f"{part[0]}-{part[-1]}", marks=marks))
    return found
