"""What the figures are measured on: workloads in bytes, and matchers that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from dens_experiments.graph.graphs import encoded, table
from dens_experiments.graph_workload import Drawn, GraphWorkload, same_structure
from dens_experiments.sampling import Timed
from plugins.gtopss.language import GRAPH
from plugins.gtopss.matching.fast import REFILED_AFTER, FastMatcher
from plugins.language import Matcher

ALGORITHMS: Final = ("original", "improved", "fast")
KEPT: Final = 3
"""Populations that are kept: several figures are of the same ones, and drawing takes longer than matching."""


@dataclass(frozen=True, slots=True)
class Population:
    """Bodies of subscriptions, and vectors of publications."""

    bodies: tuple[bytes, ...]
    vectors: tuple[bytes, ...]


@lru_cache(maxsize=KEPT)
def population(workload: GraphWorkload, count: int, publications: int, seed: int) -> Population:
    """Return a workload in bytes."""
    return _in_bytes(workload.drawn(count, publications, seed))


@lru_cache(maxsize=KEPT)
def of_one_structure(count: int, matched: int, seed: int) -> Population:
    """Return figure 5.24's workload in bytes."""
    return _in_bytes(same_structure(count, matched, seed))


def _in_bytes(drawn: Drawn) -> Population:
    bodies, vectors = encoded(drawn)
    return Population(tuple(bodies), tuple(vectors))


def holding(algorithm: str, bodies: Sequence[bytes]) -> Matcher:
    """Return a matcher that holds these subscriptions; a key is (position, 0)."""
    matcher = GRAPH.algorithms[algorithm](table())
    for place, body in enumerate(bodies):
        matcher.add((place, 0), body)
    return matcher


def matches(matcher: Matcher, vectors: Sequence[bytes]) -> float:
    """Return how many subscriptions a publication satisfies, the mean over these."""
    return sum(len(matcher.match(vector, 0, 0)) for vector in vectors) / len(vectors)


def timed(matcher: Matcher, vectors: Sequence[bytes], **work: float) -> Timed:
    """Return the matching of these publications, to be timed, with the matches of one. It is done before:
    once, which compiles what is compiled, and by `fast` so often that it has filed by what it saw.
    """
    counted = {"matches": matches(matcher, vectors), **work}
    if isinstance(matcher, FastMatcher):
        for _ in range(1 + REFILED_AFTER // len(vectors)):
            _match_all(matcher, vectors)
    return Timed(partial(_match_all, matcher, vectors), len(vectors), counted)


def _match_all(matcher: Matcher, vectors: Sequence[bytes]) -> None:
    for vector in vectors:
        matcher.match(vector, 0, 0)
