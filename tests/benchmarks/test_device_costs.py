"""What a step costs is found from what populations took, whatever the machine."""

from collections.abc import Callable

import pytest

from benchmarks.device_costs import measured_costs
from emulation.devices.matching_costs import MatchingCosts
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.population import Population
from plugins.matching_work import MatchingWork

PRICES = MatchingCosts(2.0, 5.0, 11.0, 23.0, 0.5)
NOTIFICATION_US = 100.0


@pytest.mark.slow
def test_prices_of_an_imagined_machine_are_found_again() -> None:
    """A machine on which time is nothing but counted work, and a constant for each notification."""
    works: dict[int, MatchingWork] = {}

    def seconds(action: Callable[[], object]) -> float:
        [matcher] = [
            cell.cell_contents
            for cell in action.__closure__ or ()
            if isinstance(cell.cell_contents, Population | FastMatcher)
        ]
        before = matcher.work.taken()
        action()
        works[id(matcher)] = matcher.work.since(before)
        constant = NOTIFICATION_US if isinstance(matcher, Population) else 0.0
        return (constant + PRICES.of(works[id(matcher)])) / 1e6

    found = measured_costs(seconds)
    assert found.feature_test_us == pytest.approx(PRICES.feature_test_us)
    assert found.membership_us == pytest.approx(PRICES.membership_us)
    assert found.aggregation_us == pytest.approx(PRICES.aggregation_us)
    assert found.pair_us == pytest.approx(PRICES.pair_us)
    assert found.row_us == pytest.approx(PRICES.row_us, rel=0.001)
