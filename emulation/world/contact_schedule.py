"""Where contacts come from and how they are put on the clock.

Mostly they are found before anything is sent, from motion alone, so no traffic can change them: that is the
schedule here. In one millisecond contacts that are solved open first and are lost last; those of a recording
open and are lost in the order of its lines. Where nodes are called away they follow from courses that change
(`emulation.world.reactive_contacts`).
"""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.usable import UsableTime
from emulation.ground_truth_recorder import SurroundingsJournal
from emulation.mobility.model import Legs

Change = tuple[int, int, int, int]
"""(at_ms, 0 if it opens or 1 if it is lost, a, b)"""
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
        self._actions = (opened, lost)
        self._journal.motion(self._walks)
        self._walks = []  # Nobody asks any more where anybody is.
        contacts = self._contacts
        self._journal.contacts(contacts)
        opens_ms, lost_ms = self._usable.windows_ms(contacts)
        is_used = (opens_ms < lost_ms) & self._usable.are_long_enough(contacts)
        opening = _Changes(contacts, opens_ms, is_used, 0)
        parting = _Changes(contacts, lost_ms, is_used & ~contacts.censored, 1)
        if contacts.order is None:
            self._feed(_in_turn([opening]), Rank.CONTACT_OPENED)
            self._feed(_in_turn([parting]), Rank.CONTACT_LOST)
        else:
            self._feed(_in_turn([opening, parting]), Rank.CONTACT_OPENED)

    def record_until(self, at_ms: int) -> None:
        """Do nothing: everything was written down at the beginning."""

    def close(self, at_ms: int) -> None:
        """Do nothing: a contact that outlasts the run is known as censored from the beginning."""

    def _feed(self, changes: Iterator[Change], rank: Rank) -> None:
        """Let each of these happen, keeping only the next of them on the clock."""
        change = next(changes, None)
        if change is not None:
            at_ms, kind, a, b = change
            self._clock.call_at(at_ms, rank, self._happen, changes, rank, self._actions[kind], a, b)

    def _happen(self, changes: Iterator[Change], rank: Rank, action: OnPair, a: int, b: int) -> None:
        action(a, b)
        self._feed(changes, rank)


class _Changes:
    """Contacts that open, or are lost (`kind` 0 or 1), and when."""

    __slots__ = ("a", "at_ms", "b", "kind", "turn")

    def __init__(
        self, contacts: Contacts, at_ms: NDArray[np.int64], which: NDArray[np.bool_], kind: int
    ) -> None:
        self.a = contacts.a[which]
        self.b = contacts.b[which]
        self.at_ms = at_ms[which]
        self.kind = np.full(len(self.a), kind)
        order = contacts.order
        lines = None if order is None else (order.begin, order.end)[kind]
        self.turn = np.zeros(len(self.a), np.int64) if lines is None else lines[which]
        """The line of the recording that says so."""


def _in_turn(changes: list[_Changes]) -> Iterator[Change]:
    """Yield what happens, in order: within a millisecond by the lines of the recording, if there is one.
    There may be millions, so they become Python's numbers a few at a time."""
    at_ms, turn, kind, a, b = (
        np.concatenate([getattr(some, name) for some in changes])
        for name in ("at_ms", "turn", "kind", "a", "b")
    )
    order = np.lexsort((b, a, kind, turn, at_ms))
    for begin in range(0, len(order), _AT_ONCE):
        some = order[begin : begin + _AT_ONCE]
        yield from zip(*(column[some].tolist() for column in (at_ms, kind, a, b)), strict=True)
