"""Spark Connect: a session on a remote server (`sc://host:15002`), without Java on this side.

Such a session has no context, so code is shipped as a session artifact: an archive with our packages that
every worker unpacks, and a small program that starts Python with them on its path. The server needs the same
Python version with pyarrow, numpy, pandas and numba, and access to runs and sweeps under the same paths.
"""

import atexit
import io
import shutil
import socket
import tarfile
import tempfile
import warnings
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from spark_analysis.errors import NoSpark
from spark_analysis.session.shipping import PACKAGES, is_shipped

SCHEME: Final = "sc://"
DEFAULT_PORT: Final = 15002

_ROOT: Final = Path(__file__).resolve().parents[2]
_SHIPPED: Final = "dens_packages"
_STARTER: Final = """#!/bin/sh
# Starts Python with the packages beside this file on its path.
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" exec "${PYSPARK_PYTHON:-python3}" "$@"
"""
_ANSWER_TIMEOUT_S: Final = 10.0

_SETTINGS: Final = {
    "spark.sql.execution.pyspark.python": f"./{_SHIPPED}/python",
    # The reasons for these two are those of `session`.
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}


def connect(url: str) -> SparkSession:
    """Return a session on this server, with our packages on its workers.

    Raises `NoSpark` if no server answers, or if a client library is missing.
    """
    _refuse_silence(url)
    # This client prints what Java only logs: a window over a small table needs no partition.
    warnings.filterwarnings("ignore", message="WARN WindowExpression", category=UserWarning)
    try:
        spark = SparkSession.builder.remote(url).getOrCreate()
        spark.addArtifacts(f"{pack_environment()}#{_SHIPPED}", archive=True)
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
    except ImportError as error:
        raise NoSpark(f"{url}: Spark Connect needs the package grpcio ({error})") from error
    except Exception as error:
        raise NoSpark(f"{url}: Spark Connect refused the session: {str(error).splitlines()[0]}") from error
    return spark


def is_remote(spark: SparkSession) -> bool:
    """Return whether a session uses Spark Connect, without importing its dependencies."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def pack_environment() -> Path:
    """Return a new archive of our packages and the program that starts Python with them; removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="dens-packages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = folder / f"{_SHIPPED}.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        for package in PACKAGES:
            file.add(_ROOT / package, package, filter=_shipped)
        starter = tarfile.TarInfo("python")
        starter.mode, starter.size = 0o755, len(_STARTER)
        file.addfile(starter, io.BytesIO(_STARTER.encode()))
    return archive


def _shipped(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return entry if entry.isdir() or is_shipped(PurePath(entry.name)) else None


def _refuse_silence(url: str) -> None:
    """Reject an address without a server at once: the client would retry for minutes."""
    try:
        parts = urlsplit(url)
        place = (parts.hostname or "", parts.port or DEFAULT_PORT)
    except ValueError as error:
        raise NoSpark(f"{url}: invalid address ({error}); use sc://host:port") from error
    try:
        socket.create_connection(place, timeout=_ANSWER_TIMEOUT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoSpark(f"{url}: no Spark Connect server answers there ({reason})") from error
