"""Reads many graph subscriptions: documents in a folder, or vectors in lines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dens.app.subscriptions.vectors import vector_lines
from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_document
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.vector_lines import body_of_line
from plugins.language import SubscriptionLanguage
from plugins.registry import authoring_of, language_named
from watchdog.vector import VectorError

LANGUAGE: Final = "graph"
SUFFIXES: Final = frozenset((".xml", ".rq"))
_MAX_REPORTED: Final = 20
"""Invalid lines reported per file; a generator that is wrong makes thousands."""


@dataclass(frozen=True, slots=True)
class NamedBody:
    """A subscription: its source and its body."""

    name: str
    body: bytes


def read_subscriptions(path: Path, table: MissionTable) -> list[NamedBody]:
    """Return all subscriptions in and below a folder, or in a file of vectors in hexadecimal.

    Raises one `DocumentError` with all problems.
    """
    language = language_named(LANGUAGE)
    found = _of_folder(path, language, table) if path.is_dir() else _of_lines(path, language, table)
    if not found:
        message = f"no subscription found ({', '.join(sorted(SUFFIXES))}, or one vector per line)"
        raise DocumentError.of_file(str(path), "D523", message)
    return found


def _of_folder(folder: Path, language: SubscriptionLanguage, table: MissionTable) -> list[NamedBody]:
    found, problems = list[NamedBody](), list[Problem]()
    authoring = authoring_of(language)
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            try:
                body = authoring.compile(read_document(path), str(path), table).body
            except DocumentError as error:
                problems.extend(error.problems)
            else:
                found.append(NamedBody(str(path.relative_to(folder)), body))
    if problems:
        raise DocumentError(problems)
    return found


def _of_lines(path: Path, language: SubscriptionLanguage, table: MissionTable) -> list[NamedBody]:
    found, problems = list[NamedBody](), list[Problem]()
    matcher = language.algorithms["naive"](table)
    with vector_lines(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                body = body_of_line(line)
                matcher.add((0, 0), body)
            except VectorError as error:
                problems.append(Problem(str(path), number, 1, "error", "D401", str(error)))
            else:
                found.append(NamedBody(f"line {number}", body))
    if problems:
        raise DocumentError(problems[:_MAX_REPORTED])
    return found
