"""Processes that a scenario names: Python files, read and checked here without running them.

The text of a file is an input of the run: a run keeps a copy, and `dens rerun` runs the copy.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from dens.config.reading import read_text
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import ScenarioSettings


@dataclass(frozen=True, slots=True)
class PlannedProcess:
    """A generator function, by its name in this text."""

    file: str
    text: str
    function: str
    parameters: Mapping[str, Any]
    moves: bool


def plan_processes(
    settings: ScenarioSettings, files: NamedFiles, places: Places, problems: list[Problem]
) -> tuple[PlannedProcess, ...]:
    """Return the processes of a scenario; their problems are added to the list."""
    planned: list[PlannedProcess] = []
    for index, process in enumerate(settings.process):
        key = ("process", index)
        try:
            text = read_text(files.path(process.file, (*key, "file"), places))
            for name in process.files:
                files.path(name, (*key, "files"), places)
        except DocumentError as error:
            problems.extend(error.problems)
            continue
        try:
            functions = _generator_functions(text)
        except (SyntaxError, ValueError) as error:
            line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            message = f'"{process.file}" is not valid Python{line}: {getattr(error, "msg", error)}'
            problems.append(places.problem((*key, "file"), "D334", message))
            continue
        if process.function not in functions:
            hint = did_you_mean(process.function, functions) + (
                f" ({listed(functions)})" if functions else ""
            )
            message = f'"{process.file}" defines no generator function "{process.function}"{hint}'
            meant = likely_meant(process.function, functions)
            problems.append(places.problem((*key, "function"), "D334", message, meant=meant))
        if process.moves and (settings.contacts is not None or settings.links is not None):
            message = "devices cannot be moved where contacts are recorded or links are permanent"
            problems.append(places.problem((*key, "moves"), "D336", message))
        planned.append(
            PlannedProcess(process.file, text, process.function, process.parameters, process.moves)
        )
    return tuple(planned)


def _generator_functions(text: str) -> list[str]:
    """Return the names of the functions at the top of a file that contain `yield`."""
    found: list[str] = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.FunctionDef) and _yields(statement):
            found.append(statement.name)
    return found


def _yields(function: ast.FunctionDef) -> bool:
    """Return whether a function contains `yield` itself, not only in functions inside it."""
    inside: list[ast.AST] = list(function.body)
    while inside:
        node = inside.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            inside.extend(ast.iter_child_nodes(node))
    return False
