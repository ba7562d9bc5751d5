"""Writes the report of one run or of several as one HTML file."""

import errno
import os
import tempfile
from pathlib import Path

from dens.config.atomic_write import write_whole
from spark_analysis.answers import Analysis, analyse
from spark_analysis.report.comparison import Comparison, compare

__all__ = ["analyse", "compare", "refuse_unwritable", "write_comparison", "write_report"]


def refuse_unwritable(path: Path) -> None:
    """Raise an `OSError` that names `path` if no report can be written there, before the slow analysis
    starts.
    """
    if path.is_dir() and not path.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        return  # a device or a pipe: can only be tested by writing
    try:
        there = next(folder for folder in path.absolute().parents if folder.exists())
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def load_pages() -> None:
    """Import the pages and matplotlib (1.3 CPU s). `dens report` calls this while Java starts."""
    import spark_analysis.rendering.drawing
    import spark_analysis.report.comparison_page
    import spark_analysis.report.page  # noqa: F401


def write_report(analysis: Analysis, path: str | Path, run: Path | None = None) -> None:
    """Write the report of one run as one self-contained HTML file; `run` is the run's folder if the file goes
    there.
    """
    from spark_analysis.report.page import page  # matplotlib is loaded while Spark works

    write_whole(Path(path), page(analysis).encode(), within=run)


def write_comparison(comparison: Comparison, path: str | Path) -> None:
    """Write the comparison of several runs as one self-contained HTML file."""
    from spark_analysis.report.comparison_page import comparison_page

    write_whole(Path(path), comparison_page(comparison).encode())
