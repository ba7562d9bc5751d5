"""Contacts with ranges that change at known moments. Each window of time has its own ranges.

A contact that lasts over a change is one contact; one that a shorter range cuts ends at that moment.
"""

from collections.abc import Sequence

import numpy as np

from emulation.contacts.contact import Contacts, contacts_from_pieces
from emulation.contacts.crossing import in_range
from emulation.contacts.detection import SAME_MOMENT_MS, Indexes, find_contacts, longer_than_a_moment
from emulation.mobility.model import Floats, Legs

Windows = Sequence[tuple[float, Sequence[float]]]
"""(begin in ms, range of each node); the first begins at 0."""


def find_contacts_in_windows(walks: Sequence[Legs], windows: Windows, duration_ms: float) -> Contacts:
    """Return every contact between these nodes."""
    if len(windows) == 1:
        return find_contacts(walks, windows[0][1], duration_ms)
    found = []
    for begin_ms, end_ms, ranges_m in _stretches(windows, duration_ms):
        stretch = [walk.until(end_ms).since(begin_ms) if len(walk) else walk for walk in walks]
        found.append(find_contacts(stretch, ranges_m, duration_ms))
    a, b, begin, end = (
        np.concatenate([getattr(contacts, name) for contacts in found])
        for name in ("a", "b", "begin_ms", "end_ms")
    )
    return longer_than_a_moment(contacts_from_pieces(a, b, begin, end, duration_ms, SAME_MOMENT_MS))


def find_pieces_in_windows(
    node: int, walks: Sequence[Legs], windows: Windows, since_ms: float, duration_ms: float
) -> tuple[Indexes, Floats, Floats]:
    """Return (other, begin, end) of every piece of contact with one node, from a moment on."""
    found = []
    for begin_ms, end_ms, ranges_m in _stretches(windows, duration_ms):
        if end_ms > since_ms:
            other, begin, end = _find_pieces(node, walks, ranges_m, max(begin_ms, since_ms))
            within = begin < end_ms
            found.append((other[within], begin[within], np.minimum(end[within], end_ms)))
    others, begins, ends = (np.concatenate(column) for column in zip(*found, strict=True))
    return others, begins, ends


def _stretches(windows: Windows, duration_ms: float) -> list[tuple[float, float, Sequence[float]]]:
    ends = [begin_ms for begin_ms, _ in windows[1:]] + [duration_ms]
    return [
        (begin, min(end, duration_ms), ranges) for (begin, ranges), end in zip(windows, ends, strict=True)
    ]


def _find_pieces(
    node: int, walks: Sequence[Legs], ranges_m: Sequence[float], since_ms: float
) -> tuple[Indexes, Floats, Floats]:
    """Return (other, begin, end) of every piece of contact with one node, from a moment on.

    All legs of the node are compared with all legs of all others: a broad phase does not pay off for one
    node.
    """
    own = walks[node]
    others = [other for other in range(len(walks)) if other != node and len(walks[other])]
    whose = np.repeat(others, [len(walks[other]) for other in others]).astype(np.int64)
    if not len(whose) or not len(own):
        return whose[:0], np.zeros(0), np.zeros(0)
    begin, end, x0, y0, x1, y1 = (
        np.concatenate([getattr(walks[other], column) for other in others]) for column in Legs.__slots__
    )
    # Legs i of the node that overlap in time with leg j of another are consecutive, because legs are ordered.
    first = np.searchsorted(own.end_ms, np.maximum(begin, since_ms), side="right")
    count = np.maximum(np.searchsorted(own.begin_ms, end) - first, 0)
    count[end <= since_ms] = 0
    j = np.repeat(np.arange(len(whose)), count)
    i = np.arange(len(j)) - np.repeat(np.cumsum(count) - count - first, count)
    vx, vy = (x1 - x0) / (end - begin), (y1 - y0) / (end - begin)
    length = own.end_ms - own.begin_ms
    own_vx, own_vy = (own.x1_m - own.x0_m) / length, (own.y1_m - own.y0_m) / length
    starts = np.maximum(np.maximum(own.begin_ms[i], begin[j]), since_ms)
    lasts = np.minimum(own.end_ms[i], end[j]) - starts
    since_own, since_other = starts - own.begin_ms[i], starts - begin[j]
    reach = np.minimum(ranges_m[node], np.asarray(ranges_m, dtype=np.float64)[whose[j]])
    enter, leave = in_range(
        (own.x0_m[i] + own_vx[i] * since_own) - (x0[j] + vx[j] * since_other),
        (own.y0_m[i] + own_vy[i] * since_own) - (y0[j] + vy[j] * since_other),
        own_vx[i] - vx[j], own_vy[i] - vy[j], reach, lasts,
    )  # fmt: skip
    inside = leave >= enter
    ends = np.where(leave < lasts, starts + leave, starts + lasts)
    return whose[j[inside]], (starts + enter)[inside], ends[inside]
