"""The jars that Java looks into first are there, and no Spark without them is in the way."""

import os
from pathlib import Path

import pytest

from spark_analysis.session.classic import _FREQUENT_JARS, frequent_jars


def test_every_jar_that_is_often_needed_is_in_this_spark() -> None:
    """A newer Spark may name its jars otherwise; then the list has to follow."""
    jars = [Path(jar) for jar in frequent_jars().split(os.pathsep)]
    assert all(jar.is_file() for jar in jars)
    assert [any(jar.name.startswith(name) for jar in jars) for name in _FREQUENT_JARS] == [True] * len(
        _FREQUENT_JARS
    )
    assert len(set(jars)) == len(jars)


def test_a_spark_that_keeps_its_jars_elsewhere_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert frequent_jars() == ""
