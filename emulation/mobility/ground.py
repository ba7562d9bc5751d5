"""Ground with obstacles, and the shortest paths around them.

Obstacles are convex and closed: paths do not touch their edges, so that touching obstacles leave no gap. A
shortest path around convex obstacles is a chain of straight lines that bends only at their corners (the
visibility graph; Lozano-Pérez and Wesley, "An algorithm for planning collision-free paths among polyhedral
obstacles", 1979). Paths bend a little outside the corners of an obstacle.

>>> wall = ConvexPolygon(((40.0, 0.0), (60.0, 0.0), (60.0, 80.0), (40.0, 80.0)))
>>> ground = Ground(100.0, 100.0, (wall,))
>>> [(round(x), round(y)) for x, y in ground.way((10.0, 10.0), (90.0, 10.0)) or ()]
[(40, 80), (60, 80), (90, 10)]
"""

from dataclasses import dataclass
from functools import cached_property
from math import dist, hypot, inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulation.mobility.model import Point

CLEARANCE_M: Final = 0.5
"""The distance from an obstacle's corner at which a path bends."""


@dataclass(frozen=True)
class ConvexPolygon:
    """A convex polygon, its corners in either direction of turning."""

    corners: tuple[Point, ...]

    @cached_property
    def _half_planes(self) -> tuple[tuple[float, float, float], ...]:
        """Return for each edge its outward unit normal and the offset of the half-plane."""
        turning = 1.0 if doubled_area(self.corners) > 0 else -1.0
        found = []
        for (x0, y0), (x1, y1) in zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True):
            length = turning * hypot(x1 - x0, y1 - y0)
            nx, ny = (y1 - y0) / length, (x0 - x1) / length
            found.append((nx, ny, nx * x0 + ny * y0))
        return tuple(found)

    @cached_property
    def _bounds(self) -> tuple[float, float, float, float]:
        xs, ys = zip(*self.corners, strict=True)
        return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)

    def contains(self, x_m: float, y_m: float) -> bool:
        """Return whether a point lies inside or on the edge."""
        return all(nx * x_m + ny * y_m <= offset for nx, ny, offset in self._half_planes)

    def draw(self, rng: np.random.Generator) -> Point:
        """Return a uniformly random point of the polygon."""
        least_x, least_y, width, height = self._bounds
        while True:
            share_x, share_y = rng.random(2).tolist()
            x, y = least_x + width * share_x, least_y + height * share_y
            if self.contains(x, y):
                return x, y

    def blocks(self, begin: Point, end: Point) -> bool:
        """Return whether a line segment touches the polygon, by clipping it with each half-plane."""
        x0, y0 = begin
        dx, dy = end[0] - x0, end[1] - y0
        enters, leaves = 0.0, 1.0
        for nx, ny, offset in self._half_planes:
            above = nx * x0 + ny * y0 - offset
            change = nx * dx + ny * dy
            if change == 0.0:
                if above > 0.0:
                    return False
            elif change < 0.0:
                enters = max(enters, -above / change)
            else:
                leaves = min(leaves, -above / change)
            if enters > leaves:
                return False
        return True

    def outer_corners(self) -> list[Point]:
        """Return its corners, moved outwards by the clearance."""
        moved = []
        before = self._half_planes[-1]
        for (x, y), edge in zip(self.corners, self._half_planes, strict=True):
            out_x, out_y = before[0] + edge[0], before[1] + edge[1]
            share = CLEARANCE_M / hypot(out_x, out_y)
            moved.append((x + share * out_x, y + share * out_y))
            before = edge
        return moved


def doubled_area(corners: tuple[Point, ...]) -> float:
    """Return twice the signed area, negative if the corners are clockwise."""
    following = (*corners[1:], corners[0])
    return sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in zip(corners, following, strict=True))


def is_convex(corners: tuple[Point, ...]) -> bool:
    """Return whether corners make a proper convex polygon, without three of them on one line."""
    count = len(corners)
    turns = []
    for index in range(count):
        (x0, y0), (x1, y1), (x2, y2) = (corners[(index + step) % count] for step in range(3))
        turns.append((x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1))
    if not (all(turn > 0 for turn in turns) or all(turn < 0 for turn in turns)):
        return False
    # A star also always turns the same way, but goes around more than once.
    middle = np.mean(np.array(corners), axis=0)
    around = np.unwrap(np.arctan2(*(np.array([*corners, corners[0]]) - middle).T))
    return bool(abs(abs(around[-1] - around[0]) - 2 * np.pi) < 1e-6)


def _shortest(straight: list[list[float]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the lengths of the shortest paths between all corners, and the corner before the end of each
    (Floyd–Warshall). Corners are few, so that loading a library for this would take longer.
    """
    count = len(straight)
    lengths = np.array(straight, np.float64).reshape(count, count)
    before = np.broadcast_to(np.arange(count)[:, None], (count, count)).copy()
    for over in range(count):
        through = lengths[:, over, None] + lengths[over]
        is_shorter = through < lengths
        lengths = np.where(is_shorter, through, lengths)
        before = np.where(is_shorter, before[over], before)
    return lengths, before


class Ground:
    """A rectangle with obstacles, and shortest paths on it."""

    def __init__(self, width_m: float, height_m: float, obstacles: tuple[ConvexPolygon, ...] = ()) -> None:
        self._obstacles = obstacles
        corners = [corner for polygon in obstacles for corner in polygon.outer_corners()]
        self._corners = [
            (x, y) for x, y in corners if 0 <= x <= width_m and 0 <= y <= height_m and self.is_free(x, y)
        ]
        self._lengths, self._before = _shortest([self._straight(corner) for corner in self._corners])

    def is_free(self, x_m: float, y_m: float) -> bool:
        """Return whether the place is outside all obstacles."""
        return not any(polygon.contains(x_m, y_m) for polygon in self._obstacles)

    def is_clear(self, begin: Point, end: Point) -> bool:
        """Return whether the straight line touches no obstacle."""
        return not any(polygon.blocks(begin, end) for polygon in self._obstacles)

    def way(self, begin: Point, end: Point) -> list[Point] | None:
        """Return the bends and the end of the shortest path; None if the end cannot be reached."""
        if self.is_clear(begin, end):
            return [end]
        if not self._corners:
            return None
        first, last = np.array(self._straight(begin)), np.array(self._straight(end))
        through = first[:, None] + self._lengths + last[None, :]
        out, back = divmod(int(np.argmin(through)), len(self._corners))
        if not np.isfinite(through[out, back]):
            return None
        bends = [back]
        while bends[-1] != out:
            bends.append(int(self._before[out, bends[-1]]))
        return [*(self._corners[bend] for bend in reversed(bends)), end]

    def _straight(self, begin: Point) -> list[float]:
        """Return the straight distance to each corner, infinity if an obstacle is between."""
        return [dist(begin, corner) if self.is_clear(begin, corner) else inf for corner in self._corners]
