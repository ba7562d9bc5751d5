"""One sampled event at a source, normalised once and fed to the filters of every language, and the
notification that a filter makes of it.
"""

from watchdog.vector import ONE_HOUR


class Reading:
    """An event class, a number, a time, and one byte for each attribute that was measured.

    A source makes one Reading and fills it again and again: `clear` and `set` allocate nothing. A filter
    that wants to remember something of it copies what it needs.
    """

    __slots__ = ("event", "mask", "number", "row", "stamp_s")

    def __init__(self, feature_bytes: int = 1) -> None:
        self.event = 0
        self.number = 0
        self.stamp_s = 0
        self.row = bytearray(8 * feature_bytes)
        self.mask = bytearray(feature_bytes)

    def clear(self, event: int, number: int, stamp_s: int) -> None:
        """Begin a new event in which nothing is measured yet; number and stamp count modulo 65536."""
        self.event = event
        self.number = number & 65535
        self.stamp_s = stamp_s & 65535
        mask = self.mask
        i = len(mask)
        while i:
            i -= 1
            mask[i] = 0

    def set(self, attribute: int, value: int) -> None:
        """Note the normalised value of an attribute, which is present from now on."""
        self.row[attribute] = value
        self.mask[len(self.mask) - 1 - (attribute >> 3)] |= 1 << (attribute & 7)

    def has(self, attribute: int) -> bool:
        """Return whether the attribute was measured."""
        return self.mask[len(self.mask) - 1 - (attribute >> 3)] >> (attribute & 7) & 1 == 1


class Release:
    """A notification of a filter: its vector, the degree that released it, and the code of its lifetime."""

    __slots__ = ("degree_u8", "lifetime", "vector")

    def __init__(self, vector: bytes, degree_u8: int, lifetime: int = ONE_HOUR) -> None:
        self.vector = vector
        self.degree_u8 = degree_u8
        self.lifetime = lifetime
