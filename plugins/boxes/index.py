"""Interface of box indexes: which boxes contain a point?

`scan` is the definition, `rtree` the paper's tree, `blocks` the default; one file each. The caller numbers
the boxes; their sides are sides[i, a] and sides[i, k + a], inclusive, and `needs` has a bit per constrained
attribute: a point without it is not in the box.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from plugins.boxes.profile import Profile

Sides = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]
Found = tuple[Numbers, Ids]
"""(ends, ids): the boxes that contain point i are ids[ends[i - 1]:ends[i]], in no particular order."""


class BoxIndex(Protocol):
    """Holds boxes and finds those that contain points."""

    def add(self, ids: Ids, sides: Sides, needs: Words) -> None:
        """Add boxes; known ids are replaced."""
        ...

    def remove(self, ids: Ids) -> None:
        """Remove boxes; unknown ids are ignored."""
        ...

    def search(self, points: Sides, present: Words, units: Numbers | None = None) -> Found:
        """Return the boxes that contain each point, in order. Bit a of present[i] is set if point i has
        attribute a; `units` grow by the work of each, one per test of a point against a rectangle.
        """
        ...

    def search_together(self, points: Sides, present: Words) -> Found:
        """Return the same in the order with the highest throughput."""
        ...

    def maintain(self, budget: int) -> bool:
        """Maintain the index for about `budget` boxes' worth of work, in steps that no search waits for;
        return whether more is due.
        """
        ...

    def reload(self) -> None:
        """Maintain everything at once."""
        ...

    def __len__(self) -> int: ...


class Estimate(NamedTuple):
    """Estimate of a batch before its search."""

    starts: list[Numbers | None]
    """Where the search of each event continues; None starts at the root."""
    workloads: list[int]
    counts: Numbers
    """Counts of each event, to which its search adds."""


class LevelledIndex(BoxIndex, Protocol):
    """An index that can estimate the work of a point at one of several levels.

    `counts` has one row per event; its content is internal to the index.
    """

    version: int
    """Grows whenever estimates may be outdated."""
    reloads: int
    """Number of rebuilds."""

    @property
    def height(self) -> int:
        """Return the number of levels; the first estimates nothing."""
        ...

    def unestimated(self, events: int) -> Estimate:
        """Return the estimate of level 1 for this number of events."""
        ...

    def estimated(self, points: Sides, present: Words, level: int, most: int) -> Estimate | None:
        """Estimate a batch at a level from 2 on; None if more than `most` places would have to be kept."""
        ...

    def search_from(
        self, start: Numbers | None, points: Sides, point: int, present: Words, counts: Numbers
    ) -> Ids:
        """Return the boxes that contain one point, continued where an estimate ended; `counts` is its row."""
        ...

    def units(self, counts: Numbers) -> Numbers:
        """Return the work of each row of counts."""
        ...

    def profile(self, points: Sides, present: Words, counts: Numbers) -> "Profile":
        """Return the profile of all levels from complete searches."""
        ...
