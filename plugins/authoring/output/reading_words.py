"""Readings and widths as text in the attribute's unit, exactly."""

import datetime
from fractions import Fraction

from knowledge_manager.durations import written_duration
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.constants import shown_unit

_EPOCH = datetime.date(1970, 1, 1)


def reading_words(reading: int, attribute: Attribute) -> str:
    """Return an exact reading: 38.25 degC, 22:00 (with seconds if not zero), 2026-01-31, a value."""
    if attribute.type == "nominal":
        return attribute.values[reading] if reading < len(attribute.values) else f"value {reading}"
    if attribute.type == "time":
        clock = f"{reading // 3600:02d}:{reading // 60 % 60:02d}"
        return f"{clock}:{reading % 60:02d}" if reading % 60 else clock
    if attribute.type == "date":
        return (_EPOCH + datetime.timedelta(days=reading)).isoformat()
    return f"{decimal_text(reading, attribute.decimals)} {shown_unit(attribute)}".strip()


def decimal_text(reading: int, decimals: int) -> str:
    """Return a scaled integer as a decimal number without trailing zeros."""
    whole, rest = divmod(abs(reading), 10**decimals)
    digits = f"{rest:0{decimals}d}".rstrip("0") if decimals else ""
    return f"{'-' if reading < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def amount_words(width: Fraction, attribute: Attribute) -> str:
    """Return a width along the domain, to two digits: 7.8 ppm, PT5M39S, 1.4 days."""
    if attribute.type == "time":
        return written_duration(max(1, round(width)))
    if attribute.type == "date":
        return f"{float(width):.2g} days"
    return f"{_two_digits(float(width))} {shown_unit(attribute)}".strip()


def _two_digits(amount: float) -> str:
    return f"{amount:.2g}" if amount < 100 else f"{amount:.0f}"
