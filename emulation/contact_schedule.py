"""Where contacts come from and how they are put on the clock.

Mostly they are found before anything is sent, from motion alone, so no traffic can change them: that is the
schedule here. Where nodes are called away they follow from courses that change
(`emulation.reactive_contacts`).
"""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.usable import UsableTime
from emulation.mobility.model import Legs
from emulation.surroundings_journal import SurroundingsJournal

Meeting = tuple[int, int, int]
"""(at_ms, a, b)"""
OnPair = Callable[[int, int], None]
"""What happens to two devices, the one with the lower number first."""

_AT_ONCE: Final = 1_024


class ContactSchedule(Protocol):
    """Says which devices come into range of each other and when they part, and writes it down."""

    def begin(self, opened: OnPair, lost: OnPair) -> None:
        """Put the contacts on the clock: these are told of each that opens and each that is lost."""
        ...

    def record_until(self, at_ms: int) -> None:
        """Write down what is fact by now, if that was not known before."""
        ...

    def close(self, at_ms: int) -> None:
        """Write down what still lasts when the run ends, at this time."""
        ...


class PlannedContacts:
    """Contacts that nothing changes."""

    def __init__(
        self,
        clock: Clock,
        journal: SurroundingsJournal,
        walks: list[Legs],
        contacts: Contacts,
        usable: UsableTime,
    ) -> None:
        self._clock = clock
        self._journal = journal
        self._walks = walks
        self._contacts = contacts
        self._usable = usable

    def begin(self, opened: OnPair, lost: OnPair) -> None:
        """Write down motion and contacts, and put the contacts on the clock."""
        self._journal.motion(self._walks)
        self._walks = []  # Nobody asks any more where anybody is.
        contacts = self._contacts
        self._journal.contacts(contacts)
        opens_ms, lost_ms = self._usable.windows_ms(contacts)
        is_used = (opens_ms < lost_ms) & self._usable.are_long_enough(contacts)
        self._feed(_in_turn(contacts, opens_ms, is_used), Rank.CONTACT_OPENED, opened)
        self._feed(_in_turn(contacts, lost_ms, is_used & ~contacts.censored), Rank.CONTACT_LOST, lost)

    def record_until(self, at_ms: int) -> None:
        """Do nothing: everything was written down at the beginning."""

    def close(self, at_ms: int) -> None:
        """Do nothing: a contact that outlasts the run is known as censored from the beginning."""

    def _feed(self, meetings: Iterator[Meeting], rank: Rank, action: OnPair) -> None:
        """Let the action happen for each of these, keeping only the next of them on the clock."""
        meeting = next(meetings, None)
        if meeting is not None:
            at_ms, a, b = meeting
            self._clock.call_at(at_ms, rank, self._happen, meetings, rank, action, a, b)

    def _happen(self, meetings: Iterator[Meeting], rank: Rank, action: OnPair, a: int, b: int) -> None:
        action(a, b)
        self._feed(meetings, rank, action)


def _in_turn(contacts: Contacts, at_ms: NDArray[np.int64], which: NDArray[np.bool_]) -> Iterator[Meeting]:
    """Yield when which pairs of these contacts meet or part, in order. There may be millions, so they become
    Python's numbers a few at a time."""
    a, b, at_ms = contacts.a[which], contacts.b[which], at_ms[which]
    order = np.lexsort((b, a, at_ms))
    for begin in range(0, len(order), _AT_ONCE):
        some = order[begin : begin + _AT_ONCE]
        yield from zip(at_ms[some].tolist(), a[some].tolist(), b[some].tolist(), strict=True)
