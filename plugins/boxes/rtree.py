"""`rtree`: the index of Wang, Zhang and Kitsuregawa, an R-tree over boxes (`plugins.kernels.boxes.trees`).

A tree that grows by insertion needs several times the tests of a bulk-loaded one. So a *reload* is due when a
quarter of the loaded boxes have changed, or when searches cost half as much again; `maintain` then builds a
copy in bounded steps, inserts what changed meanwhile, and swaps. A search never waits for it.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from plugins.boxes.index import Estimate, Found, Ids, Numbers, Sides, Words
from plugins.boxes.profile import Profile
from plugins.boxes.workload import by_point
from plugins.kernels.boxes import trees
from plugins.kernels.boxes.tiles import tile_order
from plugins.kernels.boxes.trees import (
    BOXES,
    HEIGHT,
    INDEX_CAPACITY,
    LEAF_CAPACITY,
    NOTHING,
    ROOT,
    SLOTS,
    TALLEST,
    USED,
    Tree,
)
from plugins.kernels.compiled import compiled, is_available

FILL: Final = 0.7
"""Fill of loaded nodes: leaves room for insertion, and smaller nodes have tighter bounds."""
STEP: Final = 4_096
"""Boxes that one step of a reload copies or inserts."""
WATCHED: Final = 256
"""Searches whose mean work is compared with that of as many after loading."""
DEARER: Final = 1.5
"""Relative work of a search, per box held, at which a reload is due."""
_ENTERED, _TESTS = range(2)
"""Counts of a search, by depth."""
COMPILE_FROM: Final = 256
"""With fewer boxes plain Python is fast enough and compilation would only delay."""


class RTreeIndex:
    """An R-tree over boxes that maintains itself."""

    def __init__(
        self,
        attributes: int,
        cell: npt.DTypeLike = np.uint8,
        compile_from: int = COMPILE_FROM,
        fill: float = FILL,
    ) -> None:
        self._attributes = attributes
        self._cell = np.dtype(cell)
        self._compile_from = compile_from
        self._fill = fill
        self._scratch = np.zeros(2 * attributes, cell)
        self._orphans = np.zeros(TALLEST, np.int32)
        self.tree = trees.empty_tree(2 * trees.SPARE, attributes, cell, 1024)
        self.version = 0
        """Grows whenever nodes may have changed, which invalidates references to them."""
        self.reloads = 0
        self._loaded = 0
        self._updates = 0
        self._first: list[float] = []
        self._last: deque[float] = deque(maxlen=WATCHED)
        self._sides: Sides = np.zeros((1024, 2 * attributes), cell)
        self._needs: Words = np.zeros(1024, np.uint64)
        self._changed: list[Ids] | None = None
        """What was added or removed since a reload began; None if there is none."""
        self._reloading: Iterator[int] | None = None
        self._waiting = np.zeros(INDEX_CAPACITY * TALLEST, np.int32)
        self._ids: Ids = np.empty(1 << 12, np.uint32)

    def __len__(self) -> int:
        return int(self.tree.state[BOXES])

    @property
    def height(self) -> int:
        """Return the number of levels; the root's is 1."""
        return int(self.tree.state[HEIGHT])

    @property
    def reloads_due(self) -> bool:
        """Return whether the tree has changed, or become expensive, enough to be reloaded."""
        if 4 * self._updates > max(self._loaded, 4 * LEAF_CAPACITY):
            return True
        if len(self._first) < WATCHED or len(self._last) < WATCHED:
            return False
        return sum(self._last) > DEARER * sum(self._first)

    def add(self, ids: Ids, sides: Sides, needs: Words) -> None:
        """Add boxes; known ids are replaced."""
        self.remove(ids)
        self._note(ids, sides, needs)
        self.tree = self._inserted(self.tree, ids)
        self.version += 1
        self._updates += len(ids)
        self._heard(ids)

    def load(self, ids: Ids, sides: Sides, needs: Words) -> None:
        """Replace all boxes, in a tree that is built at once."""
        self._note(ids, sides, needs)
        for _ in self._load(ids, sides, needs):
            pass
        self._changed = self._reloading = None

    def remove(self, ids: Ids) -> None:
        """Remove boxes; unknown ids are ignored."""
        held = _in(self.tree, ids)
        if len(held):
            self.tree = self._deleted(self.tree, held)
            self.version += 1
            self._updates += len(held)
            self._heard(held)

    def search(self, points: Sides, present: Words, units: Numbers | None = None) -> Found:
        ends, ids, counts = self.counted(points, present)
        if units is not None:
            units += self.units(counts)
        return ends, ids

    def search_together(self, points: Sides, present: Words) -> Found:
        """Return the same; points share nothing here."""
        return self.search(points, present)

    def counted(self, points: Sides, present: Words) -> tuple[Numbers, Ids, Numbers]:
        """Return the boxes that contain each point, and rows of counts: nodes entered and rectangles tested
        by depth, from 1 for the root.
        """
        ends = np.zeros(len(points), np.int64)
        look = self._machine(trees.query_all)
        asked = trees.Points(points, present)
        while True:
            entered = np.zeros((len(points), TALLEST), np.int64)
            tests = np.zeros_like(entered)
            counts = trees.Counts(entered, tests)
            found = look(self.tree, asked, self._waiting, self._ids, ends, counts)
            if found >= 0:
                break
            self._make_room()
        self._watch(tests)
        return ends, self._ids[:found].copy(), np.stack([entered, tests], axis=1)

    def unestimated(self, events: int) -> Estimate:
        """Return the estimate of level 1: the root."""
        return Estimate([None] * events, [1] * events, np.zeros((events, 2, TALLEST), np.int64))

    def estimated(self, points: Sides, present: Words, level: int, most: int) -> Estimate | None:
        """Descend to a level with all points at once: the workload of a point is the number of nodes there
        that contain it.
        """
        room = max(len(points), 1)
        buffers = np.zeros((INDEX_CAPACITY * TALLEST, 4), np.int32)
        lists = np.zeros(room * (INDEX_CAPACITY * self.height + 1), np.int32)
        table = np.zeros((most, 2), np.int32)
        counts = np.zeros((len(points), 2, TALLEST), np.int64)
        entered, tests = np.zeros((2, len(points), TALLEST), np.int64)
        look = self._machine(trees.estimate)
        asked, tallies = trees.Points(points, present), trees.Counts(entered, tests)
        made = look(self.tree, asked, level, buffers, lists, table, tallies)
        if made < 0:
            return None
        counts[:, _ENTERED], counts[:, _TESTS] = entered, tests
        return Estimate(*by_point(table[:made], len(points)), counts)

    def search_from(
        self, start: Numbers | None, points: Sides, point: int, present: Words, counts: Numbers
    ) -> Ids:
        """Return the boxes that contain a point below some nodes, or below the root."""
        look = self._machine(trees.query)
        nodes = self.tree.state[ROOT : ROOT + 1] if start is None else start
        asked = trees.Points(points, present)
        while True:
            entered, tests = np.zeros(TALLEST, np.int64), np.zeros(TALLEST, np.int64)
            tallies = trees.Counts(entered, tests)
            found = look(
                self.tree, nodes.astype(np.int32), asked, point, self._waiting, self._ids, 0, tallies
            )
            if found >= 0:
                break
            self._make_room()
        counts[_ENTERED] += entered
        counts[_TESTS] += tests
        return self._ids[:found].copy()

    def units(self, counts: Numbers) -> Numbers:
        """Return the tests of each row."""
        total: Numbers = counts[..., _TESTS, :].sum(axis=-1)
        return total

    def profile(self, points: Sides, present: Words, counts: Numbers) -> Profile:
        """Return the profile: an estimate at level L makes the tests above L, and finds the nodes entered
        there.
        """
        by_depth = slice(1, self.height + 1)
        entered, tests = counts[:, _ENTERED, by_depth], counts[:, _TESTS, by_depth]
        left = tests[:, ::-1].cumsum(axis=1)[:, ::-1]
        return Profile(entered, tests.cumsum(axis=1) - tests, left)

    def maintain(self, budget: int) -> bool:
        """Continue a reload, or begin one that is due; return whether more is due."""
        if self._reloading is None:
            if not self.reloads_due:
                return False
            self._changed = []
            self._reloading = self._reload()
        while budget > 0:
            try:
                budget -= next(self._reloading)
            except StopIteration:
                self._reloading = None
                return False
        return True

    def reload(self) -> None:
        """Reload the tree at once."""
        if self._reloading is None:
            self._changed = []
            self._reloading = self._reload()
        while self.maintain(1 << 30):
            pass

    def _heard(self, ids: Ids) -> None:
        """Record changes for a reload in progress, in pieces of one step."""
        if self._changed is not None:
            self._changed += [ids[begin : begin + STEP].copy() for begin in range(0, len(ids), STEP)]

    def _machine(self, function: Any) -> Any:
        return compiled(function) if len(self) >= self._compile_from and is_available() else function

    def _watch(self, tests: Numbers) -> None:
        """Record the work of searches per box held."""
        for total in (tests.sum(axis=1) / max(len(self), 1)).tolist():
            if len(self._first) < WATCHED:
                self._first.append(total)
            self._last.append(total)

    def _note(self, ids: Ids, sides: Sides, needs: Words) -> None:
        """Keep the boxes themselves by id, for a reload."""
        largest = int(ids.max()) if len(ids) else 0
        if largest >= len(self._needs):
            more = max(largest + 1, 2 * len(self._needs)) - len(self._needs)
            self._sides = np.concatenate([self._sides, np.zeros((more, 2 * self._attributes), self._cell)])
            self._needs = np.concatenate([self._needs, np.zeros(more, np.uint64)])
        self._sides[ids], self._needs[ids] = sides, needs

    def _inserted(self, tree: Tree, ids: Ids) -> Tree:
        """Return a tree with these boxes in it: the same, or one with larger pools."""
        if len(ids) and int(ids.max()) >= len(tree.leaves):
            more = np.full(
                max(int(ids.max()) + 1, 2 * len(tree.leaves)) - len(tree.leaves), NOTHING, np.int32
            )
            tree = tree._replace(leaves=np.concatenate([tree.leaves, more]))
        many = max(len(self), len(ids)) >= self._compile_from and is_available()
        put: Any = compiled(trees.insert_all) if many else trees.insert_all
        done = 0
        while True:
            rest = ids[done:]
            done += int(put(tree, rest, self._sides[rest], self._needs[rest], self._scratch))
            if done == len(ids):
                return tree
            tree = _grown(tree)

    def _deleted(self, tree: Tree, ids: Ids) -> Tree:
        """Return a tree without these boxes, which it holds."""
        take = self._machine(trees.delete_all)
        done = 0
        while True:
            done += int(take(tree, ids[done:], self._scratch, self._orphans))
            if done == len(ids):
                return tree
            tree = _grown(tree)

    def _reload(self) -> Iterator[int]:
        """Load a copy, and replace the tree when the copy has the changes made meanwhile."""
        parts = [np.zeros(0, np.uint32)]
        for begin in range(0, len(self.tree.leaves), 16 * STEP):
            found = begin + np.flatnonzero(self.tree.leaves[begin : begin + 16 * STEP] != NOTHING)
            parts.append(found.astype(np.uint32))
            yield STEP
        held = np.concatenate(parts)
        sides, needs = np.empty((len(held), 2 * self._attributes), self._cell), np.empty(len(held), np.uint64)
        for begin in range(0, len(held), 8 * STEP):
            some = held[begin : begin + 8 * STEP]
            sides[begin : begin + len(some)], needs[begin : begin + len(some)] = (
                self._sides[some],
                self._needs[some],
            )
            yield len(some)
        yield from self._load(held, sides, needs)

    def _load(self, ids: Ids, sides: Sides, needs: Words) -> Iterator[int]:
        """Build a tree level by level, bring it up to date and swap it in."""
        per_leaf, per_node = max(int(self._fill * LEAF_CAPACITY), 1), max(int(self._fill * INDEX_CAPACITY), 2)
        nodes = 2 * len(ids) // per_leaf + 2 * trees.SPARE
        known = max(len(self.tree.leaves), int(ids.max()) + 1 if len(ids) else 1)
        tree = trees.empty_tree(nodes, self._attributes, self._cell, known)
        yield STEP
        below: npt.NDArray[Any] = ids.astype(np.int32)
        level, used = 0, 0
        while True:
            capacity = INDEX_CAPACITY if level else LEAF_CAPACITY
            tile = max(len(below), 1) if len(below) <= capacity else per_node if level else per_leaf
            order = np.empty(len(below), np.int64)
            for begin in range(0, len(order), 64 * STEP):
                end = min(begin + 64 * STEP, len(order))
                order[begin:end] = np.arange(begin, end)
                yield STEP
            yield from tile_order(sides, order, tile, halving=False)
            made = max(-(-len(below) // tile), 1)
            rects, masks = np.empty((made, 2 * self._attributes), self._cell), np.empty(made, np.uint64)
            at_once = max(STEP // tile, 1)
            for begin in range(0, made, at_once):
                end = min(begin + at_once, made)
                chosen = order[begin * tile : end * tile]
                content = (sides[chosen], needs[chosen], below[chosen])
                rects[begin:end], masks[begin:end] = _filled(tree, used + begin, tile, level, content)
                yield len(chosen)
            used += made
            if made == 1:
                break
            below, sides, needs, level = np.arange(used - made, used), rects, masks, level + 1
        tree.state[ROOT], tree.state[USED] = used - 1, used
        tree.state[BOXES], tree.state[HEIGHT] = len(ids), level + 1
        while self._changed:
            some = np.unique(self._changed.pop(0))
            tree = self._deleted(tree, _in(tree, some))
            tree = self._inserted(tree, _in(self.tree, some))
            if self._changed:
                yield len(some)
        self.tree = tree
        self.version += 1
        self.reloads += 1
        self._changed = None
        self._loaded, self._updates = len(self), 0
        self._first, self._last = [], deque(maxlen=WATCHED)

    def _make_room(self) -> None:
        """Double the room for matches."""
        self._ids = np.empty(2 * len(self._ids), np.uint32)


def _in(tree: Tree, ids: Ids) -> Ids:
    """Return those of some ids that a tree holds, each once."""
    known = ids[ids < len(tree.leaves)]
    return np.unique(known[tree.leaves[known] != NOTHING])


def _filled(
    tree: Tree, first: int, tile: int, level: int, content: tuple[Sides, Words, Numbers]
) -> tuple[Sides, Words]:
    """Write complete nodes of `tile` entries, the last with the rest; return their rectangles and needs."""
    sides, needs, below = content
    count = len(below)
    begins = np.arange(0, count, tile)
    nodes = first + np.arange(count) // tile
    entries = nodes * SLOTS + np.arange(count) % tile
    tree.rects[entries], tree.needs[entries], tree.below[entries] = sides, needs, below
    tree.counts[first : first + len(begins)] = np.diff(begins, append=count)
    tree.levels[first : first + len(begins)] = level
    (tree.parents if level else tree.leaves)[below] = nodes
    attributes = sides.shape[1] // 2
    if not count:
        return np.zeros((1, 2 * attributes), sides.dtype), np.zeros(1, np.uint64)
    lows = np.minimum.reduceat(sides[:, :attributes], begins)
    highs = np.maximum.reduceat(sides[:, attributes:], begins)
    return np.concatenate([lows, highs], axis=1), np.bitwise_and.reduceat(needs, begins)


def _grown(tree: Tree) -> Tree:
    """Return a tree with twice the room for nodes."""
    rects, needs, below, counts, parents, levels = (
        np.concatenate([pool, np.zeros_like(pool)]) for pool in tree[:6]
    )
    return Tree(rects, needs, below, counts, parents, levels, tree.leaves, tree.state)
