"""Sorts small results."""

from pyspark.sql import DataFrame


def in_order(frame: DataFrame, *by: str) -> DataFrame:
    """Sort a frame that is small by construction, in one task.

    `orderBy` would first sample the frame in a second job, and then spread a few rows over several tasks.
    """
    return frame.coalesce(1).sortWithinPartitions(*by)
