"""Sweeps: the plan, the runs, going on after a stop, and what the intervals say."""

import json
import re
import signal
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from dens.config.problems import DocumentError
from spark_analysis.errors import SweepError, TraceError
from spark_analysis.interval import Interval, interval
from spark_analysis.sweep.key_figures import key_figures, swept_metrics
from spark_analysis.sweep.plan import Setting, SweepPlan, label, read_plan, toml_value
from spark_analysis.sweep.results import summarise
from spark_analysis.sweep.run import OnProgress, Runner, Task, in_processes, on_spark, run_sweep
from spark_analysis.sweep.task import RunDone, run_task
from tests.spark_analysis.little import WISH, write_little_sweep

values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

NAMES = [metric.name for metric in swept_metrics()]


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    return write_little_sweep(tmp_path)


def here(tasks: Sequence[Task], on_progress: OnProgress) -> Iterator[tuple[Task, RunDone]]:
    for count, task in enumerate(tasks, 1):
        yield task, run_task(task.scenario, task.changes, task.seed, task.folder)
        on_progress(count)


def problems_of(act: Callable[[], object]) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        act()
    return [str(problem) for problem in caught.value.problems]


@given(values)
def test_a_value_written_as_toml_is_read_as_it_was(value: Any) -> None:
    assert tomllib.loads(f"value = {toml_value(value)}") == {"value": value}


def test_a_plan_is_every_combination_and_the_single_ones(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        'scenario = "rescue"\nseeds = [3, 4]\n[vary]\na = [1, 2]\n"b.c" = ["x", "y"]\n[[variant]]\nd = true\n'
    )
    plan = read_plan(file)
    assert plan.scenario == "rescue"
    assert plan.seeds == (3, 4)
    assert plan.runs == 10
    assert [label(changes) for changes in plan.variants] == [
        'a = 1, b.c = "x"',
        'a = 1, b.c = "y"',
        'a = 2, b.c = "x"',
        'a = 2, b.c = "y"',
        "d = true",
    ]
    assert [(one.line, one.column) for one in plan.variants[3]] == [(4, 9), (5, 15)]
    assert (plan.variants[4][0].line, plan.variants[4][0].column) == (7, 1)
    file.write_text('scenario = "./other.toml"\nseeds = "7..9"\n')
    assert read_plan(file) == SweepPlan(str(tmp_path / "other.toml"), ((),), (7, 8, 9), str(file))
    assert label(()) == "as it is"


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("scenario = 3", "1:1: error D333", "a text is wanted"),
        ("seeds = [1]", "1:1: error D332", '"scenario" is missing'),
        ('scenario = "a"\nseeds = [1, 1]', "2:1: error D333", "distinct non-negative integers"),
        ('scenario = "a"\nseeds = []', "2:1: error D333", "distinct non-negative integers"),
        ('scenario = "a"\nseeds = "4..2"', "2:1: error D333", "distinct non-negative integers"),
        ('scenario = "a"\nseeds = [true]', "2:1: error D333", "distinct non-negative integers"),
        ('scenario = "a"\nseed = [1]', "2:1: error D331", 'did you mean "seeds"?'),
        ('name = "a"\n[[group]]\nname = "b"', "error D331", 'names one: scenario = "s.toml"'),
        ('name = "a"\n[radio.b]\nrange_m = 3', "error D331", "is a scenario, not a sweep"),
        ('scenario = "a"\n[vary]\nb = 3', "3:1: error D333", "a list is wanted"),
        ('scenario = "a"\n[vary]\nb = []', "3:1: error D333", "at least 1 item"),
        ('scenario = "a"\nvariant = [1]', "2:12: error D333", "a table is wanted"),
        ("scenario = ", "1:12: error D005", "not TOML"),
        ('scenario = "a"\nseeds = "0..10000"', "2:1: error D333", "at most 10,000 seeds"),
        ('scenario = "a"\nseeds = "1..999999999"', "2:1: error D333", "at most 10,000 seeds"),
        (f'scenario = "a"\nseeds = "1..{10**30}"', "2:1: error D333", "at most 10,000 seeds"),
        (f'scenario = "a"\nseeds = {list(range(10_001))}', "2:1: error D333", "at most 10,000 seeds"),
        (
            f'scenario = "a"\nseeds = "1..10000"\n[vary]\nb = {list(range(11))}',
            "error D333",
            "exceed 100,000 runs",
        ),
    ],
)
def test_a_plan_that_is_none_is_refused_with_its_place(
    tmp_path: Path, text: str, where: str, message: str
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(text)
    found = problems_of(lambda: read_plan(file))
    assert len(found) == 1
    assert where in found[0]
    assert message in found[0]


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    assert "D001" in problems_of(lambda: read_plan(tmp_path / "none.toml"))[0]


def test_processes_do_not_hear_of_an_interruption_and_are_ended(sweep_file: Path, tmp_path: Path) -> None:
    """One process reports a Ctrl-C; the others are not waited for."""
    scenario = str(sweep_file.parent / "little.toml")
    tasks = [Task(0, seed, scenario, (), str(tmp_path / f"run-{seed}")) for seed in range(40)]
    others = set(active_children())
    results = in_processes(2)(tasks, lambda done: None)
    next(results)
    processes = set(active_children()) - others
    for process in processes:
        status = Path(f"/proc/{process.pid}/status").read_text()
        (blocked,) = re.findall(r"^SigBlk:\s*(\w+)$", status, re.MULTILINE)
        assert int(blocked, 16) >> (signal.SIGINT - 1) & 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    results.close()
    assert len(processes) == 2
    end = time.monotonic() + 60
    while set(active_children()) & processes:
        assert time.monotonic() < end, "they go on"
        time.sleep(0.05)
    assert len(list(tmp_path.glob("run-*/figures.json"))) < len(tasks)


def test_a_sweep_in_processes_goes_on_where_it_was(sweep_file: Path, tmp_path: Path) -> None:
    plan, out = read_plan(sweep_file), tmp_path / "out"

    def stopped(tasks: Sequence[Task], on_progress: OnProgress) -> Iterator[tuple[Task, RunDone]]:
        yield from here(tasks[:1], on_progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(plan, out, stopped)
    first = out / "runs" / "v000-s1" / "manifest.json"
    written = first.stat().st_mtime_ns
    on_progress: list[tuple[int, int]] = []
    found = run_sweep(plan, out, in_processes(2), lambda done, of: on_progress.append((done, of)))
    assert first.stat().st_mtime_ns == written
    assert on_progress == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (found.timing.runs, found.timing.resumed) == (4, 1)
    assert found.timing.speed_up is not None
    rows = pq.read_table(out / "results.parquet").to_pylist()
    assert [(row["variant"], row["seed"]) for row in rows] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    for row in rows:
        folder = out / "runs" / f"v{row['variant']:03}-s{row['seed']}"
        assert {metric.name: row[metric.name] for metric in swept_metrics()} == key_figures(folder)
        helpers = json.loads((folder / "manifest.json").read_text())["scenario"]["group"][1]["count"]
        assert helpers == (1, 4)[row["variant"]]
        assert row["group.helpers.count"] == helpers
    assert [one.label for one in found.variants] == ["group.helpers.count = 1", "group.helpers.count = 4"]
    assert [one.short for one in found.variants] == ["1", "4"]
    assert found.variants[0].differences["delivery_ratio"] is None
    ratio = found.variants[1].figures["delivery_ratio"]
    assert ratio is not None
    assert ratio.count == 2
    assert not any(entry.name.startswith(".") for entry in out.iterdir())
    again = run_sweep(plan, out, stopped)
    assert again.variants == found.variants
    assert again.timing.speed_up is None
    with pytest.raises(SweepError, match="holds another sweep"):
        run_sweep(SweepPlan(plan.scenario, ((),), (1,)), out, here)
    (tmp_path / "subscription.xml").write_text(WISH.replace("40", "50"))
    with pytest.raises(SweepError, match="its scenario has changed since"):
        run_sweep(plan, out, here)


def test_a_folder_with_something_else_is_left_alone(sweep_file: Path, tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="is not empty and holds no sweep"):
        run_sweep(read_plan(sweep_file), tmp_path, here)
    assert not (tmp_path / "sweep.json").exists()


def test_spark_finds_what_this_process_finds(spark: SparkSession, sweep_file: Path, tmp_path: Path) -> None:
    plan = read_plan(sweep_file)
    on_progress: list[tuple[int, int]] = []
    by_spark = run_sweep(plan, tmp_path / "spark", on_spark(spark), lambda *step: on_progress.append(step))
    assert by_spark.variants == run_sweep(plan, tmp_path / "here", here).variants
    assert on_progress[0] == (0, 4)
    assert on_progress[-1] == (4, 4)
    assert on_progress == sorted(on_progress)


def runner_of(way: str, request: pytest.FixtureRequest) -> Runner:
    return in_processes(1) if way == "processes" else on_spark(request.getfixturevalue("spark"))


@pytest.mark.parametrize(
    "way",
    [
        "processes",
        pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
    ],
)
def test_a_run_that_fails_is_named_and_the_others_are_kept(
    way: str, sweep_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = tmp_path / "out"
    (out / "runs").mkdir(parents=True)
    plan = read_plan(sweep_file)
    (out / "sweep.json").write_text("{}")
    with pytest.raises(SweepError, match="another sweep"):
        run_sweep(plan, out, here)
    (out / "sweep.json").unlink()
    (out / "runs").rmdir()
    out.rmdir()

    def blocked(tasks: Sequence[Task], on_progress: OnProgress) -> Iterator[tuple[Task, RunDone]]:
        Path(tasks[2].folder).mkdir(parents=True)
        Path(tasks[2].folder, "not a run").touch()
        yield from runner_of(way, request)(tasks, on_progress)

    with pytest.raises(SweepError, match=r"the run v000-s2 failed: .*Finished runs are kept"):
        run_sweep(plan, out, blocked)
    assert (out / "runs" / "v000-s1" / "figures.json").is_file()
    assert not (out / "results.parquet").exists()


def test_invalid_variant_is_refused_at_its_place_before_any_run(sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(
        'scenario = "little.toml"\n[vary]\n"group.helpers.count" = [1, 0]\n'
        '"overlay.policy" = ["epidemic", "gossip"]\n"group.helper.count" = [1]\n'
    )
    found = problems_of(lambda: run_sweep(read_plan(sweep_file), tmp_path / "out", here))
    assert len(found) == 1
    assert found[0].startswith(
        f'{sweep_file}:5:25: error D302: with group.helper.count = 1: unknown group "helper"'
    )
    sweep_file.write_text(sweep_file.read_text().replace('"group.helper.count" = [1]\n', ""))
    found = problems_of(lambda: run_sweep(read_plan(sweep_file), tmp_path / "out", here))
    assert [one.split(": error ")[0] for one in found] == [f"{sweep_file}:3:29", f"{sweep_file}:4:33"]
    assert "with group.helpers.count = 0: group[1].count" in found[0]
    assert 'with overlay.policy = "gossip"' in found[1]
    assert not (tmp_path / "out").exists()


def test_a_partial_run_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({"schema_version": 1, "status": "partial", "simulated_ms": 5})
    )
    with pytest.raises(TraceError, match="incomplete"):
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


def test_only_the_interval_of_a_share_ends_at_0_and_1() -> None:
    assert Interval(0.5, -0.1, 1.1, 2).possible(share=True) == Interval(0.5, 0.0, 1.0, 2)
    assert Interval(0.5, -0.1, 1.1, 2).possible(share=False) == Interval(0.5, 0.0, 1.1, 2)
    assert Interval(-0.5, -0.7, 0.1, 2).possible(share=False) == Interval(-0.5, -0.5, 0.1, 2)
    assert Interval(0.5, 0.4, 0.6, 2).possible(share=True) == Interval(0.5, 0.4, 0.6, 2)
    assert Interval(0.5, None, None, 1).possible(share=True) == Interval(0.5, None, None, 1)
    plan = SweepPlan("x", ((),), (1, 2))
    [variant] = summarise(plan, {(0, seed): dict.fromkeys(NAMES, float(seed - 1)) for seed in plan.seeds})
    ends = {name: (found.low, found.high) for name, found in variant.figures.items() if found is not None}
    assert ends["delivery_ratio"] == ends["share_kept"] == (0, 1)
    assert ends["mean_delay_s"] != (0, 1)


def test_differences_are_taken_seed_by_seed() -> None:
    """Seeds differ much, variants little and always by the same: only pairs show it."""
    plan = SweepPlan("x", ((), (Setting("a", 1),)), (1, 2, 3))
    base = dict.fromkeys(NAMES)
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
    assert (overlap.low, overlap.high) == (0, 1)  # Student's t alone would go on beyond what a share can be
    assert first.figures["mean_delay_s"] is None


def test_a_median_that_some_run_did_not_reach_is_not_averaged() -> None:
    """Two of three seeds deliver half of everything: their mean would leave out the worst one."""
    plan = SweepPlan("x", ((), ()), (1, 2, 3))
    fine = dict.fromkeys(NAMES, 10.0)
    found = {(variant, seed): fine for variant in (0, 1) for seed in plan.seeds}
    found[1, 2] = {**fine, "median_owed_delay_s": None, "median_delay_s": None}
    first, second = summarise(plan, found)
    assert first.figures["median_owed_delay_s"] is not None
    assert second.figures["median_owed_delay_s"] is None
    assert second.differences["median_owed_delay_s"] is None
    assert second.figures["median_delay_s"] is not None, "of what was delivered the others have a mean"
    assert {"recall", "median_owed_delay_s", "duplicate_share"} <= set(NAMES)
