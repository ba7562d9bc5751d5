"""Boxes in runs of blocks: what is new stands in a delta, what is old in tile order, what is gone is a
tombstone.

Every run can be searched as it is, so a search never waits for anything. Sorting happens in `maintain`
alone, in steps of bounded work: a full delta is sealed, a run with a quarter of tombstones is rewritten, two
runs of one size class become one. All three are the same job, `_rebuild`: it copies what lives into a new
run, notes what changes meanwhile, and changes places with its sources at the end.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from plugins.kernels.boxes.bitsets import (
    BLOCK,
    COUNTS,
    BlockArrays,
    Sides,
    Words,
    bury,
    cells_of,
    contained,
    empty_blocks,
    mark,
    units_of,
)
from plugins.kernels.boxes.tiles import tile_order
from plugins.kernels.compiled import compiled, is_available

Numbers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]
Found = tuple[Numbers, Ids]
"""(ends, ids): the boxes that contain point i are ids[ends[i - 1]:ends[i]], in no particular order."""

SEAL_FROM: Final = 65_536
"""Boxes in the delta from which on it is sorted into a run; twice as many are the most that it takes."""
STEP: Final = 8_192
"""Boxes that one step copies, marks or looks up."""
COMPILE_FROM: Final = 256
"""With fewer boxes NumPy is fast enough and compilation would only delay."""
REPLAYED: Final = 4_096
"""Changes that are copied into a new run in one step."""


class Overloaded(Exception):
    """More boxes were added between two calls of `maintain` than the delta takes; nothing was added."""


class Run:
    """Some blocks, in tile order or as they came."""

    def __init__(self, serial: int, attributes: int, cell: npt.DTypeLike, boxes: int) -> None:
        self.serial = serial
        self.attributes = attributes
        self.arrays = empty_blocks(max(-(-boxes // BLOCK), 1), attributes, cell)
        self.count = 0
        self.dead = 0
        self.job: Rebuild | None = None
        """What is about to replace it and must hear of changes."""
        self.forward: Numbers | None = None
        """Where its boxes went, once it is replaced."""
        self.into: Run | None = None

    @property
    def blocks(self) -> int:
        """Return how many blocks have boxes."""
        return -(-self.count // BLOCK)

    @property
    def living(self) -> int:
        """Return how many boxes are no tombstones."""
        return self.count - self.dead

    def reserve(self, boxes: int) -> None:
        """Make room for this many boxes in all."""
        wanted = -(-boxes // BLOCK)
        have = len(self.arrays.bits)
        if wanted > have:
            larger = empty_blocks(max(wanted, 2 * have), self.attributes, self.arrays.sides.dtype)
            pools: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = list(
                zip(self.arrays, larger, strict=True)
            )
            for old, new in pools:
                new[: len(old)] = old
            self.arrays = larger

    def lives(self, places: Any) -> npt.NDArray[np.bool_]:
        """Return which places hold no tombstone."""
        sides = self.arrays.sides
        living: npt.NDArray[np.bool_] = sides[places, 0] <= sides[places, self.attributes]
        return living


class Rebuild:
    """A job in progress: its sources, its steps, and what changed in the sources since it began."""

    def __init__(self, sources: list[Run]) -> None:
        self.sources = sources
        self.changed: list[tuple[Run, Numbers]] = []
        self.steps: Iterator[int] = iter(())


class BoxStore:
    """Boxes by ids, which are small numbers of the caller's; attributes are columns 0 to k - 1."""

    def __init__(
        self,
        attributes: int,
        cell: npt.DTypeLike = np.uint8,
        compile_from: int = COMPILE_FROM,
        seal_from: int = SEAL_FROM,
    ) -> None:
        self._seal_from = seal_from
        self.attributes = attributes
        self.cell = np.dtype(cell)
        self._most = int(np.iinfo(self.cell).max)
        self._shift = 8 * self.cell.itemsize - 5
        self._compile_from = compile_from
        self.version = 0
        """Grows with every box that comes or goes, and when runs change places."""
        self.reloads = 0
        """How often runs were sorted again."""
        self._serial = 0
        self._runs: dict[int, Run] = {}
        self._searched: list[Run] = []
        self._delta = self._new_run(0)
        self._searched.append(self._delta)
        self._where: Numbers = np.full(1024, -1, np.int64)
        self._sealing: Rebuild | None = None
        self._merging: Rebuild | None = None
        self._ids: Ids = np.empty(0, np.uint32)
        self._owners: npt.NDArray[np.int32] = np.empty(0, np.int32)

    def __len__(self) -> int:
        """Return how many boxes are held."""
        return sum(run.living for run in self._searched)

    @property
    def held_bytes(self) -> int:
        """Return the bytes of all arrays, including spare room."""
        runs = sum(array.nbytes for run in self._runs.values() for array in run.arrays)
        return runs + self._where.nbytes

    @property
    def _is_compiled(self) -> bool:
        return len(self) >= self._compile_from and is_available()

    def add(self, ids: Ids, sides: Sides, needs: Words) -> None:
        """Add boxes; a known id is replaced. Too many since the last `maintain` raise `Overloaded`."""
        room = 2 * self._seal_from
        if len(ids) > room:
            raise Overloaded(f"{len(ids)} boxes at once are more than {room}; load them, or add fewer")
        if self._delta.count + len(ids) > room:
            raise Overloaded(f"{self._delta.count} boxes wait to be sorted; call maintain before adding more")
        self.remove(ids)
        self.version += len(ids)
        self._append(self._delta, ids, sides, needs)
        self._locate(self._delta, self._delta.count - len(ids), self._delta.count)

    def load(self, ids: Ids, sides: Sides, needs: Words) -> None:
        """Add many new boxes at once, sorted at once; no id may be held."""
        run = self._new_run(len(ids))
        order = np.arange(len(ids))
        for _ in tile_order(sides, order, BLOCK, halving=True):
            pass
        self._append(run, ids[order], sides[order], needs[order])
        self._locate(run, 0, run.count)
        self._searched.append(run)
        self.version += len(ids)

    def remove(self, ids: Ids) -> None:
        """Remove boxes; unknown ids are ignored."""
        for run, places in self._places(ids):
            self.version += len(places)
            self._where[run.arrays.ids[places]] = -1
            run.dead += self._bury(run, places)
            if run.job is not None:
                run.job.changed.append((run, places))

    def rename(self, old: int, new: int) -> None:
        """Call a held box by another id, which is free."""
        for run, places in self._places(np.array([old], np.uint32)):
            run.arrays.ids[places] = new
            self._where[old] = -1
            self._locate(run, int(places[0]), int(places[0]) + 1)
            if run.job is not None:
                run.job.changed.append((run, places))

    def search(self, points: Sides, present: Words, units: Numbers | None = None) -> Found:
        """Return what contains each point, one after the other; `units` grow by the work of each."""
        counts = np.zeros((len(points), COUNTS), np.int64)
        found = self.counted(points, present, counts)
        if units is not None:
            units += units_of(counts)
        return found

    def counted(self, points: Sides, present: Words, counts: Numbers) -> Found:
        """Return the same; counts[i] grow by the tests of point i, if there is a compiler."""
        if not self._is_compiled:
            return self._searched_plainly(points, present)
        from plugins.kernels.boxes.bitset_search import Points, search

        look: Any = compiled(search)
        searched = Points(points, present, cells_of(points, present))
        parts: list[Found] = []
        for run in self._searched:
            if not run.count:
                continue
            ends = np.zeros(len(points), np.int64)
            while True:
                own = np.zeros_like(counts)
                end = look(run.arrays, run.blocks, searched, self._ids, ends, own)
                if end >= 0:
                    break
                self._make_room()
            counts += own
            parts.append((ends, self._ids[:end].copy()))
        return joined(parts, len(points))

    def search_together(self, points: Sides, present: Words) -> Found:
        """Return what contains each point, block by block for all of them: the most points per second."""
        if not self._is_compiled:
            return self._searched_plainly(points, present)
        from plugins.kernels.boxes.bitset_search import search_together

        look: Any = compiled(search_together)
        rows = cells_of(points, present)
        inside = np.empty(len(points), np.int32)
        parts: list[tuple[npt.NDArray[np.int32], Ids]] = []
        for run in self._searched:
            room = (self._ids, self._owners)
            while (end := look(run.arrays, run.blocks, points, present, rows, inside, *room)) < 0:
                self._make_room()
                room = (self._ids, self._owners)
            parts.append((self._owners[:end].copy(), self._ids[:end].copy()))
        return by_owner(parts, len(points))

    def runs(self) -> list[Run]:
        """Return what is searched, for whoever searches it by code of his own."""
        return self._searched

    def maintain(self, budget: int) -> bool:
        """Sort for about this many boxes' worth of work, step by step; return whether more is due."""
        while budget > 0:
            job = self._due()
            if job is None:
                return False
            budget -= next(job.steps, budget)
        return self._due() is not None

    def reload(self) -> None:
        """Bring everything into one run in tile order, at once."""
        while self.maintain(1 << 30):
            pass
        job = self._start([run for run in self._searched if run.count])
        for _ in job.steps:
            pass

    def _new_run(self, boxes: int) -> Run:
        self._serial += 1
        run = Run(self._serial, self.attributes, self.cell, boxes)
        self._runs[run.serial] = run
        return run

    def _append(self, run: Run, ids: Ids, sides: Sides, needs: Words) -> None:
        begin, end = run.count, run.count + len(ids)
        run.reserve(end)
        run.arrays.sides[begin:end] = sides
        run.arrays.needs[begin:end] = needs
        run.arrays.ids[begin:end] = ids
        run.count = end
        self._marked(run.arrays, begin, end)

    def _marked(self, arrays: BlockArrays, begin: int, end: int) -> None:
        """Set bits with the machine at hand."""
        is_worth_it = max(len(self), end - begin) >= self._compile_from and is_available()
        put: Any = compiled(mark) if is_worth_it else mark
        put(arrays, begin, end, self._shift)

    def _bury(self, run: Run, places: Numbers) -> int:
        put: Any = compiled(bury) if self._is_compiled else bury
        return int(put(run.arrays, places, self._most))

    def _locate(self, run: Run, begin: int, end: int) -> None:
        """Note that the living boxes at [begin, end) are where they are."""
        places = np.arange(begin, end)
        ids = run.arrays.ids[begin:end]
        if len(ids) and (largest := int(ids.max())) >= len(self._where):
            more = np.full(max(largest + 1, 2 * len(self._where)) - len(self._where), -1, np.int64)
            self._where = np.concatenate([self._where, more])
        living = run.lives(places)
        self._where[ids[living]] = run.serial << 32 | places[living]

    def _places(self, ids: Ids) -> Iterator[tuple[Run, Numbers]]:
        """Yield the runs in which these ids are held, with their places there."""
        known = self._where[ids[ids < len(self._where)]]
        known = known[known >= 0]
        for serial in np.unique(known >> 32).tolist():
            places = known[known >> 32 == serial] & 0xFFFFFFFF
            run = self._runs[serial]
            while run.into is not None and run.forward is not None:
                places, run = run.forward[places], run.into
            yield run, places

    def _due(self) -> Rebuild | None:
        """Return the job to go on with: sealing first, because adding waits for it."""
        if self._sealing is None and self._delta.count >= self._seal_from:
            full, self._delta = self._delta, self._new_run(0)
            self._searched.append(self._delta)
            self._sealing = self._start([full])
        if self._sealing is None and self._merging is None:
            sources = self._worth_merging()
            self._merging = self._start(sources) if sources else None
        return self._sealing or self._merging

    def _worth_merging(self) -> list[Run]:
        classes: dict[int, Run] = {}
        for run in self._searched:
            if run is self._delta or run.job is not None:
                continue
            if run.dead and 4 * run.dead >= run.count:
                return [run]
            size = (run.living // self._seal_from).bit_length()
            if size in classes:
                return [classes[size], run]
            classes[size] = run
        return []

    def _start(self, sources: list[Run]) -> Rebuild:
        job = Rebuild(sources)
        for run in sources:
            run.job = job
        job.steps = self._rebuild(job)
        return job

    def _rebuild(self, job: Rebuild) -> Iterator[int]:
        """Copy what lives in the sources into one new run in tile order; yields the work of each step."""
        picked: list[Numbers] = []
        for number, run in enumerate(job.sources):
            for begin in range(0, run.count, 8 * STEP):
                places = np.arange(begin, min(begin + 8 * STEP, run.count))
                picked.append(places[run.lives(places)] | number << 32)
                yield len(places)
        origins = np.concatenate(picked) if picked else np.zeros(0, np.int64)
        sides = np.empty((len(origins), 2 * self.attributes), self.cell)
        for begin in range(0, len(origins), 8 * STEP):
            part = origins[begin : begin + 8 * STEP]
            for number, run in enumerate(job.sources):
                own = part >> 32 == number
                sides[begin : begin + len(part)][own] = run.arrays.sides[part[own] & 0xFFFFFFFF]
            yield len(part)
        order = np.arange(len(origins))
        yield from tile_order(sides, order, BLOCK, halving=True)
        made = self._new_run(len(origins))
        forwards = [np.full(run.count, -1, np.int64) for run in job.sources]
        for begin in range(0, len(order), STEP):
            chosen = order[begin : begin + STEP]
            part = origins[chosen]
            ids, needs = np.empty(len(part), np.uint32), np.empty(len(part), np.uint64)
            for number, run in enumerate(job.sources):
                own = part >> 32 == number
                places = part[own] & 0xFFFFFFFF
                ids[own], needs[own] = run.arrays.ids[places], run.arrays.needs[places]
                forwards[number][places] = np.arange(begin, begin + len(part))[own]
            self._append(made, ids, sides[chosen], needs)
            made.dead += int(np.count_nonzero(~made.lives(slice(begin, begin + len(part)))))
            yield len(part)
        del sides, order, origins
        yield from self._replay(job, made, forwards)
        self.version += 1
        self.reloads += 1
        others = [run for run in self._searched if run not in job.sources]
        self._searched = [made, *others] if made.count else others
        if self._delta in job.sources:
            self._delta = self._new_run(0)
            self._searched.append(self._delta)
        for run, forward in zip(job.sources, forwards, strict=True):
            run.into, run.forward, run.job = made, forward, None
        for begin in range(0, made.count, 8 * STEP):
            self._locate(made, begin, min(begin + 8 * STEP, made.count))
            yield min(8 * STEP, made.count - begin)
        for run in job.sources if made.count else [*job.sources, made]:
            del self._runs[run.serial]
        if self._sealing is job:
            self._sealing = None
        if self._merging is job:
            self._merging = None

    def _replay(self, job: Rebuild, made: Run, forwards: list[Numbers]) -> Iterator[int]:
        """Copy into a new run what changed in its sources since they were read."""
        while job.changed:
            replayed = 0
            while job.changed and replayed < REPLAYED:
                run, places = job.changed.pop(0)
                into = forwards[job.sources.index(run)][places]
                places, into = places[into >= 0], into[into >= 0]
                living = run.lives(places)
                made.arrays.ids[into[living]] = run.arrays.ids[places[living]]
                made.dead += self._bury(made, into[~living])
                replayed += len(places) + 1
            if job.changed:
                yield replayed

    def _searched_plainly(self, points: Sides, present: Words) -> Found:
        found = [
            np.concatenate([contained(run.arrays, run.blocks, point, int(has)) for run in self._searched])
            for point, has in zip(points, present.tolist(), strict=True)
        ]
        ends = np.cumsum([len(ids) for ids in found], dtype=np.int64)
        return ends, np.concatenate(found) if found else np.zeros(0, np.uint32)

    def _make_room(self) -> None:
        """Take twice the room for matches."""
        room = max(1 << 14, 2 * len(self._ids))
        self._ids, self._owners = np.empty(room, np.uint32), np.empty(room, np.int32)


def joined(parts: list[Found], points: int) -> Found:
    """Return what several runs have for the same points as one."""
    if len(parts) == 1:
        return parts[0]
    owners = []
    for ends, ids in parts:
        counts = np.diff(ends, prepend=0)
        owners.append((np.repeat(np.arange(points, dtype=np.int32), counts), ids))
    return by_owner(owners, points)


def by_owner(parts: list[tuple[npt.NDArray[np.int32], Ids]], points: int) -> Found:
    """Return pairs (point, box) in the order of points."""
    if not parts:
        return np.zeros(points, np.int64), np.zeros(0, np.uint32)
    owners = np.concatenate([owner for owner, _ in parts])
    ids = np.concatenate([found for _, found in parts])
    order = np.argsort(owners, kind="stable")
    return np.cumsum(np.bincount(owners, minlength=points)), ids[order]
