"""Copy budgets hold in scenarios, with radios that take time and lose frames, and devices that crash."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.policy_scenarios import write_clique

APART = """\
name = "apart"
duration_s = 900
seed = 2
area = {{ width_m = 120, height_m = 120 }}
overlay.policy = "{policy}"
overlay.policies.{policy}.copies = 4
radio.device = {{ range_m = 40, rate_bytes_per_s = 250000, loss = 0.2 }}

[[group]]
name = "sensors"
role = "publisher"
count = 4
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [0.5, 1.5] }}

[[group]]
name = "carriers"
role = ["mediator", "subscriber"]
count = 12
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [1.0, 3.0] }}

[[traffic]]
source = "sensors"
destination = "carriers"
first_s = 10
every_s = 15
size_bytes = 2000
lifetime_s = 900

[[fault]]
kind = "crash"
every_s = 200
for_s = 20
store = "kept"
"""


def carriers(run: Path) -> dict[tuple[int, int], set[int]]:
    """Return which mediators stored each message as a notification."""
    found: dict[tuple[int, int], set[int]] = {}
    for row in pq.read_table(run / "trace" / "messages").to_pylist():
        if row["type"] == "notification" and row["kind"] in ("stored", "replicated"):
            found.setdefault((row["origin"], row["number"]), set()).add(row["node"])
    return found


@pytest.mark.parametrize("copies", [2, 8])
def test_thirty_devices_in_range_use_the_whole_budget_and_no_more(copies: int, tmp_path: Path) -> None:
    run_scenario(load_scenario(write_clique(tmp_path, copies), ["duration_s=100"]), 1, tmp_path / "run")
    found = carriers(tmp_path / "run")
    assert len(found) == 3
    assert {len(nodes) for nodes in found.values()} == {copies}


@pytest.mark.parametrize("policy", ["spray_and_wait", "dens"])
def test_separate_publishers_have_one_budget_under_loss_and_crashes(policy: str, tmp_path: Path) -> None:
    path = tmp_path / "apart.toml"
    path.write_text(APART.format(policy=policy))
    run_scenario(load_scenario(path), 2, tmp_path / "run")
    counts = [len(nodes) for nodes in carriers(tmp_path / "run").values()]
    assert len(counts) > 30
    assert max(counts) == 4
