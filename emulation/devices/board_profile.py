"""Time and energy of filtering and matching on a device (docs/how-to/boards.md,
docs/explanation/matching.md).

profile = load_board_profile("microbit")
spent_us = profile.reading_cost_us(groups=1, refused={"min": 20}, satisfied={"max": 1})
energy_j = profile.energy_j(spent_us)
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from emulation.devices.matching_costs import MatchingCosts
from watchdog.aggregators import AGGREGATOR_NAMES, MOST_BASIC

_FOLDER = "board_profiles"


class UnknownBoardProfile(LookupError):
    """The name is not that of a shipped profile."""


@dataclass(frozen=True, slots=True)
class BoardProfile:
    """Times of one device in microseconds, and its power while it works. Aggregators are given by name."""

    name: str
    is_measured: bool
    source: str
    reading_us: int
    """A reading that matches no group of subscriptions."""
    group_us: int
    """Each group of subscriptions to the same attributes of the event class."""
    refused_us: Mapping[str, int]
    """Each subscription with three attributes that does not match by a distance."""
    satisfied_us: Mapping[str, int]
    """Each that matches, including its notification."""
    active_w: float
    matching: MatchingCosts
    """Times of a mediator's matchers; on a board, those of its filter."""

    def reading_cost_us(
        self,
        groups: int,
        refused: Mapping[str, int] | None = None,
        satisfied: Mapping[str, int] | None = None,
    ) -> int:
        """Return the time of one reading that visits this many groups, and in them these numbers of
        subscriptions by aggregator.
        """
        total = self.reading_us + groups * self.group_us
        for costs, counts in ((self.refused_us, refused or {}), (self.satisfied_us, satisfied or {})):
            total += sum(costs[aggregator] * count for aggregator, count in counts.items())
        return total

    def energy_j(self, spent_us: int) -> float:
        """Return the energy of this much computing."""
        return self.active_w * spent_us / 1e6


def board_profiles() -> tuple[str, ...]:
    """Return the names of the shipped profiles."""
    folder = files("emulation") / _FOLDER
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".json")))


def load_board_profile(name: str) -> BoardProfile:
    """Return a profile by its name, or raise `UnknownBoardProfile`."""
    if name not in board_profiles():
        raise UnknownBoardProfile(f'unknown board profile "{name}" ({", ".join(board_profiles())})')
    document = json.loads((files("emulation") / _FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    matching = MatchingCosts(**document["matching"])
    return BoardProfile(**{**_judged_as_matched(matching), **document, "matching": matching})


def _judged_as_matched(costs: MatchingCosts) -> dict[str, Any]:
    """Return the times of readings on a device without a measured filter, derived from its matching times."""
    subscription = round(3 * costs.membership_us + costs.aggregation_us)
    of_any = {AGGREGATOR_NAMES[kind]: subscription for kind in range(MOST_BASIC + 1)}
    return {
        "reading_us": 0,
        "group_us": round(costs.feature_test_us),
        "refused_us": of_any,
        "satisfied_us": of_any,
    }
