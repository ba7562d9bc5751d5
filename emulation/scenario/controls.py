"""The keys of a scenario that may change during a run.

Controls have fixed times. Changes of range are therefore known before the run and are part of the computed
contacts; rates, losses and sensor intervals change when their time comes. Policies, limits, node numbers,
roles and motion never change.
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
    """A key of a radio table."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class ChangedSensor:
    """The interval of a sensor, by its index in the file."""

    index: int


def control_path(path: str) -> ChangedRadio | ChangedSensor | None:
    """Return the target of a path, or None if it cannot change."""
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
    """Return the ranges of all devices from each change on: (begin in ms, ranges), the first at 0."""
    ranges = {name: radio.range_m for name, radio in settings.radio.items()}
    changes: dict[float, dict[str, float]] = {}
    for control in sorted(settings.control, key=lambda control: control.at_s):
        changed = control_path(control.path)
        if control.at_s >= settings.duration_s:
            continue  # After the end of the run.
        if isinstance(changed, ChangedRadio) and changed.key == "range_m":
            changes.setdefault(float(int(1000 * control.at_s)), {})[changed.name] = control.value
    windows = [] if 0.0 in changes else [(0.0, _device_ranges(settings, ranges))]
    for at_ms, changed_ranges in changes.items():
        ranges = ranges | changed_ranges
        windows.append((at_ms, _device_ranges(settings, ranges)))
    return windows


def _device_ranges(settings: ScenarioSettings, ranges: dict[str, float]) -> list[float]:
    return [ranges[group.radio] for group in settings.group for _ in range(group.count)]
