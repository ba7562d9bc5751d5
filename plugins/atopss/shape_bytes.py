"""Encoding of a shape: a byte that describes what follows, then thresholds, profiles and corners.

    bits 0–2  kind: 0 point · 1 interval · 2 at most · 3 at least · 4 triangle · 5 trapezoid · 6 anything
    bit 3     complement (predicates)
    bits 4–5  profile bytes that follow: none; one for all sloped sides; two, left and right, that differ
    bit 6     a byte of thresholds follows, Π·16 + N in fifteenths (predicates)
    bit 7     with bit 6, version 2: after the thresholds a byte follows that marks which of them is ½

The first corner is a signed number, each other one the distance from the one before. The encoding is
canonical: an interval is not a point, a triangle and a trapezoid have a slope, a profile has a side.
"""

from typing import Final

from plugins.atopss.shapes.profiles import STRAIGHT, is_profile
from plugins.atopss.shapes.scale import CORNER_LIMIT, HALF, INFINITE
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Predicate
from plugins.byte_numbers import ByteReader, number, signed

POINT, INTERVAL, AT_MOST, AT_LEAST, TRIANGLE, TRAPEZOID, ANY = range(7)
_CORNERS: Final = {POINT: 1, INTERVAL: 2, AT_MOST: 2, AT_LEAST: 2, TRIANGLE: 3, TRAPEZOID: 4, ANY: 0}

Thresholds = tuple[int, int]
"""Those of possibility and necessity, in thirtieths."""

_COMPLEMENT: Final = 8
_THRESHOLDS: Final = 64
_HALVES: Final = 128


def kind_of(shape: Shape) -> int:
    """Return the kind of a shape."""
    if shape.m1 == -INFINITE:
        return ANY if shape.m4 == INFINITE else AT_MOST
    if shape.m4 == INFINITE:
        return AT_LEAST
    if shape.is_crisp:
        return POINT if shape.is_point else INTERVAL
    return TRIANGLE if shape.m2 == shape.m3 else TRAPEZOID


def fault_of(shape: Shape) -> str:
    """Return why a shape cannot be encoded; empty if it can."""
    finite = [corner for corner in (shape.m1, shape.m2, shape.m3, shape.m4) if abs(corner) != INFINITE]
    if any(abs(corner) >= CORNER_LIMIT for corner in finite):
        return "a corner is farther than 8,388,607 steps from the low end of the domain"
    return ""


def value_bytes(shape: Shape) -> bytes:
    """Return the bytes of a value. One that cannot be encoded raises `ValueError`."""
    return _shape_bytes(shape, 0, b"")


def predicate_bytes(predicate: Predicate) -> bytes:
    """Return the bytes of a predicate without its attribute and weight."""
    flags, thresholds = _COMPLEMENT if predicate.complement else 0, b""
    if predicate.possibility or predicate.necessity:
        fifteenths, halves = threshold_bytes(predicate.possibility, predicate.necessity)
        flags |= _THRESHOLDS | (_HALVES if halves else 0)
        thresholds = bytes([fifteenths, halves] if halves else [fifteenths])
    return _shape_bytes(predicate.shape, flags, thresholds)


def threshold_bytes(possibility: int, necessity: int) -> tuple[int, int]:
    """Return thresholds in thirtieths as Π·16 + N in fifteenths, and which of them are ½: 1 for Π, 2 for N, 3
    for both. The fifteenths of ½ are 7. An invalid threshold raises `ValueError`.
    """
    if (possibility & 1 and possibility != HALF) or (necessity & 1 and necessity != HALF):
        raise ValueError(f"{possibility}/30, {necessity}/30: a threshold is a whole fifteenth, or one half")
    return possibility >> 1 << 4 | necessity >> 1, possibility & 1 | (necessity & 1) << 1


def whole_thresholds(fifteenths: int) -> Thresholds:
    """Return the thresholds of a byte in thirtieths, without halves."""
    return 2 * (fifteenths >> 4), 2 * (fifteenths & 15)


def with_halves(thresholds: Thresholds, halves: int) -> Thresholds | None:
    """Return thresholds with the halves of version 2; None if `threshold_bytes` does not return these."""
    found = thresholds[0] + (halves & 1), thresholds[1] + (halves >> 1)
    return found if 1 <= halves <= 3 and all(t == HALF or not t & 1 for t in found) else None


def _shape_bytes(shape: Shape, flags: int, thresholds: bytes) -> bytes:
    if fault := fault_of(shape):
        raise ValueError(fault)
    kind = kind_of(shape)
    profiles = _profiles(shape)
    corners = _written_corners(shape, kind)
    written = b"".join(
        number(corner - corners[at - 1]) if at else signed(corner) for at, corner in enumerate(corners)
    )
    return bytes([kind | flags | len(profiles) << 4]) + thresholds + profiles + written


def _profiles(shape: Shape) -> bytes:
    sloped = [
        profile
        for profile, low, high in ((shape.left, shape.m1, shape.m2), (shape.right, shape.m3, shape.m4))
        if low < high
    ]
    if not any(sloped):
        return b""
    return bytes(sloped if len(set(sloped)) > 1 else sloped[:1])


def _written_corners(shape: Shape, kind: int) -> tuple[int, ...]:
    m1, m2, m3, m4 = shape.m1, shape.m2, shape.m3, shape.m4
    forms = ((m1,), (m1, m4), (m3, m4), (m1, m2), (m1, m2, m4), (m1, m2, m3, m4), ())
    return forms[kind]


def read_value(data: ByteReader) -> Shape:
    """Read a value."""
    at = data.at
    first = data.byte("a shape")
    if first & (_COMPLEMENT | _THRESHOLDS):
        raise data.refused("a value has neither complement nor thresholds", at)
    return _read_shape(data, first, at)


def read_predicate(data: ByteReader, attribute: int) -> Predicate:
    """Read a predicate on this attribute, without its weight."""
    at = data.at
    first = data.byte("a shape")
    complement = bool(first & _COMPLEMENT)
    if complement and first & 7 == ANY:
        raise data.refused("the complement of anything is empty", at)
    thresholds = _read_thresholds(data, first) if first & _THRESHOLDS else (0, 0)
    shape = _read_shape(data, first, at)
    return Predicate(attribute, shape, complement, *thresholds)


def _read_thresholds(data: ByteReader, first: int) -> Thresholds:
    fifteenths = data.byte("a byte of thresholds")
    if not first & _HALVES:
        if not fifteenths:
            raise data.refused("thresholds of 0 must be omitted", data.at - 1)
        return whole_thresholds(fifteenths)
    found = with_halves(whole_thresholds(fifteenths), data.byte("a byte of halves"))
    if found is None:
        raise data.refused("a half is 1 for Π, 2 for N, 3 for both, and has 7 fifteenths", data.at - 1)
    return found


def _read_shape(data: ByteReader, first: int, at: int) -> Shape:
    kind, profiles = first & 7, first >> 4 & 3
    if first & (_HALVES | _THRESHOLDS) == _HALVES or kind > ANY or profiles > 2:
        raise data.refused("unknown kind of shape", at)
    bent = [data.byte("a profile") for _ in range(profiles)]
    shape = _shape(kind, _read_corners(data, _CORNERS[kind]), data, at)
    return _curved(shape, bent, data, at) if bent else shape


def _read_corners(data: ByteReader, count: int) -> list[int]:
    corners: list[int] = []
    for _ in range(count):
        at = data.at
        corner = corners[-1] + data.number("a corner") if corners else data.signed("a corner")
        if abs(corner) >= CORNER_LIMIT:
            raise data.refused("a corner is too far out", at)
        corners.append(corner)
    return corners


def _shape(kind: int, corners: list[int], data: ByteReader, at: int) -> Shape:
    if kind == ANY:
        return ANYTHING
    low, high = corners[0], corners[-1]
    if kind == AT_MOST:
        return Shape(-INFINITE, -INFINITE, low, high)
    if kind == AT_LEAST:
        return Shape(low, high, INFINITE, INFINITE)
    inner = corners[1:-1] or [low, high]
    if kind == INTERVAL and low == high:
        raise data.refused("an interval of one value is a point", at)
    if kind >= TRIANGLE and (low, high) == (inner[0], inner[-1]):
        raise data.refused("this shape has no slope: it is a point or an interval", at)
    if kind == TRAPEZOID and inner[0] == inner[1]:
        raise data.refused("this trapezoid is a triangle", at)
    return Shape(low, inner[0], inner[-1], high)


def _curved(shape: Shape, bent: list[int], data: ByteReader, at: int) -> Shape:
    is_left, is_right = shape.m1 < shape.m2, shape.m3 < shape.m4
    if len(bent) == 1:
        (profile,) = bent
        if not is_profile(profile) or not (is_left or is_right):
            raise data.refused("unknown profile, or no sloped side for it", at)
        left, right = profile if is_left else STRAIGHT, profile if is_right else STRAIGHT
    else:
        left, right = bent
        known = all(profile == STRAIGHT or is_profile(profile) for profile in bent)
        if not known or left == right or not (is_left and is_right):
            raise data.refused("two profiles are unknown, equal, or lack a sloped side each", at)
    return Shape(shape.m1, shape.m2, shape.m3, shape.m4, left, right)
