"""Opens and closes the session of Spark that an analysis uses, with the same code for every kind of master.

A master `sc://host:port` is a server of Spark Connect, which needs the client of Spark only (`connect`). Any
other master, and this machine, need Spark with Java (`classic`), which is imported only then.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession
from pyspark.util import is_remote_only

from spark_analysis.errors import NoSpark
from spark_analysis.session.connect import SCHEME, connect

MASTER_VARIABLE: Final = "DENS_SPARK_MASTER"

_remote: list[SparkSession] = []
"""The Spark Connect session, if any; Spark itself tracks only sessions with a context."""


def open_session(master: str | None = None, *, large: bool = False) -> SparkSession:
    """Return the running session, or start one on `master`, on `$DENS_SPARK_MASTER`, or on the cores of this
    machine.

    `large` optimises Java for millions of rows instead of quick answers. Raises `NoJava` without Java, and
    `NoSpark` if Spark does not start or a session on another master is running in this process.
    """
    running = _running_master()
    if running is not None and master not in (None, running):
        raise NoSpark(
            f"Spark is running on {running} in this process already, not on {master}; "
            "end that session first (spark_analysis.session.session.close_session)"
        )
    if _remote:
        return _remote[-1]
    if running is not None:
        return SparkSession.builder.getOrCreate()
    master = master or os.environ.get(MASTER_VARIABLE)
    if master is not None and master.startswith(SCHEME):
        _remote.append(connect(master))
        return _remote[-1]
    if is_remote_only():
        raise NoSpark(
            "only the client of Spark Connect is installed here, without Spark; name a server with "
            f"--master {SCHEME}HOST:PORT or {MASTER_VARIABLE}, or install pyspark in place of pyspark-client"
        )
    from spark_analysis.session import classic

    return classic.start(master, large)


@contextmanager
def spark_session(master: str | None = None, *, large: bool = False) -> Iterator[SparkSession]:
    """Yield the running session, or a new one that is closed afterwards."""
    is_lent = bool(_remote) or _running_master() is not None
    session = open_session(master, large=large)
    try:
        yield session
    finally:
        if not is_lent:
            close_session(session)


def close_session(spark: SparkSession) -> None:
    """Stop the session and its Java process, so that another one can be opened."""
    spark.stop()
    _remote.clear()
    if not is_remote_only():
        from spark_analysis.session import classic

        classic.end_java()


def _running_master() -> str | None:
    """Return the master of a session with Java in this process; None if there is none."""
    if is_remote_only():
        return None
    from spark_analysis.session import classic

    return classic.running_master()
