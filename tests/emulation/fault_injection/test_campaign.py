"""Many seeds of everything at once. The invariants are checked after every step."""

from pathlib import Path

import pytest

from emulation.fault_injection.campaign import Verdict, judge, keep, kept, parse_faults, run_seeds
from emulation.fault_injection.plan import FAULTS, draw
from emulation.fault_injection.plan_file import KeptPlan
from tests.emulation.fault_injection.campaign_seeds import CAMPAIGN, SEEDS, portions


@pytest.mark.parametrize("seeds", portions(CAMPAIGN, quick=2))
def test_the_promises_hold(seeds: list[int]) -> None:
    """A failure names the command that repeats it."""
    verdicts = run_seeds(seeds)
    broken = [
        f"{verdict.message}; repeat it with: {verdict.command}" for verdict in verdicts if not verdict.ok
    ]
    assert broken == []
    assert sum(verdict.delivered for verdict in verdicts) > 100
    assert sum(verdict.crashes for verdict in verdicts) > 50


@pytest.mark.parametrize("seeds", portions([*SEEDS], quick=1))
def test_the_promises_hold_where_mediators_spare_installs(seeds: list[int]) -> None:
    verdicts = run_seeds(seeds, covering=True)
    broken = [f"{one.message}; repeat it with: {one.command}" for one in verdicts if not one.ok]
    assert broken == []
    assert all(one.command.endswith("--covering") for one in verdicts)
    assert sum(one.delivered for one in verdicts) > 100


@pytest.mark.parametrize("seeds", portions([*SEEDS], quick=1))
def test_the_promises_hold_where_mediators_compose(seeds: list[int]) -> None:
    verdicts = run_seeds(seeds, composes=True)
    broken = [f"{one.message}; repeat it with: {one.command}" for one in verdicts if not one.ok]
    assert broken == []
    assert all(one.command.endswith("--composing") for one in verdicts)
    assert sum(one.delivered for one in verdicts) > 100


@pytest.mark.parametrize("fault", [*FAULTS, "none"])
def test_every_fault_can_be_had_alone(fault: str) -> None:
    verdicts = run_seeds(range(1, 4), parse_faults(fault))
    assert [verdict.message for verdict in verdicts] == ["", "", ""]
    assert {verdict.faults for verdict in verdicts} == {fault}
    assert (sum(verdict.crashes for verdict in verdicts) > 0) == (fault == "crash")


def test_a_seed_is_the_same_world_every_time() -> None:
    first, again = (run_seeds([7, 8]) for _ in range(2))
    assert first == again
    assert draw(7, tuple(FAULTS)).faults != draw(8, tuple(FAULTS)).faults


def test_the_plan_of_a_world_that_failed_is_kept_and_comes_back(tmp_path: Path) -> None:
    plan = draw(17, ("loss", "crash"))
    broke = "invariant 3: 1 saw (2, 3) twice"
    verdict = Verdict(17, "loss,crash", False, 1, 0, 0, 5, 3, broke, plan=plan)
    assert verdict.command == "dens torture --seeds 17 --faults loss,crash"
    path = keep(verdict, tmp_path / "new folder")
    assert path.name == "000017-loss-crash.json"
    assert kept(path.parent) == [KeptPlan(17, plan, "loss,crash", broke)]
    again = judge(kept(path.parent)[0], str(path))
    assert again.command == f"dens torture --plan '{path}'"


def test_worlds_of_the_driver_have_no_plan_to_keep(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="worlds of the driver"):
        keep(Verdict(1, "its own", False, 1, 0, 0, 0, 2, "", "driver"), tmp_path)


def test_faults_are_read_or_refused() -> None:
    assert parse_faults("all") == tuple(FAULTS)
    assert parse_faults("none") == ()
    assert parse_faults("crash,loss") == ("loss", "crash")
    for text in ("all,crash", "loss,none"):
        with pytest.raises(ValueError, match="cannot be combined"):
            parse_faults(text)
    with pytest.raises(ValueError, match='unknown fault "lightning"'):
        parse_faults("loss,lightning")
