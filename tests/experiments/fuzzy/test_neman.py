"""Figure 6: the scenario takes every variant, and Spark reads from its trace what another reader reads."""

from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens_experiments.family import Request
from dens_experiments.fuzzy import neman
from dens_experiments.fuzzy.neman import FLAT, VARIANTS, Variant
from dens_experiments.fuzzy.workload import similarity_at
from dens_experiments.panel import Line
from emulation.devices.board_profile import load_board_profile
from emulation.run import run_scenario
from emulation.scenario import load_scenario


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.line or "flat")
def test_the_scenario_takes_every_variant(variant: Variant) -> None:
    scenario = load_scenario("neman", [*neman.changes_for(variant, 30, 0.5, "exact", 3)])
    assert len({slot.device for slot in scenario.slots()}) == 50
    assert scenario.settings.population[0].number == 30
    mediators = [group for group in scenario.settings.group if "mediator" in group.role]
    assert [group.name for group in mediators] == list(FLAT)
    assert [group.matcher for group in mediators] == [variant.matcher or name for name in FLAT]
    assert scenario.duration_ms == 1000 * (neman.FIRST_S + 3 * neman.EVERY_S)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_matching_takes_the_time_of_counted_work_at_every_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neman, "SMALL_EVENTS", 4)
    monkeypatch.setattr(neman, "VARIANTS", (VARIANTS[0], VARIANTS[3]))
    panel = neman.fig6(Request(counts=(40,), seeds=(1,), small=True), lambda step: None)
    assert list(panel.lines) == [*FLAT, neman.BROKEN_DOWN]
    fnif, broken = panel.lines["fnif"], panel.lines[neman.BROKEN_DOWN]
    assert fnif.work["feature tests"] == (40,)
    assert fnif.work["memberships"] == (120,)
    prices = load_board_profile("neman").matching
    each_us = prices.feature_test_us + 3 * prices.membership_us + prices.aggregation_us
    assert fnif.means == pytest.approx((0.04 * each_us,))
    assert broken.means[0] / fnif.means[0] == pytest.approx(6, rel=0.01), "the profile's own ratio"
    assert panel.lines["fnifc"].means[0] < panel.lines["fip"].means[0] < fnif.means[0]
    assert any("flat 100.0%" in remark for remark in panel.remarks)

    out = tmp_path / "run"
    changes = neman.changes_for(VARIANTS[0], 40, similarity_at(40), "exact", 4)
    run_scenario(load_scenario("neman", changes), 1, out)
    groups = {row["node"]: row["group"] for row in pq.read_table(out / "trace" / "nodes").to_pylist()}
    costs: dict[str, list[float]] = defaultdict(list)
    for row in pq.read_table(out / "trace" / "matching_work").to_pylist():
        if row["number"] is not None:
            costs[groups[row["node"]]].append(row["cost_us"] / 1000)
    for name in FLAT:
        assert panel.lines[name].means[0] == pytest.approx(sum(costs[name]) / len(costs[name]))


def test_shapes_of_figure_6_are_judged_by_the_lines() -> None:
    line = {name: Line(((1.0,), (10.0,))) for name in ("fnif", "fnifs", "crisp", "bfcpab, d2c1")}
    lines = {**line, "fnifc": Line(((0.5,), (1.0,))), "fip": Line(((0.7,), (5.0,)))}
    lines[neman.BROKEN_DOWN] = Line(((6.0,), (60.0,)))
    settings = neman.settings_for(Request(counts=(10, 100)))
    verdicts = [shape.verdict for shape in neman.shapes_of(lines, settings)]
    assert verdicts == ["holds", "holds", "in part", "differs"]
