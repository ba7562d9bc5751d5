"""Every benchmark runs to its end, at its smallest size. Figures are not looked at."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import names
from benchmarks.measurement import alone, at_least, at_most
from benchmarks.page import write_page
from tests.paths import ROOT

WITH_BOARDS = {"boards_algorithms", "boards_kernels"}


def marked(name: str) -> object:
    marks = [pytest.mark.slow]
    if name in WITH_BOARDS:
        marks.append(pytest.mark.board)
    if name.startswith("spark") or name == "graph_spark":
        marks.append(pytest.mark.spark)
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [marked(name) for name in names()])
def test_benchmark_runs(name: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", name, "--keep", os.devnull],
        cwd=ROOT,
        env={**os.environ, "DENS_BENCH_SMALL": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stderr
    measured = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert measured != []
    assert all(line["ours"] is not None for line in measured)


def test_page_shows_every_measurement_and_the_commit(tmp_path: Path) -> None:
    results = [at_most("slow", 3.0, 2.0, 1.0), at_least("fast", 3.0, 2.0, 1.0), alone("figure", 0.5)]
    write_page(tmp_path / "page.md", results, ["broken"])
    text = (tmp_path / "page.md").read_text()
    assert "| slow | 3 | 2 | 1.5 | 1 | **no** |" in text
    assert "| fast | 3 | 2 | 1.5 | 1 | yes |" in text
    assert "| figure | 0.5 |  |  |  |  |" in text
    assert "Could not be measured: broken." in text
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f"Commit {commit.stdout[:10]}" in text


def test_a_failing_benchmark_is_reported_and_the_others_run() -> None:
    program = (
        "import sys; from benchmarks import __main__ as main, language, start_up\n"
        "def broken(): raise RuntimeError('out of order'); yield\n"
        "language.measure = broken\n"
        "main.names = lambda: ['language', 'start_up']\n"
        f"sys.argv = ['bench', '--keep', {os.devnull!r}]\n"
        "sys.exit(main.main())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "DENS_BENCH_SMALL": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ended.returncode == 1
    assert "language failed" in ended.stderr
    assert "out of order" in ended.stderr
    assert "failed: language" in ended.stderr
    assert ended.stdout.count("help_seconds") == 2
