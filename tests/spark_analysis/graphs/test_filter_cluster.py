"""Graphs on a real cluster that loses a worker, through Spark Connect, and by a command that is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from tests.spark_analysis.clusters import SECONDS, Cluster
from tests.spark_analysis.graphs.made import by_one_process, drawn, make_index, write_part, written_pairs

BODIES, VECTORS = drawn(300, 24)
OTHERS = drawn(120, 1, seed=2)[0]


def dens(*words: str | Path) -> subprocess.Popen[str]:
    """Start `dens graph filter` with nothing of ours on its workers' path."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    environment.pop("PYTHONPATH", None)
    options = ["--vocabulary", "reports", "--rows", "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "dens.cli", "graph", "filter", *map(str, words), *options],
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


def wait_until(happened: Callable[[], object], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + SECONDS
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_worker_and_the_command_are_killed_and_the_pairs_are_those_of_one_process(
    cluster: Cluster, tmp_path: Path
) -> None:
    first, _ = cluster.two_workers()
    index, incoming, out = make_index(tmp_path / "index", BODIES), tmp_path / "in", tmp_path / "out"
    for part in range(12):
        write_part(incoming, part, VECTORS[2 * part : 2 * part + 2], 2 * part)

    whole = dens(index, incoming, "-o", tmp_path / "batch", "--master", cluster.url)
    wait_until(lambda: list((cluster.folder / first).rglob("dens_index_*/index.json")), whole)
    cluster.kill(first)
    assert document_of(whole)["publications"] == 24
    expected = by_one_process(BODIES, VECTORS)
    assert written_pairs(tmp_path / "batch") == sorted(expected)

    followed = [index, incoming, "-o", out, "--follow", "--every", "0.2", "--master", cluster.url]
    stream = dens(*followed)
    wait_until(lambda: (out / "matches" / "batch=00000000").is_dir(), stream)
    make_index(index, OTHERS)
    write_part(incoming, 12, VECTORS, 24)
    wait_until(lambda: (out / "notes" / "00000001.json").exists(), stream)
    stream.send_signal(signal.SIGKILL)
    stream.communicate()
    document_of(dens(*followed, "--once"))
    assert written_pairs(out) == sorted(expected | by_one_process(OTHERS, VECTORS, 24))


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_connect_gives_the_same_pairs(server: str, tmp_path: Path) -> None:
    index, incoming = make_index(tmp_path / "index", BODIES), tmp_path / "in"
    write_part(incoming, 0, VECTORS, 0)
    document = document_of(dens(index, incoming, "-o", tmp_path / "out", "--master", server))
    assert written_pairs(tmp_path / "out") == sorted(by_one_process(BODIES, VECTORS))
    assert document["matches"] == len(by_one_process(BODIES, VECTORS))
