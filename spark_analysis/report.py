"""The report of a run or of several: what to show, and the one file it is shown in."""

import os
import tempfile
from pathlib import Path

from spark_analysis.analysis import analyse
from spark_analysis.answers import Analysis
from spark_analysis.comparison import Comparison, compare

__all__ = ["analyse", "compare", "write_comparison", "write_report"]


def write_report(analysis: Analysis, path: str | Path) -> None:
    """Write the report of one run as one HTML file that needs nothing else."""
    from spark_analysis.page import page  # matplotlib is loaded while Spark works

    _write_whole(page(analysis), Path(path))


def write_comparison(comparison: Comparison, path: str | Path) -> None:
    """Write the comparison of several runs as one HTML file that needs nothing else."""
    from spark_analysis.comparison_page import comparison_page

    _write_whole(comparison_page(comparison), Path(path))


def _write_whole(text: str, target: Path) -> None:
    """Write beside the place and rename when it is whole, so that nobody ever opens half a page."""
    handle, unfinished = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(unfinished).chmod(0o644)
        Path(unfinished).replace(target)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
