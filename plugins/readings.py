"""A reading that keeps what its source knew: the values themselves, and how certain they are.

A board's `Reading` has one byte an attribute, because a board has no room for more. A host fills an
`ExactReading`: to the filter of a byte language it is the same reading, and a language that wants more finds
four corners beside each byte, in the attribute's scaled integers. The value is surely within the outer two
(its support) and fully possible within the inner two (its core); of a point all four are equal, of an
interval those of a side.

Into a trace go the same corners as bytes that belong to no language, rising by attribute:

    index (1)  1: a point       value (4)
    index (1)  2: an interval   low (4)  high (4)
    index (1)  4: a shape       low (4)  core low (4)  core high (4)  high (4)      big-endian, signed
"""

import struct
from collections.abc import Iterator
from typing import Final

from knowledge_manager.vocabulary.event_class import Attribute
from watchdog.normalise import normal_byte
from watchdog.reading import Reading
from watchdog.vector import VectorError

Corners = tuple[int, int, int, int]
"""(outer low, inner low, inner high, outer high): the value is certainly within the outer bounds and fully
possible within the inner ones."""

_FORMS: Final = {1: struct.Struct(">i"), 2: struct.Struct(">ii"), 4: struct.Struct(">iiii")}
_HEAD_BYTES: Final = 2


def point(value: int) -> Corners:
    """Return the corners of an exact value."""
    return value, value, value, value


class ExactReading(Reading):
    """A reading with the corners of each value. Corners of attributes that were not measured are
    undefined.
    """

    __slots__ = ("_corners",)

    def __init__(self, feature_bytes: int = 1) -> None:
        super().__init__(feature_bytes)
        self._corners: list[Corners] = [point(0)] * len(self.row)

    def measure(self, attribute: Attribute, corners: Corners) -> None:
        """Set a value. Its byte is that of the middle of its core."""
        value = (corners[1] + corners[2]) // 2
        if attribute.type != "nominal":
            value = normal_byte(value, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)
        self.set(attribute.index, value)
        self._corners[attribute.index] = corners

    def corners(self, attribute: int) -> Corners:
        """Return the corners of a measured attribute."""
        return self._corners[attribute]

    def exact(self) -> bytes:
        """Return all corners in the encoding of traces."""
        return b"".join(
            _written(index, self._corners[index]) for index in range(len(self.row)) if self.has(index)
        )


def present_bytes(reading: Reading) -> tuple[bytes, bytes]:
    """Return the mask of the measured attributes, and a byte for each, lowest index first."""
    mask = bytes(reading.mask)
    present = int.from_bytes(mask, "big")
    return mask, bytes(value for index, value in enumerate(bytes(reading.row)) if present >> index & 1)


def _written(index: int, corners: Corners) -> bytes:
    low, core_low, core_high, high = corners
    if low != core_low or high != core_high:
        return bytes((index, 4)) + _FORMS[4].pack(*corners)
    if low == high:
        return bytes((index, 1)) + _FORMS[1].pack(low)
    return bytes((index, 2)) + _FORMS[2].pack(low, high)


def decode_exact(data: bytes) -> dict[int, Corners]:
    """Return the corners of each attribute. Raise `VectorError` for bytes that `exact` does not write."""
    found = dict(_read(data))
    if b"".join(_written(index, corners) for index, corners in sorted(found.items())) != data:
        raise VectorError(0, "exact values are not unique, in order and in their shortest form")
    return found


def _read(data: bytes) -> Iterator[tuple[int, Corners]]:
    at = 0
    while at < len(data):
        form = _FORMS.get(data[at + 1]) if at + 1 < len(data) else None
        if form is None or at + _HEAD_BYTES + form.size > len(data):
            raise VectorError(at, "expected an exact value, or it is cut off")
        numbers = form.unpack_from(data, at + _HEAD_BYTES)
        low, high = numbers[0], numbers[-1]
        inner = numbers[1:-1] or (low, high)
        corners = low, inner[0], inner[1], high
        if list(corners) != sorted(corners):
            raise VectorError(at, "the corners of an exact value are not ascending")
        yield data[at], corners
        at += _HEAD_BYTES + form.size
