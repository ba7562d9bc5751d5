"""In the emulator, publishers are unknown at the start: a subscription finds all that offer what it needs.

The judge knows the contact table and which group measures what, and nothing of dictionaries or engines. Two
paths bound when a filter is installed: the ideal one, along which everything travels in no time, and the
trimmed one, on which every contact must last some seconds for the hand-shake and the transfer.
"""

from math import inf
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.earliest import arrivals, mediators_among, meetings_of

SCENARIO = """\
name = "reach"
duration_s = 1800
vocabularies = ["medical", "weather"]

[area]
width_m = 500
height_m = 400

[radio.handheld]
range_m = 50
rate_bytes_per_s = 25000
setup_ms = 100

[[group]]
name = "medics"
role = "subscriber"
count = 2
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [1.0, 2.0] }

[[group]]
name = "helpers"
role = "mediator"
count = 4
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [2.0, 4.0] }

[[group]]
name = "patients"
role = "publisher"
count = 4
radio = "handheld"
mobility = { model = "static" }

[[group]]
name = "poles"
role = "publisher"
count = 4
radio = "handheld"
mobility = { model = "static" }

[[subscription]]
group = "medics"
file = "fever.xml"

[[subscription]]
group = "medics"
file = "wind.xml"
at_s = 200

[[subscription]]
group = "medics"
file = "sultry.xml"

[[sensor]]
group = "patients"
event = "patient"
every_s = 600
source = { generator = "vital_signs" }

[[sensor]]
group = "poles"
event = "weather"
every_s = 600
source = { csv = "poles.csv", time_column = "time_s", columns = { wind_speed = "wind", temperature = "t" } }
"""
FILES = {
    "fever.xml": ("patient", "patient_temperature", "high"),
    "wind.xml": ("weather", "wind_speed", "strong"),
    "sultry.xml": ("weather", "humidity", "humid"),
}
SERVED_BY = {"fever.xml": "patients", "wind.xml": "poles", "sultry.xml": None}
HAND_SHAKE_MS = 4_000.0
Row = dict[str, int]


def subscription(event: str, attribute: str, term: str) -> str:
    predicate = f'<approximate-predicate attribute="{attribute}"><is>{term}</is></approximate-predicate>'
    return f'<subscription xmlns="urn:dens:subscription:1" event="{event}">{predicate}</subscription>'


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    folder = tmp_path_factory.mktemp("reach")
    for name, asked in FILES.items():
        (folder / name).write_text(subscription(*asked))
    (folder / "poles.csv").write_text("time_s,wind,t\n0,3,20\n900,12,21\n1800,5,20\n")
    (folder / "reach.toml").write_text(SCENARIO)
    run_scenario(load_scenario(folder / "reach.toml"), 3, folder / "run")
    trace = folder / "run" / "trace"
    return {table.name: pq.read_table(table).to_pylist() for table in sorted(trace.iterdir())}


def test_every_subscription_reaches_every_publisher_that_offers_its_attributes(
    tables: dict[str, list[Row]],
) -> None:
    installed: dict[tuple[int, int, int], int] = {}
    for row in tables["messages"]:
        if row["type"] == "install" and row["kind"] == "received":
            installed.setdefault((row["origin"], row["number"], row["node"]), row["at_ms"])
    made = {
        (row["origin"], row["at_ms"], row["number"])
        for row in tables["messages"]
        if row["type"] == "subscribe" and row["kind"] == "created"
    }
    publishers = [row for row in tables["nodes"] if row["role"] == "publisher"]
    meetings, mediators = meetings_of(tables["contacts"]), mediators_among(tables["nodes"])
    reached = 0
    for subscribed in tables["subscriptions"]:
        origin, created_ms = subscribed["subscriber"], subscribed["created_ms"]
        group = SERVED_BY[Path(str(subscribed["document"])).name]
        ideal = arrivals(meetings, mediators, origin, created_ms)
        trimmed = arrivals(meetings, mediators, origin, created_ms, HAND_SHAKE_MS)
        numbers = sorted(number for node, at_ms, number in made if (node, at_ms) == (origin, created_ms))
        same_time = [
            row
            for row in tables["subscriptions"]
            if (row["subscriber"], row["created_ms"]) == (origin, created_ms)
        ]
        number = numbers[same_time.index(subscribed)]
        for publisher in publishers:
            at_ms = installed.get((origin, number, publisher["node"]), inf)
            if publisher["group"] != group:
                assert at_ms == inf, "no source is queried for what it does not measure"
                continue
            assert at_ms >= ideal.get(publisher["node"], inf)
            if publisher["node"] in trimmed:
                assert at_ms <= trimmed[publisher["node"]]
                reached += 1
    assert reached >= 10, "the run is long enough to be meaningful"
