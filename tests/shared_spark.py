"""One Spark session for all tests that need one, whatever their folder. Starting one takes ten CPU seconds.

Commands that run in this process (the fixture `dens`) use it too, where a test takes both fixtures.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that takes a session, so that it can be left out, and keep them on one worker."""
    for item in items:
        if isinstance(item, pytest.Function) and "spark" in item.fixturenames:
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    from spark_analysis.answers import DIRECT
    from spark_analysis.session.session import close_session, open_session

    session = open_session()
    for name, value in DIRECT.items():  # as a report of a small run has it: most tables here have five rows
        session.conf.set(name, value)
    yield session
    close_session(session)
