"""BatchSearch in units: the average response of batches at the best level beside arrival order, and how soon
`replay` finds that level.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.measurement import Measurement, alone, at_least, at_most
from benchmarks.sizes import sized
from dens_experiments.batch.measured import profile_of
from dens_experiments.batch.workload import WORKLOADS
from plugins.boxes.levels import WINDOW, RanBatch, Replay
from plugins.boxes.profile import Profile, expected

BOXES = sized(500_000, 2_000)
EVENTS = sized(16_384, 64)
STARTS = sized(200, 2)
NEAR = 1.015
"""How near to the best level is near enough."""


def measure() -> Iterator[Measurement]:
    """Compare on both uniform workloads and on the clustered one."""
    near: list[float] = []
    for name, goals in (
        ("wide", {8: 0.85, 32: 0.82, 128: 0.82}),
        ("narrow", {8: 0.85, 32: 0.82, 128: 0.82}),
        ("clustered", {8: 0.76, 32: 0.71, 128: 0.71}),
    ):
        workload = WORKLOADS[name]
        profile = profile_of(workload.tree(BOXES, 1), workload.events(EVENTS, 2))
        for size, goal in goals.items():
            means = expected(profile, size)
            best = means.index(min(means)) + 1
            yield at_most(f"batch_{BOXES}_{name}_of_{size}_at_level_{best}", min(means), means[0], goal)
            near.append(_found_soon(profile, size, means))
            yield alone(f"batch_{BOXES}_{name}_of_{size}_replay_near_best", near[-1])
    yield at_least("batch_replay_near_best_from_8_on", sum(near) / len(near), 1.0, 0.95)


def _found_soon(profile: Profile, size: int, means: list[float]) -> float:
    """Return in which share of starts `replay` is within 1.5 % of the best level after a window."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(STARTS):
        policy = Replay(start=int(rng.integers(1, profile.height + 1)))
        for _ in range(WINDOW):
            some = rng.integers(0, len(profile), size)
            batch = Profile(profile.workloads[some], profile.spent[some], profile.left[some])
            policy.ran(RanBatch(size, 1, 0.0, batch))
        found += means[policy.level(size, profile.height) - 1] <= NEAR * min(means)
    return found / STARTS
