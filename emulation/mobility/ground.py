"""Ground with obstacles: who goes from one point to another goes the shortest way around them.

Obstacles are convex and closed: not even their edges are walked on, so that two which touch leave no slit.
A shortest way around convex obstacles is a chain of straight lines that bends at their corners only (the
visibility graph; Lozano-Pérez and Wesley, "An algorithm for planning collision-free paths among polyhedral
obstacles", 1979). The corners that ways bend at stand a little outside of the obstacle's own.

>>> wall = ConvexPolygon(((40.0, 0.0), (60.0, 0.0), (60.0, 80.0), (40.0, 80.0)))
>>> ground = Ground(100.0, 100.0, (wall,))
>>> [(round(x), round(y)) for x, y in ground.way((10.0, 10.0), (90.0, 10.0)) or ()]
[(40, 80), (60, 80), (90, 10)]
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.sparse.csgraph import shortest_path

from emulation.mobility.model import Floats

Point = tuple[float, float]
CLEARANCE_M: Final = 0.5
"""How far outside of an obstacle's corner a way bends."""
_NOWHERE: Final = -9999
"""How scipy says that nothing comes before."""


@dataclass(frozen=True)
class ConvexPolygon:
    """A convex polygon, its corners in either direction of turning."""

    corners: tuple[Point, ...]

    @cached_property
    def _half_planes(self) -> tuple[Floats, Floats]:
        """Return outward normals of length 1, and the offsets at which the polygon ends in each direction."""
        points = np.array(self.corners)
        edges = np.roll(points, -1, axis=0) - points
        turning = 1.0 if doubled_area(self.corners) > 0 else -1.0
        normals = turning * np.column_stack([edges[:, 1], -edges[:, 0]])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return normals, np.einsum("ij,ij->i", normals, points)

    def contains(self, x_m: float, y_m: float) -> bool:
        """Say whether a point lies inside or on the edge."""
        normals, offsets = self._half_planes
        return bool((normals @ (x_m, y_m) <= offsets).all())

    def draw(self, chance: np.random.Generator) -> Point:
        """Return a point of it, uniformly."""
        points = np.array(self.corners)
        least, most = points.min(axis=0), points.max(axis=0)
        while True:
            x, y = least + (most - least) * chance.random(2)
            if self.contains(x, y):
                return float(x), float(y)

    def blocks(self, begins: Floats, ends: Floats) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Say of straight lines, given as rows of points, which of them touch the polygon."""
        normals, offsets = self._half_planes
        at_begin = begins @ normals.T - offsets  # above 0: outside of this half-plane
        change = (ends - begins) @ normals.T
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = -at_begin / change
        enters = np.where(change < 0, crossing, np.where((change == 0) & (at_begin > 0), np.inf, 0.0))
        leaves = np.where(change > 0, crossing, 1.0)
        found = np.maximum(enters.max(axis=1), 0.0) <= np.minimum(leaves.min(axis=1), 1.0)
        return np.asarray(found)

    def outer_corners(self) -> Floats:
        """Return its corners, moved outwards by the clearance."""
        normals, _ = self._half_planes
        outwards = normals + np.roll(normals, 1, axis=0)
        outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
        moved: Floats = np.array(self.corners) + CLEARANCE_M * outwards
        return moved


def doubled_area(corners: tuple[Point, ...]) -> float:
    """Return twice the area that the corners enclose, negative if they turn clockwise."""
    following = (*corners[1:], corners[0])
    return sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in zip(corners, following, strict=True))


def is_convex(corners: tuple[Point, ...]) -> bool:
    """Say whether corners make a convex polygon with an inside, no three of them on one line."""
    count = len(corners)
    turns = []
    for index in range(count):
        (x0, y0), (x1, y1), (x2, y2) = (corners[(index + step) % count] for step in range(3))
        turns.append((x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1))
    if not (all(turn > 0 for turn in turns) or all(turn < 0 for turn in turns)):
        return False
    # A star turns the same way all the time too, but more than once round.
    middle = np.mean(np.array(corners), axis=0)
    around = np.unwrap(np.arctan2(*(np.array([*corners, corners[0]]) - middle).T))
    return bool(abs(abs(around[-1] - around[0]) - 2 * np.pi) < 1e-6)


class Ground:
    """A rectangle with obstacles, and the shortest ways on it."""

    def __init__(self, width_m: float, height_m: float, obstacles: tuple[ConvexPolygon, ...] = ()) -> None:
        self._obstacles = obstacles
        corners = [tuple(corner) for polygon in obstacles for corner in polygon.outer_corners().tolist()]
        kept = [(x, y) for x, y in corners if 0 <= x <= width_m and 0 <= y <= height_m and self.is_free(x, y)]
        self._corners = np.array(kept).reshape(-1, 2)
        count = len(kept)
        lengths = np.full((count, count), np.inf)
        for index in range(count):
            clear = self._clear_from(self._corners[index], self._corners)
            lengths[index, clear] = np.linalg.norm(self._corners[clear] - self._corners[index], axis=1)
        self._lengths = lengths
        if count:
            self._lengths, self._before = shortest_path(lengths, directed=False, return_predecessors=True)

    def is_free(self, x_m: float, y_m: float) -> bool:
        """Say whether somebody can stand there."""
        return not any(polygon.contains(x_m, y_m) for polygon in self._obstacles)

    def way(self, begin: Point, end: Point) -> list[Point] | None:
        """Return the points at which the shortest way bends, and its end; None if there is no way."""
        from_here, to_there = np.array(begin), np.array(end)
        if self._clear_from(from_here, to_there.reshape(1, 2))[0]:
            return [end]
        if not len(self._corners):
            return None
        first = np.where(
            self._clear_from(from_here, self._corners),
            np.linalg.norm(self._corners - from_here, axis=1),
            np.inf,
        )
        last = np.where(
            self._clear_from(to_there, self._corners),
            np.linalg.norm(self._corners - to_there, axis=1),
            np.inf,
        )
        through = first[:, None] + self._lengths + last[None, :]
        best = int(np.argmin(through))
        out, back = divmod(best, len(self._corners))
        if not np.isfinite(through[out, back]):
            return None
        bends = [back]
        while bends[-1] != out and self._before[out, bends[-1]] != _NOWHERE:
            bends.append(int(self._before[out, bends[-1]]))
        return [*((float(x), float(y)) for x, y in self._corners[bends[::-1]]), end]

    def _clear_from(self, begin: Floats, ends: Floats) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        clear = np.ones(len(ends), dtype=np.bool_)
        begins = np.broadcast_to(begin, ends.shape)
        for polygon in self._obstacles:
            clear &= ~polygon.blocks(begins, ends)
        return clear
