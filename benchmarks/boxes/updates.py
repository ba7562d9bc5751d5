"""How quickly 1.5 million boxes change: insertion into the tree, appending to blocks, and all sorting."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least, at_most
from benchmarks.sizes import sized
from plugins.boxes.index import BoxIndex
from plugins.boxes.rtree import RTreeIndex
from plugins.kernels.boxes.box_store import BoxStore

HELD = sized(1_500_000, 5_000)
MORE = sized(500_000, 2_000)
INSERTED = sized(100_000, 500)
AT_ONCE = sized(4_096, 512)
MILLISECOND = 1e-3


def measure() -> Iterator[Measurement]:
    """Add boxes to what is held already."""
    sides = workloads.boxes(HELD + MORE, 0.15, 1)
    ids, needs = np.arange(HELD + MORE, dtype=np.uint32), np.full(HELD + MORE, 4095, np.uint64)
    store = BoxStore(workloads.BOX_ATTRIBUTES)
    store.load(ids[:HELD], sides[:HELD], needs[:HELD])
    begin = time.process_time()
    for at in range(HELD, HELD + 16 * AT_ONCE, AT_ONCE):
        store.add(*(column[at : at + AT_ONCE] for column in (ids, sides, needs)))
    plainly = 16 * AT_ONCE / (time.process_time() - begin)
    yield at_least("blocks_appends_per_second", plainly, 1.0, 500_000)
    longest, begin = 0.0, time.process_time()
    for at in range(HELD + 16 * AT_ONCE, HELD + MORE, AT_ONCE):
        store.add(*(column[at : at + AT_ONCE] for column in (ids, sides, needs)))
        longest = max(longest, _maintained(store, at % (16 * AT_ONCE) == 0))
    while (step := _step(store)) is not None:
        longest = max(longest, step)
    sorted_too = (MORE - 16 * AT_ONCE) / (time.process_time() - begin)
    yield at_least("blocks_appends_per_second_with_all_merging", sorted_too, 1.0, 50_000)
    yield at_most("blocks_longest_step_of_maintain_ms", longest / MILLISECOND, 1.0, 20.0)
    del store
    index = RTreeIndex(workloads.BOX_ATTRIBUTES)
    index.load(ids[:HELD], sides[:HELD], needs[:HELD])
    index.add(ids[HELD : HELD + 1], sides[HELD : HELD + 1], needs[HELD : HELD + 1])
    begin = time.process_time()
    index.add(*(column[HELD + 1 : HELD + 1 + INSERTED] for column in (ids, sides, needs)))
    inserted = INSERTED / (time.process_time() - begin)
    yield at_least("rtree_inserts_per_second", inserted, 1.0, 100_000)
    index.add(*(column[HELD + 1 + INSERTED :] for column in (ids, sides, needs)))
    longest = 0.0
    while (step := _step(index)) is not None:
        longest = max(longest, step)
    yield at_most("rtree_longest_step_of_maintain_ms", longest / MILLISECOND, 1.0, 20.0)


def _maintained(store: BoxStore, is_time: bool) -> float:
    """Let a store sort for as long as keeps its delta small; return the longest step."""
    longest = 0.0
    for _ in range(64 if is_time else 16):
        step = _step(store)
        if step is None:
            break
        longest = max(longest, step)
    return longest


def _step(store: BoxIndex) -> float | None:
    """Return the seconds of one step of work, None where there is nothing to do."""
    begin = time.process_time()
    is_more = store.maintain(1)
    spent = time.process_time() - begin
    return spent if is_more else None
