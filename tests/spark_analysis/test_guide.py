"""Every example of docs/how-to/analysis.md is run, in its order, as in a notebook; what starts
processes of its own is a script.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.sweep.plan import read_plan
from spark_analysis.sweep.run import check_plan
from tests.paths import ROOT
from tests.spark_analysis.little import write_little_sweep

GUIDE = ROOT / "docs" / "how-to" / "analysis.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
def test_the_examples_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session that is open is the one that `open_run` takes."""
    assert spark.version
    write_little_sweep(tmp_path, "seeds = [1]")
    for name, seed in (("rescue", 1), ("a", 1), ("b", 2)):
        run_scenario(load_scenario(tmp_path / "little.toml"), seed, tmp_path / "runs" / name)
    monkeypatch.chdir(tmp_path)
    examples = [example for example in blocks("python") if not is_script(example)]
    assert len(examples) >= 4
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), names)
    shown = capsys.readouterr().out
    for piece in ("delay_ms", "fate", "policy", "reachable", "jain"):
        assert piece in shown
    assert (tmp_path / "compared.html").read_text().endswith("</html>\n")


def is_script(example: str) -> bool:
    return "in_processes(" in example


def called_as_a_script(example: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Spawned processes read the file again, so it has to be one."""
    write_little_sweep(folder, "seeds = [1]")
    (folder / "script.py").write_text(example)
    words = [sys.executable, "script.py"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=240)


@pytest.mark.slow
def test_a_sweep_from_a_script(tmp_path: Path) -> None:
    (example,) = filter(is_script, blocks("python"))
    ended = called_as_a_script(example, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "sweeps" / "policy" / "results.parquet").is_file()


@pytest.mark.slow
def test_script_that_restarts_itself_gets_a_hint(tmp_path: Path) -> None:
    (example,) = filter(is_script, blocks("python"))
    ended = called_as_a_script(example.replace('__name__ == "__main__"', "True"), tmp_path)
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert "SweepError" in last
    assert 'if __name__ == "__main__":' in last


def test_the_sweep_that_is_shown_is_one(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(blocks("toml")[0])
    plan = read_plan(file)
    check_plan(plan, tmp_path / "out")
    assert (len(plan.variants), plan.seeds) == (5, (1, 2, 3, 4, 5))
