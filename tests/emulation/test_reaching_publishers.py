"""With publishers unknown at the start, every subscription reaches every publisher that offers its attributes
as soon as contacts allow, and no other one.

Two judges search the contact table alone (`tests.emulation.earliest`). The ideal one lets a subscription
cross a contact at once: no publisher can have it earlier. The trimmed one takes `TRIM_MS` for every crossing,
and only contacts that last that long: whoever can be reached so has the subscription by then.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.earliest import arrivals, mediators_among, meetings_of

TRIM_MS = 3_000
SCENARIO = """\
name = "unknown"
duration_s = 2400
vocabularies = ["medical", "weather"]

[area]
width_m = 500
height_m = 400

[radio.r]
range_m = 45
rate_bytes_per_s = 250000
setup_ms = 100

[[group]]
name = "askers"
role = "subscriber"
count = 3
radio = "r"
mobility = { model = "random_waypoint", speed_m_per_s = [1, 3], pause_s = [0, 20] }

[[group]]
name = "carriers"
role = "mediator"
count = 4
radio = "r"
mobility = { model = "random_waypoint", speed_m_per_s = [2, 5], pause_s = [0, 20] }

[[group]]
name = "patients"
role = "publisher"
count = 4
radio = "r"
mobility = { model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 60] }

[[group]]
name = "poles"
role = "publisher"
count = 3
radio = "r"
mobility = { model = "static" }

[[subscription]]
group = "askers"
file = "fever.xml"
at_s = 100

[[subscription]]
group = "askers"
file = "wind.xml"
at_s = 400

[[subscription]]
group = "askers"
file = "dust.xml"

[[sensor]]
group = "patients"
event = "patient"
every_s = 5
source = { generator = "vital_signs" }

[[sensor]]
group = "poles"
event = "weather"
every_s = 5
source = { generator = "diurnal_weather" }
"""
XML = '<subscription xmlns="urn:dens:subscription:1" event="{}" valid="PT4H">{}</subscription>'
PREDICATE = '<approximate-predicate attribute="{}"><is>{}</is></approximate-predicate>'
FEVER = XML.format("patient", PREDICATE.format("patient_temperature", "very_high"))
WIND = XML.format("weather", PREDICATE.format("wind_speed", "storm"))
DUST = XML.format(
    "weather", PREDICATE.format("wind_speed", "storm") + PREDICATE.format("fine_dust", "unhealthy")
)
"""The poles measure no dust, so no source can serve the last one."""
SERVED_BY = {"fever.xml": "patients", "wind.xml": "poles", "dust.xml": None}

Row = dict[str, Any]


@pytest.fixture
def tables(tmp_path: Path) -> Callable[[int], dict[str, list[Row]]]:
    def run(seed: int) -> dict[str, list[Row]]:
        for name, text in (
            ("fever.xml", FEVER),
            ("wind.xml", WIND),
            ("dust.xml", DUST),
            ("s.toml", SCENARIO),
        ):
            (tmp_path / name).write_text(text)
        out = tmp_path / str(seed)
        run_scenario(load_scenario(tmp_path / "s.toml"), seed, out)
        return {table.name: pq.read_table(table).to_pylist() for table in (out / "trace").iterdir()}

    return run


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_subscription_reaches_every_publisher_that_offers_its_attributes(
    tables: Callable[[int], dict[str, list[Row]]], seed: int
) -> None:
    found = tables(seed)
    group = {row["node"]: row["group"] for row in found["nodes"]}
    earliest: dict[int, list[float]] = {node: [] for node in group}
    latest: dict[int, list[float]] = {node: [] for node in group}
    meetings, mediators = meetings_of(found["contacts"]), mediators_among(found["nodes"])
    for row in found["subscriptions"]:
        ideal = arrivals(meetings, mediators, row["subscriber"], row["created_ms"])
        trimmed = arrivals(meetings, mediators, row["subscriber"], row["created_ms"], TRIM_MS)
        for node, name in group.items():
            if name == SERVED_BY[row["document"]]:
                earliest[node].append(ideal.get(node, float("inf")))
                latest[node].append(trimmed.get(node, float("inf")))
    reached = 0
    for row in found["filter_decisions"]:
        node, at_ms = row["node"], row["at_ms"]
        allowed = sum(moment <= at_ms for moment in earliest[node])
        due = sum(moment <= at_ms for moment in latest[node])
        assert due <= row["installed"] <= allowed, (group[node], node, at_ms)
        reached += row["installed"] > 0
    assert reached > 500
    last = {row["node"]: row["installed"] for row in found["filter_decisions"]}
    assert {group[node] for node, installed in last.items() if installed == 3} == {"patients", "poles"}
