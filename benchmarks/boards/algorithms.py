"""FNIFC beside FNIF on the emulated micro:bit: instructions of a reading, at three shares of equal
subscriptions.

Every subscription has a record of its own, as in the paper. Instructions are counted, so these ratios do not
depend on the machine.
"""

from collections.abc import Iterator

from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized
from dens.boards.costs.algorithm_costs import SIMILARITIES, measured_costs

COUNT = sized(50, 4)
GOALS = {("fnif", 0.0): 1.0, ("fnif", 0.5): 0.5, ("fnif", 0.96): 0.2}
GOALS |= {("fnifs", 0.0): 1.25, ("fnifs", 0.5): 1.1, ("fnifs", 0.96): 0.5}
"""FNIFC has to be cheaper than FNIF, the more so the more subscriptions are equal, and hardly slower than
FNIFS if none are.
"""


def measure() -> Iterator[Measurement]:
    """Count the instructions of the same readings with the same subscriptions."""
    fnif, fnifs, fnifc = measured_costs(("fnif", "fnifs", "fnifc"), (COUNT,), SIMILARITIES, (False,))
    for ours, peer in ((fnifc, fnif), (fnifc, fnifs)):
        for one, other in zip(ours.loads, peer.loads, strict=True):
            name = f"{ours.algorithm}_against_{peer.algorithm}_instructions_at_similarity_{one.similarity:g}"
            goal = GOALS[peer.algorithm, one.similarity]
            yield at_most(name, one.instructions_per_reading, other.instructions_per_reading, goal)
