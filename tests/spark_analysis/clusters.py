"""A real cluster and a real server of Spark Connect on loopback, which all tests of this room share.

Starting one takes a quarter of a minute on two cores, so there is one of each for a whole run of the tests;
who kills a worker gets another one started the next time that two are requested.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark

from spark_analysis.session.java import find_java

SECONDS = 240


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(happened: str, log: Path, word: str) -> None:
    end = time.monotonic() + SECONDS
    while word not in (log.read_text(errors="replace") if log.is_file() else ""):
        assert time.monotonic() < end, f"{happened} did not happen:\n{log.read_text()}"
        time.sleep(0.2)


def started(words: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as said:
        return subprocess.Popen(
            words, cwd=log.parent, env=environment, stdout=said, stderr=said, start_new_session=True
        )


def ended(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started, as a machine that loses its power does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Cluster:
    """A master and workers; each worker's files lie in a folder of its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        at = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port())]
        self._begun = [self._start("master", "org.apache.spark.deploy.master.Master", *at)]
        wait_for("the master's start", folder / "master.log", "New state: ALIVE")
        self._workers: dict[str, subprocess.Popen[bytes]] = {}

    def two_workers(self) -> list[str]:
        """Return the names of two workers that are alive, started if need be."""
        fresh = []
        while len(self.alive()) < 2:
            name = f"worker{len(self._workers)}"
            self._workers[name] = self._start(
                name,
                "org.apache.spark.deploy.worker.Worker",
                *("--host", "127.0.0.1", "--cores", "1", "--memory", "1g"),
                *("--webui-port", str(free_port())),
                self.url,
            )
            fresh.append(name)
        for name in fresh:
            wait_for("the worker's start", self.folder / f"{name}.log", "Successfully registered")
        return self.alive()

    def alive(self) -> list[str]:
        return [name for name, process in self._workers.items() if process.poll() is None]

    def kill(self, name: str) -> None:
        ended(self._workers[name])

    def end(self) -> None:
        for process in (*self._workers.values(), *self._begun):
            ended(process)

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "JAVA_HOME": str(find_java().home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self.folder / name),
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # six of Java on two cores
        }
        for name_of_ours in ("PYTHONPATH", "SPARK_CONF_DIR"):  # a session of this process may have set them
            environment.pop(name_of_ours, None)
        launcher = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
        return started([launcher, *words], self.folder / f"{name}.log", environment)


def connect_server(folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
    """Start a server where our packages cannot be seen; return its address and its process."""
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONSAFEPATH": "1",
    }
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    words = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    words += ["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]  # it serves a minute
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    words += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    process = started([*words, "spark-internal"], folder / "server.log", environment)
    try:
        wait_for("the server's start", folder / "server.log", "Spark Connect server started")
    except BaseException:
        ended(process)
        raise
    return f"sc://127.0.0.1:{port}", process
