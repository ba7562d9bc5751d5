"""An R-tree in flat pools of arrays: point queries, insertion, deletion, and estimates for whole batches.

A node has `SLOTS` entries, of which index nodes use ten and leaves twenty, the capacities of Wang, Zhang and
Kitsuregawa; one more holds what makes a node overfull until it is halved. An entry is a rectangle, the
attributes that everything in it constrains, and a node below, or in leaves the id of a box. Volumes vanish in
many dimensions, so growth is measured by the sum of side lengths.

These are plain functions: `plugins.kernels.compiled` turns them into machine code, and without a compiler
they run as they are.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

INDEX_CAPACITY: Final = 10
LEAF_CAPACITY: Final = 20
SLOTS: Final = 21
NOTHING: Final = -1
TALLEST: Final = 24
"""Levels that a tree can have."""
SPARE: Final = 64
"""Nodes that must be free before an insertion or a deletion begins."""

ROOT, USED, FREE, BOXES, HEIGHT = range(5)
"""Fields of `state`; `FREE` begins the chain of nodes that were given back."""
STATE_FIELDS: Final = 5

Sides = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]


class Tree(NamedTuple):
    """The pools. `levels` counts from the leaves, which are 0; `leaves` has the leaf of each id."""

    rects: Sides
    needs: Words
    below: Nodes
    counts: Nodes
    parents: Nodes
    levels: Nodes
    leaves: Nodes
    state: Numbers


class Points(NamedTuple):
    """Points to search for: their values, and the attributes that they have."""

    sides: Sides
    present: Words


class Counts(NamedTuple):
    """Nodes entered and rectangles tested, by depth, or by point and depth; the root has depth 1."""

    entered: Numbers
    tests: Numbers


def empty_tree(nodes: int, attributes: int, cell: "npt.DTypeLike", ids: int) -> Tree:
    """Return a tree whose root is a leaf without boxes, with room for this many nodes and ids."""
    tree = Tree(
        np.zeros((nodes * SLOTS, 2 * attributes), cell),
        np.zeros(nodes * SLOTS, np.uint64),
        np.zeros(nodes * SLOTS, np.int32),
        np.zeros(nodes, np.int32),
        np.full(nodes, NOTHING, np.int32),
        np.zeros(nodes, np.int32),
        np.full(ids, NOTHING, np.int32),
        np.zeros(STATE_FIELDS, np.int64),
    )
    tree.state[USED], tree.state[FREE], tree.state[HEIGHT] = 1, NOTHING, 1
    return tree


def contains(tree: Tree, entry: int, points: Points, point: int) -> bool:
    """Return whether an entry's rectangle contains a point that has what everything in it constrains."""
    sides, present = points.sides, points.present
    if tree.needs[entry] & ~present[point]:
        return False
    attributes = sides.shape[1]
    for a in range(attributes):
        x = sides[point, a]
        is_outside = x < tree.rects[entry, a] or x > tree.rects[entry, attributes + a]
        if is_outside and (present[point] >> np.uint64(a)) & np.uint64(1):
            return False
    return True


def query(
    tree: Tree,
    starts: Nodes,
    points: Points,
    point: int,
    waiting: Nodes,
    ids: npt.NDArray[np.uint32],
    found: int,
    counts: Counts,
) -> int:
    """Write the ids of the boxes below some nodes that contain a point; return where they end, `NOTHING` if
    the room is too small. `counts` grow, by depth.
    """
    entered, tests = counts.entered, counts.tests
    height = tree.state[HEIGHT]
    for start in starts:
        held = 1
        waiting[0] = start
        while held:
            held -= 1
            node = waiting[held]
            level = tree.levels[node]
            depth = height - level
            entered[depth] += 1
            tests[depth] += tree.counts[node]
            first = node * SLOTS
            if level == 0 and found + LEAF_CAPACITY > len(ids):
                return NOTHING
            for entry in range(first, first + tree.counts[node]):
                if contains(tree, entry, points, point):
                    if level == 0:
                        ids[found] = tree.below[entry]
                        found += 1
                    else:
                        waiting[held] = tree.below[entry]
                        held += 1
    return found


def query_all(
    tree: Tree,
    points: Points,
    waiting: Nodes,
    ids: npt.NDArray[np.uint32],
    ends: Numbers,
    counts: Counts,
) -> int:
    """Search the whole tree for each point; `counts` grow, by point and depth."""
    starts = np.empty(1, np.int32)
    starts[0] = tree.state[ROOT]
    found = 0
    for point in range(len(points.sides)):
        own = Counts(counts.entered[point], counts.tests[point])
        found = query(tree, starts, points, point, waiting, ids, found, own)
        if found < 0:
            return NOTHING
        ends[point] = found
    return found


def estimate(
    tree: Tree, points: Points, level: int, buffers: Nodes, lists: Nodes, table: Nodes, counts: Counts
) -> int:
    """BatchIntersect: go down from the root with all points at once, and write (point, node) pairs into the
    table for the nodes at `level`, or at leaves above it. Returns how many, `NOTHING` if the room is
    too small.

    `buffers` are the IntersectBuffers, one per level: for each item of a node the points inside it, as ranges
    of `lists`. A child without points is not entered. `counts` grow, by point and depth, for the nodes above
    those in the table.
    """
    height, count = tree.state[HEIGHT], len(points.sides)
    entered, tests = counts.entered, counts.tests
    entries = 0
    # a node on the way down: (node, depth, begin of its points in `lists`, end of them)
    held = 1
    buffers[0, 0], buffers[0, 1], buffers[0, 2], buffers[0, 3] = tree.state[ROOT], 1, 0, count
    for i in range(count):
        lists[i] = i
    while held:
        held -= 1
        node, depth, begin, end = buffers[held, 0], buffers[held, 1], buffers[held, 2], buffers[held, 3]
        if depth >= level or depth >= height:
            if entries + end - begin > len(table):
                return NOTHING
            for i in range(begin, end):
                table[entries, 0], table[entries, 1] = lists[i], node
                entries += 1
            continue
        # What waits above `end` belongs to nodes that are done: the buffer of a level is used again.
        free = end
        for i in range(begin, end):
            entered[lists[i], depth] += 1
            tests[lists[i], depth] += tree.counts[node]
        for entry in range(node * SLOTS, node * SLOTS + tree.counts[node]):
            inside = free
            for i in range(begin, end):
                if contains(tree, entry, points, lists[i]):
                    lists[inside] = lists[i]
                    inside += 1
            if inside > free:
                buffers[held, 0], buffers[held, 1] = tree.below[entry], depth + 1
                buffers[held, 2], buffers[held, 3] = free, inside
                held += 1
                free = inside
    return entries


def new_node(tree: Tree, level: int) -> int:
    """Take a node out of the pool."""
    state = tree.state
    node = state[FREE]
    if node == NOTHING:
        node = state[USED]
        state[USED] += 1
    else:
        state[FREE] = tree.parents[node]
    tree.counts[node] = 0
    tree.levels[node] = level
    tree.parents[node] = NOTHING
    return int(node)


def give_back(tree: Tree, node: int) -> None:
    """Put a node back into the pool."""
    tree.parents[node] = tree.state[FREE]
    tree.state[FREE] = node


def put(tree: Tree, node: int, rect: Sides, needs: np.uint64, below: int) -> None:
    """Write an entry behind the others of a node, and who its parent or its leaf is."""
    entry = node * SLOTS + tree.counts[node]
    tree.rects[entry] = rect
    tree.needs[entry] = needs
    tree.below[entry] = below
    tree.counts[node] += 1
    if tree.levels[node] == 0:
        tree.leaves[below] = node
    else:
        tree.parents[below] = node


def bound(tree: Tree, node: int, rect: Sides) -> np.uint64:
    """Write the bounding rectangle of a node's entries; return what all of them constrain."""
    attributes = tree.rects.shape[1] // 2
    first = node * SLOTS
    needs = tree.needs[first]
    for a in range(2 * attributes):
        rect[a] = tree.rects[first, a]
    for entry in range(first + 1, first + tree.counts[node]):
        needs &= tree.needs[entry]
        for a in range(attributes):
            rect[a] = min(rect[a], tree.rects[entry, a])
            rect[attributes + a] = max(rect[attributes + a], tree.rects[entry, attributes + a])
    return np.uint64(needs)


def entry_of(tree: Tree, node: int) -> int:
    """Return where a node stands in its parent."""
    entry = tree.parents[node] * SLOTS
    while tree.below[entry] != node:
        entry += 1
    return int(entry)


def tighten(tree: Tree, node: int, rect: Sides) -> None:
    """Bring the rectangles above a node up to date, as far as they change."""
    while tree.parents[node] != NOTHING:
        entry = entry_of(tree, node)
        needs = bound(tree, node, rect)
        changed = tree.needs[entry] != needs
        for a in range(len(rect)):
            if tree.rects[entry, a] != rect[a]:
                changed = True
                tree.rects[entry, a] = rect[a]
        tree.needs[entry] = needs
        if not changed:
            return
        node = tree.parents[node]


def choose(tree: Tree, node: int, rect: Sides) -> int:
    """Return the entry that grows least in the sum of its side lengths; of equals the one with the least sum,
    then the first.
    """
    attributes = len(rect) // 2
    best, least, smallest = NOTHING, 0, 0
    for entry in range(node * SLOTS, node * SLOTS + tree.counts[node]):
        growth, total = 0, 0
        for a in range(attributes):
            low, high = int(tree.rects[entry, a]), int(tree.rects[entry, attributes + a])
            total += high - low
            growth += max(low - int(rect[a]), 0) + max(int(rect[attributes + a]) - high, 0)
        if best == NOTHING or growth < least or (growth == least and total < smallest):
            best, least, smallest = entry, growth, total
    return best


def halve(tree: Tree, node: int, rect: Sides) -> None:
    """Split an overfull node along the axis on which the centres of its entries are spread widest, and those
    above it that become overfull by it.
    """
    while True:
        first, count = node * SLOTS, tree.counts[node]
        order = np.argsort(middles_along(tree, node, widest_axis(tree, node)), kind="mergesort")
        rects = tree.rects[first : first + count].copy()
        needs = tree.needs[first : first + count].copy()
        below = tree.below[first : first + count].copy()
        other = new_node(tree, tree.levels[node])
        tree.counts[node] = 0
        for i in range(count):
            of = order[i]
            put(tree, node if i < count // 2 else other, rects[of], needs[of], below[of])
        parent = tree.parents[node]
        if parent == NOTHING:
            parent = new_node(tree, tree.levels[node] + 1)
            own = bound(tree, node, rect)
            put(tree, parent, rect, own, node)
            tree.state[ROOT] = parent
            tree.state[HEIGHT] += 1
        else:
            tighten(tree, node, rect)
        own = bound(tree, other, rect)
        put(tree, parent, rect, own, other)
        if tree.counts[parent] <= INDEX_CAPACITY:
            tighten(tree, parent, rect)
            return
        node = parent


def middles_along(tree: Tree, node: int, axis: int) -> Numbers:
    """Return twice the centres of a node's entries on one axis."""
    attributes = tree.rects.shape[1] // 2
    first, count = node * SLOTS, tree.counts[node]
    middles = np.empty(count, np.int64)
    for i in range(count):
        low, high = tree.rects[first + i, axis], tree.rects[first + i, attributes + axis]
        middles[i] = np.int64(low) + np.int64(high)
    return middles


def widest_axis(tree: Tree, node: int) -> int:
    """Return the axis on which the centres of a node's entries lie farthest apart."""
    along, widest = 0, -1
    for a in range(tree.rects.shape[1] // 2):
        middles = middles_along(tree, node, a)
        if middles.max() - middles.min() > widest:
            along, widest = a, middles.max() - middles.min()
    return along


def insert(tree: Tree, rect: Sides, needs: np.uint64, below: int, level: int, scratch: Sides) -> None:
    """Put an entry into a node of a level: a box into a leaf, a node into one above it."""
    attributes = len(rect) // 2
    node = tree.state[ROOT]
    while tree.levels[node] > level:
        entry = choose(tree, node, rect)
        tree.needs[entry] &= needs
        for a in range(attributes):
            tree.rects[entry, a] = min(tree.rects[entry, a], rect[a])
            tree.rects[entry, attributes + a] = max(tree.rects[entry, attributes + a], rect[attributes + a])
        node = tree.below[entry]
    put(tree, node, rect, needs, below)
    if tree.counts[node] > (LEAF_CAPACITY if level == 0 else INDEX_CAPACITY):
        halve(tree, node, scratch)


def insert_all(tree: Tree, ids: npt.NDArray[np.uint32], sides: Sides, needs: Words, scratch: Sides) -> int:
    """Insert boxes one after the other; return how many found room in the pool."""
    for i in range(len(ids)):
        if tree.state[USED] + SPARE > len(tree.counts):
            return i
        insert(tree, sides[i], needs[i], int(ids[i]), 0, scratch)
        tree.state[BOXES] += 1
    return len(ids)


def drop_entry(tree: Tree, node: int, entry: int) -> None:
    """Take an entry out of a node; the last takes its place."""
    last = node * SLOTS + tree.counts[node] - 1
    tree.rects[entry] = tree.rects[last]
    tree.needs[entry] = tree.needs[last]
    tree.below[entry] = tree.below[last]
    tree.counts[node] -= 1


def delete(tree: Tree, box: int, scratch: Sides, orphans: Nodes) -> None:
    """Take a box out. Nodes under two fifths of their capacity are dissolved, and their entries inserted
    again; `orphans` is room for them.
    """
    node = tree.leaves[box]
    tree.leaves[box] = NOTHING
    tree.state[BOXES] -= 1
    entry = node * SLOTS
    while tree.below[entry] != box:
        entry += 1
    drop_entry(tree, node, entry)
    dissolved = 0
    while tree.parents[node] != NOTHING:
        capacity = LEAF_CAPACITY if tree.levels[node] == 0 else INDEX_CAPACITY
        parent = tree.parents[node]
        if 5 * tree.counts[node] < 2 * capacity:
            drop_entry(tree, parent, entry_of(tree, node))
            orphans[dissolved] = node
            dissolved += 1
        else:
            tighten(tree, node, scratch)
        node = parent
    while dissolved:
        dissolved -= 1
        node = orphans[dissolved]
        first, count, level = node * SLOTS, tree.counts[node], tree.levels[node]
        rects = tree.rects[first : first + count].copy()
        needs = tree.needs[first : first + count].copy()
        below = tree.below[first : first + count].copy()
        give_back(tree, node)
        for i in range(count):
            insert(tree, rects[i], needs[i], below[i], level, scratch)
    root = tree.state[ROOT]
    while tree.levels[root] > 0 and tree.counts[root] == 1:
        tree.state[ROOT] = tree.below[root * SLOTS]
        give_back(tree, root)
        tree.state[HEIGHT] -= 1
        root = tree.state[ROOT]
        tree.parents[root] = NOTHING


def delete_all(tree: Tree, ids: npt.NDArray[np.uint32], scratch: Sides, orphans: Nodes) -> int:
    """Delete boxes that are held, one after the other; return how many found spare nodes in the pool."""
    for i in range(len(ids)):
        if tree.state[USED] + SPARE > len(tree.counts):
            return i
        delete(tree, int(ids[i]), scratch, orphans)
    return len(ids)
