"""ns-2's movement: initial places, then commands to move to a destination at a speed.

    $node_(0) set X_ 150.0
    $node_(0) set Y_ 93.98
    $ns_ at 50.0 "$node_(0) setdest 369.4 170.5 3.37"

A node goes straight to its destination and waits there for the next command; a command on the way redirects
it from where it is. A speed of 0 stops it. Height (`Z_`) is ignored.
"""

import re
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Final

from emulation.mobility.formats.tracks import Tracks
from emulation.mobility.model import Area
from emulation.mobility.recorded import Track
from emulation.recordings.lines import Lines

_NUMBER: Final = r"(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)"
_PLACE: Final = re.compile(rf"\$node_\((\d+)\) set ([XYZ])_ {_NUMBER}")
_ORDER: Final = re.compile(rf'\$ns_ at {_NUMBER} "\$node_\((\d+)\) setdest {_NUMBER} {_NUMBER} {_NUMBER}"')


@dataclass(slots=True)
class _Node:
    """The place of a node at its last command, and its destination."""

    at_ms: float
    x_m: float
    y_m: float
    to_x_m: float
    to_y_m: float
    m_per_ms: float

    def place(self, at_ms: float) -> tuple[float, float, float]:
        """Return (time of arrival, x, y) if it has arrived by then, else (`at_ms`, x, y) of that moment."""
        way_m = hypot(self.to_x_m - self.x_m, self.to_y_m - self.y_m)
        gone_m = self.m_per_ms * (at_ms - self.at_ms)
        if gone_m >= way_m:
            arrived_ms = self.at_ms + (way_m / self.m_per_ms if way_m > 0.0 else 0.0)
            return arrived_ms, self.to_x_m, self.to_y_m
        share = gone_m / way_m
        return (
            at_ms,
            self.x_m + share * (self.to_x_m - self.x_m),
            self.y_m + share * (self.to_y_m - self.y_m),
        )


def read_ns2(path: Path, area: Area) -> tuple[Track, ...]:
    """Return the tracks of such a file."""
    lines = Lines(path)
    tracks = Tracks(lines, area)
    starts: dict[int, dict[str, float]] = {}
    nodes: dict[int, _Node] = {}
    last_line = 1
    for line in lines:
        last_line = line.number
        text = " ".join(line.words)
        place, order = _PLACE.fullmatch(text), _ORDER.fullmatch(text)
        if place is not None:
            starts.setdefault(int(place[1]), {})[place[2]] = float(place[3])
            continue
        if order is None:
            lines.complain(line.number, "D316", "neither a place nor an order to go somewhere")
            continue
        if float(order[5]) < 0.0 or float(order[1]) < 0.0:
            lines.complain(line.number, "D316", "neither a time nor a speed can be negative")
            continue
        number, at_ms = int(order[2]), 1000.0 * float(order[1])
        node = nodes.get(number) or _placed(starts.get(number, {}))
        if node is None:
            lines.complain(line.number, "D316", f"node {number} is sent somewhere without having been placed")
            continue
        if at_ms < node.at_ms:
            message = f"node {number} had an order at {node.at_ms / 1000:g} s already; sort the file"
            lines.complain(line.number, "D314", message)
            continue
        if number not in nodes:
            tracks.add(line.number, number, 0.0, node.x_m, node.y_m)
        then_ms, x_m, y_m = node.place(at_ms)
        tracks.add(line.number, number, then_ms, x_m, y_m)
        tracks.add(line.number, number, at_ms, x_m, y_m)
        nodes[number] = _Node(at_ms, x_m, y_m, float(order[3]), float(order[4]), float(order[5]) / 1000.0)
    for number, start in starts.items():
        node = nodes.get(number) or _placed(start)
        if node is None:
            lines.complain(last_line, "D316", f"node {number} has not both X_ and Y_")
            continue
        if number not in nodes:
            tracks.add(last_line, number, 0.0, node.x_m, node.y_m)
        elif node.m_per_ms > 0.0:
            tracks.add(last_line, number, *node.place(float("inf")))
    return tracks.result()


def _placed(start: dict[str, float]) -> _Node | None:
    if not {"X", "Y"} <= set(start):
        return None
    return _Node(0.0, start["X"], start["Y"], start["X"], start["Y"], 0.0)
