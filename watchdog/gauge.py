"""How one measured quantity of an event class becomes a byte of a reading.

A gauge knows what the mission table says of its attribute: index, domain, decimals, scale, or the list of
values.
What it cannot read clears the attribute for that reading and is counted as missing; what lies outside of the
domain is clipped and counted.
"""

from watchdog.normalise import normal_byte, scale_decimal
from watchdog.reading import Reading


class Gauge:
    """A number: its domain is given in scaled integers, lo < hi and hi - lo < 2**21, and so are the
    breakpoints of its scale, where it has one (`watchdog.normalise`).
    """

    def __init__(
        self, attribute: int, lo: int, hi: int, decimals: int = 2, inner: tuple[int, ...] = ()
    ) -> None:
        self.attribute = attribute
        self.lo = lo
        self.hi = hi
        self.decimals = decimals
        self.inner = inner

    def note(self, reading: Reading, raw: str | int | None, counters: dict[str, int]) -> None:
        """Put a raw value into the reading: decimal text, a scaled integer as a driver gives it, or None."""
        scaled = scale_decimal(raw, self.decimals) if isinstance(raw, str) else raw
        if scaled is None:
            counters["missing"] += 1
            return
        if scaled < self.lo or scaled > self.hi:
            counters["clipped"] += 1
        reading.set(self.attribute, normal_byte(scaled, self.lo, self.hi, self.inner))


class NominalGauge:
    """One of a list of words; its byte is its place in that list."""

    def __init__(self, attribute: int, values: list[str]) -> None:
        self.attribute = attribute
        self.values = values

    def note(self, reading: Reading, raw: str | int | None, counters: dict[str, int]) -> None:
        """Put a word into the reading; a word that is not listed is missing."""
        for place in range(len(self.values)):
            if self.values[place] == raw:
                reading.set(self.attribute, place)
                return
        counters["missing"] += 1
