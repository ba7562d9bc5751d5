"""Common parts of the formats of recorded contacts: sightings, and lines that say up and down.

Overlapping and touching contacts of one pair are merged, because both devices may have logged it. Contacts of
no length are kept, and a minimum length may be set, because a sighting in a scan of two minutes says little
about its end. Changes in one instant happen in the order of the file's lines, as in The ONE's replay; only
for one pair, ups count before downs.
"""

from array import array
from collections import deque
from typing import Final

import numpy as np

from emulation.contacts.contact import Contacts, FileOrder, contacts_from_pieces
from emulation.recordings.lines import Lines, misfit, node_number, time_ms

Sighting = tuple[int, int, float, float]
"""(a, b, begin_ms, end_ms)"""


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
        """Add a line of the file: time, two nodes, and "up" or "down"."""
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
        """Return the contacts; open ones last to the last moment of the file and are censored."""
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
    """Sightings in compact form: 40 bytes each."""

    def __init__(self) -> None:
        self.nodes: Final = array("i")
        self.times_ms: Final = array("d")
        self.lines: Final = array("q")

    def append(self, sighting: Sighting, begins: int, ends: int) -> None:
        """Add a sighting, with the lines of its begin and end."""
        self.nodes.extend(sighting[:2])
        self.times_ms.extend(sighting[2:])
        self.lines.extend((begins, ends))


def contacts_from_sightings(sightings: Sightings, end_ms: float, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of these sightings, none shorter than `least_ms`."""
    a, b = np.array(sightings.nodes, dtype=np.int32).reshape(-1, 2).T.copy()
    begin, end = np.array(sightings.times_ms, dtype=np.float64).reshape(-1, 2).T.copy()
    lines = FileOrder(*np.array(sightings.lines, dtype=np.int64).reshape(-1, 2).T.copy())
    return contacts_from_pieces(a, b, begin, np.maximum(end, begin + least_ms), end_ms, lines=lines)


def changes_of(contacts: Contacts) -> list[tuple[float, int, int, int]]:
    """Return (at_ms, 0 for up and 1 for down, a, b) in order. Within an instant it is the order of the
    recording, otherwise ups come first.
    """
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
    """Return a time in seconds that reads back as the same float."""
    return repr(at_ms / 1000.0).removesuffix(".0")
