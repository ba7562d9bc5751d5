"""The scenario `brokers`: routed or flooded, the same is delivered, with fewer notifications under way."""

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from dens.config.problems import DocumentError
from dens.trace.recorded_run import recorded_run
from emulation.rerun import rerun
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from plugins.atopss.matching.naive import NaiveMatcher
from tests.paths import ROOT

BROKERS = 31
CALM_MS = 2_000
"""Deliveries within this time of a subscription change are not checked."""
SHORT = ["duration_s=350"]
KINDS = ["tree", "grid", "random"]


Delivery = tuple[int, int, int]
"""A subscriber, and the origin and number of a notification."""


class Seen(NamedTuple):
    """Who was delivered what, how often notifications crossed links between brokers, and how often each did
    at most."""

    delivered: set[Delivery]
    frames: int
    most_crossings: int


def run(folder: Path, changes: Sequence[str], seed: int) -> Path:
    run_scenario(load_scenario("brokers", changes), seed, folder)
    return folder


def seen_in(folder: Path) -> Seen:
    columns = ["kind", "type", "node", "peer", "origin", "number"]
    steps = recorded_run(folder).table("messages", columns).to_pylist()
    delivered = {(one["node"], one["origin"], one["number"]) for one in steps if one["kind"] == "delivered"}
    came = [
        one
        for one in steps
        if one["type"] == "notification"
        and one["kind"] in ("replicated", "duplicate")
        and max(one["node"], one["peer"]) < BROKERS
    ]
    crossings = Counter((one["origin"], one["number"], *sorted((one["node"], one["peer"]))) for one in came)
    frames = [
        one
        for one in steps
        if (one["kind"], one["type"]) == ("sent", "notification") and max(one["node"], one["peer"]) < BROKERS
    ]
    return Seen(delivered, len(frames), max(crossings.values()))


def owed_in(folder: Path, calm_ms: int = CALM_MS) -> tuple[set[Delivery], set[Delivery]]:
    """Return what should be delivered by the definition alone, and what may be: subscriptions that came or
    went within a moment of a notification, and what is published just before the end."""
    trace = recorded_run(folder)
    rows = trace.table(
        "subscriptions", ["subscriber", "id", "created_ms", "withdrawn_ms", "vector"]
    ).to_pylist()
    told = trace.table("notifications", ["at_ms", "origin", "number", "vector"]).to_pylist()
    ends = {(one["subscriber"], one["id"]): one["withdrawn_ms"] for one in rows if one["withdrawn_ms"]}
    last_ms = max(one["at_ms"] for one in told)
    matcher = NaiveMatcher(load_scenario("brokers").table)
    since: dict[tuple[int, int], int] = {}
    for one in rows:
        key = one["subscriber"], one["id"]
        since.setdefault(key, one["created_ms"])
        matcher.add(key, one["vector"][3:])
    must, may = set(), set()
    for one in told:
        for found in matcher.match(one["vector"], one["at_ms"], one["at_ms"]):
            item = found.key[0], one["origin"], one["number"]
            end_ms = ends.get(found.key, last_ms + calm_ms)
            if since[found.key] - calm_ms < one["at_ms"] < end_ms + calm_ms:
                may.add(item)
            if since[found.key] + calm_ms < one["at_ms"] < min(end_ms, last_ms) - calm_ms:
                must.add(item)
    return must, may


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "random" else pytest.mark.slow) for kind in KINDS]
)
def test_routed_and_flooded_deliver_what_a_central_matcher_finds(kind: str, tmp_path: Path) -> None:
    changes = [*SHORT, f"links.kind={kind}"]
    routed, flooded = (
        seen_in(run(tmp_path / routing, [*changes, f"overlay.routing={routing}"], 7))
        for routing in ("broker", "flood")
    )
    must, may = owed_in(tmp_path / "broker")
    assert len(must) > 200
    assert must <= routed.delivered <= may
    assert must <= flooded.delivered <= may
    assert routed.frames < flooded.frames / 2
    assert routed.most_crossings == 1


def test_a_run_can_be_done_again_byte_for_byte(tmp_path: Path) -> None:
    first = run(tmp_path / "run", ["duration_s=120", "links.kind=random"], 3)
    again = rerun(first, tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.same_trace


FAULT = """
[[fault]]
kind = "crash"
who = ["offices"]
every_s = 400
for_s = 10
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_brokers_that_crash_lose_nothing_that_they_acknowledged(kind: str, tmp_path: Path) -> None:
    shipped = ROOT / "emulation/scenarios"
    shutil.copytree(shipped / "brokers", tmp_path / "brokers")
    path = tmp_path / "crashing.toml"
    path.write_text((shipped / "brokers.toml").read_text() + FAULT)
    changes = [f"links.kind={kind}", "overlay.broker.patience_s=3600"]
    run_scenario(load_scenario(path, changes), 5, tmp_path / "run")
    states = recorded_run(tmp_path / "run").table("node_state", ["state"]).to_pylist()
    assert sum(one["state"] == "down" for one in states) > 50
    must, may = owed_in(tmp_path / "run", calm_ms=90_000)
    assert len(must) > 500
    assert must <= seen_in(tmp_path / "run").delivered <= may


PARTIAL = """
name = "gaps"
duration_s = 120
seed = 1
vocabularies = ["housing"]
overlay.routing = "broker"
links = { kind = "line" }

[area]
width_m = 100
height_m = 100

[radio.line]
range_m = 100
rate_bytes_per_s = 125000

[[group]]
name = "offices"
role = "mediator"
count = 2
radio = "line"

[[group]]
name = "owners"
role = "publisher"
count = 1
radio = "line"

[[group]]
name = "seekers"
role = "subscriber"
count = 1
radio = "line"

[[subscription]]
group = "seekers"
file = "cheap.xml"
"""
DOCUMENTS = """
[[publication]]
group = "owners"
language = "atopss"
files = ["rent.xml", "both.xml"]
at_s = 20
every_s = 20
"""
SENSOR = """
[[sensor]]
group = "owners"
event = "apartment"
at_s = 20
every_s = 20
[sensor.source]
csv = "flats.csv"
time_column = "t"
columns = { rent = "rent", size = "size" }
"""
NAMESPACES = {"fuzzy": "urn:dens:subscription:1", "atopss": "urn:dens:approximate:1"}


@pytest.mark.parametrize(
    ("source", "language", "count"), [(DOCUMENTS, "atopss", 2), (SENSOR, "atopss", 3), (SENSOR, "fuzzy", 3)]
)
@pytest.mark.parametrize("routing", ["carry", "broker", "flood"])
def test_publication_with_fewer_attributes_than_advertised_is_sent(
    routing: str, source: str, language: str, count: int, tmp_path: Path
) -> None:
    """The publisher advertises rent and size; one publication has the rent alone."""
    head = f'<subscription xmlns="{NAMESPACES[language]}" event="apartment" valid="PT2H">'
    wish = '<crisp-predicate attribute="rent" operator="le">1500</crisp-predicate></subscription>'
    (tmp_path / "cheap.xml").write_text(head + wish)
    rent, size = (f'<value attribute="{name}">{at}</value>' for name, at in (("rent", 1000), ("size", 50)))
    for name, values in (("rent", rent), ("both", rent + size)):
        text = f'<publication xmlns="urn:dens:approximate:1" event="apartment">{values}</publication>'
        (tmp_path / f"{name}.xml").write_text(text)
    (tmp_path / "flats.csv").write_text("t,rent,size\n0,1000,50\n20,1100,\n40,1200,60\n60,4000,60\n")
    path = tmp_path / "gaps.toml"
    path.write_text(PARTIAL + source)
    folder = tmp_path / "run"
    run_scenario(load_scenario(path, [f"overlay.routing={routing}", "duration_s=75"]), 1, folder)
    steps = recorded_run(folder).table("messages", ["kind"]).to_pylist()
    assert sum(one["kind"] == "delivered" for one in steps) == count


def test_graphs_without_advertisement_are_refused_with_their_place() -> None:
    with pytest.raises(DocumentError) as caught:
        load_scenario("reports", ["overlay.routing=broker"])
    found = caught.value.problems
    assert {one.code for one in found} == {"D363"}
    assert all(one.file.endswith("reports.toml") and one.line for one in found)
    assert found[0].message.startswith('publication[0]: "volunteers" has no advertisement: ')
