"""Shortest path: the fewest known hops, like a proactive protocol with the hop count as metric (OLSR, RFC
3626).

Of several neighbours that are one hop nearer to the destination, the one with the lowest number is next.
Distances to a destination are computed when the first frame goes there, and kept until a link changes that
can alter them.
"""

from typing import Final

from emulation.forwarding.kind import ForwardingKind
from emulation.forwarding.topology import KnownTopology


class ShortestPath:
    """Routes by hop count."""

    def __init__(self, topology: KnownTopology) -> None:
        self._topology = topology
        self._distances: dict[int, dict[int, int]] = {}
        """Per destination, the hops from every node that has a route to it."""

    def link_changed(self, a: int, b: int, is_up: bool) -> None:
        """Forget the distances that the change alters."""
        alters = self._shortens if is_up else self._lengthens
        for destination in [one for one, hops in self._distances.items() if alters(hops, a, b)]:
            del self._distances[destination]

    def next_hop(self, node: int, destination: int) -> int | None:
        """Return the lowest neighbour that is one hop nearer."""
        hops = self._distances.get(destination)
        if hops is None:
            hops = self._distances[destination] = self._topology.distances(destination)
        here = hops.get(node)
        if not here:
            return None
        return min(near for near in self._topology.neighbours(node) if hops[near] == here - 1)

    def _shortens(self, hops: dict[int, int], a: int, b: int) -> bool:
        """Return whether a new link shortens a route: then one of its nodes is at least two hops nearer."""
        one, other = hops.get(a), hops.get(b)
        if one is None or other is None:
            return one is not other
        return abs(one - other) > 1

    def _lengthens(self, hops: dict[int, int], a: int, b: int) -> bool:
        """Return whether a lost link was the only shortest route of one of its nodes."""
        if a not in hops or hops[a] == hops[b]:
            return False
        far = a if hops[a] > hops[b] else b
        return not any(hops[near] == hops[far] - 1 for near in self._topology.neighbours(far))


SHORTEST_PATH: Final = ForwardingKind("shortest_path", "fewest hops, as OLSR", ShortestPath)
