"""Formats numbers for reports, figures and tables.

A number and its unit are joined by a no-break space.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spark_analysis.pair_figures import DeliveryCounts

NOT_KNOWN: Final = "–"
NO_BREAK: Final = "\N{NO-BREAK SPACE}"

_TIME_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_ENERGY_UNITS: Final = ((1e6, "MJ"), (1e3, "kJ"), (1, "J"))
_BYTE_UNITS: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def seconds(milliseconds: float | None) -> float | None:
    """Convert milliseconds to seconds; None stays None."""
    return None if milliseconds is None else milliseconds / 1000


def delivery_text(served: "DeliveryCounts", estimate: float | None) -> str:
    """Return the delivery counts as text, the same in reports, runs and the live view."""
    return (
        f"{served.delivered:,} of {served.expected:,} expected deliveries ({share_text(served.ratio)}); "
        f"{served.open:,} still open{_gone(served)}; {share_text(served.whole_ratio)} of the "
        f"{served.whole:,} that had their whole lifetime; estimated within the lifetime "
        f"(Kaplan–Meier): {share_text(estimate)}"
    )


def _gone(served: "DeliveryCounts") -> str:
    """Return the lost and withdrawn pairs as text, or nothing."""
    lost = f", {served.lost:,} lost" if served.lost else ""
    return lost + (f", {served.withdrawn:,} withdrawn" if served.withdrawn else "")


def median_text(median_s: float | None, watched_s: float | None) -> str:
    """Return a median of partly censored times; "more than" the longest observation if it was not reached."""
    if median_s is None and watched_s is not None:
        return f"more than {time_text(watched_s)}"
    return time_text(median_s)


def time_text(seconds: float | None) -> str:
    """Return a time with three digits in the largest unit that gives at least 1: 95 s is 1.58 min."""
    if seconds is None:
        return NOT_KNOWN
    if (text := _in_units(seconds, _TIME_UNITS)) is not None:
        return text
    if 0 < seconds < 0.001:
        return f"{seconds * 1e6:.3g}{NO_BREAK}µs"
    return f"{seconds * 1000:.3g}{NO_BREAK}ms"


def bytes_text(count: float | None) -> str:
    """Return bytes in decimal units with three digits."""
    if count is None:
        return NOT_KNOWN
    return _in_units(count, _BYTE_UNITS) or f"{count:.0f}{NO_BREAK}B"


def energy_text(joules: float | None) -> str:
    """Return joules with three digits, in mJ, J, kJ or MJ."""
    if joules is None:
        return NOT_KNOWN
    return _in_units(joules, _ENERGY_UNITS) or f"{joules * 1000:.3g}{NO_BREAK}mJ"


def _in_units(value: float, units: Sequence[tuple[float, str]]) -> str | None:
    """Return the value in the first unit that it reaches, or None; units are in descending order."""
    for size, unit in units:
        if value >= size:
            return f"{value / size:.3g}{NO_BREAK}{unit}"
    return None


def share_text(share: float | None) -> str:
    """Return a percentage with one decimal; less than everything is never rounded up to 100 %."""
    if share is None:
        return NOT_KNOWN
    if 0.9995 <= share < 1:
        return f">{NO_BREAK}99.9{NO_BREAK}%"
    return f"{100 * share:.1f}{NO_BREAK}%"


def counted(count: int, what: str) -> str:
    """Return a count with its noun: 1 run, 2 runs, 1,000 runs."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def number_text(number: float | None) -> str:
    """Return an integer with thousands separators, any other number with three digits."""
    if number is None:
        return NOT_KNOWN
    return f"{number:,}" if isinstance(number, int) else f"{number:.3g}"
