"""When devices in range of each other cannot talk: one of them is down, or a partition is between them.

Contacts are geometry (docs/trace-format.md). What is left of them is found here, from `node_state` and from
the partitions that the scenario plans.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dens.trace.manifest import PlannedPartition

Contact = tuple[int, int, float, float]
"""(a, b, begin_ms, end_ms)"""
Stretch = tuple[float, float]
"""(begin_ms, end_ms); the end is infinite where nothing ends it."""

FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Outages:
    """When each device is down, and which devices are cut off from all others."""

    down: Mapping[int, tuple[Stretch, ...]]
    islands: tuple[tuple[frozenset[int], Stretch], ...]

    def talking(self, contacts: Iterable[Contact]) -> Iterator[Contact]:
        """Yield the stretches of contacts in which the two can talk. Contacts come in the order in which they
        begin, and so do the stretches.
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
    """Return the outages of a run. A partition names groups, or devices by their names."""
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
