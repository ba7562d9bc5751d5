"""Lines of a recording, and the nodes and times in them.

Recordings are files of other people. An invalid line is refused with its number, never skipped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError, Problem
from emulation.recordings.text import TextBounds, text_lines

MOST_NODES: Final = 999_999
"""The greatest number of a node."""
_NODE: Final = re.compile(r"[A-Za-z_]*([0-9]{1,9})")
_MOST_PROBLEMS: Final = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a recording: its number, and its words."""

    number: int
    words: list[str]


class Lines:
    """The lines of a text file, gzip allowed, without empty ones and comments; collects what is wrong."""

    def __init__(self, path: Path, bounds: TextBounds = TextBounds()) -> None:  # noqa: B008
        self.file = str(path)
        self._path = path
        self._bounds = bounds
        self._problems: list[Problem] = []

    def texts(self) -> Iterator[str]:
        """Yield every line as it stands, with its end; the file is read again each time."""
        for text in text_lines(self._path, "D313", self._bounds):
            yield from text.splitlines(keepends=True)

    def __iter__(self) -> Iterator[Line]:
        for number, text in enumerate(self.texts(), start=1):
            words = text.split()
            if words and not words[0].startswith("#"):
                yield Line(number, words)

    def complain(self, line: int, code: str, message: str) -> None:
        """Note that a line is wrong; after some of them it is enough."""
        self._problems.append(Problem(self.file, line, 1, "error", code, message))
        if len(self._problems) >= _MOST_PROBLEMS:
            self.refuse_if_wrong()

    def refuse_if_wrong(self) -> None:
        """Raise what was noted."""
        if self._problems:
            raise DocumentError(self._problems)


def node_number(text: str) -> int | None:
    """Return the number of a node: `n17` and `17` are one node. None where it is none."""
    found = _NODE.fullmatch(text)
    return int(found[1]) if found is not None and int(found[1]) <= MOST_NODES else None


def time_ms(text: str) -> float | None:
    """Return a time given in seconds, or None where it is none."""
    try:
        value = float(text) * 1000.0
    except ValueError:
        return None
    return value if 0.0 <= value < float("inf") else None


def misfit(nodes: Iterable[str], times: Iterable[str]) -> str:
    """Return what is wrong with the first of these that is no node or no time."""
    for text in nodes:
        if node_number(text) is None:
            digits = text.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
            if digits.isdecimal():
                return f'node "{text}" is above {MOST_NODES:,}, the most that there can be'
            return f'"{text}" is no node: a number is, and a number with letters before it'
    wrong = next(text for text in times if time_ms(text) is None)
    return f'"{wrong}" is no time: seconds from 0 on are'
