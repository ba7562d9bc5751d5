"""Processes that a scenario names: checked without running them, kept with the run, run only if allowed."""

import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dens.cli.main import app
from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from emulation.replications import run_replications
from emulation.rerun import rerun
from emulation.run import run_scenario
from emulation.scenario import check_scenario_file, load_scenario
from spark_analysis.sweep.plan import SweepPlan
from spark_analysis.sweep.run import check_plan, in_processes, run_sweep
from spark_analysis.sweep.task import fingerprint
from tests.emulation.forwarding.lines import FEVER, line, rows
from tests.paths import ROOT

TABLE = '\n[[process]]\nfile = "repairs.py"\nfunction = "repair"\n'
STOPS = """
def repair(run, at_s=30.5):
    yield run.timeout_ms(1000 * at_s)
    run.stop("m1-1")
"""


def write_scenario(folder: Path, code: str = STOPS, table: str = TABLE) -> Path:
    (folder / "repairs.py").write_text(code)
    return line(folder, "smp", table, duration_s=120)


def problems_of(path: Path, changes: Sequence[str] = ()) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        load_scenario(path, changes)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


def crashes(run: Path) -> list[int]:
    return [row["at_ms"] for row in rows(run, "node_state") if row["reason"] == "crash"]


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    """Write the example of docs/reference/scenario.md; return its scenario."""
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text("utf-8")
    text = page.split("### Processes that a scenario names")[1]
    [code] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    table = re.search(r"\n\n((?:    .*\n)+)", text)
    assert table is not None
    (tmp_path / "low.xml").write_text(FEVER.replace("high", "low"))
    (tmp_path / "repairs.py").write_text(code)
    return line(tmp_path, "smp", "\n" + re.sub("^    ", "", table[1], flags=re.MULTILINE))


def test_example_in_the_guide_runs_and_reruns_from_its_copies(guide: Path, tmp_path: Path) -> None:
    summary = run_scenario(load_scenario(guide), 1, tmp_path / "run", allow_code=True)
    assert summary.status == "complete"
    assert crashes(tmp_path / "run")
    assert [row["document"] for row in rows(tmp_path / "run", "subscriptions")][-1] == "low.xml"
    for name in ("repairs.py", "low.xml", "line.toml", "fever.xml"):
        (tmp_path / name).unlink()
    again = rerun(tmp_path / "run", tmp_path / "again", allow_code=True)
    assert again.comparison is not None
    assert again.comparison.same_trace
    with pytest.raises(DocumentError, match="D335"):
        rerun(tmp_path / "run", tmp_path / "third")
    assert not (tmp_path / "third").exists()


def test_partial_run_is_repeated_with_its_processes(guide: Path, tmp_path: Path) -> None:
    run_scenario(load_scenario(guide), 1, tmp_path / "run", until_ms=700_000, allow_code=True)
    again = rerun(tmp_path / "run", tmp_path / "again", allow_code=True)
    assert again.comparison is not None
    assert again.comparison.same_trace


def test_commands_refuse_code_unless_it_is_allowed(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, f"{STOPS}\nprint('imported')\n")
    invoke = CliRunner().invoke
    for command in (["run", str(path)], ["run", str(path), "--seed", "1..2"]):
        refused = invoke(app, [*command, "-o", str(tmp_path / "out")])
        assert isinstance(refused.exception, DocumentError)
        assert "runs Python code (repairs.py); read it" in str(refused.exception)
        assert "imported" not in refused.output
        assert not (tmp_path / "out").exists()
    done = invoke(app, ["run", str(path), "-o", str(tmp_path / "run"), "--allow-code"])
    assert done.exit_code == 0, done.exception
    assert crashes(tmp_path / "run") == [30_500]
    again = ["rerun", str(tmp_path / "run"), "--out", str(tmp_path / "again")]
    assert isinstance(invoke(app, again).exception, DocumentError)
    repeated = invoke(app, [*again, "--allow-code", "--json"])
    assert repeated.exit_code == 0, repeated.exception
    assert "imported" in repeated.output


def test_reading_a_scenario_runs_no_code(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, f"{STOPS}\nraise SystemExit\n")
    assert check_scenario_file(path) == []
    fingerprint(str(path), ())


def test_replications_and_sweeps_include_processes(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    with pytest.raises(DocumentError, match="D335"):
        run_replications(path, [1, 2], tmp_path / "seeds")
    run_replications(path, [1, 2], tmp_path / "seeds", allow_code=True)
    assert [crashes(tmp_path / "seeds" / f"seed-{seed}") for seed in (1, 2)] == [[30_500]] * 2

    plan = SweepPlan(str(path), ((),), (1,))
    with pytest.raises(DocumentError, match="D335"):
        check_plan(plan, tmp_path / "sweep")
    run_sweep(plan, tmp_path / "sweep", in_processes(1), allow_code=True)
    assert crashes(tmp_path / "sweep" / "runs" / "v000-s1") == [30_500]


def test_parameters_can_be_changed_and_count_for_sweeps(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    change = "process[0].parameters.at_s=2.25"
    run_scenario(load_scenario(path, [change]), 1, tmp_path / "run", allow_code=True)
    assert crashes(tmp_path / "run") == [2_250]
    assert rerun(tmp_path / "run", tmp_path / "again", allow_code=True).reproduced
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["scenario"]["process"][0]["parameters"] == {"at_s": 2.25}
    before = fingerprint(str(path), ())
    assert fingerprint(str(path), [change]) != before
    (tmp_path / "repairs.py").write_text(STOPS + "\n")
    assert fingerprint(str(path), ()) != before


def test_scenarios_without_processes_have_the_manifests_that_they_had(tmp_path: Path) -> None:
    assert "process" not in load_scenario(line(tmp_path, "smp")).settings.model_dump(mode="json")


@pytest.mark.parametrize(
    ("code", "table", "problem"),
    [
        (
            "def repair(run:\n",
            TABLE,
            'error D334: process[0].file: "repairs.py" is not valid Python in line 1',
        ),
        (
            "def repair(run): return 1\n",
            TABLE,
            'D334: process[0].function: "repairs.py" defines no generator',
        ),
        ("def repairs(run): yield\n", TABLE, 'did you mean "repairs"'),
        ("def repair(run):\n  def inner(): yield\n", TABLE, 'defines no generator function "repair"'),
        (
            STOPS,
            TABLE.replace("repairs.py", "repair.py"),
            'D310: process[0].file: file "repair.py" is missing',
        ),
        (STOPS, TABLE + 'files = ["none.xml"]\n', 'D310: process[0].files: file "none.xml" is missing'),
        (STOPS, TABLE + "parameters = { at_s = [1] }\n", "D302: process[0].parameters.at_s"),
        (STOPS, TABLE + "move = true\n", 'D301: key "process[0].move" is unknown'),
        (STOPS, TABLE + 'moves = true\n\n[links]\nkind = "line"\n', "D336: process[0].moves: devices cannot"),
    ],
)
def test_mistakes_are_found_at_their_place(tmp_path: Path, code: str, table: str, problem: str) -> None:
    path = write_scenario(tmp_path, code, table)
    found = problems_of(path)
    assert any(problem in one for one in found), found


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (f"import no_such_package\n{STOPS}", DocumentError, "D334: cannot import this file: ModuleNot"),
        (f"import repairs\n{STOPS}", DocumentError, "No module named 'repairs'"),
        ("def repair(run, other): yield\n", Refusal, "failed: TypeError"),
        ("def repair(run):\n  yield run.node('x')\n", Refusal, 'process "repair" of repairs.py failed'),
        ("class Own(Exception):\n  def __init__(self, a, b): pass\n\n"
         "def repair(run):\n  yield run.timeout_ms(1)\n  raise Own(1, 2)\n", Refusal, "failed: Own"),
    ],
)  # fmt: skip
def test_code_that_fails_leaves_no_run(
    tmp_path: Path, code: str, error: type[Exception], message: str
) -> None:
    scenario = load_scenario(write_scenario(tmp_path, code))
    with pytest.raises(error, match=re.escape(message)):
        run_scenario(scenario, 1, tmp_path / "run", allow_code=True)
    assert not (tmp_path / "run").exists()


def test_file_may_define_dataclasses_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    code = "from __future__ import annotations\nfrom dataclasses import dataclass\n\n"
    code += f"@dataclass\nclass Plan:\n    at_s: float\n{STOPS}"
    path = write_scenario(tmp_path, code)
    before = sys.path.copy()
    run_scenario(load_scenario(path), 1, tmp_path / "run", allow_code=True)
    shutil.rmtree(tmp_path / "run")
    assert sys.path == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["fever.xml", "line.toml", "repairs.py"]


def test_process_that_moves_makes_the_run_movable(tmp_path: Path) -> None:
    code = 'def repair(run):\n  yield run.move("p2-1", 300, 10, m_per_s=10)\n  run.stop("m1-1")\n'
    path = write_scenario(tmp_path, code, TABLE + "moves = true\n")
    run_scenario(load_scenario(path), 1, tmp_path / "run", allow_code=True)
    assert crashes(tmp_path / "run") == [19_000]
    assert rerun(tmp_path / "run", tmp_path / "again", allow_code=True).reproduced
    with pytest.raises(Refusal, match="this run is not movable"):
        run_scenario(load_scenario(write_scenario(tmp_path, code)), 1, tmp_path / "not", allow_code=True)
