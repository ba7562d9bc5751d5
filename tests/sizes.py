"""Sizes of tests: small in `make check` and `make test`, full in `make soak`."""

import os
from typing import Final, TypeVar

SOAK: Final = bool(os.environ.get("DENS_SOAK"))
"""Whether this is `make soak`."""

Size = TypeVar("Size")


def full_in_soak(small: Size, full: Size) -> Size:
    """Return the size of this run. A bound on what is measured must shrink with it."""
    return full if SOAK else small


def examples(full: int) -> int:
    """Return how many examples hypothesis draws where each is expensive: a third of them outside of soak.

    Outside of soak examples are derandomised, so more of the same ones find regressions only.
    """
    return full_in_soak(-(-full // 3), full)
