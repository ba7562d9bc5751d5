"""A-ToPSS: insertions into and removals from the forest of coverings, and how quickly subscriptions merge.

100,000 subscriptions to 4 of 42 attributes, half of them narrower forms of earlier ones, as in the thesis.
Rates are of processor time, so that other work on the machine does not count.
"""

import time
from collections.abc import Iterator
from typing import Final

from benchmarks.measurement import Measurement, alone, at_least
from benchmarks.sizes import sized
from dens_experiments.atopss.workload import NETWORK_SIZE, Workload, bodies
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.relations.covering import AtopssForest
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations

COUNT: Final = sized(100_000, 1_000)
WANTED: Final = sized(100_000, 300)
MERGED: Final = sized(5_000, 60)
SETS: Final = sized(50, 5)
"""Sets of attributes that those which are merged ask about."""


def measure() -> Iterator[Measurement]:
    """Insert all, then remove the first half; then one by one, as bodies, and into a table of mergers."""
    columns = Workload("distinct", 1).subscriptions(COUNT, NETWORK_SIZE, 0.5)
    keys = [(number >> 8, number & 255) for number in range(COUNT)]
    warm = AtopssForest(AtopssCodec(None))
    few = Workload("distinct", 2).subscriptions(1000, NETWORK_SIZE, 0.5)
    warm.insert_all(keys[:1000], few)
    warm.remove_all(keys[:1000])
    forest = AtopssForest(AtopssCodec(None))
    begin = time.process_time()
    forest.insert_all(keys, columns)
    inserted = time.process_time()
    forest.remove_all(keys[: COUNT // 2])
    removed = time.process_time()
    yield at_least("atopss_covering_inserts_per_second_4_of_42", COUNT / (inserted - begin), WANTED, 1.0)
    yield at_least(
        "atopss_covering_removals_per_second_4_of_42", COUNT / 2 / (removed - inserted), WANTED, 1.0
    )
    yield from _as_bodies()


def _as_bodies() -> Iterator[Measurement]:
    held = bodies(Workload("distinct", 3).subscriptions(MERGED, NETWORK_SIZE, 0.5, SETS))
    keys = [(number >> 8, number & 255) for number in range(MERGED)]
    forest, table = AtopssForest(AtopssCodec(None)), MergingTable(AtopssRelations(None))
    for name, insert in (("covering", forest.insert), ("merging", table.insert)):
        begin = time.process_time()
        for key, body in zip(keys, held, strict=True):
            insert(key, body)
        seconds = time.process_time() - begin
        yield alone(f"atopss_{name}_bodies_per_second_{MERGED}_of_{SETS}_sets", MERGED / seconds)
