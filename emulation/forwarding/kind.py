"""A forwarding layer as scenarios name it: its name, what it does, and what finds routes for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from emulation.forwarding.topology import KnownTopology


class Router(Protocol):
    """Finds routes in the known topology, which it was made with.

    Whatever it answers, nothing but frames is lost by it: a next hop that is no neighbour loses the frame, a
    loop ends at the hop limit.
    """

    def link_changed(self, a: int, b: int, is_up: bool) -> None:
        """A link is known from now on, or known to be gone; the topology has it already."""
        ...

    def next_hop(self, node: int, destination: int) -> int | None:
        """Return to which neighbour a frame for a destination goes from this node, or None for no route."""
        ...


@dataclass(frozen=True, slots=True)
class ForwardingKind:
    """A forwarding layer by its name. `make` is given the known topology, which changes while a run goes on;
    without it nothing is forwarded."""

    name: str
    meaning: str
    make: Callable[[KnownTopology], Router] | None
