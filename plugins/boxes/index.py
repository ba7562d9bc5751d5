"""What every index over boxes answers: which boxes contain a point?

`scan` is the definition, `rtree` the paper's tree, `blocks` what is used; one file each. Boxes are known by
small numbers of the caller's, their sides are sides[i, a] and sides[i, k + a], ends included, and `needs` has
a bit for each attribute that a box constrains: a point that lacks one of them is not in it.
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
        """Hold boxes; a known id is replaced."""
        ...

    def remove(self, ids: Ids) -> None:
        """Forget boxes; unknown ids are no error."""
        ...

    def search(self, points: Sides, present: Words, units: Numbers | None = None) -> Found:
        """Return what contains each point, one after the other. Bit a of present[i] says whether point i has
        attribute a; `units` grow by the work of each, one for a point against a rectangle.
        """
        ...

    def search_together(self, points: Sides, present: Words) -> Found:
        """Return the same in whatever order gives the most points a second."""
        ...

    def maintain(self, budget: int) -> bool:
        """Tidy up for about so many boxes' worth of work, in steps that no search waits for; tell whether
        more is due.
        """
        ...

    def reload(self) -> None:
        """Tidy up everything at once."""
        ...

    def __len__(self) -> int:
        """Return how many boxes are held."""
        ...


class Estimate(NamedTuple):
    """What is known of a batch before it is searched."""

    starts: list[Numbers | None]
    """Where the search of each event goes on; None begins at the front."""
    workloads: list[int]
    counts: Numbers
    """What was counted for each event, to be added to by its search."""


class LevelledIndex(BoxIndex, Protocol):
    """An index that can say beforehand, at one of several levels of effort, how much work a point will be.

    What it counts of a search is its own business: rows of `counts`, one an event.
    """

    version: int
    """Grows whenever what was estimated may no longer be true."""
    reloads: int
    """How often it was brought into another shape."""

    @property
    def height(self) -> int:
        """Return how many levels there are; the first estimates nothing."""
        ...

    def unestimated(self, events: int) -> Estimate:
        """Return what level 1 knows of so many events."""
        ...

    def estimated(self, points: Sides, present: Words, level: int, most: int) -> Estimate | None:
        """Estimate a batch at a level from 2 on; None where more than `most` places would have to be kept."""
        ...

    def search_from(
        self, start: Numbers | None, points: Sides, point: int, present: Words, counts: Numbers
    ) -> Ids:
        """Return what contains one point, begun where an estimate ended; `counts` is its own row."""
        ...

    def units(self, counts: Numbers) -> Numbers:
        """Return the work of each row of counts."""
        ...

    def profile(self, points: Sides, present: Words, counts: Numbers) -> "Profile":
        """Return what whole searches tell of every level."""
        ...
