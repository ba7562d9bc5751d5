"""Spark with Java: a session in this process, on this machine or on a cluster.

Only this module needs the whole of pyspark; the client of Spark Connect alone has neither py4j nor a context.
Everything Spark needs is found or set here, so that users need not set variables: Java, the workers' Python
(this one; another `python3` on the path may lack pyarrow), our packages, and a local address. Java's output
goes to a log that is shown only if Spark does not start; errors of a job are raised as exceptions anyway.
"""

import logging
import os
import signal
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from spark_analysis.errors import NoSpark
from spark_analysis.session.java import find_java
from spark_analysis.session.shipping import pack_packages

SPARK_ERRORS: Final = (PySparkException, Py4JJavaError)
"""What a failed action of Spark raises."""

CLUSTER: Final = "spark://"

_MASTER_TIMEOUT_S: Final = 10
_ANSWER_TIMEOUT_S: Final = 3

_STREAM: Final = b"dens\r\n\r\n"
_QUESTION: Final = struct.pack(">qbi", 13 + len(_STREAM), 6, len(_STREAM)) + _STREAM
"""A request for a stream that does not exist, as a Spark frame with its length first. The line ends make
line-based servers, such as web servers, respond too.
"""

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

_FREQUENT_JARS: Final = (
    "spark-catalyst_",
    "spark-core_",
    "scala-library-",
    "spark-sql_",
    "scala-reflect-",
    "spark-sql-api_",
    "log4j-core-",
    "hadoop-client-api-",
    "jackson-databind-",
    "arrow-vector-",
    "parquet-encoding-",
    "spark-config_",
    "parquet-jackson-",
    "parquet-column-",
    "spark-network-common_",
    "netty-common-",
    "parquet-format-structures-",
    "hadoop-client-runtime-",
    "antlr4-runtime-",
    "netty-transport-",
    "jackson-module-scala_",
    "spark-common-utils_",
    "parquet-hadoop-",
)
"""Prefixes of the names of the jars that come first on Java's class path, by the number of classes that a
report loads from each. Java searches the 280 jars of Spark one by one, in the order of a folder; nearly all
of the ten thousand classes are in these.
"""


def running_master() -> str | None:
    """Return the master of the session in this process; None if there is none."""
    context = SparkContext._active_spark_context
    return None if context is None else str(context.master)


def start(master: str | None, large: bool) -> SparkSession:
    """Start Java and a session on `master`, by default on the cores of this machine.

    Raises `NoJava` without Java and `NoSpark`, with the end of Spark's log, if Spark does not start.
    """
    master = master or f"local[{_usable_cores()}]"
    logging.getLogger().addFilter(_is_not_py4j)
    refuse_no_master(
        master, "start one there, or leave out --master and DENS_SPARK_MASTER to use this machine"
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


def end_java() -> None:
    """End the Java process of this process, if there is one."""
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


def refuse_no_master(master: str, otherwise: str) -> None:
    """Raise `NoSpark`, with the advice `otherwise`, if no address of a cluster can be a Spark master.

    Only certain cases are rejected: nothing listens, or the response is not Spark's. A master that requires
    authentication sends nothing, and is left to Spark.
    """
    if not master.startswith(CLUSTER):
        return
    reasons = []
    for place in master.removeprefix(CLUSTER).split(","):
        reason = _why_no_master(place)
        if reason is None:
            return
        reasons.append(f"{place}: {reason}")
    raise NoSpark(f"no Spark master answers at {master} ({'; '.join(reasons)}); {otherwise}")


def _why_no_master(place: str) -> str | None:
    host, _, port = place.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _MASTER_TIMEOUT_S) as there:
            return None if _may_be_spark(there) else "another program uses this port, perhaps a web server"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)


def _may_be_spark(there: socket.socket) -> bool:
    """Send a request and check the first bytes of the response: Spark's starts with a small length."""
    there.settimeout(_ANSWER_TIMEOUT_S)
    try:
        there.sendall(_QUESTION)
        answer = there.recv(4)
    except OSError:
        return True
    return not answer or answer == bytes(len(answer))


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


def _forget_context() -> None:
    """Clean up after a session that did not start."""
    context = SparkContext._active_spark_context
    if context is not None:
        with suppress(Py4JError, OSError):  # the Java process may have ended itself
            context.stop()
        SparkContext._active_spark_context = None
    with suppress(Py4JError, OSError):
        end_java()


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


def frequent_jars() -> str:
    """Return the class path of the frequently used jars; empty if Spark keeps its jars elsewhere."""
    jars = Path(_find_spark_home()) / "jars"
    found = (jar for name in _FREQUENT_JARS for jar in sorted(jars.glob(f"{name}*.jar")))
    return os.pathsep.join(map(str, found))
