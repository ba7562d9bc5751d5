"""The folder `watchdog` has the import name of a PyPI package: ours must be the one that is found."""

from pathlib import Path

import watchdog
from tests.paths import ROOT


def test_watchdog_is_ours() -> None:
    assert watchdog.__file__ is not None
    assert Path(watchdog.__file__) == ROOT / "watchdog" / "__init__.py"


def test_no_package_marker_below_tests() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


ABOUT_ALL = {
    "browser": "what Chromium shows of a report",
    "contracts": "what holds for the whole tree",
    "documented": "the commands that documentation pages show",
    "experiments": "the figures of the papers, in experiments/dens_experiments",
    "golden": "data",
    "outside_language": "a package that is installed",
    "outside_package": "a package that is installed",
    "scenarios": "the scenarios that are shipped, run",
    "soak": "what takes long",
}
"""Folders of tests that are about no folder of the tree."""


def test_tests_stand_where_what_they_test_stands() -> None:
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    strangers = [
        str(folder)
        for folder in sorted(folders)
        if folder.parts
        and folder.parts[0] not in ABOUT_ALL
        and not (ROOT / folder).is_dir()
        and not (ROOT / folder).with_suffix(".py").is_file()
    ]
    assert strangers == []
    assert all((ROOT / "tests" / name).is_dir() for name in ABOUT_ALL)
