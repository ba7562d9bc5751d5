"""Checks a sensor of a scenario against the mission table, and reads its recording."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places
from emulation.scenario.scenario import PlannedSensor
from emulation.scenario.settings.sensors import CsvSettings, SensorSettings
from emulation.sensors.diurnal_weather import WEATHER
from emulation.sensors.fire_signs import FIRE
from emulation.sensors.recording import Conversion, Layout, read_recording
from emulation.sensors.stated_error import StatedError
from emulation.sensors.vital_signs import SIGNS
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.units import UnitError, check_unit, convert
from knowledge_manager.vocabulary.vocabulary import EventClass, UnknownName

_MADE = {"vital_signs": tuple(SIGNS), "diurnal_weather": WEATHER, "fire_signs": FIRE}
"""The attributes of each generator; a generator that is not listed makes all attributes."""


def made_by(generator: str, event: EventClass) -> tuple[str, ...]:
    """Return the attributes of an event that a generator makes."""
    names = [attribute.name for attribute in event.attributes]
    return tuple(name for name in names if name in _MADE.get(generator, names))


def plan_sensor(
    sensor: SensorSettings,
    index: int,
    files: NamedFiles,
    table: MissionTable,
    places: Places,
    warnings: list[Problem],
) -> PlannedSensor:
    """Return the sensor ready to be read, or raise `DocumentError` with its problems.

    Warnings about its recording are added to the list.
    """
    try:
        event = table.event(sensor.event)
    except UnknownName as error:
        raise DocumentError(
            [places.problem(("sensor", index, "event"), "D308", str(error), meant=error.meant)]
        ) from None
    if sensor.notification_lifetime_s is not None:
        event = replace(event, notification_lifetime_s=ceil(sensor.notification_lifetime_s))
    errors = _errors(sensor, event, index, places)
    at_ms, every_ms = int(sensor.at_s * 1000), max(1, int(sensor.every_s * 1000))
    if not isinstance(sensor.source, CsvSettings):
        generator = sensor.source.generator
        attributes = made_by(generator, event)
        if not attributes:
            message = f'"{generator}" measures nothing of "{event.name}"; it knows {listed(_MADE[generator])}'
            raise DocumentError([places.problem(("sensor", index, "source", "generator"), "D308", message)])
        _refuse_unmeasured(errors, attributes, index, places)
        return PlannedSensor(sensor.group, event, attributes, at_ms, every_ms, sensor.source, errors)
    layout = _layout(sensor.source, event, index, places)
    _refuse_unmeasured(errors, tuple(layout.columns), index, places)
    path = files.path(sensor.source.csv, ("sensor", index, "source", "csv"), places)
    series = read_recording(path, layout, warnings)
    return PlannedSensor(sensor.group, event, tuple(layout.columns), at_ms, every_ms, series, errors)


def _errors(sensor: SensorSettings, event: EventClass, index: int, places: Places) -> dict[str, StatedError]:
    """Return the stated errors of a sensor, in scaled integers."""
    problems: list[Problem] = []
    errors: dict[str, StatedError] = {}
    for name, stated in sensor.error.items():
        path = ("sensor", index, "error", name)
        try:
            attribute = event.attribute(name)
        except UnknownName as error:
            problems.append(places.problem(path, "D308", str(error), meant=error.meant, is_key=True))
            continue
        reach = stated.triangular if stated.interval is None else stated.interval
        assert reach is not None
        scaled = round(reach * 10**attribute.decimals)
        if attribute.type == "nominal":
            problems.append(places.problem(path, "D327", f"{name} is nominal and cannot have an error"))
        elif not 0 < scaled <= attribute.hi_scaled - attribute.lo_scaled:
            least, most = 10**-attribute.decimals, attribute.hi - attribute.lo
            message = f"an error of {reach:g} is out of range for {name}: use {least:g} to {most:g}"
            problems.append(places.problem(path, "D327", f"{message} {attribute.unit}".rstrip()))
        else:
            errors[name] = StatedError("interval" if stated.interval else "triangular", scaled)
    if problems:
        raise DocumentError(problems)
    return errors


def _refuse_unmeasured(
    errors: Mapping[str, StatedError], measured: Sequence[str], index: int, places: Places
) -> None:
    strange = [name for name in errors if name not in measured]
    if strange:
        raise DocumentError(
            places.problem(
                ("sensor", index, "error", name),
                "D327",
                f"the sensor does not measure it ({listed(measured)})",
                is_key=True,
            )
            for name in strange
        )


def _layout(source: CsvSettings, event: EventClass, index: int, places: Places) -> Layout:
    problems: list[Problem] = []
    conversions: dict[str, Conversion] = {}
    for name in source.columns:
        try:
            event.attribute(name)
        except UnknownName as error:
            path = ("sensor", index, "source", "columns", name)
            problems.append(places.problem(path, "D308", str(error), meant=error.meant, is_key=True))
    for name, unit in source.units.items():
        path = ("sensor", index, "source", "units", name)
        if name not in source.columns:
            message = f"it has no column{did_you_mean(name, source.columns)}"
            meant = likely_meant(name, source.columns)
            problems.append(places.problem(path, "D308", message, meant=meant, is_key=True))
            continue
        try:
            attribute = event.attribute(name)
            check_unit(unit)
            convert(0.0, unit, attribute.unit)
        except UnitError as error:
            problems.append(places.problem(path, "D309", str(error)))
        except UnknownName:
            continue  # Already reported above.
        else:
            if unit != attribute.unit:
                conversions[name] = Conversion(unit, attribute.unit, attribute.decimals)
    if problems:
        raise DocumentError(problems)
    return Layout(
        source.time_column,
        source.series_column,
        source.columns,
        frozenset(source.missing),
        conversions,
        {name: event.attribute(name) for name in source.columns},
        float("inf") if source.longest_gap_s is None else 1000.0 * source.longest_gap_s,
    )
