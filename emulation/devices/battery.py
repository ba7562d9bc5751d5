"""Energy use of a device: idle power, energy per byte, and energy per computation.

An empty battery stops the device like a crash. The charge is exact whenever energy is used; a battery that
runs empty while idle is noticed within a second.
"""

from dataclasses import dataclass
from math import ceil


@dataclass(slots=True)
class EnergyUsed:
    """Joules used since the start, by purpose."""

    idle_j: float = 0.0
    radio_j: float = 0.0
    compute_j: float = 0.0

    @property
    def total_j(self) -> float:
        return self.idle_j + self.radio_j + self.compute_j


class Battery:
    """The energy of one device; a capacity of None is unlimited.

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
        """Return the remaining energy, or None if it is unlimited."""
        return None if self._capacity_j is None else max(0.0, self._capacity_j - self.used.total_j)

    @property
    def is_empty(self) -> bool:
        return self.left_j == 0.0

    def pass_time(self, now_ms: int, is_up: bool = True) -> None:
        """Account for the idle energy up to now; a device that is down uses none."""
        if is_up:
            self.used.idle_j += self._idle_w * (now_ms - self._at_ms) / 1000.0
        self._at_ms = now_ms

    def empty_ms(self) -> int | None:
        """Return when it will be empty from idle power alone, or None if never."""
        left = self.left_j
        if left is None or self._idle_w == 0.0:
            return None
        return self._at_ms + ceil(1000.0 * left / self._idle_w)
