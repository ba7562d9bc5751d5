"""How many patterns a second find their place in a forest; half of them are special cases."""

import gc
import random
import time
from collections.abc import Iterator, Sequence

from benchmarks.graph.populations import (
    NAMES,
    PROPERTIES,
    name,
    part_of,
    property_,
    publication,
    table_with,
)
from benchmarks.measurement import Measurement, alone, at_least
from benchmarks.sizes import sized
from plugins.gtopss.pattern import Edge, Pattern, renumbered
from plugins.gtopss.relations.forest import PatternForest

SIZES, MEASURED = sized(((10_000, 30_000, 100_000), 5_000), ((100, 200), 50))


def measure() -> Iterator[Measurement]:
    """Fill forests of rising size, then time the next insertions into each."""
    patterns = overlapping(SIZES[-1] + MEASURED, random.Random(11))
    for size in SIZES:
        forest, rate = _rate_at(size, patterns)
        name_ = f"graph_forest_inserts_a_second_at_{size}"
        yield at_least(name_, rate, 10_000.0, 1.0) if size == SIZES[-1] else alone(name_, rate)
    yield alone("graph_forest_share_of_roots", len(list(forest.roots)) / len(forest))


def _rate_at(size: int, patterns: Sequence[Pattern]) -> tuple[PatternForest, float]:
    """Return a forest of so many, and how many more a second found their place in it."""
    forest = PatternForest(table_with().taxonomy)
    for number in range(size):
        forest.insert((number, 0), patterns[number])
    gc.collect()
    gc.freeze()  # what is there is not looked through again while the last ones find their place
    begin = time.process_time()
    for number in range(size, size + MEASURED):
        forest.insert((number, 0), patterns[number])
    took = time.process_time() - begin
    gc.unfreeze()
    return forest, MEASURED / took


def overlapping(count: int, rng: random.Random) -> list[Pattern]:
    """Return patterns of which half are special cases of earlier ones: a star becomes a constant."""
    lists = [sorted(publication(rng), key=str) for _ in range(400)]
    found: list[Pattern] = []
    for number in range(count):
        if number % 2 and found:
            found.append(_special(rng.choice(found), rng))
        else:
            found.append(part_of(rng, rng.choice(lists), rng.randint(2, 6)))
    return found


def _special(pattern: Pattern, rng: random.Random) -> Pattern:
    """Return a pattern with one variable fixed; with another edge where it has none."""
    if not pattern.variables:
        more = Edge(
            name(rng.randrange(NAMES)),
            property_(rng.randrange(PROPERTIES)),
            name(rng.randrange(NAMES)),
        )
        return Pattern(0, tuple(dict.fromkeys((*pattern.edges, more))))
    fixed, node = pattern.variables - 1, name(rng.randrange(NAMES))
    edges = tuple(
        Edge(
            node if edge.subject == fixed else edge.subject,
            edge.property,
            node if edge.object == fixed else edge.object,
        )
        for edge in pattern.edges
    )
    return renumbered(Pattern(pattern.variables - 1, tuple(dict.fromkeys(edges))))
