"""Boxes, points and histories at random, for the laws of indexes."""

from dataclasses import dataclass, field
from random import Random

import numpy as np
import numpy.typing as npt

from plugins.boxes.index import BoxIndex, Ids, Sides, Words

Box = tuple[list[int], int]
"""Lows then highs, and the attributes that it constrains."""


@dataclass(slots=True)
class BoxMaker:
    """Makes boxes and points of one form."""

    chance: Random
    attributes: int
    cell: npt.DTypeLike = np.uint8
    values: int = 256
    """How many different values there are; few make borders meet."""

    def box(self) -> Box:
        """Return a box that may leave attributes free."""
        most = int(np.iinfo(np.dtype(self.cell)).max)
        needs = self.chance.randrange(1 << self.attributes)
        lows, highs = [], []
        for a in range(self.attributes):
            low, high = sorted((self.value(), self.value())) if needs >> a & 1 else (0, most)
            lows.append(low)
            highs.append(high)
        return lows + highs, needs

    def value(self) -> int:
        """Return a value of the domain."""
        most = int(np.iinfo(np.dtype(self.cell)).max)
        return self.chance.randrange(self.values) * most // (self.values - 1)

    def points(self, count: int) -> tuple[Sides, Words]:
        """Return points, every second with all attributes."""
        full = (1 << self.attributes) - 1
        values = [[self.value() for _ in range(self.attributes)] for _ in range(count)]
        present = [full if i % 2 else self.chance.randrange(1 << self.attributes) for i in range(count)]
        return np.array(values, self.cell).reshape(count, self.attributes), np.array(present, np.uint64)

    def arrays(self, boxes: dict[int, Box]) -> tuple[Ids, Sides, Words]:
        """Return boxes as an index takes them."""
        sides = np.array([box for box, _ in boxes.values()], self.cell).reshape(-1, 2 * self.attributes)
        needs = np.array([needs for _, needs in boxes.values()], np.uint64)
        return np.array(list(boxes), np.uint32), sides, needs


@dataclass(slots=True)
class Brute:
    """The definition, in plain Python: what `scan` itself is held to."""

    held: dict[int, Box] = field(default_factory=dict)

    def found(self, points: Sides, present: Words) -> list[list[int]]:
        """Return the ids of the boxes that contain each point, in order."""
        return [
            sorted(
                box
                for box, (sides, needs) in self.held.items()
                if not needs & ~has
                and all(sides[a] <= x <= sides[len(point) + a] for a, x in enumerate(point) if has >> a & 1)
            )
            for point, has in zip(points.tolist(), present.tolist(), strict=True)
        ]


def per_point(found: tuple[npt.NDArray[np.int64], Ids]) -> list[list[int]]:
    """Return what an index found as sorted lists."""
    ends, ids = found
    return [sorted(part.tolist()) for part in np.split(ids, ends[:-1])] if len(ends) else []


def step(index: BoxIndex, brute: Brute, maker: BoxMaker, ids: int) -> None:
    """Do something at random to an index and to the definition."""
    chance = maker.chance
    match chance.choice(("add", "add", "remove", "maintain", "maintain", "reload")):
        case "add":
            chosen = chance.sample(range(ids), min(ids, chance.choice((1, 3, 70))))
            boxes = {box: maker.box() for box in chosen}
            index.add(*maker.arrays(boxes))
            brute.held.update(boxes)
        case "remove":
            chosen = chance.sample(range(ids), min(ids, chance.choice((1, 3, 90))))
            index.remove(np.array(chosen, np.uint32))
            for box in chosen:
                brute.held.pop(box, None)
        case "maintain":
            index.maintain(chance.choice((1, 40, 400)))
        case _:
            if chance.random() < 0.2:
                index.reload()
