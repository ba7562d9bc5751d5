"""Every example of docs/analysis.md is run, in its order, as somebody would in a notebook."""

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.sweep import check_plan
from spark_analysis.sweep_plan import read_plan
from tests.spark_analysis.little import write_little_sweep

GUIDE = Path(__file__).parents[2] / "docs" / "analysis.md"


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
    examples = blocks("python")
    assert len(examples) >= 4
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), names)
    shown = capsys.readouterr().out
    for piece in ("delay_ms", "fate", "policy", "reachable", "jain"):
        assert piece in shown
    assert (tmp_path / "compared.html").read_text().endswith("</html>\n")
    assert (tmp_path / "sweeps" / "policy" / "results.parquet").is_file()


def test_the_sweep_that_is_shown_is_one(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(blocks("toml")[0])
    plan = read_plan(file)
    check_plan(plan, tmp_path / "out")
    assert (len(plan.variants), plan.seeds) == (5, (1, 2, 3, 4, 5))
