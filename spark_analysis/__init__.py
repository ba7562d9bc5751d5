"""Analysis of traces with Spark, on one machine or a cluster: metrics, reports, sweeps, live view, learning.

    from spark_analysis import open_run

    run = open_run("runs/rescue")
    run.delays().describe("delay_ms").show()
    run.table("contacts").toPandas()

Importing this package is cheap: Spark is loaded when a name is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_analysis.run import Run, open_run

__all__ = ["Run", "open_run"]


def __getattr__(name: str) -> object:
    """Load `spark_analysis.run`, and Spark with it, on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from spark_analysis import run

    return getattr(run, name)
