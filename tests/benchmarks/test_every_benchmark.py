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

GROUPS = sorted({name.partition("_")[0] for name in names()})
"""Benchmarks whose names begin alike share a process: starting one takes longer than measuring in it."""


def marked(group: str) -> object:
    marks = [pytest.mark.slow]
    if group == "boards":
        marks.append(pytest.mark.board)
    if group in ("graph", "spark"):
        marks.append(pytest.mark.spark)
    return pytest.param(group, marks=marks)


@pytest.mark.parametrize("group", [marked(group) for group in GROUPS])
def test_benchmarks_run(group: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", group, "--keep", os.devnull],
        cwd=ROOT,
        env={**os.environ, "DENS_BENCH_SMALL": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stdout
    for name in names():
        if name.startswith(group):
            told = ended.stdout.split(f"measuring {name} …\n", 1)[1].split("measuring ", 1)[0]
            measured = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
            assert measured, f"{name} measured nothing"
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
