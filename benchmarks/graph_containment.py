"""How many patterns a second find their place in a forest of 100,000, of which half are special cases."""

import gc
import random
import time
from collections.abc import Iterator

from benchmarks.graph_populations import (
    NAMES,
    PROPERTIES,
    name,
    part_of,
    property_,
    publication,
    table_with,
)
from benchmarks.measurement import Measurement, alone, at_least
from plugins.gtopss.forest import PatternForest
from plugins.gtopss.pattern import Edge, Pattern, renumbered

COUNT, MEASURED = 100_000, 5_000


def measure() -> Iterator[Measurement]:
    """Fill a forest, then time the last insertions."""
    chance = random.Random(11)
    patterns = overlapping(COUNT + MEASURED, chance)
    forest = PatternForest(table_with().taxonomy)
    for number in range(COUNT):
        forest.insert((number, 0), patterns[number])
    gc.freeze()  # what is there is not looked through again while the last ones find their place
    begin = time.process_time()
    for number in range(COUNT, COUNT + MEASURED):
        forest.insert((number, 0), patterns[number])
    took = time.process_time() - begin
    gc.unfreeze()
    yield at_least("graph_forest_inserts_a_second_at_100000", MEASURED / took, 10_000.0, 1.0)
    yield alone("graph_forest_share_of_roots", len(list(forest.roots)) / len(forest))


def overlapping(count: int, chance: random.Random) -> list[Pattern]:
    """Return patterns of which half are special cases of earlier ones: a star becomes a constant."""
    lists = [sorted(publication(chance), key=str) for _ in range(400)]
    found: list[Pattern] = []
    for number in range(count):
        if number % 2 and found:
            found.append(_special(chance.choice(found), chance))
        else:
            found.append(part_of(chance, chance.choice(lists), chance.randint(2, 6)))
    return found


def _special(pattern: Pattern, chance: random.Random) -> Pattern:
    """Return a pattern with one variable fixed; with another edge where it has none."""
    if not pattern.variables:
        more = Edge(
            name(chance.randrange(NAMES)),
            property_(chance.randrange(PROPERTIES)),
            name(chance.randrange(NAMES)),
        )
        return Pattern(0, tuple(dict.fromkeys((*pattern.edges, more))))
    fixed, node = pattern.variables - 1, name(chance.randrange(NAMES))
    edges = tuple(
        Edge(
            node if edge.subject == fixed else edge.subject,
            edge.property,
            node if edge.object == fixed else edge.object,
        )
        for edge in pattern.edges
    )
    return renumbered(Pattern(pattern.variables - 1, tuple(dict.fromkeys(edges))))
