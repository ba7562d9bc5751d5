"""`dens sweep` and `dens report` of several runs, as a person calls them."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.cli.runs.report import where_line
from dens.cli.runs.sweep import timing_line
from spark_analysis.sweep.plan import read_plan
from spark_analysis.sweep.results import Timing
from spark_analysis.sweep.run import check_plan
from tests.paths import ROOT


@pytest.fixture
def sweep_file(dens, tmp_path: Path) -> Path:
    assert dens("init", tmp_path / "demo").code == 0
    file = tmp_path / "demo" / "ranges.toml"
    file.write_text(
        'scenario = "scenario.toml"\nseeds = "1..2"\n[vary]\n"radio.walkie.range_m" = [50, 100]\n'
    )
    scenario = (tmp_path / "demo" / "scenario.toml").read_text()
    radio = scenario.split("[radio.")[1].split("]")[0]
    file.write_text(file.read_text().replace("walkie", radio))
    return file


@pytest.mark.slow
def test_a_sweep_runs_and_is_not_run_again(dens, sweep_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = dens("sweep", sweep_file, "-o", out, "-j", "2")
    assert first.code == 0, first.err
    assert "2 variants with 2 seeds each: 4 runs" in first.err
    assert "4 of 4 runs" in first.err
    assert "4 runs: " in first.out
    assert "delivered, share of expected deliveries" in first.out
    assert "still open at the end" in first.out
    again = dens("sweep", sweep_file, "-o", out, "-j", "2", "--json")
    assert again.code == 0
    document = again.document()
    assert document["timing"]["resumed"] == document["timing"]["runs"] == 4
    assert document["timing"]["speed_up"] is None
    assert [one["figures"]["delivery_ratio"]["count"] for one in document["variants"]] == [2, 2]
    assert pq.read_table(document["results"]).num_rows == 4


def test_sweep_longer_than_its_runs_reports_the_reason() -> None:
    assert timing_line(Timing(8, 0, 20.0, 10.0)) == (
        "8 runs: 20.0 s of computing in 10.0 s, 2.00 times as fast as sequentially"
    )
    small = timing_line(Timing(4, 0, 0.9, 5.6))
    assert small == (
        "4 runs: 0.9 s of computing in 5.6 s, including about 4.7 s of start-up, which matters less in "
        "larger sweeps"
    )
    assert timing_line(Timing(4, 4, 0.0, 0.1)) == "4 runs, 4 of them from before"


def test_sweep_errors_are_reported_at_their_place(dens, sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(sweep_file.read_text().replace("[50, 100]", "[50, -1]"))
    ended = dens("sweep", sweep_file, "-o", tmp_path / "out")
    assert ended.code == 3
    assert f"{sweep_file}:4:" in ended.err
    assert "error D302: with radio." in ended.err
    assert not (tmp_path / "out").exists()
    sweep_file.write_text("scenario = 1\nseds = 2")
    ended = dens("sweep", sweep_file, "--json")
    assert ended.code == 3
    found = [(problem["line"], problem["code"]) for problem in ended.document()["problems"]]
    assert [line for line, _ in found] == [1, 2, 2], (
        "a misspelt key, and its value judged as if it were right"
    )


def test_the_example_is_a_sweep_that_can_be_run(tmp_path: Path) -> None:
    example = ROOT / "docs" / "examples" / "policies.toml"
    plan = read_plan(example)
    check_plan(plan, tmp_path / "out")
    assert plan.runs == 20


def test_runs_with_different_words_are_not_compared(dens, sweep_file: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert dens("run", sweep_file.parent / "scenario.toml", "--out", one).code == 0
    shutil.copytree(one, other)
    manifest = json.loads((other / "manifest.json").read_text())
    name = next(iter(manifest["vocabulary_documents"]))
    manifest["vocabulary_documents"][name] += "\n# another one\n"
    (other / "manifest.json").write_text(json.dumps(manifest))
    ended = dens("report", one, other)
    assert ended.code == 3
    assert f"{other}: its vocabularies differ from those of {one} ({name})" in ended.err


@pytest.mark.slow
def test_several_runs_are_compared_in_one_page(dens, spark, sweep_file: Path, tmp_path: Path) -> None:
    assert dens("sweep", sweep_file, "-o", tmp_path / "out", "-j", "1").code == 0
    runs = sorted((tmp_path / "out" / "runs").iterdir())
    ended = dens("report", *runs, "-o", tmp_path / "pages" / "all.html", "--json")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert [one["seeds"] for one in document["variants"]] == [[1, 2], [1, 2]]
    assert document["report"] == str(tmp_path / "pages" / "all.html")
    assert (tmp_path / "pages" / "all.html").read_text().endswith("</html>\n")
    assert "analysing run 4 of 4" in ended.err


def test_replaced_page_is_reported(tmp_path: Path) -> None:
    page = tmp_path / "comparison.html"
    assert where_line(page, replaced=page.is_file()) == f"report: {page}"
    page.write_text("an earlier one")
    assert where_line(page, replaced=page.is_file()) == f"report: {page} (replaced)"
