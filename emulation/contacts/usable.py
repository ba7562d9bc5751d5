"""The usable part of a contact, after the radios are set up.

Engines use whole milliseconds: a contact is usable from the first one after its begin and the set-up of the
radios, to the last one before its end. A contact shorter than the minimum of either radio is not used at all.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from emulation.contacts.contact import Contacts


class UsableTime:
    """The requirements of all radios: set-up time and minimum length of a contact."""

    def __init__(self, setup_ms: Sequence[int], least_ms: Sequence[float]) -> None:
        self._setup_ms = np.array(setup_ms, np.int64)
        self._least_ms = np.array(least_ms, np.float64)

    def windows_ms(self, contacts: Contacts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when each contact opens and closes; one that closes before it opens is not used."""
        setup_ms = np.maximum(self._setup_ms[contacts.a], self._setup_ms[contacts.b])
        opens = np.ceil(contacts.begin_ms).astype(np.int64) + setup_ms
        return opens, np.floor(contacts.end_ms).astype(np.int64)

    def are_long_enough(self, contacts: Contacts) -> NDArray[np.bool_]:
        """Return which contacts are long enough for both radios."""
        least_ms = np.maximum(self._least_ms[contacts.a], self._least_ms[contacts.b])
        are: NDArray[np.bool_] = contacts.end_ms - contacts.begin_ms >= least_ms
        return are
