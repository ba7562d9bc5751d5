"""Board profiles are what was measured, and can be used."""

import pytest

from boards.budget import AGGREGATORS
from boards.profile import measured_profile
from emulation.board_profile import UnknownBoardProfile, board_profiles, load_board_profile


@pytest.mark.parametrize("name", ["microbit", "pico"])
def test_a_profile_says_what_things_cost(name: str) -> None:
    profile = load_board_profile(name)
    assert name in board_profiles()
    assert set(profile.refused_us) == set(profile.satisfied_us) == set(AGGREGATORS)
    assert all(profile.refused_us[one] < profile.satisfied_us[one] for one in AGGREGATORS)
    idle = profile.reading_cost_us(0)
    assert idle == profile.reading_us
    busy = profile.reading_cost_us(2, {"min": 10}, {"max": 1})
    expected = idle + 2 * profile.group_us + 10 * profile.refused_us["min"] + profile.satisfied_us["max"]
    assert busy == expected
    assert profile.energy_j(1_000_000) == pytest.approx(profile.active_w)
    assert profile.source


def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(UnknownBoardProfile, match="microbit, pico"):
        load_board_profile("toaster")


@pytest.mark.board
def test_the_micro_bit_still_costs_what_its_profile_says() -> None:
    measured, profile = measured_profile(), load_board_profile("microbit")
    assert measured["reading_us"] == pytest.approx(profile.reading_us, rel=0.05)
    assert measured["group_us"] == pytest.approx(profile.group_us, rel=0.05)
    for which, wanted in (("refused_us", profile.refused_us), ("satisfied_us", profile.satisfied_us)):
        found = measured[which]
        assert isinstance(found, dict)
        for name, cost in wanted.items():
            assert found[name] == pytest.approx(cost, rel=0.05), (which, name)
