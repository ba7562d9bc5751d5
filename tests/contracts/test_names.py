"""The folder `watchdog` has the import name of a PyPI package: ours must be the one that is found."""

from pathlib import Path

import watchdog
from tests.paths import ROOT


def test_watchdog_is_ours() -> None:
    assert watchdog.__file__ is not None
    assert Path(watchdog.__file__) == ROOT / "watchdog" / "__init__.py"


def test_no_package_marker_below_tests() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []
