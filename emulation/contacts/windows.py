"""Contacts where ranges change at moments that are known: each stretch of time has its ranges.

A contact that lasts over such a moment is one; one that a shorter range cuts ends at that very moment.
"""

from collections.abc import Sequence

import numpy as np

from emulation.contacts.contact import Contacts, contacts_from_pieces
from emulation.contacts.detection import SAME_MOMENT_MS, Indexes, find_contacts, longer_than_a_moment
from emulation.contacts.one_node import find_pieces_with
from emulation.mobility.model import Floats, Legs

Windows = Sequence[tuple[float, Sequence[float]]]
"""(from when on in ms, how far each node reaches), the first from 0"""


def find_contacts_in_windows(walks: Sequence[Legs], windows: Windows, duration_ms: float) -> Contacts:
    """Return every contact between these nodes, whose ranges change from window to window."""
    if len(windows) == 1:
        return find_contacts(walks, windows[0][1], duration_ms)
    found = []
    for begin_ms, end_ms, ranges_m in _stretches(windows, duration_ms):
        stretch = [walk.until(end_ms).since(begin_ms) if len(walk) else walk for walk in walks]
        found.append(find_contacts(stretch, ranges_m, duration_ms))
    a, b, begin, end = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("a", "b", "begin_ms", "end_ms")
    )
    return longer_than_a_moment(contacts_from_pieces(a, b, begin, end, duration_ms, SAME_MOMENT_MS))


def find_pieces_in_windows(
    node: int, walks: Sequence[Legs], windows: Windows, since_ms: float, duration_ms: float
) -> tuple[Indexes, Floats, Floats]:
    """Return (other, begin, end) of every piece of contact with one node, from a moment on."""
    found = []
    for begin_ms, end_ms, ranges_m in _stretches(windows, duration_ms):
        if end_ms > since_ms:
            other, begin, end = find_pieces_with(node, walks, ranges_m, max(begin_ms, since_ms))
            within = begin < end_ms
            found.append((other[within], begin[within], np.minimum(end[within], end_ms)))
    others, begins, ends = (np.concatenate(column) for column in zip(*found, strict=True))
    return others, begins, ends


def _stretches(windows: Windows, duration_ms: float) -> list[tuple[float, float, Sequence[float]]]:
    ends = [begin_ms for begin_ms, _ in windows[1:]] + [duration_ms]
    return [
        (begin, min(end, duration_ms), ranges) for (begin, ranges), end in zip(windows, ends, strict=True)
    ]
