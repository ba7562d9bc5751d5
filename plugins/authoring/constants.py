"""Constants in documents: numbers, times of day, dates and listed values, on the attribute's scale.

A constant is a rational number in the attribute's unit and is compared with exact readings without rounding.
A constant in another unit is converted to twelve digits.
"""

import datetime
import math
import re
from collections.abc import Callable
from fractions import Fraction

from dens.config.problems import decimal_point_hint, did_you_mean, likely_meant, listed
from knowledge_manager.durations import duration_s
from knowledge_manager.units import UnitError, convert, convert_difference
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.reader import days_since_epoch
from watchdog.normalise import scale_decimal

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


DIMENSIONLESS = "dimensionless"
"""A vocabulary's name for the unit of plain numbers, for conversion from percent and the like."""


class BadConstant(ValueError):
    """An invalid constant: its code and the reason. `meant` are suggested replacements, if known."""

    def __init__(self, code: str, message: str, word: str = "", meant: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.word = word
        self.meant = meant


def plain_number(text: str) -> float:
    """Return a finite number, or raise `BadConstant`."""
    text = text.strip()
    if len(text) > 40 or _NUMBER.fullmatch(text) is None or not math.isfinite(float(text)):
        shown = text if len(text) <= 40 else text[:40] + "…"
        if decimal_point_hint(text):
            raise BadConstant("D105", f'"{shown}": use a decimal point ({text.replace(",", ".")})')
        raise BadConstant("D105", f'"{shown}" is not a finite number')
    return float(text)


def position(text: str, attribute: Attribute, unit: str) -> float:
    """Return a point of the attribute's domain, in the attribute's unit."""
    text = text.strip()
    if attribute.type == "time" and ":" in text:
        return _seconds_of_day(text)
    if attribute.type == "date" and _DATE.fullmatch(text):
        return float(_day(text))
    return _converted(convert, plain_number(text), attribute, unit)


def extent(text: str, attribute: Attribute, unit: str) -> float:
    """Return a width along the attribute's domain, in the attribute's unit."""
    text = text.strip()
    if attribute.type in ("time", "date") and text.startswith("P"):
        seconds = duration_s(text)
        if seconds is None:
            raise BadConstant("D105", f'"{text}" is not a duration (PT30M, P7D)')
        return seconds if attribute.type == "time" else seconds / 86400
    return _converted(convert_difference, plain_number(text), attribute, unit)


def inverse_extent(text: str, attribute: Attribute, unit: str) -> float:
    """Return a slope, a number per unit of the domain, in the attribute's unit."""
    return plain_number(text) / _converted(convert_difference, 1.0, attribute, unit)


def shown_unit(attribute: Attribute) -> str:
    """Return the unit as written after a number: empty for plain numbers."""
    return "" if attribute.unit == DIMENSIONLESS else attribute.unit


def domain_words(attribute: Attribute) -> str:
    """Return the domain of an attribute with its unit."""
    return f"{attribute.lo:g}..{attribute.hi:g} {shown_unit(attribute)}".strip()


def exact_constant(text: str, attribute: Attribute, unit: str) -> Fraction:
    """Return a constant on the scale of readings, exactly; a listed value as its position. A constant outside
    the domain is refused.
    """
    text = text.strip()
    if attribute.type == "nominal":
        if text not in attribute.values:
            known = listed(attribute.values, 16)
            hint = did_you_mean(text, attribute.values)
            message = f'"{text}" is not a value of {attribute.name} ({known}){hint}'
            raise BadConstant("D114", message, text, likely_meant(text, attribute.values))
        return Fraction(attribute.values.index(text))
    amount = position(text, attribute, unit)
    is_own_unit = attribute.type == "number" and unit in ("", attribute.unit)
    is_finite = math.isfinite(amount)
    written = Fraction(text if is_own_unit else repr(amount) if is_finite else 0)
    exact = written * Fraction(10**attribute.decimals)
    if not is_finite or not attribute.lo_scaled <= exact <= attribute.hi_scaled:
        shown = f"{amount:g} {shown_unit(attribute)}".strip()
        converted = f" ({shown})" if unit and unit != attribute.unit else ""
        message = f'"{text}"{converted} is outside the domain of {attribute.name}, {domain_words(attribute)}'
        raise BadConstant("D106", message)
    return exact


def reading_of(text: str, attribute: Attribute) -> int:
    """Return a value as a source measures it: rounded to the attribute's decimals, half away from zero, and
    clipped to the domain.
    """
    if attribute.type == "nominal":
        return int(exact_constant(text, attribute, ""))
    scaled = scale_decimal(f"{position(text, attribute, attribute.unit):.9f}", attribute.decimals)
    return min(max(scaled or 0, attribute.lo_scaled), attribute.hi_scaled)


def _seconds_of_day(text: str) -> float:
    found = _CLOCK.fullmatch(text)
    if found is not None:
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        total = hours * 3600 + minutes * 60 + seconds
        if minutes < 60 and seconds < 60 and total <= 86400:
            return float(total)
    raise BadConstant("D105", f'"{text}" is not a time of day (08:30 or 08:30:15)')


def _day(text: str) -> int:
    try:
        return days_since_epoch(datetime.date.fromisoformat(text))
    except ValueError:
        raise BadConstant("D105", f'"{text}" is not a date') from None


def _converted(
    way: Callable[[float, str, str], float], amount: float, attribute: Attribute, unit: str
) -> float:
    if not unit or unit == attribute.unit:
        return amount
    if attribute.type != "number" or not attribute.unit:
        raise BadConstant("D107", f'{attribute.name} has no unit, so "{unit}" cannot be converted to it')
    try:
        return way(amount, unit, attribute.unit)
    except UnitError as error:
        raise BadConstant("D107", str(error)) from None
