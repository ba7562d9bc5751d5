"""What every form of recorded contacts has in common: lines, nodes, ups and downs.

Recordings are other people's files, so a line that cannot be is refused with its number, never skipped.
Overlapping contacts of one pair (both devices logged it) and touching ones are one contact. A contact of
no length is kept, and a least length may be asked for, because a sighting in a scan of two minutes says
little about its end. What happens in one instant happens in the order of the file's lines, as The ONE's
replay has it; only for one pair ups count before downs.
"""

import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from documents.problems import DocumentError, Problem
from emulation.contacts.contact import Contacts, FileOrder, contacts_from_pieces
from emulation.recorded_text import TextBounds, text_lines

MOST_NODES: Final = 999_999
"""The greatest number of a node."""
_NODE: Final = re.compile(r"[A-Za-z_]*([0-9]{1,9})")
_MOST_PROBLEMS: Final = 20

Sighting = tuple[int, int, float, float]
"""(a, b, begin_ms, end_ms)"""


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
        """Yield every line as it stands, with its end; the file is read anew each time."""
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


class UpsAndDowns:
    """Turns lines that say "up" and "down" into intervals.

    A pair is in contact from its first up to the down that closes the last open up. Ups count before
    downs of the same moment, so a contact of no length is one, and two that touch are one.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._open: dict[tuple[int, int], deque[tuple[float, int]]] = {}
        self._waiting: list[tuple[int, tuple[int, int]]] = []
        self._now_ms = 0.0
        self._sightings = Sightings()

    def take(self, line: int, time: str, node: str, peer: str, change: str) -> None:
        """Take the words of one line, in the order of the file: when, who, with whom, and "up" or "down"."""
        at_ms, one, other = time_ms(time), node_number(node), node_number(peer)
        if at_ms is None or one is None or other is None:
            self._lines.complain(line, "D313", misfit((node, peer), (time,)))
            return
        if one == other:
            self._lines.complain(line, "D313", f"node {one} cannot be in contact with itself")
            return
        if at_ms < self._now_ms:
            self._lines.complain(
                line, "D314", f"time {at_ms / 1000:g} s is before the line above; sort the file"
            )
            return
        if at_ms > self._now_ms:
            self._close_waiting()
            self._now_ms = at_ms
        pair = (min(one, other), max(one, other))
        if change == "up":
            self._open.setdefault(pair, deque()).append((at_ms, line))
        else:
            self._waiting.append((line, pair))

    def contacts(self, least_ms: float = 0.0) -> Contacts:
        """Return the contacts; those still open last to the last moment of the file and are censored."""
        self._close_waiting()
        self._lines.refuse_if_wrong()
        end_ms = self._now_ms
        open_pairs = {pair for pair, ups in self._open.items() if ups}
        for pair in open_pairs:
            begin_ms, line = min(self._open[pair])
            self._sightings.append((*pair, begin_ms, end_ms), line, line)
        contacts = contacts_from_sightings(self._sightings, end_ms, least_ms)
        last = [
            (a, b) in open_pairs and end >= end_ms
            for a, b, end in zip(
                contacts.a.tolist(), contacts.b.tolist(), contacts.end_ms.tolist(), strict=True
            )
        ]
        return Contacts(
            contacts.a,
            contacts.b,
            contacts.begin_ms,
            contacts.end_ms,
            np.array(last, dtype=np.bool_),
            contacts.order,
        )

    def _close_waiting(self) -> None:
        for line, pair in self._waiting:
            ups = self._open.get(pair)
            if not ups:
                self._lines.complain(
                    line, "D315", f"the contact of {pair[0]} and {pair[1]} ends without having begun"
                )
            else:
                begin_ms, since = ups.popleft()
                self._sightings.append((*pair, begin_ms, self._now_ms), since, line)
        self._waiting.clear()


class Sightings:
    """Many sightings in little room: 40 bytes each."""

    def __init__(self) -> None:
        self.nodes: Final = array("i")
        self.times_ms: Final = array("d")
        self.lines: Final = array("q")

    def append(self, sighting: Sighting, begins: int, ends: int) -> None:
        """Add one, with the lines that say when it begins and ends."""
        self.nodes.extend(sighting[:2])
        self.times_ms.extend(sighting[2:])
        self.lines.extend((begins, ends))


def contacts_from_sightings(sightings: Sightings, end_ms: float, least_ms: float = 0.0) -> Contacts:
    """Return the contacts that these add up to, none of them shorter than `least_ms`."""
    a, b = np.array(sightings.nodes, dtype=np.int32).reshape(-1, 2).T.copy()
    begin, end = np.array(sightings.times_ms, dtype=np.float64).reshape(-1, 2).T.copy()
    lines = FileOrder(*np.array(sightings.lines, dtype=np.int64).reshape(-1, 2).T.copy())
    return contacts_from_pieces(a, b, begin, np.maximum(end, begin + least_ms), end_ms, lines=lines)


def changes_of(contacts: Contacts) -> list[tuple[float, int, int, int]]:
    """Return (at_ms, 0 for up and 1 for down, a, b) in the order in which they happen: within a moment that
    of the recording, and where there is none ups come first."""
    changes: list[tuple[float, int, int, int, int]] = []
    no_lines = [0] * len(contacts)
    order = contacts.order
    rows = zip(
        contacts.begin_ms.tolist(),
        contacts.end_ms.tolist(),
        contacts.a.tolist(),
        contacts.b.tolist(),
        contacts.censored.tolist(),
        no_lines if order is None else order.begin.tolist(),
        no_lines if order is None else order.end.tolist(),
        strict=True,
    )
    for begin_ms, end_ms, a, b, censored, begins, ends in rows:
        changes.append((begin_ms, begins, 0, a, b))
        if not censored:
            changes.append((end_ms, ends, 1, a, b))
    return [(at_ms, is_down, a, b) for at_ms, _, is_down, a, b in sorted(changes)]


def seconds(at_ms: float) -> str:
    """Return a time in seconds with every digit that counts."""
    return repr(at_ms / 1000.0).removesuffix(".0")
