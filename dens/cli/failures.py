"""Turns exceptions into messages and exit codes.

Each package raises its own errors; this is the only module that knows how they are shown. Classes are looked
up in modules that are already loaded, so that `dens --help` imports none of them: an error whose module was
never imported cannot have been raised.
"""

import errno
import sys
from dataclasses import dataclass
from traceback import walk_tb
from typing import Any

from dens.config import exit_codes as exits
from dens.config.refusal import Refusal

_ANALYSING = (
    "spark_analysis.",
    "dens.cli.graphs.",
    *(f"dens.cli.runs.{name}" for name in ("compare", "learn", "live", "report", "sweep")),
)
"""Modules whose commands need the part analysis, whichever of its distributions is missed first."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as lines, as plain data, and as exit code."""

    lines: tuple[str, ...]
    problems: tuple[dict[str, Any], ...]
    exit_code: int


def failure_of(error: BaseException) -> Failure:
    """Return how to show an error. An unknown error is a defect of DENS."""
    if hasattr(error, "format_message"):
        return _usage(error)
    if _is(error, "dens.config.problems", "DocumentError"):
        problems = error.problems  # type: ignore[attr-defined]
        return Failure(tuple(map(str, problems)), tuple(map(problem_document, problems)), exits.BAD_INPUT)
    if _is(error, "watchdog.vector", "VectorError"):
        return _plain(f"not a valid vector: {error}", exits.BAD_INPUT)
    if _is(error, "spark_analysis.errors", "AnalysisError"):
        return _plain(str(error), exits.BAD_INPUT)
    if _is(error, "dens.trace.run_documents", "NotARun"):
        return _plain(str(error), exits.BAD_INPUT)
    if _is(error, "knowledge_manager.vocabulary.event_class", "UnknownName"):
        return _plain(str(error), exits.BAD_INPUT)
    if _is(error, "plugins.authoring.constants", "BadConstant"):
        return _plain(str(error), exits.BAD_INPUT)
    if _is(error, "plugins.registry", "RegistryError"):
        return _plain(str(error), exits.BAD_INPUT)
    if _is(error, "dens.overlay.errors", "DensError"):
        return _plain(str(error), exits.BAD_INPUT)
    if isinstance(error, Refusal):
        return _plain(str(error), exits.BAD_INPUT)
    if isinstance(error, OSError):
        return _plain(_os_error(error), exits.BAD_INPUT)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _missing_module(error, error.name)
    return _ours(error)


def _usage(error: Any) -> Failure:
    """Return a usage error, with the command whose help to read."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "dens"
    message = error.format_message()
    lines = (f"error: {message}", f"see: {command} --help")
    return Failure(lines, ({"severity": "error", "message": message},), exits.USAGE)


def _missing_module(error: ModuleNotFoundError, module: str) -> Failure:
    """A part of dens is not installed, or a package of the same name hides one of ours."""
    from dens.app.tools.name_clashes import describe_hidden_module
    from dens.app.tools.parts import ANALYSIS, CORE, describe_missing_module

    if (hidden := describe_hidden_module(module)) is not None:
        return _plain(hidden, exits.BAD_INPUT)
    calls = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    preferred = ANALYSIS if any(caller.startswith(_ANALYSING) for caller in calls) else CORE
    if (missing := describe_missing_module(module, preferred)) is None:
        return _ours(error)
    message, install = missing
    problem = {"severity": "error", "message": message, "install": install}
    return Failure((f"error: {message}", f"install: {install}"), (problem,), exits.BAD_INPUT)


def _ours(error: BaseException) -> Failure:
    try:
        details = str(error)
    except Exception:  # errors of Java ask Java for their text, which may be gone
        details = "no details"
    message = f"internal error: {type(error).__name__}: {details}"
    advice = "This is a defect of dens. Run the same command with --debug for a traceback."
    return Failure((message, advice), ({"severity": "error", "message": message},), exits.ABORTED)


def _plain(message: str, exit_code: int) -> Failure:
    return Failure((f"error: {message}",), ({"severity": "error", "message": message},), exit_code)


def _is(error: BaseException, module: str, name: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(error, getattr(loaded, name))


def problem_document(problem: Any) -> dict[str, Any]:
    """Return a problem as plain data."""
    facts = {key: getattr(problem, key) for key in ("file", "line", "column", "severity", "code", "message")}
    span = problem.span
    return {
        **facts,
        "end_line": None if span is None else span.end_line,
        "end_column": None if span is None else span.end_column,
        "fixes": [
            {"title": fix.title, "replacement": fix.replacement, **_span_document(fix.span)}
            for fix in problem.fixes
        ],
    }


def _span_document(span: Any) -> dict[str, int]:
    return {key: getattr(span, key) for key in ("line", "column", "end_line", "end_column")}


def _os_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    what = error.strerror or str(error)
    advice = {
        errno.ENOENT: "; check the path",
        errno.EACCES: "; check the permissions, or choose another place",
        errno.EPERM: "; check the permissions, or choose another place",
        errno.EROFS: "; choose a writable place",
        errno.ENOSPC: "; free some space, or choose another disk",
        errno.EFBIG: "; raise the limit on file sizes, or choose another place",
        errno.EEXIST: "; choose another place",
        errno.EISDIR: "; give a file, not a folder",
        errno.ENOTDIR: "; give a folder, not a file",
    }.get(error.errno or 0, "")
    return f"{where}{what}{advice}"
