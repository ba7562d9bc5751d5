"""A scenario with covering: fewer installs, and the same is delivered."""

from collections import Counter
from pathlib import Path

import pytest

from dens.trace.recorded_run import recorded_run
from emulation.run import run_scenario
from emulation.scenario import load_scenario


def seen_in(folder: Path, covering: bool) -> tuple[set[tuple[int, int, int]], Counter[str]]:
    """Return who was delivered what in `two_islands`, and how often an install was sent or spared."""
    scenario = load_scenario("two_islands", [f"overlay.covering={str(covering).lower()}"])
    run_scenario(scenario, scenario.seed, folder)
    steps = recorded_run(folder).table("messages", ["kind", "type", "node", "origin", "number"]).to_pylist()
    delivered = {(one["node"], one["origin"], one["number"]) for one in steps if one["kind"] == "delivered"}
    return delivered, Counter(one["kind"] for one in steps if one["type"] == "install")


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[set[tuple[int, int, int]], Counter[str]]]:
    folder = tmp_path_factory.mktemp("covering")
    return [seen_in(folder / str(covering), covering) for covering in (True, False)]


def test_the_same_is_delivered_with_fewer_installs(
    runs: list[tuple[set[tuple[int, int, int]], Counter[str]]],
) -> None:
    (seen, installs), (seen_without, installs_without) = runs
    assert len(seen_without) > 150
    assert seen == seen_without
    assert installs["received"] < 0.7 * installs_without["received"]
    assert installs["spared"] >= installs_without["received"] - installs["received"]
    assert not installs_without["spared"]
