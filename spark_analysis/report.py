"""The report of a run or of several: what to show, and the one file it is shown in."""

from pathlib import Path

from knowledge_manager.whole_files import write_whole
from spark_analysis.analysis import analyse
from spark_analysis.answers import Analysis
from spark_analysis.comparison import Comparison, compare

__all__ = ["analyse", "compare", "write_comparison", "write_report"]


def write_report(analysis: Analysis, path: str | Path) -> None:
    """Write the report of one run as one HTML file that needs nothing else."""
    from spark_analysis.page import page  # matplotlib is loaded while Spark works

    write_whole(Path(path), page(analysis).encode())


def write_comparison(comparison: Comparison, path: str | Path) -> None:
    """Write the comparison of several runs as one HTML file that needs nothing else."""
    from spark_analysis.comparison_page import comparison_page

    write_whole(Path(path), comparison_page(comparison).encode())
