"""What a board offers, read from its own extract: a local data dictionary of a few bytes.

A board has one language, in which a subscription ends with the features of its event class and its
attributes. The highest attribute is the age of an event, which is not measured.
"""

from watchdog.vector import VectorError

_HEADER = 7
"""Bytes of an extract before its sources (docs/how-to/knowledge.md)."""


class OfferedSources:
    """The sources of an extract, in its order."""

    def __init__(self, extract: bytes) -> None:
        """Read an extract that this board's build has made."""
        size = 1 << (extract[0] & 15)
        self.pairs = []  # type: list[tuple[int, int]]
        self._size = size
        self._features = []  # type: list[tuple[int, int]]
        for at in range(_HEADER, len(extract), 3 + size):
            self.pairs.append((extract[at + 1 + size], extract[at + 2 + size]))
            attributes = int.from_bytes(extract[at + 1 : at + 1 + size], "big")
            self._features.append((1 << extract[at], attributes))

    def serving(self, language: int, vector: bytes) -> int:
        """Return a mask of the sources that fill all attributes of a subscription, -1 where none does."""
        size = self._size
        end = len(vector)
        if end < 2 * size:
            raise VectorError(end, "too short for two features")
        event = int.from_bytes(vector[end - 2 * size : end - size], "big")
        wanted = int.from_bytes(vector[end - size :], "big") & (1 << 8 * size - 1) - 1
        mask = 0
        for number in range(len(self._features)):
            offered = self._features[number]
            if offered[0] == event and wanted & ~offered[1] == 0:
                mask |= 1 << number
        return mask if mask else -1
