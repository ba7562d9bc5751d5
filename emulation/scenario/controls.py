"""Which keys of a scenario may get another value while the run goes on.

Motion and contacts are found before the run begins, and engines keep the policy and the limits that they were
made with; what can change is what radios do with frames and how often sensors read.
"""

import re
from dataclasses import dataclass
from typing import Final

CHANGEABLE: Final = ("radio.NAME.loss", "radio.NAME.rate_bytes_per_s", "sensor[N].every_s")
_RADIO: Final = re.compile(r"radio\.([a-z][a-z0-9_]*)\.(loss|rate_bytes_per_s)")
_SENSOR: Final = re.compile(r"sensor\[(\d+)\]\.every_s")


@dataclass(frozen=True, slots=True)
class ChangedRadio:
    """A key of a kind of radio."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class ChangedSensor:
    """How often a sensor reads, by its place in the file."""

    index: int


def control_path(path: str) -> ChangedRadio | ChangedSensor | None:
    """Return what a path names, or None if nothing that can change."""
    if radio := _RADIO.fullmatch(path):
        return ChangedRadio(radio[1], radio[2])
    if sensor := _SENSOR.fullmatch(path):
        return ChangedSensor(int(sensor[1]))
    return None
