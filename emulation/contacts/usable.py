"""Which part of a contact can be used to talk: what is left of it when the radios are set up.

Engines live in whole milliseconds: a contact is used from the first one after it began, and after the radios
are set up, to the last one before it ended. One that is shorter than either radio asks for is not used at
all.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from emulation.contacts.contact import Contacts


class UsableTime:
    """What the radios of all devices ask of a contact: time to set up, and a least length."""

    def __init__(self, setup_ms: Sequence[int], least_ms: Sequence[float]) -> None:
        self._setup_ms = np.array(setup_ms, np.int64)
        self._least_ms = np.array(least_ms, np.float64)

    def windows_ms(self, contacts: Contacts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when each contact opens and when it is lost; one that is lost before it opens is not
        used."""
        setup_ms = np.maximum(self._setup_ms[contacts.a], self._setup_ms[contacts.b])
        opens = np.ceil(contacts.begin_ms).astype(np.int64) + setup_ms
        return opens, np.floor(contacts.end_ms).astype(np.int64)

    def are_long_enough(self, contacts: Contacts) -> NDArray[np.bool_]:
        """Say which contacts both radios take up, by their length."""
        least_ms = np.maximum(self._least_ms[contacts.a], self._least_ms[contacts.b])
        are: NDArray[np.bool_] = contacts.end_ms - contacts.begin_ms >= least_ms
        return are
