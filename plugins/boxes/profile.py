"""Costs of a batch at every level, derived from its completed searches.

A point query enters exactly the nodes that contain the point, in any order. So the counts of completed
searches determine what an estimate at any level would have cost, which workloads it would have found, and how
much would have remained: no level has to be tried.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from plugins.boxes.index import Numbers
from plugins.boxes.workload import average_response, order_by_workload


@dataclass(frozen=True, slots=True)
class Prices:
    """Costs of an estimate in tests: φ per estimate, and κ per test of its own."""

    kappa: float = 1.0
    phi: float = 0.0


UNITS: Final = Prices()
"""A test costs one and nothing else costs anything: for deterministic runs."""


@dataclass(frozen=True, slots=True)
class Profile:
    """By event and level, from 1: the workload that an estimate finds, its cost, and the remaining cost of
    the search, in units. Level 1 costs nothing.
    """

    workloads: Numbers
    spent: Numbers
    left: Numbers

    def __len__(self) -> int:
        return len(self.left)

    @property
    def height(self) -> int:
        return int(self.left.shape[1])


def together(profiles: Iterable[Profile]) -> Profile:
    """Return the events of several batches as one."""
    found = list(profiles)
    columns = ([one.workloads for one in found], [one.spent for one in found], [one.left for one in found])
    return Profile(*(np.concatenate(parts) for parts in columns))


def replayed(profile: Profile, prices: Prices = UNITS) -> list[float]:
    """Return the response of this batch at every level, in its order of arrival."""
    found = [float(average_response(profile.left[:, 0].tolist(), range(len(profile))))]
    for level in range(1, profile.height):
        order = order_by_workload(profile.workloads[:, level].tolist())
        spent = prices.phi + prices.kappa * float(profile.spent[:, level].sum())
        found.append(spent + float(average_response(profile.left[:, level].tolist(), order)))
    return found


def expected(profile: Profile, events: int, prices: Prices = UNITS) -> list[float]:
    """Return the expected response at every level of a batch of `events` events like these: the mean over all
    batches that can be drawn from them, in all orders of arrival.

    An event waits for every other one with less workload, and for half of those with the same. So all pairs
    of the observed events count, also those of different batches, which removes the noise of single batches.
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
