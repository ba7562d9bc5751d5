"""A real cluster on loopback: master and two workers, one of which dies in the middle."""

import json
import math
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_analysis.report.build import analyse
from spark_analysis.run import open_run
from spark_analysis.session.shipping import PACKAGES, pack_packages
from spark_analysis.sweep.plan import read_plan
from spark_analysis.sweep.run import on_spark, run_sweep
from tests.paths import ROOT
from tests.spark_analysis.clusters import SECONDS, Cluster
from tests.spark_analysis.little import write_little_sweep


def dens(*words: str | Path) -> subprocess.Popen[str]:
    """Start a command with nothing of ours on its workers' path: what they run must have been shipped."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    environment.pop("PYTHONPATH", None)
    return subprocess.Popen(
        [sys.executable, "-m", "dens.cli", *map(str, words)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def document_of(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    return json.loads(out)


def alike(one: Any, other: Any) -> bool:
    """Return whether two documents say the same; sums may have been added up in another order."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return math.isclose(one, other, rel_tol=1e-9) if isinstance(one, float) else bool(one == other)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_cluster_that_loses_a_worker_gives_what_one_machine_gives(
    cluster: Cluster, tmp_path: Path, spark: SparkSession
) -> None:
    """A sweep loses a worker with its executor in the middle; a report is made with what is left."""
    first, second = cluster.two_workers()
    file = write_little_sweep(tmp_path, 'seeds = "1..6"')
    out = tmp_path / "out"
    sweep = dens("sweep", file, "-o", out, "--master", cluster.url, "--json")
    end = time.monotonic() + SECONDS
    while len(list(out.glob("runs/*/figures.json"))) < 1 and sweep.poll() is None:
        assert time.monotonic() < end, "nothing began to run"
        time.sleep(0.05)
    cluster.kill(first)
    assert len(list(out.glob("runs/*/figures.json"))) < 12, "everything was done before the worker died"
    swept = document_of(sweep)
    run = out / "runs" / "v001-s1"
    reported = document_of(dens("report", run, "--master", cluster.url, "--json", "-o", tmp_path / "r.html"))
    here = run_sweep(read_plan(file), tmp_path / "here", on_spark(spark))
    assert swept["variants"] == json.loads(json.dumps(here.as_document()["variants"]))
    assert swept["timing"]["runs"] == 12
    del reported["report"]
    analysis = analyse(open_run(run, spark))
    assert alike(reported, json.loads(json.dumps(analysis.as_document())))
    assert analysis.delivery.total.delivered > 0
    assert list((cluster.folder / second).rglob("dens_packages*"))


def test_the_archive_holds_every_package_with_its_data() -> None:
    with zipfile.ZipFile(pack_packages()) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == set(PACKAGES)
    for needed in (
        "spark_analysis/report/template.html",
        "plugins/fuzzy/matching/fast.py",
        "emulation/scenarios/rescue.toml",
    ):
        assert needed in names
    assert any(name.startswith("knowledge_manager/") and name.endswith(".toml") for name in names)
    assert {Path(name).suffix for name in names if "__pycache__" in name} <= {".nbi", ".nbc"}
