"""Distances, routes and contacts worked out from nothing but a set of links: slow, and by other means."""

from collections.abc import Collection
from itertools import combinations

Links = Collection[tuple[int, int]]
FAR = 10_000


def distances(devices: int, links: Links) -> list[list[int]]:
    """Return the hops between all devices (Floyd and Warshall), `FAR` without a path."""
    hops = [[0 if one == other else FAR for other in range(devices)] for one in range(devices)]
    for a, b in links:
        hops[a][b] = hops[b][a] = 1
    for over in range(devices):
        for one in range(devices):
            for other in range(devices):
                hops[one][other] = min(hops[one][other], hops[one][over] + hops[over][other])
    return hops


def next_hop(devices: int, links: Links, node: int, destination: int) -> int | None:
    """Return the lowest neighbour that is one hop nearer."""
    hops = distances(devices, links)
    if node == destination or hops[node][destination] >= FAR:
        return None
    return next(
        near
        for near in range(devices)
        if hops[node][near] == 1 and hops[near][destination] == hops[node][destination] - 1
    )


def mediators_contacts(
    devices: int, links: Links, mediators: Collection[int], hop_limit: int
) -> dict[tuple[int, int], int]:
    """Return the pairs of mediators beyond range with no third one on a shortest way, and their hops."""
    hops = distances(devices, links)
    return {
        (a, b): hops[a][b]
        for a, b in combinations(sorted(mediators), 2)
        if 1 < hops[a][b] <= hop_limit
        and not any(hops[a][over] + hops[over][b] == hops[a][b] for over in mediators if over not in (a, b))
    }


def ends_mediator(
    devices: int, links: Links, mediators: Collection[int], end: int, present: int | None, hop_limit: int
) -> int | None:
    """Return the mediator beyond range that an end talks with, which has this one now."""
    hops = distances(devices, links)
    reached = sorted((hops[end][one], one) for one in mediators if hops[end][one] <= hop_limit)
    if not reached or reached[0][0] == 1:
        return None
    if present is not None and hops[end][present] <= min(hop_limit, reached[0][0] + 1):
        return present
    return reached[0][1]


def is_connected(members: Collection[int], pairs: Links) -> bool:
    """Return whether these pairs lead from any member to all others."""
    reached: set[int] = set()
    waiting = list(members)[:1]
    while waiting:
        one = waiting.pop()
        reached.add(one)
        waiting.extend(a + b - one for a, b in pairs if one in (a, b) and a + b - one not in reached)
    return reached >= set(members)
