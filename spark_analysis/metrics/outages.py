"""When devices in range of each other cannot communicate: one is down, or a planned partition separates them.

Contacts are geometric (docs/reference/trace-format.md). This module subtracts outages from them, using
`node_state` and the partitions of the scenario.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dens.trace.manifest import PlannedPartition

Contact = tuple[int, int, float, float]
"""(a, b, begin_ms, end_ms)"""
Stretch = tuple[float, float]
"""(begin_ms, end_ms); the end may be infinite."""

FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Outages:
    """When each device is down, and which groups of devices are separated from all others."""

    down: Mapping[int, tuple[Stretch, ...]]
    islands: tuple[tuple[frozenset[int], Stretch], ...]

    def talking(self, contacts: Iterable[Contact]) -> Iterator[Contact]:
        """Yield the stretches of contacts in which both devices can communicate. Input and output are sorted
        by their start.
        """
        waiting: list[tuple[float, int, int, float]] = []
        for a, b, begin_ms, end_ms in contacts:
            while waiting and waiting[0][0] <= begin_ms:
                yield _contact(heapq.heappop(waiting))
            for since_ms, until_ms in self._left(a, b, begin_ms, end_ms):
                heapq.heappush(waiting, (since_ms, a, b, until_ms))
        while waiting:
            yield _contact(heapq.heappop(waiting))

    def _left(self, a: int, b: int, begin_ms: float, end_ms: float) -> list[Stretch]:
        between = [*self.down.get(a, ()), *self.down.get(b, ())]
        between += (stretch for island, stretch in self.islands if (a in island) != (b in island))
        left = []
        since_ms = begin_ms
        for cut_ms, joined_ms in sorted(between):
            if cut_ms >= end_ms:
                break
            if cut_ms > since_ms:
                left.append((since_ms, cut_ms))
            since_ms = max(since_ms, joined_ms)
        if since_ms < end_ms or (since_ms == end_ms == begin_ms):
            left.append((since_ms, end_ms))
        return left


def outages_of(
    node_state: Iterable[Mapping[str, Any]],
    partitions: Iterable[PlannedPartition],
    nodes: Iterable[Mapping[str, Any]],
) -> Outages:
    """Return the outages of a run. A partition names groups or devices."""
    down: dict[int, list[Stretch]] = {}
    since: dict[int, float] = {}
    for row in sorted(node_state, key=lambda row: int(row["at_ms"])):
        node = row["node"]
        if row["state"] == "down":
            since.setdefault(node, float(row["at_ms"]))
        elif node in since:
            down.setdefault(node, []).append((since.pop(node), float(row["at_ms"])))
    for node, since_ms in since.items():
        down.setdefault(node, []).append((since_ms, FOREVER))
    rows = list(nodes)
    islands = [
        (
            frozenset(
                row["node"] for row in rows if one.who is None or {row["group"], row["name"]} & set(one.who)
            ),
            (float(one.begin_ms), FOREVER if one.end_ms is None else float(one.end_ms)),
        )
        for one in partitions
    ]
    return Outages({node: tuple(stretches) for node, stretches in down.items()}, tuple(islands))


def _contact(waiting: tuple[float, int, int, float]) -> Contact:
    begin_ms, a, b, end_ms = waiting
    return a, b, begin_ms, end_ms
