"""Starts and stops Spark, on this machine or on a named master, with the same code.

Everything Spark needs is found or set here, so that users need not set variables: Java, the workers' Python
(this one; another `python3` on the path may lack pyarrow), our packages, and a local address. Java's output
goes to a log that is shown only if Spark does not start; errors of a job are raised as exceptions anyway.
"""

import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from spark_analysis.errors import NoSpark
from spark_analysis.session.class_path import frequent_jars
from spark_analysis.session.connect import SCHEME, connect
from spark_analysis.session.java import find_java
from spark_analysis.session.master import refuse_no_master
from spark_analysis.session.shipping import pack_packages

MASTER_VARIABLE: Final = "DENS_SPARK_MASTER"

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_SHIPPED: Final = "dens_packages"
_LOOPBACK: Final = ("spark://127.0.0.1", "spark://localhost")
_QUICK_JAVA: Final = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn500m -XX:MetaspaceSize=256m "
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""A report is many small queries, each run once. Java's optimising compiler would take half of the processor
time, a concurrent collector a tenth, and bytecode verification of Spark's own classes another tenth. From
tens of millions of rows on compiler and collector pay off. A large initial heap avoids collections during
start-up.
"""
_LOG_TAIL_LINES: Final = 12
_STOP_TIMEOUT_S: Final = 20

_remote: list[SparkSession] = []
"""The Spark Connect session, if any; Spark itself tracks only sessions with a context."""


def open_session(master: str | None = None, *, large: bool = False) -> SparkSession:
    """Return the running session, or start one on `master`, on `$DENS_SPARK_MASTER`, or on the cores of this
    machine.

    A master `sc://host:port` is a Spark Connect server. `large` optimises Java for millions of rows instead
    of quick answers. Raises `NoJava` without Java and `NoSpark`, with the end of Spark's log, if Spark does
    not start or a session on another master is running in this process.
    """
    running = SparkContext._active_spark_context
    if running is not None or _remote:
        if running is not None and master not in (None, running.master):
            raise NoSpark(
                f"Spark is running on {running.master} in this process already, not on {master}; "
                "end that session first (spark_analysis.session.session.close_session)"
            )
        return _remote[-1] if _remote else SparkSession.builder.getOrCreate()
    master = master or os.environ.get(MASTER_VARIABLE) or f"local[{_usable_cores()}]"
    if master.startswith(SCHEME):
        _remote.append(connect(master))
        return _remote[-1]
    logging.getLogger().addFilter(_is_not_py4j)
    refuse_no_master(
        master, f"start one there, or leave out --master and {MASTER_VARIABLE} to use this machine"
    )
    _prepare_environment(master)
    conf = _configuration(master, large)
    with tempfile.TemporaryFile(prefix="dens-spark-", suffix=".log") as log:
        try:
            with _interrupted_later():
                gateway = launch_gateway(conf, popen_kwargs={"stderr": log})  # type: ignore[no-untyped-call]
                SparkContext(conf=conf, gateway=gateway)
            return SparkSession.builder.getOrCreate()
        except KeyboardInterrupt:
            _forget_context()
            raise
        except (PySparkRuntimeError, Py4JError, OSError) as error:
            reason = str(error).splitlines()[0]  # the text comes from Java, which is stopped next
            _forget_context()
            log.seek(0)
            last = log.read().decode(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
            raise NoSpark(f"Spark did not start on {master}: {reason}\n" + "\n".join(last)) from error


@contextmanager
def spark_session(master: str | None = None, *, large: bool = False) -> Iterator[SparkSession]:
    """Yield the running session, or a new one that is closed afterwards."""
    is_lent = SparkContext._active_spark_context is not None or bool(_remote)
    session = open_session(master, large=large)
    try:
        yield session
    finally:
        if not is_lent:
            close_session(session)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Defer an interruption until Java has started: before, the process could not be ended and would stay."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    came = []

    def remember(*_: object) -> None:
        came.append(True)

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is remember:
            signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Suppress log messages of the Java bridge that are also raised as exceptions."""
    return Path(record.pathname).parent.name != "py4j"


def close_session(spark: SparkSession) -> None:
    """Stop the session and its Java process, so that another one can be opened."""
    spark.stop()
    _remote.clear()
    _end_java()


def _forget_context() -> None:
    """Clean up after a session that did not start."""
    context = SparkContext._active_spark_context
    if context is not None:
        with suppress(Py4JError, OSError):  # the Java process may have ended itself
            context.stop()
        SparkContext._active_spark_context = None
    with suppress(Py4JError, OSError):
        _end_java()


def _end_java() -> None:
    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # the Java process ends itself when this pipe does
        process.wait(_STOP_TIMEOUT_S)


def _usable_cores() -> int:
    """Return the cores available to this process, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0))


def _prepare_environment(master: str) -> None:
    """Set what Spark reads from the environment only. User settings are kept, except for Java's home. If
    workers are on other machines the local address is left to Spark.
    """
    os.environ["JAVA_HOME"] = str(find_java().home)
    if master.startswith(("local", *_LOOPBACK)):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_CONF_DIR", str(_PACKAGE / "spark_conf"))


def _configuration(master: str, large: bool) -> SparkConf:
    """Return the settings of every session, with their reasons."""
    settings = {
        # No web UI and no progress bar: the command line shows progress itself.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        # Traces are small tables; hundreds of shuffle partitions would be hundreds of empty tasks.
        "spark.sql.shuffle.partitions": "4",
        # Times of a trace are milliseconds since its start, independent of the local time zone.
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC"
        + ("" if large and master.startswith("local") else f" {_QUICK_JAVA}"),
        "spark.driver.extraClassPath": frequent_jars(),
        # Recording the code line of every column costs more than planning; plans and plan checks are unused.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.dataFrameQueryContext.enabled": "false",
        "spark.sql.ui.explainMode": "simple",
        "spark.sql.lightweightPlanChangeValidation": "false",
        "spark.driver.memory": "2g",
    }
    if master.startswith("local"):
        settings |= {
            "spark.executorEnv.PYTHONPATH": str(_PACKAGE.parent),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
        }
    else:
        settings |= {
            # Workers unpack our packages and find them before installed ones.
            "spark.archives": f"{pack_packages()}#{_SHIPPED}",
            "spark.executorEnv.PYTHONPATH": _SHIPPED,
        }
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("dens")
    return conf.setAll(list(settings.items()))
