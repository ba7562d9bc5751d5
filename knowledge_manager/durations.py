"""ISO 8601 durations: PT30S, PT1H30M, P7D."""

import math
import re

_DURATION = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_SECONDS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}


def duration_s(text: str) -> float | None:
    """Return the seconds of a duration, or None if the text is not one. Years and months are rejected because
    their length varies.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None or len(text) > 40 or not any(found.groups()) or text.strip().endswith("T"):
        return None
    return math.fsum(float(number) * _SECONDS[unit] for unit, number in found.groupdict("0").items())


def written_duration(seconds: int) -> str:
    """Return whole seconds as the shortest duration of days, hours, minutes and seconds."""
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    clock = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (left, "S")) if n)
    return "P" + (f"{days}D" if days else "") + (f"T{clock}" if clock else "") if seconds else "PT0S"
