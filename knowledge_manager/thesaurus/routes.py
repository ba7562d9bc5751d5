"""The closest paths from every concept to every concept that has a target.

Computed once at compile time and kept like a routing table: for each reachable end the next hop and the
closeness of the whole path. The rest of a best path is itself a best path, so following next hops yields the
path.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_manager.thesaurus.concept import FACTORS, INVERSE, LEAST_CLOSENESS, WHOLE, Concept, Relation


@dataclass(frozen=True, slots=True)
class Route:
    """A path from one concept to `end`: relation and concept of the first step, and the closeness of the
    path.
    """

    end: int
    closeness: int
    relation: Relation
    next: int


def link_table(concepts: Sequence[Concept]) -> list[dict[int, Relation]]:
    """Return the links of each concept, both directions of every link, the strongest of several.

    Links to unknown concepts are dropped.
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
    """Return the routes of each concept, closest first, without the empty path to itself."""
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
    """Search backwards from the end (Dijkstra), closest first, then fewest steps."""
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
        for before in links[here]:
            step = links[before][here]
            closeness = -negative * FACTORS[step] // WHOLE
            if before not in reached and closeness >= LEAST_CLOSENESS:
                heapq.heappush(border, (-closeness, steps + 1, before, here, step))
    return ways
