"""Contacts of one node with all others from a moment on, for when it leaves the course that was planned."""

from collections.abc import Sequence

import numpy as np

from emulation.contacts.crossing import in_range
from emulation.contacts.detection import Indexes
from emulation.mobility.model import Floats, Legs


def find_pieces_with(
    node: int, walks: Sequence[Legs], ranges_m: Sequence[float], since_ms: float
) -> tuple[Indexes, Floats, Floats]:
    """Return (other, begin, end) of every piece of contact with one node, from a moment on.

    The node's legs against all legs of all others: without a search for who may meet, because it is done once
    for each change of one node's course.
    """
    own = walks[node]
    others = [other for other in range(len(walks)) if other != node and len(walks[other])]
    whose = np.repeat(others, [len(walks[other]) for other in others]).astype(np.int64)
    if not len(whose) or not len(own):
        return whose[:0], np.zeros(0), np.zeros(0)
    begin, end, x0, y0, x1, y1 = (
        np.concatenate([getattr(walks[other], column) for other in others]) for column in Legs.__slots__
    )
    # Legs i of the node that share time with each leg j of another: a run of them, because legs are in order.
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
