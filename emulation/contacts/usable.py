"""Which part of a contact can be used to talk: what is left of it when the radios are set up.

Engines live in whole milliseconds: a contact is used from the first one after it began, and after the radios
are set up, to the last one before it ended. One that is shorter than either radio asks for is not used at
all.
"""

from collections.abc import Sequence
from math import ceil, floor


class UsableTime:
    """What the radios of all devices ask of a contact: time to set up, and a least length.

    >>> UsableTime([200, 300], [0.0, 1000.0]).window_ms(0, 1, 10_000.5, 12_000.5)
    (10301, 12000)
    """

    def __init__(self, setup_ms: Sequence[int], least_ms: Sequence[float]) -> None:
        self._setup_ms = setup_ms
        self._least_ms = least_ms

    def window_ms(self, a: int, b: int, begin_ms: float, end_ms: float) -> tuple[int, int]:
        """Return when a contact opens and when it is lost; one that is lost before it opens is not used."""
        return ceil(begin_ms) + max(self._setup_ms[a], self._setup_ms[b]), floor(end_ms)

    def is_long_enough(self, a: int, b: int, begin_ms: float, end_ms: float) -> bool:
        """Say whether both radios take up a contact of this length."""
        return end_ms - begin_ms >= max(self._least_ms[a], self._least_ms[b])
