"""Lines of a recording, and the nodes and times in them.

An invalid line is refused with its number, never skipped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError, Problem
from emulation.recordings.text import TextBounds, text_lines

MOST_NODES: Final = 999_999
"""The highest node number."""
_NODE: Final = re.compile(r"[A-Za-z_]*([0-9]{1,9})")
_MOST_PROBLEMS: Final = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a recording."""

    number: int
    words: list[str]


class Lines:
    """The lines of a text file, gzip allowed, without empty ones and comments; collects problems."""

    def __init__(self, path: Path, bounds: TextBounds = TextBounds()) -> None:  # noqa: B008
        self.file = str(path)
        self._path = path
        self._bounds = bounds
        self._problems: list[Problem] = []

    def texts(self) -> Iterator[str]:
        """Yield every line unchanged, with its line end; the file is read again each time."""
        for text in text_lines(self._path, "D313", self._bounds):
            yield from text.splitlines(keepends=True)

    def __iter__(self) -> Iterator[Line]:
        for number, text in enumerate(self.texts(), start=1):
            words = text.split()
            if words and not words[0].startswith("#"):
                yield Line(number, words)

    def complain(self, line: int, code: str, message: str) -> None:
        """Record a problem; raise all of them when there are many."""
        self._problems.append(Problem(self.file, line, 1, "error", code, message))
        if len(self._problems) >= _MOST_PROBLEMS:
            self.refuse_if_wrong()

    def refuse_if_wrong(self) -> None:
        """Raise the recorded problems, if there are any."""
        if self._problems:
            raise DocumentError(self._problems)


def node_number(text: str) -> int | None:
    """Return the number of a node (`n17` and `17` are the same), or None if it is invalid."""
    found = _NODE.fullmatch(text)
    return int(found[1]) if found is not None and int(found[1]) <= MOST_NODES else None


def time_ms(text: str) -> float | None:
    """Return a time given in seconds, or None if it is invalid."""
    try:
        value = float(text) * 1000.0
    except ValueError:
        return None
    return value if 0.0 <= value < float("inf") else None


def misfit(nodes: Iterable[str], times: Iterable[str]) -> str:
    """Return a message about the first invalid node or time."""
    for text in nodes:
        if node_number(text) is None:
            digits = text.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
            if digits.isdecimal():
                return f'node "{text}" is above {MOST_NODES:,}, the highest node number'
            return f'invalid node "{text}": expected a number, or letters and a number'
    invalid = next(text for text in times if time_ms(text) is None)
    return f'invalid time "{invalid}": expected seconds, at least 0'
