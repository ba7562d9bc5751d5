"""What radios leave of a contact."""

import pytest

from emulation.contacts.usable import UsableTime

USABLE = UsableTime([70, 10, 0], [0.0, 500.0, 0.0])


@pytest.mark.parametrize(
    ("pair", "contact", "window"),
    [
        ((0, 1), (1000.0, 3000.0), (1070, 3000)),
        ((1, 2), (1000.0, 3000.0), (1010, 3000)),
        ((1, 2), (999.1, 3000.9), (1010, 3000)),
        ((0, 2), (1000.0, 1050.0), (1070, 1050)),
    ],
    ids=["the longer set-up", "the other pair", "whole milliseconds inside", "lost before it opens"],
)
def test_the_window_is_what_is_left_after_set_up(
    pair: tuple[int, int], contact: tuple[float, float], window: tuple[int, int]
) -> None:
    assert USABLE.window_ms(*pair, *contact) == window


def test_either_radio_may_find_a_contact_too_short() -> None:
    assert USABLE.is_long_enough(0, 1, 1000.0, 1500.0)
    assert not USABLE.is_long_enough(0, 1, 1000.0, 1499.9)
    assert USABLE.is_long_enough(0, 2, 1000.0, 1000.1)
