"""The report of a run: what to show, and the one file it is shown in."""

import os
import tempfile
from pathlib import Path

from spark_analysis.analysis import analyse
from spark_analysis.answers import Analysis

__all__ = ["analyse", "write_report"]


def write_report(analysis: Analysis, path: str | Path) -> None:
    """Write the report as one HTML file that needs nothing else.

    It is written beside its place and renamed when it is whole, so nobody ever opens half a page.
    """
    from spark_analysis.page import page  # matplotlib is loaded while Spark works

    target = Path(path)
    text = page(analysis)
    handle, unfinished = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(unfinished).chmod(0o644)
        Path(unfinished).replace(target)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
