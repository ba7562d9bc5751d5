"""Values as people and recordings write them, and what is wrong with one.

    38.2          a value that is known
    37.9..38.5    somewhere between the two
    38.2±0.3      most likely 38.2, and surely within 0.3 of it
    ?             anything in the domain
    high          as possible as a term of the attribute is true, where straight lines draw it
    red           one of the words of a nominal attribute

One judgement for all recordings: those of the emulator and those that `dens node publish` replays. What
follows from it is the caller's: an emulated sensor refuses the file or warns, a publisher leaves it out.
"""

from dataclasses import dataclass
from typing import Final, Literal

from dens.config.problems import decimal_point_hint, did_you_mean, listed
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Lr, Shoulder, Term, Trapezoidal, Triangular
from plugins.readings import Corners, point
from watchdog.normalise import scale_decimal

Drawn = tuple[float | None, float | None, float | None, float | None]
"""Corners in the attribute's unit; None is the bound of the domain."""

_LONGEST_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in a value, with a hint."""

    kind: Literal["unreadable", "outside"]
    message: str


def corners_of(text: str, attribute: Attribute) -> Corners | None:
    """Return the corners of a value text in scaled integers, or None if it is not a value."""
    if attribute.type == "nominal":
        return point(attribute.values.index(text)) if text in attribute.values else None
    value = scale_decimal(text, attribute.decimals)
    return _uncertain(text, attribute) if value is None else point(value)


def _uncertain(text: str, attribute: Attribute) -> Corners | None:
    if text.strip() == "?":
        return attribute.lo_scaled, attribute.lo_scaled, attribute.hi_scaled, attribute.hi_scaled
    if (term := attribute.terms.get(text.strip())) is not None:
        return _of_term(term, attribute)
    separator = ".." if ".." in text else "±"
    first, _, second = text.partition(separator)
    one, other = (scale_decimal(part, attribute.decimals) for part in (first, second))
    if one is None or other is None:
        return None
    if separator == "..":
        return (one, one, other, other) if one <= other else None
    return (one - other, one, one, one + other) if other >= 0 else None


def _of_term(term: Term, attribute: Attribute) -> Corners | None:
    """Return the corners of a piecewise linear term, clipped to the domain."""
    match term:
        case Trapezoidal(left, right, width):
            drawn: Drawn = left - width, left, right, right + width
        case Triangular(center, width):
            drawn = center - width, center, center, center + width
        case Shoulder("right", start, end):
            drawn = start, end, None, None
        case Shoulder(_, start, end):
            drawn = None, None, start, end
        case Lr(lower, upper, left, right, "straight", "straight"):
            low, high = None if lower is None else lower - left, None if upper is None else upper + right
            drawn = low, lower, upper, high
        case _:
            return None
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    ends = (lo, lo, hi, hi)
    scaled = [
        end if x is None else scale_decimal(f"{x:.9f}", attribute.decimals)
        for x, end in zip(drawn, ends, strict=True)
    ]
    low, core_low, core_high, high = (min(max(lo if x is None else x, lo), hi) for x in scaled)
    return low, core_low, core_high, high


def is_within(corners: Corners, attribute: Attribute) -> bool:
    """Return whether the outer corners lie in the attribute's domain."""
    return attribute.lo_scaled <= corners[0] and corners[3] <= attribute.hi_scaled


def fault_of(text: str, attribute: Attribute) -> Fault | None:
    """Return the error in this text as a value of the attribute, or None."""
    if attribute.type == "nominal":
        if text in attribute.values:
            return None
        known = f"({listed(attribute.values)}){did_you_mean(text, attribute.values)}"
        return Fault("unreadable", f"{shown(text)} is not a value of {attribute.name} {known}")
    corners = corners_of(text, attribute)
    if corners is None:
        hint = decimal_point_hint(text)
        return Fault("unreadable", f"{shown(text)} is not a value of {attribute.name}{hint}")
    if not is_within(corners, attribute):
        unit = f" {attribute.unit}" if attribute.unit else ""
        domain = f"{attribute.lo:g} to {attribute.hi:g}{unit}"
        return Fault(
            "outside", f"{attribute.name} {shown(text, quoted=False)} is outside the domain {domain}"
        )
    return None


def semicolon_hint(header: str) -> str:
    """Return a hint if the header of a file is separated by semicolons; else an empty text."""
    if ";" not in header or "," in header:
        return ""
    return "; its columns are separated by semicolons: use commas, and decimal points in numbers"


def shown(text: str, *, quoted: bool = True) -> str:
    """Return a value of a file for display: shortened, without control characters."""
    short = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
    printable = short if short.isprintable() else short.encode("unicode_escape").decode("ascii")
    return f'"{printable}"' if quoted else printable
