"""What a batch would have taken at every level, from what its searches were seen to do.

A point query enters exactly the nodes that contain the point, whoever asks first. So the counts of executed
searches tell afterwards what an estimate at any level would have spent, which workloads it would have found,
and how much would have been left: no level has to be tried to know its response.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from plugins.boxes.index import Numbers
from plugins.boxes.workload import average_response, order_by_workload


@dataclass(frozen=True, slots=True)
class Prices:
    """What an estimate costs in tests: φ for each, and κ for each of its own tests."""

    kappa: float = 1.0
    phi: float = 0.0


UNITS: Final = Prices()
"""A test is a test, and nothing else costs anything: what deterministic runs count in."""


@dataclass(frozen=True, slots=True)
class Profile:
    """By event and level, from 1: the workload that an estimate finds, what it spends on the event, and what
    it leaves for the search, in units. Level 1 spends nothing.
    """

    workloads: Numbers
    spent: Numbers
    left: Numbers

    def __len__(self) -> int:
        """Return how many events it tells of."""
        return len(self.left)

    @property
    def height(self) -> int:
        """Return how many levels there are."""
        return int(self.left.shape[1])


def together(profiles: Iterable[Profile]) -> Profile:
    """Return the events of several batches as if they were one."""
    found = list(profiles)
    columns = ([one.workloads for one in found], [one.spent for one in found], [one.left for one in found])
    return Profile(*(np.concatenate(parts) for parts in columns))


def replayed(profile: Profile, prices: Prices = UNITS) -> list[float]:
    """Return the response of this very batch at every level, in the order in which it arrived."""
    found = [float(average_response(profile.left[:, 0].tolist(), range(len(profile))))]
    for level in range(1, profile.height):
        order = order_by_workload(profile.workloads[:, level].tolist())
        spent = prices.phi + prices.kappa * float(profile.spent[:, level].sum())
        found.append(spent + float(average_response(profile.left[:, level].tolist(), order)))
    return found


def expected(profile: Profile, events: int, prices: Prices = UNITS) -> list[float]:
    """Return the response at every level that a batch of so many events like these has on average: over all
    batches that can be drawn from them, in all orders of arrival.

    An event waits for another one if that has less workload, and for every second one that has as much. So
    all pairs of the events that were seen count, also those of different batches, and the luck of who met
    whom falls out.
    """
    seen = len(profile)
    found = [float(profile.left[:, 0].mean()) * (events + 1) / 2]
    for level in range(1, profile.height):
        left = profile.left[:, level].astype(np.float64)
        _, rank, alike = np.unique(profile.workloads[:, level], return_inverse=True, return_counts=True)
        work = np.bincount(rank, left)
        before = np.concatenate([[0.0], np.cumsum(work)[:-1]])
        waited = float((alike * before).sum() + (work * (alike - 1)).sum() / 2)
        spent = prices.phi + prices.kappa * float(profile.spent[:, level].mean()) * events
        found.append(spent + float(left.mean()) + (events - 1) * waited / max(seen * (seen - 1), 1))
    return found
