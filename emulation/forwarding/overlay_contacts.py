"""Contacts of engines beyond radio range: an endpoint with its nearest mediator, a mediator with those near
it.

An *endpoint* without a mediator in range has a contact with the nearest one: fewest hops, then the lowest
number. It keeps its mediator until that is unreachable or another is two hops nearer. Two *mediators* have a
contact if no shortest path between them contains a third. All mediators of a partition are then connected:
take the nearest pair of mediators that is not; a third on a shortest path between them would be nearer to
both, and therefore connected to both.

Each device searches the known topology breadth first until it has found enough. The devices whose neighbours
it visited are remembered: only a change at one of these makes it search again.
"""

from collections.abc import Collection, Iterable
from typing import Final

from emulation.forwarding.topology import KnownTopology

Pair = tuple[int, int]
"""The lower number first."""

WORTH_A_CHANGE: Final = 2
"""Hops by which another mediator has to be nearer for an endpoint to change to it."""


class OverlayContacts:
    """Pairs with a contact beyond radio range, and their distance in hops."""

    def __init__(
        self, topology: KnownTopology, mediators: Collection[int], endpoints: Iterable[int], hop_limit: int
    ) -> None:
        """Take the mediators and endpoints; all other devices only forward."""
        self._topology = topology
        self._mediators = frozenset(mediators)
        self._hop_limit = hop_limit
        self._visitors: dict[int, set[int]] = {}
        """The devices whose search visited the neighbours of a device."""
        self._visited: dict[int, list[int]] = {}
        """The devices whose neighbours the search of a device visited."""
        self._peers: dict[int, dict[int, int]] = {}
        """The peers of each device with their hops. A pair of mediators is listed at the lower number."""
        self._outdated: set[int] = {*mediators, *endpoints}

    def link_changed(self, a: int, b: int) -> None:
        """Handle a change of a link; the topology is already updated."""
        for device in (a, b):
            self._outdated.update(self._visitors.get(device, ()))

    def changes(self) -> tuple[list[Pair], dict[Pair, int]]:
        """Return the changes since the last call: pairs whose contact ended, and the hops of pairs whose
        contact is new or has another number of hops.
        """
        ended: list[Pair] = []
        changed: dict[Pair, int] = {}
        for device in sorted(self._outdated):
            before = self._peers.get(device, {})
            peers = self._search(device, before)
            if peers != before:
                self._peers[device] = peers
                ended.extend(_pair(device, peer) for peer in before if peer not in peers)
                changed.update(
                    (_pair(device, peer), hops) for peer, hops in peers.items() if before.get(peer) != hops
                )
        self._outdated.clear()
        return sorted(ended), dict(sorted(changed.items()))

    def _search(self, device: int, before: dict[int, int]) -> dict[int, int]:
        for neighbour in self._visited.pop(device, ()):
            self._visitors[neighbour].discard(device)
        visited: list[int] = []
        if device in self._mediators:
            peers = self._mediators_near(device, visited)
        else:
            peers = self._nearest_mediator(device, next(iter(before), None), visited)
        self._visited[device] = visited
        for neighbour in visited:
            self._visitors.setdefault(neighbour, set()).add(device)
        return peers

    def _nearest_mediator(self, endpoint: int, present: int | None, visited: list[int]) -> dict[int, int]:
        """Return the mediator of an endpoint; none if one is in range or none is reachable."""
        nearest: tuple[int, int] | None = None
        seen, level, hops = {endpoint}, [endpoint], 0
        while level and hops < self._hop_limit:
            hops += 1
            visited.extend(level)
            level = self._topology.beyond(level, seen)
            seen.update(level)
            if present in level:
                return {present: hops} if present is not None and hops > 1 else {}
            if nearest is None and (found := [one for one in level if one in self._mediators]):
                nearest = min(found), hops
            if nearest is not None and (
                present is None or nearest[1] == 1 or hops >= nearest[1] + WORTH_A_CHANGE - 1
            ):
                break
        return {} if nearest is None or nearest[1] == 1 else {nearest[0]: nearest[1]}

    def _mediators_near(self, device: int, visited: list[int]) -> dict[int, int]:
        """Return the mediators of higher numbers to which no shortest path contains another mediator."""
        peers: dict[int, int] = {}
        seen, level, hops = {device}, [device], 0
        behind: set[int] = set()
        """Devices on whose shortest path there is another mediator."""
        while level and hops < self._hop_limit:
            hops += 1
            visited.extend(level)
            others = [one for one in level if one in behind or (one in self._mediators and one != device)]
            level = self._topology.beyond(level, seen)
            behind.update(self._topology.beyond(others, seen))
            seen.update(level)
            if hops > 1:
                peers.update(
                    (one, hops)
                    for one in level
                    if one > device and one in self._mediators and one not in behind
                )
            if all(one in behind or one in self._mediators for one in level):
                break
        return peers


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
