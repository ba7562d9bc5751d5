"""Exact contacts from motion: a cheap search for candidate pairs, then one quadratic per pair of legs.

Two nodes are in contact while their distance is at most the shorter of their two ranges. On a pair of
legs the relative motion is linear, p + v·t, so |p + v·t| = r is one quadratic and its roots are the
moments of entry and exit, whatever the speed. The cost lies in finding the pairs worth solving:

1. *Slabs.* Time is cut into slabs about as long as a node needs to cross two ranges, and legs are cut with
it.
2. *Broad phase.* In a slab every node stays inside a disc around the middle of its pieces. A k-d tree over
the centres finds the pairs whose discs come within range; no other pair can be in contact in that slab.
3. *Narrow phase.* One quadratic for each pair of pieces that overlap in time, vectorised.
4. *Merging.* Pieces of one pair that touch are one contact.

The discs are measured from the legs themselves, not from a declared top speed, so a jump in recorded
movement makes the search slower, never wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from emulation.contacts.contact import Contacts, contacts_from_pieces
from emulation.contacts.crossing import in_range
from emulation.mobility.model import Floats, Legs

SAME_MOMENT_MS = 1e-6
"""A nanosecond: pieces at most this far apart are one contact, and contacts of at most this length are
dropped.

A pair that only grazes the range is in contact for one instant, in which nothing can be sent, and which
floating point cannot distinguish from a near miss.
"""

_BRUTE_FORCE_MAX = 100
"""Up to this many places, comparing all pairs is as fast as a tree."""

_PAIRS_AT_ONCE = 1 << 19
"""Pairs solved together, which bounds memory."""

Indexes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Legs cut at the slabs' borders, ordered by (slab, node, time)."""

    slab: Indexes
    node: Indexes
    begin: Floats
    end: Floats
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats


@dataclass(frozen=True, slots=True)
class _Stays:
    """The disc of one node in one slab, which contains its pieces first..first+count-1."""

    slab: Indexes
    first: Indexes
    count: Indexes
    centre: Floats
    radius: Floats
    reach: Floats


def find_contacts(walks: Sequence[Legs], ranges_m: Sequence[float], duration_ms: float) -> Contacts:
    """Return every contact between these nodes; node numbers are positions in `walks`."""
    moving = [position for position, walk in enumerate(walks) if len(walk)]
    if len(moving) < 2:
        none = np.zeros(0, dtype=np.int32)
        return contacts_from_pieces(none, none, np.zeros(0), np.zeros(0), duration_ms)
    reach = np.asarray(ranges_m, dtype=np.float64)
    pieces = _cut(walks, _slab_length_ms(walks, reach, duration_ms))
    stays = _stays(pieces, reach)
    found: list[tuple[Indexes, Indexes, Floats, Floats]] = []
    waiting: list[NDArray[np.int64]] = []
    amount = 0
    for pairs in _possible_pairs(stays):
        waiting.append(pairs)
        amount += len(pairs)
        if amount >= _PAIRS_AT_ONCE:
            found.append(_solve(pieces, stays, np.concatenate(waiting)))
            waiting, amount = [], 0
    if waiting:
        found.append(_solve(pieces, stays, np.concatenate(waiting)))
    if not found:
        found.append((np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)))
    a, b, begin, end = (np.concatenate(column) for column in zip(*found, strict=True))
    contacts = contacts_from_pieces(
        a.astype(np.int32), b.astype(np.int32), begin, end, duration_ms, SAME_MOMENT_MS
    )
    return longer_than_a_moment(contacts)


def _slab_length_ms(walks: Sequence[Legs], ranges_m: Floats, duration_ms: float) -> float:
    """Return the length of a slab: about the time in which a node crosses the median range twice. Shorter
    slabs make more trees, longer ones more candidate pairs; between one and three ranges it hardly matters.

    A range that is tiny compared with the distance between nodes would make very many slabs without
    candidates, so a part of that distance is a lower bound.
    """
    by_size = np.sort(ranges_m)  # NumPy's median imports its masked arrays, a twentieth of a short run.
    median = float(by_size[(len(by_size) - 1) // 2] + by_size[len(by_size) // 2]) / 2.0
    reach = max(median, _mean_distance(walks) / 16.0)
    paths = [np.hypot(walk.x1_m - walk.x0_m, walk.y1_m - walk.y0_m).sum() for walk in walks]
    mean_speed = float(np.mean(paths)) / duration_ms
    if mean_speed <= 0.0:
        return duration_ms
    return min(duration_ms, max(1.0, 2.0 * reach / mean_speed))


def _mean_distance(walks: Sequence[Legs]) -> float:
    """Return the distance between nodes if they were spread evenly over the area in which their legs
    begin.
    """
    width, height = (
        float(np.ptp(np.concatenate([getattr(walk, name) for walk in walks]))) for name in ("x0_m", "y0_m")
    )
    return sqrt(width * height / len(walks))


def _cut(walks: Sequence[Legs], slab_ms: float) -> _Pieces:
    node = np.repeat(np.arange(len(walks)), [len(walk) for walk in walks])
    begin, end, x0, y0, x1, y1 = (
        np.concatenate([getattr(walk, column) for walk in walks])
        for column in ("begin_ms", "end_ms", "x0_m", "y0_m", "x1_m", "y1_m")
    )
    lasting = end > begin
    node, begin, end, x0, y0, x1, y1 = (column[lasting] for column in (node, begin, end, x0, y0, x1, y1))
    vx, vy = (x1 - x0) / (end - begin), (y1 - y0) / (end - begin)
    first = np.floor(begin / slab_ms).astype(np.int64)
    last = np.maximum(np.ceil(end / slab_ms).astype(np.int64) - 1, first)
    count = last - first + 1
    leg = np.repeat(np.arange(len(node)), count)
    slab = first[leg] + np.arange(len(leg)) - np.repeat(np.cumsum(count) - count, count)
    piece_begin = np.where(slab == first[leg], begin[leg], slab * slab_ms)
    piece_end = np.where(slab == last[leg], end[leg], (slab + 1) * slab_ms)
    order = np.lexsort((piece_begin, node[leg], slab))
    leg, slab, piece_begin, piece_end = leg[order], slab[order], piece_begin[order], piece_end[order]
    since = piece_begin - begin[leg]
    return _Pieces(
        slab, node[leg], piece_begin, piece_end, x0[leg] + vx[leg] * since, y0[leg] + vy[leg] * since,
        vx[leg], vy[leg],
    )  # fmt: skip


def _stays(pieces: _Pieces, ranges_m: Floats) -> _Stays:
    change = (np.diff(pieces.slab) != 0) | (np.diff(pieces.node) != 0)
    first = np.flatnonzero(np.concatenate([[True], change]))
    count = np.diff(np.concatenate([first, [len(pieces.slab)]]))
    length = pieces.end - pieces.begin
    corners = []
    for start, speed in ((pieces.x, pieces.vx), (pieces.y, pieces.vy)):
        finish = start + speed * length
        least = np.minimum.reduceat(np.minimum(start, finish), first)
        most = np.maximum.reduceat(np.maximum(start, finish), first)
        corners.append((least, most))
    (left, right), (bottom, top) = corners
    centre = np.column_stack([(left + right) / 2, (bottom + top) / 2])
    # The margin keeps rounding from hiding a pair from the narrow phase.
    radius = np.hypot(right - left, top - bottom) / 2 * (1 + 1e-9) + 1e-6
    return _Stays(pieces.slab[first], first, count, centre, radius, ranges_m[pieces.node[first]])


def _possible_pairs(stays: _Stays) -> list[NDArray[np.int64]]:
    """Return, slab by slab, the pairs of stays whose discs come within range."""
    borders = np.flatnonzero(np.concatenate([[True], np.diff(stays.slab) != 0, [True]]))
    all_pairs = []
    for begin, end in pairwise(borders):
        furthest = stays.reach[begin:end].max() + 2 * stays.radius[begin:end].max()
        pairs = _near(stays.centre[begin:end], furthest) + begin
        i, j = pairs[:, 0], pairs[:, 1]
        apart = stays.centre[i] - stays.centre[j]
        limit = np.minimum(stays.reach[i], stays.reach[j]) + stays.radius[i] + stays.radius[j]
        all_pairs.append(pairs[np.einsum("ij,ij->i", apart, apart) <= limit * limit])
    return all_pairs


def _near(places: Floats, furthest: float) -> NDArray[np.int64]:
    """Return the pairs of places that may be this near to each other; all pairs of a few places."""
    if len(places) <= _BRUTE_FORCE_MAX:
        return np.column_stack(np.triu_indices(len(places), 1))
    from scipy.spatial import cKDTree  # Takes a fifth of a second to load.

    pairs: NDArray[np.int64] = cKDTree(places).query_pairs(furthest, output_type="ndarray")
    return pairs


def _solve(
    pieces: _Pieces, stays: _Stays, pairs: NDArray[np.int64]
) -> tuple[Indexes, Indexes, Floats, Floats]:
    """Return (a, b, begin, end) of every piece of contact between these stays."""
    count_i, count_j = stays.count[pairs[:, 0]], stays.count[pairs[:, 1]]
    combinations = count_i * count_j
    pair = np.repeat(np.arange(len(pairs)), combinations)
    which = np.arange(len(pair)) - np.repeat(np.cumsum(combinations) - combinations, combinations)
    i = stays.first[pairs[pair, 0]] + which // count_j[pair]
    j = stays.first[pairs[pair, 1]] + which % count_j[pair]
    begin = np.maximum(pieces.begin[i], pieces.begin[j])
    end = np.minimum(pieces.end[i], pieces.end[j])
    together = end > begin
    i, j, begin, end, pair = i[together], j[together], begin[together], end[together], pair[together]
    reach = np.minimum(stays.reach[pairs[pair, 0]], stays.reach[pairs[pair, 1]])
    px = _offset(pieces.x, pieces.vx, pieces.begin, i, j, begin)
    py = _offset(pieces.y, pieces.vy, pieces.begin, i, j, begin)
    enter, leave = in_range(
        px, py, pieces.vx[i] - pieces.vx[j], pieces.vy[i] - pieces.vy[j], reach, end - begin
    )
    inside = leave >= enter
    return (
        pieces.node[i[inside]],
        pieces.node[j[inside]],
        begin[inside] + enter[inside],
        np.where(leave < end - begin, begin + leave, end)[inside],
    )


def _offset(place: Floats, speed: Floats, since: Floats, i: Indexes, j: Indexes, at: Floats) -> Floats:
    """Return the distance from j to i along one axis, at these times."""
    return (place[i] + speed[i] * (at - since[i])) - (place[j] + speed[j] * (at - since[j]))


def longer_than_a_moment(contacts: Contacts) -> Contacts:
    """Return the contacts that are longer than `SAME_MOMENT_MS`."""
    keep = contacts.end_ms - contacts.begin_ms > SAME_MOMENT_MS
    return Contacts(
        contacts.a[keep], contacts.b[keep], contacts.begin_ms[keep], contacts.end_ms[keep],
        contacts.censored[keep],
    )  # fmt: skip
