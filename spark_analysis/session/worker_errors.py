"""What went wrong on a worker, in words: whose fault it is, and what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.errors import PySparkException

from spark_analysis.errors import AnalysisError, NoSpark

_MISSING: Final = re.compile(r"No module named '([^']+)'|(\w+) >= [\d.]+ must be installed")
_VERSIONS: Final = re.compile(r"PYTHON_VERSION_MISMATCH")


@contextmanager
def told_in_words(otherwise: str) -> Iterator[None]:
    """Turn what Spark raises from a worker into an error for people.

    A worker that lacks a package, or runs another version of Python, is `NoSpark`. Anything else is an
    `AnalysisError` that begins with `otherwise` and ends with the worker's own last line.
    """
    try:
        yield
    except PySparkException as error:
        text = str(error)
        missing = _MISSING.search(text)
        if missing is not None:
            raise NoSpark(
                f"a worker's Python has no package {missing[1] or missing[2]}. Workers run the Python that "
                "PYSPARK_PYTHON names; it needs pyarrow, numpy, pandas and numba; our own packages come "
                "with us"
            ) from error
        if _VERSIONS.search(text):
            raise NoSpark(
                "the workers run another version of Python than this process; name one of the same version "
                "with PYSPARK_PYTHON"
            ) from error
        if "PythonException" not in type(error).__name__:
            raise
        last = [line.strip() for line in text.splitlines() if line.strip()][-1]
        raise AnalysisError(f"{otherwise} ({last})") from error
