"""Units of measurement: validation and conversion.

`pint` takes half a second to load, so it is loaded only if two units differ or one is not a common unit.
"""

import re
import warnings
from functools import cache
from math import isclose
from typing import Any, Final

_NAME = r"[A-Za-zµ°%_]+(?:(?:\^|\*\*)-?\d)?"
_WRITTEN_UNIT = re.compile(rf"(?:1|{_NAME})(?:[*/ ]{_NAME})*")
"""Unit names with small powers, multiplied and divided. Anything else is rejected before pint would evaluate
it.
"""


_SIGNS = str.maketrans({"\u03bc": "µ", "\u2103": "degC", "\u2109": "degF", "·": "*", "\u2212": "-"})
_POWER = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
"""People write µg/m³ and ℃; pint reads µg/m^3 and degC."""


COMMON_UNITS: Final = frozenset(
    (
        *("1/min", "A", "C", "Hz", "J", "K", "Pa", "V", "W", "bpm", "cm", "degC", "degF", "dimensionless"),
        *("g", "g/m^3", "h", "hPa", "kPa", "kg", "km", "km/h", "l", "m", "m/s", "m/s^2", "mV", "mg"),
        *("mg/m^3", "min", "mm", "mmHg", "mol", "ms", "percent", "ppm", "rpm", "s", "ug/m^3"),
    )
)
"""Units that are accepted without loading pint, which knows all of them."""


class UnitError(ValueError):
    """A unit is unknown, or two units are not convertible."""


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    registry.define("beats_per_minute = 1 / minute = bpm")
    return registry


@cache
def _unit(name: str) -> Any:
    written = _POWER.sub(lambda found: "^" + found[0].translate(_PLAIN), name.translate(_SIGNS))
    if len(name) > 64 or _WRITTEN_UNIT.fullmatch(written) is None:
        shown = name if name.isprintable() else ascii(name)[1:-1]
        raise UnitError(f'unit "{shown}" is unknown; write it like "m/s^2" or "µg/m^3"')
    try:
        return _registry().Unit(written)
    except Exception as error:  # pint raises many kinds, some of them its tokenizer's
        raise UnitError(f'unit "{name}" is unknown') from error


def check_unit(name: str) -> None:
    """Raise `UnitError` unless the unit is known."""
    if name not in COMMON_UNITS:
        _unit(name)


@cache
def _line(from_unit: str, to_unit: str) -> tuple[float, float]:
    """Return (factor, offset) of a conversion, which is affine also for temperatures.

    Non-linear units (decibels) are rejected: the ends of a domain and the widths of a curve would not
    convert.
    """
    source, target = _unit(from_unit), _unit(to_unit)
    if source.dimensionality != target.dimensionality:
        raise UnitError(
            f'unit "{from_unit}" ({source.dimensionality}) is of another dimension than "{to_unit}" '
            f"({target.dimensionality})"
        )
    try:
        with warnings.catch_warnings(action="ignore"):
            zero, one, two = (
                float(_registry().Quantity(amount, source).to(target).magnitude) for amount in (0.0, 1.0, 2.0)
            )
    except Exception as error:  # pint raises many kinds: differences of temperatures against temperatures, …
        raise UnitError(f'"{from_unit}" cannot be converted to "{to_unit}"') from error
    if not isclose(two - one, one - zero, rel_tol=1e-9):
        raise UnitError(f'"{from_unit}" is not a linear scale of "{to_unit}"; give the amount in "{to_unit}"')
    return one - zero, zero


def convert(amount: float, from_unit: str, to_unit: str) -> float:
    """Return the amount in the other unit: 100 degF is 37.8 degC."""
    if from_unit == to_unit:
        return amount
    factor, offset = _line(from_unit, to_unit)
    return _rounded(amount * factor + offset)


def convert_difference(amount: float, from_unit: str, to_unit: str) -> float:
    """Return a difference in the other unit: 9 degF wide is 5 degC wide."""
    if from_unit == to_unit:
        return amount
    factor, _ = _line(from_unit, to_unit)
    return _rounded(amount * factor)


def _rounded(amount: float) -> float:
    """Round to twelve digits, so that decimal amounts convert exactly."""
    return float(f"{amount:.12g}")
