"""Which keys of a scenario may get another value while the run goes on.

Controls come at moments that the file names. So a change of range is known before the run begins, and
contacts are solved with it; what radios do with frames and how often sensors read changes when the moment
comes. Engines keep the policy and the limits that they were made with, nodes their number, role and motion.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from emulation.scenario.changes import steps_of
from emulation.scenario.settings.settings import ScenarioSettings

_RADIO_KEYS: Final = ("range_m", "rate_bytes_per_s", "loss")
CHANGEABLE: Final = (*(f"radio.NAME.{key}" for key in _RADIO_KEYS), "sensor[N].every_s")
_RADIO: Final = re.compile(rf"radio\.([a-z][a-z0-9_]*)\.({'|'.join(_RADIO_KEYS)})")
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


def changeable_in(settings: ScenarioSettings) -> list[str]:
    """Return the paths of all keys of this scenario that can change."""
    radios = [f"radio.{name}.{key}" for name in settings.radio for key in _RADIO_KEYS]
    return radios + [f"sensor[{index}].every_s" for index in range(len(settings.sensor))]


def is_key(settings: ScenarioSettings, path: str) -> bool:
    """Return whether a path names a key of this scenario at all."""
    inside: Any = settings.model_dump(mode="json", by_alias=True)
    steps = steps_of(path)
    for step in steps:
        try:
            inside = inside[step]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(steps)


def range_windows(settings: ScenarioSettings) -> list[tuple[float, list[float]]]:
    """Return from which moments (ms) on the radios of all devices reach how far, the first moment being 0."""
    ranges = {name: radio.range_m for name, radio in settings.radio.items()}
    changes: dict[float, dict[str, float]] = {}
    for control in sorted(settings.control, key=lambda control: control.at_s):
        changed = control_path(control.path)
        if control.at_s >= settings.duration_s:
            continue  # The run ends before it.
        if isinstance(changed, ChangedRadio) and changed.key == "range_m":
            changes.setdefault(float(int(1000 * control.at_s)), {})[changed.name] = control.value
    found = [] if 0.0 in changes else [(0.0, _reaches(settings, ranges))]
    for at_ms, changed_ranges in changes.items():
        ranges = ranges | changed_ranges
        found.append((at_ms, _reaches(settings, ranges)))
    return found


def _reaches(settings: ScenarioSettings, ranges: dict[str, float]) -> list[float]:
    return [ranges[group.radio] for group in settings.group for _ in range(group.count)]
