"""Covering in integers: may one subscription stand for another, and the forest that follows from it.

Plain functions over arrays of 64-bit numbers, run as they are or compiled (`plugins.kernels.compiled`). A
subscription is a row of `nodes` and, from nodes[n, CONTENT] on, `width` numbers for each of its attributes in
`content`: the first two are bytes, where the constraint begins and ends, the third has bit 7 where it is
complemented. With a width of TRIPLE these are all, a curve (v, V, g) of the fuzzy language. With more there
follow *bounds*: one constraint stands for another where they are complemented alike and none of its bounds is
above the other's. Roots stand by group, (event, mask, age or not), in chains of blocks of 16; of
their first four constraints a block holds v and V side by side, so that most roots are ruled out sixteen at
a time. `directory` finds a group, `holders[a]` lists the groups whose mask has attribute a, and
`holder_masks[a]` their masks.

Covering is defined in `plugins.fuzzy.relations.relations` and `plugins.atopss.relations.cuts`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

# fields of a node
EVENT, NEEDS, AGED, KIND, FLOOR, SIZE, CONTENT, PATTERN, MONOTONE, PARENT, CHILD, NEXT, BEFORE, GROUP = range(
    14
)
NODE_FIELDS = 14

# fields of a group; the first three are those of a node
TAIL, ROOTS = 3, 4
GROUP_FIELDS = 5

# bytes of a block of roots: v and V of four constraints, the floor, and whether a constraint is complemented
LANES = 16
COMPARED = 4
LOWS, HIGHS, FLOORS, WILD = 0, 64, 128, 144
LANE_BYTES = 160

AGE = 63
"""The place of the age among the attributes; masks leave it out."""

TRIPLE = 3
"""The width of a curve, and where bounds begin."""

NOTHING = -1
NO_PATTERN = 0

GROUP_COUNT, ROOT_COUNT, BLOCK_COUNT, FREE_BLOCK, SMALLEST, LARGEST = range(6)
"""The last two: the fewest and the most attributes of a group, the age among them."""
MOST_ATTRIBUTES = 64


class Forest(NamedTuple):
    """The arrays of a forest. Whoever calls has made room in all of them."""

    nodes: Numbers
    content: Numbers
    groups: Numbers
    directory: Numbers
    holders: Numbers
    holder_masks: Numbers
    held: Numbers
    lanes: npt.NDArray[np.uint8]
    lane_nodes: Numbers
    previous: Numbers
    asked: npt.NDArray[np.uint8]
    passed: npt.NDArray[np.uint8]
    counters: Numbers
    slopes: Numbers
    ranks: Numbers
    exact: bool
    width: int


def side_covers(start: int, room: int, slope_s: int, slope_t: int) -> bool:
    """Return whether s loses no more than t at every distance 1..room from t's core; s begins to lose behind
    `start`.

    Where t has lost everything there is nothing left to compare. The difference of the two lines grows, so
    the last place decides unless rounding does; only then every place is looked at.
    """
    if slope_s <= slope_t:
        return True
    last = min(room, (65280 - 129) // slope_t)
    if last <= start:
        return True
    if (last - start) * slope_s <= last * slope_t:
        return True
    if min(255, ((last - start) * slope_s + 128) >> 8) > (last * slope_t + 128) >> 8:
        return False
    for distance in range(start + 1, last):
        if ((distance - start) * slope_s + 128) >> 8 > (distance * slope_t + 128) >> 8:
            return False
    return True


def loss(x: int, v: int, V: int, slope: int) -> int:
    """Return 255 minus the degree of x, before complementing."""
    return int(min(255, (max(v - x, x - V, 0) * slope + 128) >> 8))


def triple_covers(content: Numbers, s: int, t: int, slopes: Numbers) -> bool:
    """Return whether the constraint at content[s] gives every value at least the degree of the one at
    content[t].
    """
    g_s, g_t = content[s + 2], content[t + 2]
    if g_s & 128 != g_t & 128:
        for x in range(256):
            a = loss(x, content[s], content[s + 1], slopes[g_s & 127])
            b = loss(x, content[t], content[t + 1], slopes[g_t & 127])
            if g_s & 128:
                a = 255 - a
            else:
                b = 255 - b
            if a > b:
                return False
        return True
    if g_s & 128:  # of two complements the one with the smaller original is the larger
        s, t = t, s
        g_s, g_t = g_t, g_s
    if content[s] > content[t] or content[s + 1] < content[t + 1]:
        return False
    slope_s, slope_t = slopes[g_s & 127], slopes[g_t & 127]
    if not side_covers(content[t] - content[s], content[t], slope_s, slope_t):
        return False
    return side_covers(content[s + 1] - content[t + 1], 255 - content[t + 1], slope_s, slope_t)


def bounds_cover(content: Numbers, s: int, t: int, width: int) -> bool:
    """Return whether no bound of the constraint at content[s] is above that of the one at content[t]."""
    if content[s + 2] != content[t + 2]:
        return False
    above = 0
    for i in range(TRIPLE, width):
        above += content[s + i] > content[t + i]
    return bool(above == 0)


def constraint_covers(forest: Forest, s: int, t: int) -> bool:
    """Return whether the constraint at content[s] stands for the one at content[t]."""
    if forest.width == TRIPLE:
        return triple_covers(forest.content, s, t, forest.slopes)
    return bounds_cover(forest.content, s, t, forest.width)


def combination_covers(forest: Forest, s: int, t: int, proper: bool) -> bool:
    """Return whether larger degrees under s's aggregator never give less than smaller ones under t's."""
    nodes = forest.nodes
    rank_s, rank_t = forest.ranks[nodes[s, KIND]], forest.ranks[nodes[t, KIND]]
    if rank_s >= 0 and rank_t >= 0:
        return bool(rank_s >= rank_t and (not proper or rank_t <= 1))
    return bool(not proper and nodes[s, KIND] == nodes[t, KIND] and nodes[s, PATTERN] == nodes[t, PATTERN])


def covers(forest: Forest, s: int, t: int) -> bool:
    """Return whether node s covers node t. They are of the same event class."""
    nodes, content = forest.nodes, forest.content
    needs_s, needs_t = nodes[s, NEEDS], nodes[t, NEEDS]
    if nodes[s, FLOOR] > nodes[t, FLOOR] or nodes[s, AGED] > nodes[t, AGED] or needs_s & ~needs_t != 0:
        return False
    if forest.exact and needs_s != needs_t:
        return False
    if not combination_covers(forest, s, t, bool(nodes[s, SIZE] != nodes[t, SIZE])):
        return False
    at_s, at_t = nodes[s, CONTENT], nodes[t, CONTENT]
    if nodes[s, MONOTONE] == 0:
        length = forest.width * nodes[s, SIZE]
        return bool((content[at_s : at_s + length] == content[at_t : at_t + length]).all())
    rest_s, rest_t = needs_s, needs_t
    while rest_t != 0:
        lowest = rest_t & -rest_t
        if rest_s & lowest != 0:
            if not constraint_covers(forest, at_s, at_t):
                return False
            at_s += forest.width
            rest_s ^= lowest
        at_t += forest.width
        rest_t ^= lowest
    if nodes[s, AGED] == 1:
        return constraint_covers(forest, at_s, at_t)
    return True


def group_of(forest: Forest, event: int, needs: int, aged: int, wanted: bool) -> int:
    """Return the group of these, made if it is wanted and new; else NOTHING where there is none."""
    groups, directory = forest.groups, forest.directory
    slots = len(directory)
    slot = ((needs % 1000000007) * 97 + event * 31 + aged * 17) % slots
    while directory[slot] != NOTHING:
        g = directory[slot]
        if groups[g, EVENT] == event and groups[g, NEEDS] == needs and groups[g, AGED] == aged:
            return int(g)
        slot += 1
        if slot == slots:
            slot = 0
    if not wanted:
        return NOTHING
    g = forest.counters[GROUP_COUNT]
    forest.counters[GROUP_COUNT] = g + 1
    directory[slot] = g
    groups[g, EVENT], groups[g, NEEDS], groups[g, AGED] = event, needs, aged
    groups[g, TAIL], groups[g, ROOTS] = NOTHING, 0
    size = 0
    for attribute in range(AGE + 1):
        if (aged == 1) if attribute == AGE else (needs >> attribute & 1 == 1):
            forest.holders[attribute, forest.held[attribute]] = g
            forest.holder_masks[attribute, forest.held[attribute]] = needs
            forest.held[attribute] += 1
            size += 1
    forest.counters[SMALLEST] = min(forest.counters[SMALLEST], size)
    forest.counters[LARGEST] = max(forest.counters[LARGEST], size)
    return int(g)


def enter_root(forest: Forest, n: int) -> None:
    """Put a node behind the last root of its group."""
    nodes, groups, counters = forest.nodes, forest.groups, forest.counters
    g = nodes[n, GROUP]
    count = groups[g, ROOTS]
    lane = count % LANES
    if lane == 0:
        block = counters[FREE_BLOCK]
        if block == NOTHING:
            block = counters[BLOCK_COUNT]
            counters[BLOCK_COUNT] = block + 1
        else:
            counters[FREE_BLOCK] = forest.previous[block]
        forest.previous[block] = groups[g, TAIL]
        groups[g, TAIL] = block
    block = groups[g, TAIL]
    groups[g, ROOTS] = count + 1
    counters[ROOT_COUNT] += 1
    lanes, at = forest.lanes[block], nodes[n, CONTENT]
    lanes[FLOORS + lane] = nodes[n, FLOOR]
    lanes[WILD + lane] = 0
    for rank in range(min(COMPARED, nodes[n, SIZE])):
        lanes[LOWS + LANES * rank + lane] = forest.content[at]
        lanes[HIGHS + LANES * rank + lane] = forest.content[at + 1]
        if forest.content[at + 2] & 128:
            lanes[WILD + lane] = 1
        at += forest.width
    forest.lane_nodes[block, lane] = n
    nodes[n, NEXT] = block * LANES + lane


def leave_root(forest: Forest, n: int) -> None:
    """Take a node out of the roots of its group; the last of them takes its place."""
    nodes, groups = forest.nodes, forest.groups
    g = nodes[n, GROUP]
    last = groups[g, ROOTS] - 1
    tail, end = groups[g, TAIL], last % LANES
    block, lane = nodes[n, NEXT] // LANES, nodes[n, NEXT] % LANES
    moved = forest.lane_nodes[tail, end]
    for line in range(LANE_BYTES // LANES):
        forest.lanes[block, LANES * line + lane] = forest.lanes[tail, LANES * line + end]
    forest.lane_nodes[block, lane] = moved
    nodes[moved, NEXT] = block * LANES + lane
    groups[g, ROOTS] = last
    forest.counters[ROOT_COUNT] -= 1
    if end == 0:
        groups[g, TAIL] = forest.previous[tail]
        forest.previous[tail] = forest.counters[FREE_BLOCK]
        forest.counters[FREE_BLOCK] = tail


def link(forest: Forest, n: int, parent: int) -> None:
    """Put a node first among the children of `parent`, or among the roots where there is none."""
    nodes = forest.nodes
    nodes[n, PARENT] = parent
    if parent == NOTHING:
        enter_root(forest, n)
        return
    first = nodes[parent, CHILD]
    nodes[parent, CHILD] = n
    nodes[n, BEFORE] = NOTHING
    nodes[n, NEXT] = first
    if first != NOTHING:
        nodes[first, BEFORE] = n


def unlink(forest: Forest, n: int) -> None:
    """Take a node out of where it stands; its children stay with it."""
    nodes = forest.nodes
    if nodes[n, PARENT] == NOTHING:
        leave_root(forest, n)
        return
    before, after = nodes[n, BEFORE], nodes[n, NEXT]
    if after != NOTHING:
        nodes[after, BEFORE] = before
    if before != NOTHING:
        nodes[before, NEXT] = after
    else:
        nodes[nodes[n, PARENT], CHILD] = after


def ask(forest: Forest, g: int, n: int, lowest: int, highest: int) -> int:
    """Write down v and V of n on the attributes that a block of this group shows; return how many those are.

    Where n has no such attribute, or complements it, `lowest` and `highest` are written, which every root
    passes.
    """
    nodes, groups, asked = forest.nodes, forest.groups, forest.asked
    needs, rest_n, rest = nodes[n, NEEDS], nodes[n, NEEDS], groups[g, NEEDS]
    at, rank = nodes[n, CONTENT], 0
    while rank < COMPARED and (rest != 0 or groups[g, AGED] == 1):
        asked[rank], asked[COMPARED + rank] = lowest, highest
        if rest == 0:
            return rank + 1
        attribute = rest & -rest
        while rest_n != 0 and rest_n & -rest_n < attribute:
            rest_n &= rest_n - 1
            at += forest.width
        if needs & attribute and forest.content[at + 2] & 128 == 0:
            asked[rank], asked[COMPARED + rank] = forest.content[at], forest.content[at + 1]
        rank += 1
        rest ^= attribute
    return rank


def sift(forest: Forest, block: int, ranks: int, floor: int, upwards: bool) -> None:
    """Mark the lanes of a block that may cover the searched node (`upwards`), or that it may cover."""
    lanes, asked, passed = forest.lanes[block], forest.asked, forest.passed
    floors = lanes[FLOORS : FLOORS + LANES]
    for i in range(LANES):
        passed[i] = floors[i] <= floor if upwards else floors[i] >= floor
    for rank in range(ranks):
        lows = lanes[LOWS + LANES * rank : LOWS + LANES * (rank + 1)]
        highs = lanes[HIGHS + LANES * rank : HIGHS + LANES * (rank + 1)]
        low, high = asked[rank], asked[COMPARED + rank]
        if upwards:
            for i in range(LANES):
                passed[i] &= (lows[i] <= low) & (highs[i] >= high)
        else:
            for i in range(LANES):
                passed[i] &= (lows[i] >= low) & (highs[i] <= high)
    wild = lanes[WILD : WILD + LANES]
    for i in range(LANES):
        passed[i] |= wild[i]


def coverer_in(forest: Forest, g: int, n: int) -> int:
    """Return a root of a group that covers n, the youngest place first, or NOTHING."""
    if g == NOTHING:
        return NOTHING
    block = forest.groups[g, TAIL]
    used = (forest.groups[g, ROOTS] - 1) % LANES + 1
    ranks = ask(forest, g, n, 255, 0)
    while block != NOTHING:
        sift(forest, block, ranks, forest.nodes[n, FLOOR], True)
        for lane in range(used):
            if forest.passed[lane] and covers(forest, forest.lane_nodes[block, lane], n):
                return int(forest.lane_nodes[block, lane])
        used = LANES
        block = forest.previous[block]
    return NOTHING


def is_large(mask: int, aged: int, least: int) -> bool:
    """Return whether a mask has at least this many attributes, the age among them."""
    size = aged
    while mask != 0 and size < least:
        mask &= mask - 1
        size += 1
    return size >= least


def coverer_of(forest: Forest, n: int) -> int:
    """Return a root that covers n, or NOTHING. Groups are found by the subsets of n's mask, or looked at
    one by one.
    """
    nodes, groups = forest.nodes, forest.groups
    event, needs, aged = nodes[n, EVENT], nodes[n, NEEDS], nodes[n, AGED]
    found = coverer_in(forest, nodes[n, GROUP], n)
    if found != NOTHING or nodes[n, PATTERN] != NO_PATTERN:
        return found
    if forest.exact:
        if aged == 1:
            return coverer_in(forest, group_of(forest, event, needs, 0, False), n)
        return NOTHING
    if nodes[n, KIND] != 0 and nodes[n, KIND] != 2:
        return NOTHING
    count = forest.counters[GROUP_COUNT]
    if nodes[n, SIZE] < 16 and 2 << nodes[n, SIZE] <= count:
        subset = needs
        while True:
            for age in range(aged + 1):
                is_another = subset != needs or age != aged
                if is_another and is_large(subset, age, forest.counters[SMALLEST]):
                    found = coverer_in(forest, group_of(forest, event, subset, age, False), n)
                    if found != NOTHING:
                        return found
            if subset == 0:
                return NOTHING
            subset = (subset - 1) & needs
    for g in range(count):
        if groups[g, EVENT] == event and groups[g, NEEDS] & ~needs == 0 and groups[g, AGED] <= aged:
            found = coverer_in(forest, g, n)
            if found != NOTHING:
                return found
    return NOTHING


def adopt_in(forest: Forest, g: int, n: int) -> None:
    """Make the roots of a group that n covers its children, from the last to the first: gaps are filled
    from behind.
    """
    block = forest.groups[g, TAIL]
    used = (forest.groups[g, ROOTS] - 1) % LANES + 1
    ranks = ask(forest, g, n, 0, 255)
    while block != NOTHING:
        before = forest.previous[block]
        sift(forest, block, ranks, forest.nodes[n, FLOOR], False)
        for back in range(used):
            lane = used - 1 - back
            if forest.passed[lane]:
                root = forest.lane_nodes[block, lane]
                if covers(forest, n, root):
                    unlink(forest, root)
                    link(forest, root, n)
        used = LANES
        block = before


def adopt(forest: Forest, n: int) -> None:
    """Make all roots that n covers its children. Only groups with the rarest attribute of n's mask
    are searched.
    """
    nodes, groups = forest.nodes, forest.groups
    event, needs, aged = nodes[n, EVENT], nodes[n, NEEDS], nodes[n, AGED]
    if nodes[n, PATTERN] != NO_PATTERN or nodes[n, SIZE] >= forest.counters[LARGEST]:
        adopt_in(forest, nodes[n, GROUP], n)
        return
    rarest = AGE
    fewest = forest.held[AGE] if aged == 1 else len(groups) + 1
    for attribute in range(AGE):
        if needs >> attribute & 1 and forest.held[attribute] < fewest:
            rarest, fewest = attribute, forest.held[attribute]
    holders, masks = forest.holders[rarest], forest.holder_masks[rarest]
    for i in range(fewest):
        if needs & ~masks[i] == 0:
            g = holders[i]
            if groups[g, EVENT] == event and aged <= groups[g, AGED]:
                adopt_in(forest, g, n)


def place(forest: Forest, n: int) -> None:
    """Find a node its place: below a root that covers it, else as a root over all that it covers."""
    root = coverer_of(forest, n)
    if root == NOTHING:
        adopt(forest, n)
    link(forest, n, root)


def insert(forest: Forest, n: int) -> None:
    """Take in a node whose description is written."""
    nodes = forest.nodes
    nodes[n, CHILD] = NOTHING
    nodes[n, GROUP] = group_of(forest, nodes[n, EVENT], nodes[n, NEEDS], nodes[n, AGED], True)
    place(forest, n)


def remove(forest: Forest, n: int) -> None:
    """Let a node go. Its children go to its parent; those of a root look for another root or become roots."""
    nodes = forest.nodes
    parent = nodes[n, PARENT]
    unlink(forest, n)
    child = nodes[n, CHILD]
    while child != NOTHING:
        after = nodes[child, NEXT]
        if parent == NOTHING:
            place(forest, child)
        else:
            link(forest, child, parent)
        child = after
    nodes[n, CHILD] = NOTHING


def insert_all(forest: Forest, chosen: Numbers) -> None:
    """Take in many nodes, in this order."""
    for i in range(len(chosen)):
        insert(forest, chosen[i])


def remove_all(forest: Forest, chosen: Numbers) -> None:
    """Let many nodes go, in this order."""
    for i in range(len(chosen)):
        remove(forest, chosen[i])


def enter_groups(forest: Forest, known: tuple[Numbers, Numbers]) -> None:
    """Fill an empty directory: with the groups that have roots, and with those of all these nodes."""
    groups, numbers = known
    forest.counters[GROUP_COUNT] = 0
    forest.counters[SMALLEST], forest.counters[LARGEST] = MOST_ATTRIBUTES, 0
    forest.held[:] = 0
    for i in range(len(groups)):
        g = group_of(forest, groups[i, EVENT], groups[i, NEEDS], groups[i, AGED], True)
        forest.groups[g, TAIL], forest.groups[g, ROOTS] = groups[i, TAIL], groups[i, ROOTS]
    for i in range(len(numbers)):
        n = numbers[i]
        g = group_of(forest, forest.nodes[n, EVENT], forest.nodes[n, NEEDS], forest.nodes[n, AGED], True)
        forest.nodes[n, GROUP] = g
