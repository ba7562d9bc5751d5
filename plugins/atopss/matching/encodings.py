"""Encodings of degrees: the resolution at which the papers' algorithms store and compare them.

A degree is sufficient if its code is not below the threshold's. Codes are made of 510ths or of bytes; `float`
is the papers' reference, in real numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from plugins.atopss.real_degrees import real_degrees, real_joined
from plugins.atopss.shapes.degrees import Degrees, judged
from plugins.atopss.shapes.scale import BYTE_TOP, LAST_THRESHOLD, LEAST, THIRTIETH, TOP, byte_of
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Predicate, Subscription

Pair = tuple[float, float]
"""(Π, N) in the encoding's unit."""

NOT_REACHED: Final = (0, 0)


class Encoding(Protocol):
    """The degrees of a predicate, and their combination."""

    def degrees(self, predicate: Predicate, value: Shape) -> Pair:
        """Return the degrees of a predicate, (0, 0) if it is not satisfied."""
        ...

    def verdict(self, subscription: Subscription, reached: Sequence[Pair]) -> Degrees | None:
        """Return (Π, N) of a subscription in 510ths, or None if it is not satisfied."""
        ...


class Counted:
    """Degrees are 510ths, compared by codes that may be coarser."""

    def __init__(self, code: Callable[[int], int]) -> None:
        self._codes = [code(degree) for degree in range(TOP + 1)]

    def degrees(self, predicate: Predicate, value: Shape) -> Degrees:
        possible, necessary = judged(predicate.shape, value, complement=predicate.complement)
        if not self._reaches((possible, necessary), predicate.possibility, predicate.necessity):
            return NOT_REACHED
        return possible, necessary

    def verdict(self, subscription: Subscription, reached: Sequence[Pair]) -> Degrees | None:
        joined = subscription.joined([(int(possible), int(necessary)) for possible, necessary in reached])
        if not self._reaches(joined, subscription.possibility, subscription.necessity):
            return None
        return joined

    def _reaches(self, degrees: Degrees, possibility: int, necessity: int) -> bool:
        codes = self._codes
        return (
            degrees[0] >= LEAST
            and codes[degrees[0]] >= codes[THIRTIETH * possibility]
            and codes[degrees[1]] >= codes[THIRTIETH * necessity]
        )


class InReals:
    """Degrees are real numbers; the result is in 510ths."""

    def degrees(self, predicate: Predicate, value: Shape) -> Pair:
        found = real_degrees(predicate.shape, value, complement=predicate.complement)
        return found if _is_reached(found, predicate.possibility, predicate.necessity) else NOT_REACHED

    def verdict(self, subscription: Subscription, reached: Sequence[Pair]) -> Degrees | None:
        found = real_joined(subscription, list(reached))
        if not _is_reached(found, subscription.possibility, subscription.necessity):
            return None
        return int(TOP * found[0] + _TIE), int(TOP * found[1] + _TIE)


_TIE: Final = 1e-9
"""Rounding error of a whole number."""


def _is_reached(found: Pair, possibility: int, necessity: int) -> bool:
    least = max(possibility / LAST_THRESHOLD, 1 / BYTE_TOP)
    return found[0] >= least - _TIE and found[1] >= necessity / LAST_THRESHOLD - _TIE


def _of_ten(degree: int) -> int:
    """0 and 1, and eight equal parts between them."""
    byte = byte_of(degree)
    return 9 * byte // BYTE_TOP if byte in (0, BYTE_TOP) else 1 + 8 * byte // BYTE_TOP


ENCODINGS: Final[Mapping[str, Encoding]] = MappingProxyType(
    {
        "float": InReals(),
        "256": Counted(lambda degree: degree),
        "ten": Counted(_of_ten),
        "4bits": Counted(lambda degree: byte_of(degree) // THIRTIETH),
    }
)
"""All encodings by name. `256` is the language's own: bytes, and half bytes for the threshold ½."""

USUAL: Final = "256"
