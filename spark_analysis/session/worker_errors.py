"""Translates errors of Spark workers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.errors import PySparkException

from spark_analysis.errors import AnalysisError, NoSpark

_MISSING: Final = re.compile(r"No module named '([^']+)'|(\w+) >= [\d.]+ must be installed")
_VERSIONS: Final = re.compile(r"PYTHON_VERSION_MISMATCH")


@contextmanager
def translated_worker_errors(otherwise: str) -> Iterator[None]:
    """Translate worker exceptions into `AnalysisError`.

    A worker that lacks a package, or has another Python version, is `NoSpark`. Anything else is an
    `AnalysisError` that starts with `otherwise` and ends with the worker's last line.
    """
    try:
        yield
    except PySparkException as error:
        text = str(error)
        missing = _MISSING.search(text)
        if missing is not None:
            raise NoSpark(
                f"a worker's Python lacks the package {missing[1] or missing[2]}. Workers run the Python "
                "of PYSPARK_PYTHON; it needs pyarrow, numpy, pandas and numba; DENS itself is shipped "
                "to the workers"
            ) from error
        if _VERSIONS.search(text):
            raise NoSpark(
                "the workers run another Python version than this process; set PYSPARK_PYTHON to a Python of "
                "the same version"
            ) from error
        if "PythonException" not in type(error).__name__:
            raise
        last = [line.strip() for line in text.splitlines() if line.strip()][-1]
        raise AnalysisError(f"{otherwise} ({last})") from error
