"""Sweeps: the plan, the runs, going on after a stop, and what the intervals say."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from knowledge_manager.documents import DocumentError
from spark_analysis.errors import SweepError, TraceError
from spark_analysis.interval import Interval, interval
from spark_analysis.key_figures import FIGURES, KeyFigures, key_figures
from spark_analysis.sweep import Task, in_processes, on_spark, run_sweep, summarise
from spark_analysis.sweep_plan import SweepPlan, changed, label, read_plan, toml_text
from spark_analysis.sweep_task import run_task

SCENARIO = """
name = "little"
duration_s = 600
vocabularies = ["medical"]
area = { width_m = 200, height_m = 200 }
[overlay]
policy = "epidemic"
[radio.near]
range_m = 60
rate_bytes_per_s = 25000
[[group]]
name = "medics"
role = "subscriber"
count = 1
radio = "near"
mobility = { model = "random_waypoint", speed_m_per_s = [2, 4], pause_s = [0, 1] }
[[group]]
name = "helpers"
role = "mediator"
count = 2
radio = "near"
mobility = { model = "random_waypoint", speed_m_per_s = [5, 8], pause_s = [0, 1] }
[[group]]
name = "patients"
role = "publisher"
count = 2
radio = "near"
mobility = { model = "static" }
[[subscription]]
group = "medics"
file = "wish.xml"
[[sensor]]
group = "patients"
event = "patient"
every_s = 20
source = { generator = "vital_signs", deteriorating = 0.5 }
"""
WISH = """<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT2H">
<crisp-predicate attribute="heart_rate" operator="ge">40</crisp-predicate></subscription>"""
SWEEP = """
scenario = "little.toml"
seeds = [1, 2]
[vary]
"group.helpers.count" = [1, 4]
"""

values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    (tmp_path / "little.toml").write_text(SCENARIO)
    (tmp_path / "wish.xml").write_text(WISH)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path / "sweep.toml"


def here(tasks: Sequence[Task]) -> Iterator[tuple[Task, KeyFigures]]:
    for task in tasks:
        yield task, run_task(task.file, task.seed, task.folder)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_settings_written_as_toml_are_read_as_they_were(settings: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(settings)) == settings


def test_a_plan_is_every_combination_and_the_single_ones(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        'scenario = "rescue"\nseeds = [3, 4]\n[vary]\na = [1, 2]\n"b.c" = ["x", "y"]\n[[variant]]\nd = true\n'
    )
    plan = read_plan(file)
    assert plan.scenario == "rescue"
    assert plan.seeds == (3, 4)
    assert [label(changes) for changes in plan.variants] == [
        'a = 1, b.c = "x"',
        'a = 1, b.c = "y"',
        'a = 2, b.c = "x"',
        'a = 2, b.c = "y"',
        "d = true",
    ]
    file.write_text('scenario = "./other.toml"\n')
    assert read_plan(file) == SweepPlan(str(tmp_path / "other.toml"), ({},), (1,))
    assert label({}) == "as it is"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenario = 3", "scenario must be the name"),
        ('scenario = "a"\nseeds = [1, 1]', "different whole numbers"),
        ('scenario = "a"\nseeds = []', "different whole numbers"),
        ('scenario = "a"\nseed = 1', '"seed" is no key of a sweep'),
        ('scenario = "a"\n[vary]\nb = 3', "needs a list of values"),
        ('scenario = "a"\nvariant = [1]', "a variant is a table"),
        ("scenario = ", "not TOML"),
    ],
)
def test_a_plan_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(SweepError, match=message):
        read_plan(file)
    with pytest.raises(SweepError, match="cannot be read"):
        read_plan(tmp_path / "none.toml")


def test_a_path_names_a_setting() -> None:
    settings = {"a": {"b": 1}, "group": [{"name": "x", "n": 1}, {"name": "y", "n": 2}], "l": [1, 2]}
    result = changed(settings, {"a.b": 5, "group.y.n": 7, "group.0.n": 8, "l.1": 9, "new.key": "z"})
    assert result == {
        "a": {"b": 5},
        "group": [{"name": "x", "n": 8}, {"name": "y", "n": 7}],
        "l": [1, 9],
        "new": {"key": "z"},
    }
    assert settings["a"] == {"b": 1}
    for path in ("a.b.c", "a.b.c.d", "group.z.n", "l.5"):
        with pytest.raises(SweepError, match="leads nowhere"):
            changed(settings, {path: 1})


def test_a_sweep_in_processes_goes_on_where_it_was(sweep_file: Path, tmp_path: Path) -> None:
    plan, out = read_plan(sweep_file), tmp_path / "out"

    def stopped(tasks: Sequence[Task]) -> Iterator[tuple[Task, KeyFigures]]:
        yield from here(tasks[:1])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(plan, out, stopped)
    first = out / "runs" / "v000-s1" / "manifest.json"
    written = first.stat().st_mtime_ns
    told: list[tuple[int, int]] = []
    found = run_sweep(plan, out, in_processes(2), lambda done, of: told.append((done, of)))
    assert first.stat().st_mtime_ns == written
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    rows = pq.read_table(out / "results.parquet").to_pylist()
    assert [(row["variant"], row["seed"]) for row in rows] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    for row in rows:
        folder = out / "runs" / f"v{row['variant']:03}-s{row['seed']}"
        assert {name: row[name] for name in FIGURES} == key_figures(folder)
        helpers = json.loads((folder / "manifest.json").read_text())["scenario"]["group"][1]["count"]
        assert helpers == (1, 4)[row["variant"]]
    assert [one.label for one in found] == ["group.helpers.count = 1", "group.helpers.count = 4"]
    assert found[0].differences["delivery_ratio"] is None
    ratio = found[1].figures["delivery_ratio"]
    assert ratio is not None
    assert ratio.count == 2
    assert not any(entry.name.startswith(".") for entry in out.iterdir())
    with pytest.raises(SweepError, match="holds another sweep"):
        run_sweep(SweepPlan(plan.scenario, ({},), (1,)), out, here)


def test_spark_finds_what_this_process_finds(spark: SparkSession, sweep_file: Path, tmp_path: Path) -> None:
    plan = read_plan(sweep_file)
    assert run_sweep(plan, tmp_path / "spark", on_spark(spark)) == run_sweep(plan, tmp_path / "here", here)


def test_a_variant_that_is_no_scenario_is_refused_before_anything_runs(
    sweep_file: Path, tmp_path: Path
) -> None:
    plan = SweepPlan(read_plan(sweep_file).scenario, ({}, {"overlay.policy": "gossip"}), (1,))
    with pytest.raises(DocumentError, match="policy"):
        run_sweep(plan, tmp_path / "out", here)
    assert not (tmp_path / "out" / "runs").exists()


def test_a_partial_run_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({"schema_version": 1, "status": "partial", "simulated_ms": 5})
    )
    with pytest.raises(TraceError, match="not complete"):
        key_figures(tmp_path)


def test_intervals_of_students_t() -> None:
    assert interval([]) is None
    assert interval([3.0]) == Interval(3.0, None, None, 1)
    found = interval([1.0, 2.0, 3.0])
    assert found is not None
    # 4.302653 is the 97.5 % quantile of t with two degrees of freedom, the standard deviation is 1
    assert found.mean == 2.0
    assert found.high == pytest.approx(2 + 4.302653 / 3**0.5)
    assert found.low == pytest.approx(2 - 4.302653 / 3**0.5)


def test_differences_are_taken_seed_by_seed() -> None:
    """Seeds differ much, variants little and always by the same: only pairs show it."""
    plan = SweepPlan("x", ({}, {"a": 1}), (1, 2, 3))
    base = dict.fromkeys(FIGURES)
    found = {
        (variant, seed): {**base, "delivery_ratio": seed / 4 + variant / 100}
        for variant in (0, 1)
        for seed in plan.seeds
    }
    first, second = summarise(plan, found)
    difference = second.differences["delivery_ratio"]
    assert difference is not None
    assert difference.low == pytest.approx(0.01)
    assert difference.high == pytest.approx(0.01)
    overlap = first.figures["delivery_ratio"]
    assert overlap is not None
    assert overlap.high is not None
    assert overlap.high > 1
    assert first.figures["mean_delay_s"] is None
