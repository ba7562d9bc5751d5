"""Batches of a run are counted from its trace: held against counting it plainly."""

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens_experiments.batch.where import batches_of_run, where
from dens_experiments.family import Request, UnknownFigure
from emulation.run import run_scenario
from emulation.scenario import load_scenario


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "weather_poles"
    run_scenario(load_scenario("weather_poles", ["duration_s=7200"]), 1, folder)
    return folder


def test_batches_are_those_of_the_trace(run: Path) -> None:
    roles = {row["node"]: row["role"] for row in pq.read_table(run / "trace" / "nodes").to_pylist()}
    taken = [
        row
        for row in pq.read_table(run / "trace" / "messages").to_pylist()
        if row["type"] == "notification" and row["kind"] in ("stored", "replicated")
    ]
    assert {roles[row["node"]] for row in taken} == {"mediator"}
    instants = Counter((row["node"], row["at_ms"]) for row in taken)
    contacts = Counter()
    for row in pq.read_table(run / "trace" / "contacts").to_pylist():
        for one in taken:
            if (
                one["kind"] == "replicated"
                and {one["node"], one["peer"]} == {row["a"], row["b"]}
                and row["begin_ms"] <= one["at_ms"] <= row["end_ms"] + 1
            ):
                contacts[row["a"], row["b"], row["begin_ms"]] += 1
    found = batches_of_run(run)
    assert found.name == "weather_poles"
    assert (found.taken, found.instants) == (len(taken), len(instants))
    assert found.largest == max(instants.values())
    assert found.contacts == len(contacts) > 0
    assert found.most_of_a_contact == max(contacts.values())
    assert found.of_a_contact == sum(contacts.values()) / len(contacts)


def test_panel_shows_matching_beside_air_time(run: Path) -> None:
    panel = where(Request(run=(str(run),), small=True), lambda step: None)
    assert panel.points == ("weather_poles",)
    [shape] = panel.shapes
    assert shape.verdict != "holds"
    assert "ordering gives a DENS node nothing" in shape.why
    assert any("ms for matching beside" in remark for remark in panel.remarks)


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownFigure):
        where(Request(run=(str(tmp_path),)), lambda step: None)
