"""A real cluster on loopback: master and two workers, one of which dies in the middle."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from spark_analysis.java import find_java
from spark_analysis.shipping import PACKAGES, packed_packages

ROOT = Path(__file__).parents[2]
SECONDS = 240

PROGRAM = """
import json, sys, time
from pathlib import Path
import pyarrow as pa
from spark_analysis.session import close_session, open_session

master, marks = sys.argv[1], Path(sys.argv[2])
spark = open_session(master)

def work(batches):
    import plugins.fuzzy.match
    from spark_analysis.schema import TABLES
    for batch in batches:
        for number in batch["id"].to_pylist():
            (marks / str(number)).touch()
            time.sleep(0.5)
            where = "shipped" if "dens_packages" in plugins.fuzzy.match.__file__ else "installed"
            yield pa.RecordBatch.from_pydict({"id": [number], "where": [where], "tables": [len(TABLES)]})

rows = spark.range(0, 40, 1, 8).mapInArrow(work, "id long, where string, tables long").collect()
print(json.dumps(sorted(tuple(row) for row in rows)))
close_session(spark)
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start(folder: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / name),
    }
    for name_of_ours in ("PYTHONPATH", "SPARK_CONF_DIR"):  # a session of this process may have set them
        environment.pop(name_of_ours, None)
    launcher = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [str(launcher), *words],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def wait_for(happened: str, log: Path, word: str) -> None:
    end = time.monotonic() + SECONDS
    while word not in (log.read_text(errors="replace") if log.is_file() else ""):
        assert time.monotonic() < end, f"{happened} did not happen:\n{log.read_text()}"
        time.sleep(0.2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    begun = []
    at = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port())]
    try:
        begun.append(start(tmp_path, "master", "org.apache.spark.deploy.master.Master", *at))
        wait_for("the master's start", tmp_path / "master.log", "New state: ALIVE")
        for name in ("one", "two"):
            begun.append(
                start(
                    tmp_path,
                    name,
                    "org.apache.spark.deploy.worker.Worker",
                    *("--host", "127.0.0.1", "--cores", "1", "--memory", "1g"),
                    *("--webui-port", str(free_port())),
                    url,
                )
            )
        for name in ("one", "two"):
            wait_for("the worker's start", tmp_path / f"{name}.log", "Successfully registered")
        yield url, begun[1:]
    finally:
        for process in begun:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_cluster_that_loses_a_worker_gives_the_whole_answer(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    url, workers = cluster
    marks = tmp_path / "marks"
    marks.mkdir()
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url, str(marks)],
        cwd=ROOT,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + SECONDS
    while len(list(marks.iterdir())) < 6 and program.poll() is None:
        assert time.monotonic() < end, "nothing began to run"
        time.sleep(0.1)
    os.killpg(workers[0].pid, signal.SIGKILL)
    out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    assert json.loads(out) == [[number, "shipped", 10] for number in range(40)]
    shutil.rmtree(marks)


def test_the_archive_holds_every_package_with_its_data() -> None:
    with zipfile.ZipFile(packed_packages()) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == set(PACKAGES)
    for needed in (
        "spark_analysis/template.html",
        "plugins/fuzzy/fast.py",
        "emulation/scenarios/rescue.toml",
    ):
        assert needed in names
    assert any(name.startswith("knowledge_manager/") and name.endswith(".toml") for name in names)
    assert not any("__pycache__" in name for name in names)
