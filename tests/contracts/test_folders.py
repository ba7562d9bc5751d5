"""Folders import in one direction: whoever opens one knows which others it rests on.

A folder and what stands below it are one thing: a registry above its members lists them, and they use what
it gives them. Between any other two, imports never go in a circle.
"""

import tomllib
from graphlib import CycleError, TopologicalSorter

import grimp

from tests.paths import ROOT

ROOMS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["root_packages"]


def folder_of(module: str) -> str:
    return module if ROOT.joinpath(*module.split(".")).is_dir() else module.rpartition(".")[0]


def is_below(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def imports_between_folders() -> dict[str, set[str]]:
    graph = grimp.build_graph(*ROOMS)
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            if not is_below(folder_of(module), folder_of(imported)):
                found.setdefault(folder_of(module), set()).add(folder_of(imported))
    return found


def test_folders_import_in_one_direction() -> None:
    found = imports_between_folders()
    assert len(found) > 20
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        raise AssertionError(f"folders import in a circle: {' → '.join(error.args[1])}") from None
