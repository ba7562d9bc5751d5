"""The judge of what contacts allow: when something can be where, from the contact table alone."""

import heapq
from collections.abc import Collection, Iterable, Mapping
from typing import Any

Meetings = Mapping[int, list[tuple[int, float, float]]]
"""Whom each node met, from when to when."""


def meetings_of(contacts: Iterable[Mapping[str, Any]]) -> Meetings:
    """Return the rows of a contact table by node."""
    found: dict[int, list[tuple[int, float, float]]] = {}
    for row in contacts:
        for one, other in ((row["a"], row["b"]), (row["b"], row["a"])):
            found.setdefault(one, []).append((other, row["begin_ms"], row["end_ms"]))
    return found


def arrivals(
    meetings: Meetings, mediators: Collection[int], source: int, from_ms: float, needs_ms: float = 0.0
) -> dict[int, float]:
    """Return when something that the source has at a time can be with everybody, over mediators only.

    Every crossing takes `needs_ms`, and the contact must last that long. With 0 no node can have it earlier;
    with what a hand-shake and a transfer take, whoever can be reached has it by then.
    """
    queue, done = [(float(from_ms), source)], dict[int, float]()
    while queue:
        at_ms, node = heapq.heappop(queue)
        if node in done:
            continue
        done[node] = at_ms
        if node != source and node not in mediators:
            continue
        for peer, begin_ms, end_ms in meetings.get(node, ()):
            there_ms = max(at_ms, begin_ms) + needs_ms
            if there_ms <= end_ms and peer not in done and (node != source or peer in mediators):
                heapq.heappush(queue, (there_ms, peer))
    return done


def mediators_among(nodes: Iterable[Mapping[str, Any]]) -> set[int]:
    """Return the numbers of the mediators in the rows of a table of nodes."""
    return {row["node"] for row in nodes if row["role"] == "mediator"}
