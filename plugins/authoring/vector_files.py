"""Checks files of vectors of a given language."""

from collections.abc import Callable
from pathlib import Path

from dens.config.problems import DocumentError, Problem
from dens.config.reading import decode_text, place_of, read_document
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.authoring import VectorKind
from plugins.authoring.output.description import Description
from watchdog.vector import VectorError

Describe = Callable[[bytes, MissionTable | None, VectorKind | None], Description]
"""A language's `Authoring.describe`, which refuses invalid vectors."""

_KINDS: dict[str, VectorKind] = {".sv": "sv", ".nv": "nv"}


def check_vector_file(path: Path, describe: Describe, table: MissionTable | None = None) -> list[Problem]:
    """Return the errors of a file of vectors: hexadecimal, one per line, or the bytes of a single one.

    A .sv file must hold subscriptions, a .nv file notifications.
    """
    file = str(path)
    try:
        content = read_document(path)
        if path.suffix != ".hex":
            describe(content, table, _KINDS.get(path.suffix))
            return []
        text = decode_text(content, file)
    except DocumentError as error:
        return list(error.problems)
    except VectorError as error:
        return [Problem(file, 0, 0, "error", "D401", str(error))]
    return _check_lines(text, file, describe, table)


def _check_lines(text: str, file: str, describe: Describe, table: MissionTable | None) -> list[Problem]:
    problems = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            number, column = place_of(text, start + len(line) - len(line.lstrip()))
            try:
                describe(bytes.fromhex(line.strip()), table, None)
            except VectorError as error:
                problems.append(Problem(file, number, column + 2 * error.offset, "error", "D401", str(error)))
            except ValueError:
                message = "not hexadecimal: expected pairs of 0-9 and a-f"
                problems.append(Problem(file, number, column, "error", "D402", message))
        start += len(line)
    return problems
