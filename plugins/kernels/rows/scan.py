"""The search for notifications, one after the other: which rows of which groups do they match?

These are plain functions that `plugins.kernels.compiled` turns into machine code.
"""

from plugins.kernels.lanes import fetch
from plugins.kernels.rows.layout import (
    AT,
    COUNT,
    EVENT,
    IN_BITS,
    KIND,
    MINIMUM,
    NEEDS,
    NEXT,
    NOTHING,
    ROWS,
    TAIL,
    Matches,
    MinimumArrays,
    Notifications,
    Numbers,
    OtherArrays,
    RowArrays,
    SearchRoom,
    Short,
    slot_of,
)
from plugins.kernels.rows.runs import AT_ONCE, any_kind, smallest, values_of

FETCHED = 4
"""Lines of each group that are sent for before the first group is searched."""


def first_group(groups: Numbers, directory: Short, event: int, needs: int) -> int:
    """Return the first group with this event and mask, or NOTHING."""
    slot = slot_of(event, needs, len(directory))
    while directory[slot] != NOTHING:
        group = directory[slot]
        if groups[group, EVENT] == event and groups[group, NEEDS] == needs:
            return int(group)
        slot = (slot + 1) & (len(directory) - 1)
    return NOTHING


def candidates(
    groups: Numbers,
    count: int,
    directory: Short,
    event: int,
    feature: int,
    exact: bool,
    out: Short,
) -> int:
    """Write the numbers of the groups with rows that the feature condition admits; return how many."""
    found = 0
    bits = 0
    rest = feature
    while rest:
        rest &= rest - 1
        bits += 1
    if exact or (bits < 20 and 1 << bits <= count):
        needs = feature
        while True:
            group = first_group(groups, directory, event, needs)
            while group != NOTHING:
                if groups[group, TAIL] != NOTHING and groups[group, IN_BITS] == 0:
                    out[found] = group
                    found += 1
                group = groups[group, NEXT]
            if needs == 0 or exact:
                break
            needs = (needs - 1) & feature
    else:
        for group in range(count):
            fits = groups[group, EVENT] == event and groups[group, NEEDS] & ~feature == 0
            if fits and groups[group, TAIL] != NOTHING and groups[group, IN_BITS] == 0:
                out[found] = group
                found += 1
    return found


def scan(
    store: RowArrays,
    notifications: Notifications,
    exact: bool,
    room: SearchRoom,
    ends: Numbers,
    tally: Numbers,
) -> int:
    """Write keys and degrees of all matches, one notification after the other; ends[i] is where the matches
    of number i end.

    Returns where the last matches end, -1 if the room is too small. `tally` counts the groups that fitted,
    and their rows.
    """
    groups, blocks, visited = store.groups, store.blocks, room.visited
    events, features = notifications.events, notifications.features
    minima = MinimumArrays(store.arena, store.records, blocks, groups)
    others = OtherArrays(store.arena, store.words, blocks, groups, store.patterns, room.scratch)
    matches = Matches(room.numbers, room.keys, room.degrees)
    found = 0
    for number in range(len(events)):
        chosen = candidates(
            groups, store.group_count, store.directory, events[number], features[number], exact, visited
        )
        tally[0] += chosen
        for i in range(chosen):
            first = blocks[groups[visited[i], TAIL], AT]
            for line in range(FETCHED):
                fetch(store.arena, first + ROWS * line)
        for i in range(chosen):
            group = visited[i]
            tail = groups[group, TAIL]
            if found + groups[group, COUNT] + AT_ONCE > len(room.keys):
                return -1
            tally[1] += groups[group, COUNT]
            values_of(groups, group, notifications.rows, number, room.numbers)
            if groups[group, KIND] == MINIMUM:
                found = smallest(minima, group, tail, NOTHING, matches, found)
            else:
                found = any_kind(others, group, tail, NOTHING, matches, found)
        ends[number] = found
    return found
