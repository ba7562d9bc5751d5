"""Schedules the contacts of a run on the clock.

Contacts are usually computed before the run, from motion alone, so that traffic cannot change them: that is
the schedule here. Within one millisecond, computed contacts open first and close last; recorded ones change
in the order of the file's lines. Contacts of reactive nodes are in `emulation.world.reactive_contacts`.
"""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.usable import UsableTime
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.mobility.model import Legs

Change = tuple[int, int, int, int]
"""(at_ms, 0 if it opens or 1 if it closes, a, b)"""
OnPair = Callable[[int, int], None]
"""Called with two devices, the lower number first."""

_CHUNK: Final = 1_024
"""Changes converted to Python integers at a time."""


class ContactSchedule(Protocol):
    """Schedules contacts and records them in the trace."""

    def begin(self, opened: OnPair, lost: OnPair) -> None:
        """Put the contacts on the clock; `opened` and `lost` are called when they open and close."""
        ...

    def record_until(self, at_ms: int) -> None:
        """Record motion and contacts up to this time, if that was not possible before."""
        ...

    def close(self, at_ms: int) -> None:
        """Record open contacts when the run ends."""
        ...


class PlannedContacts:
    """Contacts that are known before the run."""

    def __init__(
        self,
        clock: Clock,
        journal: GroundTruthRecorder,
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
        """Record motion and contacts, and put the contacts on the clock."""
        self._actions = (opened, lost)
        self._journal.motion(self._walks)
        self._walks = []  # No longer needed: free the memory.
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
        """Do nothing: everything was recorded at the beginning."""

    def close(self, at_ms: int) -> None:
        """Do nothing: contacts that outlast the run are marked as censored from the beginning."""

    def _feed(self, changes: Iterator[Change], rank: Rank) -> None:
        """Schedule these changes one by one, so that only the next one is on the clock."""
        change = next(changes, None)
        if change is not None:
            at_ms, kind, a, b = change
            self._clock.call_at(at_ms, rank, self._happen, changes, rank, self._actions[kind], a, b)

    def _happen(self, changes: Iterator[Change], rank: Rank, action: OnPair, a: int, b: int) -> None:
        action(a, b)
        self._feed(changes, rank)


class _Changes:
    """Contacts that open or close (`kind` 0 or 1), and when."""

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
        """The line of the recording."""


def _in_turn(changes: list[_Changes]) -> Iterator[Change]:
    """Yield changes in order, within a millisecond by the lines of the recording. There may be millions, so
    they are converted to Python integers in chunks.
    """
    at_ms, turn, kind, a, b = (
        np.concatenate([getattr(some, name) for some in changes])
        for name in ("at_ms", "turn", "kind", "a", "b")
    )
    order = np.lexsort((b, a, kind, turn, at_ms))
    for begin in range(0, len(order), _CHUNK):
        some = order[begin : begin + _CHUNK]
        yield from zip(*(column[some].tolist() for column in (at_ms, kind, a, b)), strict=True)
