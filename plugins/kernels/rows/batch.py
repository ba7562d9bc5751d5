"""Many notifications at once: every run of blocks is read once for all notifications that it may match.

One notification after the other reads the rows of its groups from memory each time. Here the pairs (group,
notification) are put in the order of groups; a run of blocks then stays in the nearest cache until the last
notification has gone through it. The matches come out by group, in pieces, and are put in the order of the
notifications at the end. These are plain functions that `plugins.kernels.compiled` turns into machine code.
"""

from plugins.kernels.rows.layout import (
    KIND,
    MINIMUM,
    NOTHING,
    TAIL,
    Bytes,
    Keys,
    Matches,
    MinimumArrays,
    Notifications,
    Numbers,
    OtherArrays,
    RowArrays,
    SearchRoom,
    Short,
)
from plugins.kernels.rows.runs import ROOM, any_kind, behind, smallest, values_of
from plugins.kernels.rows.scan import candidates

OF, BEGIN, END = range(3)
"""Fields of a piece: whose matches they are, and where they stand."""

NO_ROOM, NO_PIECES = -1, -2


def pair_up(
    store: RowArrays,
    notifications: Notifications,
    exact: bool,
    visited: Short,
    pairs: Short,
    asking: Short,
    begins: Numbers,
) -> int:
    """Sort who asks which group: those who ask group g are asking[begins[g]:begins[g + 1]].

    Returns how many pairs there are. `pairs` is working room for two numbers each; with too little of it, or
    of `asking`, -1 is returned. `begins` has two more entries than there are groups.
    """
    events, features, count = notifications.events, notifications.features, store.group_count
    total = 0
    begins[:] = 0
    for event in range(len(events)):
        chosen = candidates(
            store.groups, count, store.directory, events[event], features[event], exact, visited
        )
        if total + chosen > len(asking):
            return -1
        for i in range(chosen):
            pairs[total, 0] = visited[i]
            pairs[total, 1] = event
            begins[visited[i] + 2] += 1
            total += 1
    for group in range(count):
        begins[group + 2] += begins[group + 1]
    for pair in range(total):
        group = pairs[pair, 0]
        asking[begins[group + 1]] = pairs[pair, 1]
        begins[group + 1] += 1
    return total


def scan_together(
    store: RowArrays, rows: Bytes, asking: Short, begins: Numbers, room: SearchRoom, pieces: Numbers
) -> int:
    """Write the matches of all pairs and the pieces they form; return how many pieces, or what lacks room."""
    groups, blocks = store.groups, store.blocks
    minima = MinimumArrays(store.arena, store.records, blocks, groups)
    others = OtherArrays(store.arena, store.words, blocks, groups, store.patterns, room.scratch)
    matches = Matches(room.numbers, room.keys, room.degrees)
    found, made = 0, 0
    for number in range(store.group_count):
        if begins[number] == begins[number + 1]:
            continue
        block = groups[number, TAIL]
        while block != NOTHING:
            stop = behind(block, blocks)
            for at in range(begins[number], begins[number + 1]):
                if found + ROOM > len(room.keys):
                    return NO_ROOM
                if made == len(pieces):
                    return NO_PIECES
                values_of(groups, number, rows, asking[at], room.numbers)
                begin = found
                if groups[number, KIND] == MINIMUM:
                    found = smallest(minima, number, block, stop, matches, begin)
                else:
                    found = any_kind(others, number, block, stop, matches, begin)
                if found > begin:
                    pieces[made, OF] = asking[at]
                    pieces[made, BEGIN] = begin
                    pieces[made, END] = found
                    made += 1
            block = stop
    return made


def ends_of(pieces: Numbers, made: int, ends: Numbers) -> int:
    """Note where the matches of each notification will end when they stand in order; return how many there
    are.
    """
    ends[:] = 0
    for piece in range(made):
        ends[pieces[piece, OF]] += pieces[piece, END] - pieces[piece, BEGIN]
    total = 0
    for event in range(len(ends)):
        total += ends[event]
        ends[event] = total
    return total


def in_order(
    pieces: Numbers,
    made: int,
    ends: Numbers,
    keys: Keys,
    degrees: Bytes,
    ordered_keys: Keys,
    ordered_degrees: Bytes,
) -> None:
    """Copy all pieces to where `ends` says; a notification's last piece is the first to be laid down."""
    for piece in range(made - 1, -1, -1):
        event, begin = pieces[piece, OF], pieces[piece, BEGIN]
        length = pieces[piece, END] - begin
        ends[event] -= length
        to = ends[event]
        for i in range(length):
            ordered_keys[to + i] = keys[begin + i]
            ordered_degrees[to + i] = degrees[begin + i]
