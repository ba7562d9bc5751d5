"""Widest neighbour: a frame goes to the neighbour that knows most others, unless its destination is in range.

It may go round in circles, which the hop limit ends: a router need not be good to be tried.
"""

from emulation.forwarding.kind import ForwardingKind
from emulation.forwarding.topology import KnownTopology


class WidestNeighbour:
    """Looks no further than its neighbours."""

    def __init__(self, topology: KnownTopology) -> None:
        self._topology = topology

    def link_changed(self, a: int, b: int, is_up: bool) -> None:
        """Remember nothing: the topology has changed already."""

    def next_hop(self, node: int, destination: int) -> int | None:
        """Return the destination itself, else the neighbour with most neighbours, else None."""
        near = self._topology.neighbours(node)
        if destination in near:
            return destination
        return max(near, key=lambda one: (len(self._topology.neighbours(one)), -one), default=None)


WIDEST_NEIGHBOUR = ForwardingKind("widest_neighbour", "to whoever knows most others", WidestNeighbour)
