"""Common part of the formats of recorded movement: collects and checks points per node.

Points outside the area, decreasing times and impossibly fast moves are refused, with their line.
"""

from math import hypot
from typing import Final

from emulation.mobility.model import Area
from emulation.mobility.recorded import Track
from emulation.recordings.lines import Lines

FASTEST_M_PER_S: Final = 100.0
"""Faster moves are taken for errors of the recording."""
MOST_POINTS: Final = 10_000_000
"""Of all nodes together."""


class Tracks:
    """Collects points by node."""

    def __init__(self, lines: Lines, area: Area) -> None:
        self._lines = lines
        self._area = area
        self._points: dict[int, list[tuple[float, float, float]]] = {}
        self._amount = 0

    def last(self, node: int) -> tuple[float, float, float] | None:
        """Return the last point of a node, if it has any."""
        points = self._points.get(node)
        return points[-1] if points else None

    def add(self, line: int, node: int, at_ms: float, x_m: float, y_m: float) -> None:
        """Add the next point of a node. A second point at the same time is ignored."""
        area = self._area
        if not 0.0 <= at_ms < float("inf"):
            self._lines.complain(line, "D316", f"time {at_ms / 1000:g} s is not finite and at least 0")
            return
        if not (0.0 <= x_m <= area.width_m and 0.0 <= y_m <= area.height_m):
            message = f"({x_m:g}, {y_m:g}) lies outside the area of {area.width_m:g} x {area.height_m:g} m"
            self._lines.complain(line, "D316", message)
            return
        before = self.last(node)
        if before is not None:
            if at_ms < before[0]:
                self._lines.complain(
                    line, "D314", f"node {node} was at {before[0] / 1000:g} s already; sort the file"
                )
                return
            distance_m = hypot(x_m - before[1], y_m - before[2])
            length_s = (at_ms - before[0]) / 1000.0
            if distance_m > FASTEST_M_PER_S * length_s + 1e-6:
                message = f"node {node} jumps {distance_m:g} m within {length_s:g} s"
                self._lines.complain(line, "D316", message)
                return
            if at_ms == before[0]:
                return
        self._points.setdefault(node, []).append((at_ms, x_m, y_m))
        self._amount += 1
        if self._amount > MOST_POINTS:
            message = f"there are more than {MOST_POINTS:,} points, the most that is read; cut the recording"
            self._lines.complain(line, "D385", message)
            self._lines.refuse_if_wrong()

    def result(self) -> tuple[Track, ...]:
        """Return the tracks by node number, or raise `DocumentError`."""
        self._lines.refuse_if_wrong()
        if not self._points:
            self._lines.complain(1, "D316", "no node moves or stands anywhere in this file")
        self._lines.refuse_if_wrong()
        return tuple(tuple(self._points[node]) for node in sorted(self._points))
