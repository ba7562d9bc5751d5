"""Vital signs that ship with the scenarios (BIDMC): 53 patients, eight minutes, a reading a second."""

import csv
import gzip
import io
from functools import cache
from importlib import resources

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.authoring.streams import StreamReading
from plugins.byte_readings import byte_of
from watchdog.normalise import scale_decimal

COLUMNS = {
    "heart_rate": "heart_rate_bpm",
    "respiration_rate": "respiration_rate_per_min",
    "oxygen_saturation": "spo2_percent",
}


@cache
def table() -> MissionTable:
    """Return the mission in which patients are measured."""
    return load_mission_table(["medical"])


@cache
def patients() -> tuple[tuple[StreamReading, ...], ...]:
    """Return the readings of each patient in their order; a second in which nothing was measured has none."""
    place = resources.files("emulation.scenarios") / "data" / "vitals_bidmc.csv.gz"
    text = gzip.decompress(place.read_bytes()).decode()
    event = table().event("patient")
    attributes = {name: event.attribute(name) for name in COLUMNS}
    found: dict[str, list[StreamReading]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        own = found.setdefault(row["record_id"], [])
        values = {}
        for name, attribute in attributes.items():
            scaled = scale_decimal(row[COLUMNS[name]], attribute.decimals)
            if scaled is not None:
                inside = min(max(scaled, attribute.lo_scaled), attribute.hi_scaled)
                values[attribute.index] = byte_of(inside, attribute)
        second = len(own)
        own.append(StreamReading(1, event.index, second, second, values or {}))
    return tuple(tuple(one for one in own if one.values) for own in found.values())
