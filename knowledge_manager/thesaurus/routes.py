"""The nearest ways from every concept to every concept that stands for something.

Computed once when a thesaurus is compiled, and kept like a routing table: for each reachable end the next
step and the closeness of the whole way. Because the rest of a best way is itself a best way, following next
steps spells out the path.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_manager.thesaurus.concept import FACTORS, INVERSE, LEAST_CLOSENESS, WHOLE, Concept, Relation


@dataclass(frozen=True, slots=True)
class Route:
    """From one concept to `end`: the first step's relation and concept, and the whole way's closeness."""

    end: int
    closeness: int
    relation: Relation
    next: int


def link_table(concepts: Sequence[Concept]) -> list[dict[int, Relation]]:
    """Return for each concept where its links lead, both directions of every link, the strongest of several.

    A link to a concept that is not among them leads nowhere and is left out.
    """
    position = {concept.uri: index for index, concept in enumerate(concepts)}
    table: list[dict[int, Relation]] = [{} for _ in concepts]
    for here, concept in enumerate(concepts):
        for relation, uri in concept.links:
            there = position.get(uri)
            if there is None or there == here:
                continue
            for begin, end, kind in ((here, there, relation), (there, here, INVERSE[relation])):
                table[begin][end] = min(kind, table[begin].get(end, kind))
    return table


def routes(concepts: Sequence[Concept]) -> list[list[Route]]:
    """Return the routes of each concept, closest first; the way to itself has no step and is not listed."""
    links = link_table(concepts)
    found: list[list[Route]] = [[] for _ in concepts]
    for end, concept in enumerate(concepts):
        if concept.targets:
            for begin, route in _ways_to(end, links):
                found[begin].append(route)
    for ways in found:
        ways.sort(key=lambda route: (-route.closeness, route.end))
    return found


def _ways_to(end: int, links: list[dict[int, Relation]]) -> list[tuple[int, Route]]:
    """Spread from the end against the links, closest first, fewest steps among equals."""
    ways: list[tuple[int, Route]] = []
    reached: set[int] = set()
    border: list[tuple[int, int, int, int, Relation]] = [(-WHOLE, 0, end, end, Relation.EXACT)]
    while border:
        negative, steps, here, next_, relation = heapq.heappop(border)
        if here in reached:
            continue
        reached.add(here)
        if here != end:
            ways.append((here, Route(end, -negative, relation, next_)))
        for before, seen_from_here in links[here].items():
            step = INVERSE[seen_from_here]
            closeness = -negative * FACTORS[step] // WHOLE
            if before not in reached and closeness >= LEAST_CLOSENESS:
                heapq.heappush(border, (-closeness, steps + 1, before, here, step))
    return ways
