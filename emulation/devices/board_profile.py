"""What filtering and matching cost a device, in time and energy (docs/how-to/boards.md,
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
    """There is no such profile; the message lists those that there are."""


@dataclass(frozen=True, slots=True)
class BoardProfile:
    """Microseconds of one device, and the power it draws while it works. Aggregators go by their names."""

    name: str
    is_measured: bool
    source: str
    reading_us: int
    """A reading that meets no subscription."""
    group_us: int
    """Each group of subscriptions that ask for the same attributes of its event class."""
    refused_us: Mapping[str, int]
    """Each three-attribute subscription that is refused by a distance."""
    satisfied_us: Mapping[str, int]
    """Each that is satisfied, its notification included."""
    active_w: float
    matching: MatchingCosts
    """What a mediator's matchers count; of a board, by the filter that runs there."""

    def reading_cost_us(
        self,
        groups: int,
        refused: Mapping[str, int] | None = None,
        satisfied: Mapping[str, int] | None = None,
    ) -> int:
        """Return how long one reading takes that visits so many groups, and in them so many subscriptions by
        aggregator.
        """
        total = self.reading_us + groups * self.group_us
        for costs, counts in ((self.refused_us, refused or {}), (self.satisfied_us, satisfied or {})):
            total += sum(costs[aggregator] * count for aggregator, count in counts.items())
        return total

    def energy_j(self, spent_us: int) -> float:
        """Return the energy of so much work."""
        return self.active_w * spent_us / 1e6


def board_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that ship."""
    folder = files("emulation") / _FOLDER
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".json")))


def load_board_profile(name: str) -> BoardProfile:
    """Return a profile by its name, or raise `UnknownBoardProfile`."""
    if name not in board_profiles():
        raise UnknownBoardProfile(f"{name} is none of the board profiles {', '.join(board_profiles())}")
    document = json.loads((files("emulation") / _FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    matching = MatchingCosts(**document["matching"])
    return BoardProfile(**{**_judged_as_matched(matching), **document, "matching": matching})


def _judged_as_matched(costs: MatchingCosts) -> dict[str, Any]:
    """Return what readings cost a device whose filter was not measured: what matching costs it."""
    subscription = round(3 * costs.membership_us + costs.aggregation_us)
    of_any = {AGGREGATOR_NAMES[kind]: subscription for kind in range(MOST_BASIC + 1)}
    return {
        "reading_us": 0,
        "group_us": round(costs.feature_test_us),
        "refused_us": of_any,
        "satisfied_us": of_any,
    }
