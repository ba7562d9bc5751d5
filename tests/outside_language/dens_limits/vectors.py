"""The bytes of the language.

body           all or any (1)  event (1)  limits (1)   and of each: attribute (1) first (2) last cell (2)
notification   number (2)  event (1)  values (1)       and of each: attribute (1) cell (2)
detail         certain or possible (1)  attribute that is nearest to its limit (1)  cells between them (2)
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from watchdog.vector import VectorError

_HEAD, _LIMIT = struct.Struct(">BBB"), struct.Struct(">BHH")
_TOLD, _VALUE, _DETAIL = struct.Struct(">HBB"), struct.Struct(">BH"), struct.Struct(">BBH")
MOST_LIMITS = 8


@dataclass(frozen=True, slots=True, order=True)
class Limit:
    """The cells in which the value of an attribute is wanted."""

    attribute: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Body:
    """All of the limits hold, or any of them."""

    mode: Literal["all", "any"]
    event: int
    limits: tuple[Limit, ...]

    def encode(self) -> bytes:
        """Return the bytes, limits in order."""
        head = _HEAD.pack(self.mode == "any", self.event, len(self.limits))
        return head + b"".join(_LIMIT.pack(one.attribute, one.first, one.last) for one in sorted(self.limits))


def decode_body(data: bytes) -> Body:
    """Return the body that these bytes are, or raise `VectorError`."""
    if len(data) < _HEAD.size:
        raise VectorError(len(data), "a body of limits has at least three bytes")
    mode, event, number = _HEAD.unpack_from(data)
    if mode > 1 or not 1 <= number <= MOST_LIMITS:
        raise VectorError(0, f"mode {mode} with {number} limits is none")
    if len(data) != _HEAD.size + number * _LIMIT.size:
        raise VectorError(len(data), f"{number} limits have another length")
    limits = tuple(Limit(*one) for one in _LIMIT.iter_unpack(data[_HEAD.size :]))
    for before, after in pairwise(limits):
        if before.attribute >= after.attribute:
            raise VectorError(_HEAD.size, "limits stand in the order of their attributes, each once")
    if any(one.first > one.last for one in limits):
        raise VectorError(_HEAD.size, "a limit begins behind its end")
    return Body("any" if mode else "all", event, limits)


@dataclass(frozen=True, slots=True)
class Told:
    """What a notification says: the event, and for each attribute the cells in which its value may be."""

    event: int
    cells: dict[int, tuple[int, int]]


def encode_notification(number: int, event: int, cells: dict[int, int]) -> bytes:
    """Return a notification of values that are known to the cell."""
    head = _TOLD.pack(number & 65535, event, len(cells))
    return head + b"".join(_VALUE.pack(*one) for one in sorted(cells.items()))


def decode_notification(data: bytes) -> Told:
    """Return what these bytes say, or raise `VectorError`."""
    if len(data) < _TOLD.size:
        raise VectorError(len(data), "a notification of values has at least four bytes")
    _, event, number = _TOLD.unpack_from(data)
    if len(data) != _TOLD.size + number * _VALUE.size:
        raise VectorError(len(data), f"{number} values have another length")
    return Told(event, {at: (cell, cell) for at, cell in _VALUE.iter_unpack(data[_TOLD.size :])})


def encode_detail(is_certain: bool, attribute: int, cells: int) -> bytes:
    """Return what a match says beside its degree."""
    return _DETAIL.pack(is_certain, attribute, cells)


def decode_detail(data: bytes) -> tuple[bool, int, int]:
    """Return what a match says beside its degree, or raise `VectorError`."""
    if len(data) != _DETAIL.size:
        raise VectorError(len(data), "a detail of limits has four bytes")
    certain, attribute, cells = _DETAIL.unpack(data)
    return bool(certain), attribute, cells
