"""The interface of a forwarding layer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from emulation.forwarding.topology import KnownTopology


class Router(Protocol):
    """Finds routes in the known topology that it was made with.

    A wrong answer can only lose frames: a next hop that is not a neighbour loses the frame, a loop ends at
    the hop limit.
    """

    def link_changed(self, a: int, b: int, is_up: bool) -> None:
        """Handle a change of a link; the topology is already updated."""
        ...

    def next_hop(self, node: int, destination: int) -> int | None:
        """Return the neighbour of this node to which a frame for a destination goes, or None without a
        route.
        """
        ...


@dataclass(frozen=True, slots=True)
class ForwardingKind:
    """A forwarding layer. `make` takes the known topology, which changes during a run; without `make`,
    nothing is forwarded.
    """

    name: str
    meaning: str
    make: Callable[[KnownTopology], Router] | None
