"""The wording of failed streams."""

import pytest

from spark_analysis.streams import cause_of

QUERY = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "
BEGIN = "Traceback (most recent call last):\n"
PROXY = f"{QUERY}An exception was raised by the Python Proxy. Return Message: {BEGIN}"
CALL = '  File "follow.py", line 120, in bring_in\n    log.write(batch)\n'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"{PROXY}{CALL}OSError: no space left\n SQLSTATE: XXKST", "OSError: no space left"),
        (f"{PROXY}{CALL}ValueError: bad part SQLSTATE: XXKST", "ValueError: bad part"),
        (
            f"{PROXY}{CALL}KeyError: 'a'\n\nDuring handling of this, another exception occurred:\n\n"
            f"{BEGIN}{CALL}ValueError: bad part\n\tat org.apache.spark.Some.java\n",
            "ValueError: bad part",
        ),
        (
            f"{PROXY}{CALL}py4j.protocol.Py4JJavaError: An error occurred while calling o9.collect.\n"
            ": org.apache.spark.SparkException: part-3.parquet is not a Parquet file\n\tat org.Some.java\n",
            "org.apache.spark.SparkException: part-3.parquet is not a Parquet file",
        ),
        (f"{QUERY}part-3.parquet does not exist\nmore", f"{QUERY}part-3.parquet does not exist"),
        ("Traceback (most recent call last):", "RuntimeError"),
        ("", "RuntimeError"),
    ],
)  # fmt: skip
def test_a_failed_stream_names_its_cause(text: str, cause: str) -> None:
    assert cause_of(RuntimeError(text)) == cause
