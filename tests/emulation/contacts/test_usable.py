"""What radios leave of a contact."""

import numpy as np
import pytest

from emulation.contacts.contact import Contacts
from emulation.contacts.usable import UsableTime

USABLE = UsableTime([70, 10, 0], [0.0, 500.0, 0.0])


def contacts(*rows: tuple[int, int, float, float]) -> Contacts:
    a, b, begin_ms, end_ms = zip(*rows, strict=True)
    return Contacts(
        np.array(a, np.int32),
        np.array(b, np.int32),
        np.array(begin_ms),
        np.array(end_ms),
        np.zeros(len(rows), np.bool_),
    )


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
    opens_ms, lost_ms = USABLE.windows_ms(contacts((*pair, *contact)))
    assert (opens_ms.tolist(), lost_ms.tolist()) == ([window[0]], [window[1]])


def test_either_radio_may_find_a_contact_too_short() -> None:
    lasting = contacts((0, 1, 1000.0, 1500.0), (0, 1, 1000.0, 1499.9), (0, 2, 1000.0, 1000.1))
    assert USABLE.are_long_enough(lasting).tolist() == [True, False, True]
