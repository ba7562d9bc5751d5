"""Many seeds at once give what each gives alone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from dens.trace.comparison import compare_runs
from emulation.replications import run_replications
from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]


def test_replications_are_the_runs_that_each_seed_gives_alone(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario(("duration_s = 3600", "duration_s = 300"))
    heard: list[RunSummary] = []
    found = run_replications(
        path, [4, 3], tmp_path / "many", changes=["radio.handheld.loss=0.2"], processes=2, done=heard.append
    )
    assert [summary.seed for summary in found] == [4, 3]
    assert {summary.seed for summary in heard} == {3, 4}
    alone = load_scenario(path, ["radio.handheld.loss=0.2"])
    for seed in (3, 4):
        run_scenario(alone, seed, tmp_path / f"alone-{seed}")
        assert compare_runs(tmp_path / f"alone-{seed}", tmp_path / "many" / f"seed-{seed}").same_trace


def test_bad_scenario_is_reported_before_any_run(write_scenario: WriteScenario, tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        run_replications(write_scenario(), [1], tmp_path / "many", changes=["sead=1"])
    assert not (tmp_path / "many").exists()
