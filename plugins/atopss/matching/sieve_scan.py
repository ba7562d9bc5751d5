"""Sieve and verification: which rows do notifications satisfy, and to which degrees?

These are plain functions that `plugins.kernels.compiled` compiles. Sixty-four rows at a time are tested
whether every cut may be met; the few that may are evaluated from their records, by the comparisons of sides
of `plugins.atopss.shapes.degrees`. Straight sides take one division each, of integers in float64, whose floor
is exact; curved ones and complements use the levels.

A record is its number, and per predicate four corners and a word of flags: the numbers of both profiles
(seven bits each), complement (one), the minimum necessity and the minimum possibility (five each). As
predicates are joined by the minimum, the thresholds of the whole are thresholds of each of them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plugins.kernels.lanes import fetch, lowest_bit, meets
from plugins.kernels.rows.layout import AT, COUNT, NOTHING, PREVIOUS, RECORDS, ROWS, SIZE, TAIL
from plugins.kernels.rows.scan import candidates

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint32]

HEAD_WORDS = 1
PREDICATE_WORDS = 5

RIGHT, COMPLEMENT, NECESSITY, POSSIBILITY = 7, 14, 15, 20
"""Offsets in the flags; the left profile is first."""

FULL_STEP = 131070
PROFILE_MASK = 127
THRESHOLD_MASK = 31
COMPLEMENT_BIT = 1 << COMPLEMENT
CURVED_OR_TURNED = 2 * COMPLEMENT_BIT - 1

CORNERS, LOW_BYTE, HIGH_BYTE, PROFILES, BEGIN, END, LOOK_FIELDS = 0, 4, 5, 6, 7, 8, 9
"""Value of an attribute: four corners, the 255ths that its support touches, both profiles, and the ends of
the domain where it is clipped. One more bit with the profiles marks clipping."""

CUT_BIT = 1 << 14


NEXT_TO_NOTHING = 0.00048828125
"""Added to both sides of a division it makes 0/0 whole without changing a floor: the distance from a quotient
that is not whole to the next whole number is more than four times as much."""


def share(part: float, whole: float) -> float:
    """Return 510·part/whole, from 0 to 510, whose floor is exact; 0/0 is 510. No branch."""
    return min(max(510.0 * (part + NEXT_TO_NOTHING) / (whole + NEXT_TO_NOTHING), 0.0), 510.0)


def level_of_meeting(
    q: Numbers, foot: int, top: int, profile: int, foot2: int, top2: int, profile2: int, up: bool
) -> int:
    """Return the level up to which a rising side begins before a mirrored falling side ends. Above a level,
    for the ceiling, only upright sides may touch.
    """
    width, width2 = top - foot, top2 - foot2
    base = FULL_STEP * (foot + foot2)
    touching = 1 if up and width == 0 and width2 == 0 else 0
    low, high = 0, 510
    while low < high:
        k = (low + high + 1) >> 1
        if up:
            holds = base + width * q[profile, k - 1] + width2 * q[profile2, k - 1] < touching
        else:
            holds = base + width * q[profile, k] + width2 * q[profile2, k] <= 0
        if holds:
            low = k
        else:
            high = k - 1
    return low


def level_of_inclusion(
    q: Numbers, foot: int, top: int, profile: int, foot2: int, top2: int, profile2: int, up: bool
) -> int:
    """Return the level up to which the second rising side lies within the first one."""
    width, width2 = top - foot, top2 - foot2
    base = FULL_STEP * (foot - foot2)
    touching = 1 if up and width == 0 and width2 == 0 else 0
    low, high = 0, 510
    while low < high:
        k = (low + high + 1) >> 1
        if up:
            holds = base + width * q[profile, k - 1] < width2 * q[profile2, 511 - k] + touching
        else:
            holds = base + width * q[profile, k] <= width2 * q[profile2, 510 - k]
        if holds:
            low = k
        else:
            high = k - 1
    return low


def possible_by_levels(q: Numbers, records: Words, at: int, look: Numbers, rank: int, up: bool) -> int:
    """Return Π of one predicate of a record, as a floor or as a ceiling."""
    m1, m2, m3, m4 = int(records[at]), int(records[at + 1]), int(records[at + 2]), int(records[at + 3])
    left, right = records[at + 4] & PROFILE_MASK, records[at + 4] >> RIGHT & PROFILE_MASK
    n1, n2, n3, n4 = look[rank, 0], look[rank, 1], look[rank, 2], look[rank, 3]
    n_left, n_right = look[rank, PROFILES] & PROFILE_MASK, look[rank, PROFILES] >> RIGHT & PROFILE_MASK
    found = min(
        level_of_meeting(q, n1, n2, n_left, -m4, -m3, right, up),
        level_of_meeting(q, m1, m2, left, -n4, -n3, n_right, up),
    )
    if look[rank, PROFILES] & CUT_BIT:
        begin, end = look[rank, BEGIN], look[rank, END]
        if begin > n1:
            found = min(found, level_of_meeting(q, begin, begin, 0, -m4, -m3, right, up))
        if end < n4:
            found = min(found, level_of_meeting(q, m1, m2, left, -end, -end, 0, up))
    return found


def necessary_by_levels(q: Numbers, records: Words, at: int, look: Numbers, rank: int, up: bool) -> int:
    """Return N of one predicate of a record, as a floor or as a ceiling."""
    m1, m2, m3, m4 = int(records[at]), int(records[at + 1]), int(records[at + 2]), int(records[at + 3])
    left, right = records[at + 4] & PROFILE_MASK, records[at + 4] >> RIGHT & PROFILE_MASK
    n1, n2, n3, n4 = look[rank, 0], look[rank, 1], look[rank, 2], look[rank, 3]
    n_left, n_right = look[rank, PROFILES] & PROFILE_MASK, look[rank, PROFILES] >> RIGHT & PROFILE_MASK
    rising = level_of_inclusion(q, m1, m2, left, n1, n2, n_left, up)
    falling = level_of_inclusion(q, -m4, -m3, right, -n4, -n3, n_right, up)
    if look[rank, PROFILES] & CUT_BIT:
        begin, end = look[rank, BEGIN], look[rank, END]
        if begin > n1:
            rising = max(rising, level_of_inclusion(q, m1, m2, left, begin, begin, 0, up))
        if end < n4:
            falling = max(falling, level_of_inclusion(q, -m4, -m3, right, -end, -end, 0, up))
    return min(rising, falling)


def verdict(q: Numbers, records: Words, begin: int, size: int, look: Numbers) -> int:
    """Return Π·512 + N of a record whose predicates are joined by the minimum, -1 if it is not satisfied."""
    least, sure = 510, 510
    is_met = True
    for rank in range(size):
        at = begin + HEAD_WORDS + PREDICATE_WORDS * rank
        flags = records[at + 4]
        if flags & CURVED_OR_TURNED or look[rank, PROFILES]:
            if flags & COMPLEMENT_BIT:
                possible = 510 - necessary_by_levels(q, records, at, look, rank, True)
                necessary = 510 - possible_by_levels(q, records, at, look, rank, True)
            else:
                possible = possible_by_levels(q, records, at, look, rank, False)
                necessary = necessary_by_levels(q, records, at, look, rank, False)
        else:
            m1, m2 = np.float64(records[at]), np.float64(records[at + 1])
            m3, m4 = np.float64(records[at + 2]), np.float64(records[at + 3])
            n1, n2 = np.float64(look[rank, 0]), np.float64(look[rank, 1])
            n3, n4 = np.float64(look[rank, 2]), np.float64(look[rank, 3])
            left, right, rising, falling = m2 - m1, m4 - m3, n2 - n1, n4 - n3
            spread, spread2 = right + rising, left + falling
            possible = int(min(share(spread - (n2 - m3), spread), share(spread2 - (m2 - n3), spread2)))
            necessary = int(min(share(n2 - m1, left + rising), share(m4 - n3, right + falling)))
        is_met &= possible >= 17 * (flags >> POSSIBILITY & THRESHOLD_MASK)
        is_met &= necessary >= 17 * (flags >> NECESSITY & THRESHOLD_MASK)
        least, sure = min(least, possible), min(sure, necessary)
    return least << 9 | sure if is_met and least >= 2 else -1


class SieveArrays(NamedTuple):
    """The arrays of a sieve store."""

    arena: Bytes
    records: Words
    groups: Numbers
    attributes: Bytes
    """The attributes of a group, by rank."""
    group_count: int
    blocks: Numbers
    directory: Words


class PublishedValues(NamedTuple):
    """Notifications to search for: values by notification, attribute and field (`CORNERS` …)."""

    values: Numbers
    events: Bytes
    features: Numbers


class SieveRoom(NamedTuple):
    """Working room of a search, and room for the numbers and degrees that it finds."""

    visited: Words
    look: Numbers
    chosen: Numbers
    keys: Keys
    degrees: Numbers


def scan(
    store: SieveArrays,
    q: Numbers,
    published: PublishedValues,
    verifies: bool,
    head: int,
    each: int,
    room: SieveRoom,
    ends: Numbers,
) -> int:
    """Write the numbers of all satisfied rows, and Π·512 + N of each, notification by notification; ends[i]
    is the end of those of number i. Without `verifies` everything that passes the sieve is written.

    A record has `head` words and `each` words per predicate. Returns the end, or -1 if the room is too small.
    """
    arena, records, groups, blocks = store.arena, store.records, store.groups, store.blocks
    look, chosen, keys, degrees = room.look, room.chosen, room.keys, room.degrees
    events, features, visited = published.events, published.features, room.visited
    found = 0
    for number in range(len(events)):
        groups_found = candidates(
            groups, store.group_count, store.directory, events[number], features[number], False, visited
        )
        for i in range(groups_found):
            group = visited[i]
            size = groups[group, SIZE]
            for rank in range(size):
                for field in range(LOOK_FIELDS):
                    look[rank, field] = published.values[number, store.attributes[group, rank], field]
            length = head + each * size
            block = groups[group, TAIL]
            rows = (groups[group, COUNT] - 1) % ROWS + 1
            while block != NOTHING:
                if found + ROWS > len(keys):
                    return -1
                at = blocks[block, AT]
                mask = ~np.uint64(0) >> np.uint64(ROWS - rows)
                for rank in range(size):
                    first = at + 2 * ROWS * rank
                    mask &= meets(arena, first, first + ROWS, look[rank, LOW_BYTE], look[rank, HIGH_BYTE])
                survivors = 0
                while mask:
                    begin = blocks[block, RECORDS] + np.int64(lowest_bit(mask)) * length
                    mask &= mask - np.uint64(1)
                    fetch(records, 4 * begin)
                    chosen[survivors] = begin
                    survivors += 1
                for survivor in range(survivors):
                    begin = chosen[survivor]
                    judged = verdict(q, records, begin, size, look) if verifies else 0
                    keys[found] = records[begin]
                    degrees[found] = judged
                    found += judged >= 0
                block = blocks[block, PREVIOUS]
                rows = ROWS
        ends[number] = found
    return found
