"""Spark Connect: a real server from the installed PySpark, which has nothing of ours but what is sent."""

import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.errors import NoSpark
from spark_analysis.live.follow import follow
from spark_analysis.report.build import analyse, write_report
from spark_analysis.run import open_run
from spark_analysis.session.connect import connect, pack_environment
from spark_analysis.session.shipping import PACKAGES
from spark_analysis.sweep.plan import read_plan
from spark_analysis.sweep.run import in_processes, run_sweep
from tests.paths import ROOT
from tests.spark_analysis.clusters import SECONDS, free_port
from tests.spark_analysis.little import write_little_sweep


def dens(*words: str | Path) -> Any:
    """Call a command in a process of its own and return its document."""
    done = subprocess.run(
        [sys.executable, "-m", "dens.cli", *map(str, words), "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stderr
    return json.loads(done.stdout)


def without_times(document: Any) -> Any:
    """Leave out where a thing was written and how long it took."""
    if isinstance(document, dict):
        left_out = ("sweep", "timing", "results", "folder")
        return {key: without_times(value) for key, value in document.items() if key not in left_out}
    return [without_times(one) for one in document] if isinstance(document, list) else document


@pytest.mark.slow
def test_report_sweep_and_learning_are_the_same_through_connect(
    server: str, spark: SparkSession, tmp_path: Path
) -> None:
    sweep = write_little_sweep(tmp_path)
    run, page = tmp_path / "run", tmp_path / "there.html"
    run_scenario(load_scenario(str(tmp_path / "little.toml")), 1, run)
    here = analyse(open_run(run, spark))
    write_report(here, tmp_path / "here.html")
    there = dens("report", run, "-o", page, "--remote", server)
    assert there == {**json.loads(json.dumps(here.as_document())), "report": str(page)}
    assert there["delivery"]["total"]["owed"] > 0
    assert page.read_text() == (tmp_path / "here.html").read_text()
    about = ("--event", "patient", "--attribute", "heart_rate")
    assert dens("learn", "transitions", run, *about, "--remote", server)["states"][-1] == "other"
    by_process = run_sweep(read_plan(sweep), tmp_path / "one", in_processes(1)).as_document()
    by_connect = dens("sweep", sweep, "-o", tmp_path / "two", "--remote", server)
    assert without_times(by_connect) == without_times(json.loads(json.dumps(by_process)))


@pytest.mark.slow
def test_what_is_sent_holds_every_package_and_what_starts_python(tmp_path: Path) -> None:
    with tarfile.open(pack_environment()) as archive:
        names = archive.getnames()
        archive.extractall(tmp_path, filter="data")
    assert {name.split("/")[0] for name in names} == {*PACKAGES, "python"}
    assert {Path(name).suffix for name in names if "__pycache__" in name} <= {"", ".nbi", ".nbc"}
    asked = [str(tmp_path / "python"), "-P", "-c", "import plugins; print(plugins.__file__)"]
    environment = {"PATH": os.environ["PATH"], "PYSPARK_PYTHON": sys.executable}
    found = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True, cwd="/")
    assert found.stdout.strip() == str(tmp_path / "plugins" / "__init__.py")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sc://127.0.0.1:{free}", "no Spark Connect server answers there"),
        ("sc://127.0.0.1:many", "use sc://host:port"),
    ],
)
def test_an_address_without_a_server_is_refused_at_once(url: str, message: str) -> None:
    begin = time.monotonic()
    with pytest.raises(NoSpark, match=message):
        connect(url.format(free=free_port()))
    assert time.monotonic() - begin < 60  # the client alone would try for minutes


def test_a_run_is_not_followed_through_connect(tmp_path: Path) -> None:
    Remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    with pytest.raises(NoSpark, match="cannot be followed through Spark Connect"):
        follow(tmp_path, Remote(), print, window_ms=1, every_s=1)  # type: ignore[arg-type]
