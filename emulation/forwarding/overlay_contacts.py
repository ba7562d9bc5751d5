"""With whom engines talk that are not in range: the nearest mediator of an end's partition, and the mediators
nearest to a mediator.

An *end* that has no mediator in range has a contact with the nearest one: fewest hops, then the lowest
number. It keeps the one that it has until that is out of reach, or another is two hops nearer. Two
*mediators* have a contact if no shortest way between them leads over a third. So all mediators of a partition
are connected: of two that were not, take the nearest pair; a third on a shortest way between them would be
nearer to both, and so connected to both.

Everybody looks around in the known topology, breadth first, until they have seen enough. Whose neighbours
they looked at is remembered: only when one of these gets or loses a neighbour does anybody look again.
"""

from collections.abc import Collection, Iterable
from typing import Final

from emulation.forwarding.topology import KnownTopology

Pair = tuple[int, int]
"""The lower number first."""

WORTH_A_CHANGE: Final = 2
"""So many hops nearer another mediator has to be for an end to leave the one that it has."""


class OverlayContacts:
    """Which pairs have a contact beyond the range of their radios, and over how many hops."""

    def __init__(
        self, topology: KnownTopology, mediators: Collection[int], ends: Iterable[int], hop_limit: int
    ) -> None:
        """Take who mediates and who is an end; whoever is neither only forwards."""
        self._topology = topology
        self._mediators = frozenset(mediators)
        self._hop_limit = hop_limit
        self._seen_by: dict[int, set[int]] = {}
        """Who looked at the neighbours of a device."""
        self._looked_at: dict[int, list[int]] = {}
        """Whose neighbours everybody looked at."""
        self._wanted: dict[int, dict[int, int]] = {}
        """With whom everybody wants a contact, over how many hops. Of two mediators the lower number asks."""
        self._to_look: set[int] = {*mediators, *ends}

    def link_changed(self, a: int, b: int) -> None:
        """A link is known from now on, or known to be gone; the topology has it already."""
        for device in (a, b):
            self._to_look.update(self._seen_by.get(device, ()))

    def changes(self) -> tuple[list[Pair], dict[Pair, int]]:
        """Return what is different since the last time: pairs whose contact is over, and the hops of those
        that have one from now on, or over another number of hops."""
        over: list[Pair] = []
        now: dict[Pair, int] = {}
        for device in sorted(self._to_look):
            before = self._wanted.get(device, {})
            wanted = self._look(device, before)
            if wanted != before:
                self._wanted[device] = wanted
                over.extend(_pair(device, peer) for peer in before if peer not in wanted)
                now.update(
                    (_pair(device, peer), hops) for peer, hops in wanted.items() if before.get(peer) != hops
                )
        self._to_look.clear()
        return sorted(over), dict(sorted(now.items()))

    def _look(self, device: int, before: dict[int, int]) -> dict[int, int]:
        for neighbour in self._looked_at.pop(device, ()):
            self._seen_by[neighbour].discard(device)
        looked_at: list[int] = []
        if device in self._mediators:
            wanted = self._mediators_near(device, looked_at)
        else:
            wanted = self._nearest_mediator(device, next(iter(before), None), looked_at)
        self._looked_at[device] = looked_at
        for neighbour in looked_at:
            self._seen_by.setdefault(neighbour, set()).add(device)
        return wanted

    def _nearest_mediator(self, end: int, present: int | None, looked_at: list[int]) -> dict[int, int]:
        """Return the mediator that an end talks with; none where it has one in range, or no way to any."""
        nearest: tuple[int, int] | None = None
        seen, level, hops = {end}, [end], 0
        while level and hops < self._hop_limit:
            hops += 1
            looked_at.extend(level)
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

    def _mediators_near(self, device: int, looked_at: list[int]) -> dict[int, int]:
        """Return the mediators of higher numbers to which no shortest way leads over another."""
        wanted: dict[int, int] = {}
        seen, level, hops = {device}, [device], 0
        behind: set[int] = set()
        """Who is reached on a shortest way over another mediator."""
        while level and hops < self._hop_limit:
            hops += 1
            looked_at.extend(level)
            others = [one for one in level if one in behind or (one in self._mediators and one != device)]
            level = self._topology.beyond(level, seen)
            behind.update(self._topology.beyond(others, seen))
            seen.update(level)
            if hops > 1:
                wanted.update(
                    (one, hops)
                    for one in level
                    if one > device and one in self._mediators and one not in behind
                )
            if all(one in behind or one in self._mediators for one in level):
                break
        return wanted


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
