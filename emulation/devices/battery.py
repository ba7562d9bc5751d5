"""What a device uses: a little all the time, some for every byte, some for every computation.

A battery that is empty stops the device, as a crash does. How much is left is known exactly whenever
something is used; that it ran empty while nothing happened is noticed within a second.
"""

from dataclasses import dataclass
from math import ceil


@dataclass(slots=True)
class EnergyUsed:
    """Joules since the start, by what they went into."""

    idle_j: float = 0.0
    radio_j: float = 0.0
    compute_j: float = 0.0

    @property
    def total_j(self) -> float:
        """Return all of it."""
        return self.idle_j + self.radio_j + self.compute_j


class Battery:
    """The energy of one device; a capacity of None is a wall socket.

    >>> battery = Battery(capacity_j=10.0, idle_w=0.5)
    >>> battery.pass_time(4_000)
    >>> battery.used.radio_j += 3.0
    >>> battery.left_j, battery.empty_ms()
    (5.0, 14000)
    """

    __slots__ = ("_at_ms", "_capacity_j", "_idle_w", "used")

    def __init__(self, capacity_j: float | None, idle_w: float) -> None:
        self.used = EnergyUsed()
        self._capacity_j = capacity_j
        self._idle_w = idle_w
        self._at_ms = 0

    @property
    def left_j(self) -> float | None:
        """Return what is left, or None if there is no end of it."""
        return None if self._capacity_j is None else max(0.0, self._capacity_j - self.used.total_j)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is left."""
        return self.left_j == 0.0

    def pass_time(self, now_ms: int, is_up: bool = True) -> None:
        """Use what is used anyway, up to now; a device that is down uses nothing."""
        if is_up:
            self.used.idle_j += self._idle_w * (now_ms - self._at_ms) / 1000.0
        self._at_ms = now_ms

    def empty_ms(self) -> int | None:
        """Return when it will be empty if nothing but time passes, or None if it never will."""
        left = self.left_j
        if left is None or self._idle_w == 0.0:
            return None
        return self._at_ms + ceil(1000.0 * left / self._idle_w)
