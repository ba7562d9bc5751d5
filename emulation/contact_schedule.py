"""Where contacts come from and how they are put on the clock.

Mostly they are found before anything is sent, from motion alone, so no traffic can change them: that is the
schedule here. Where nodes are called away they follow from courses that change
(`emulation.reactive_contacts`).
"""

from collections.abc import Callable
from typing import Protocol

from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.usable import UsableTime
from emulation.mobility.model import Legs
from emulation.surroundings_journal import SurroundingsJournal

Meeting = tuple[int, int, int]
"""(at_ms, a, b)"""
OnPair = Callable[[int, int], None]
"""What happens to two devices, the one with the lower number first."""


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
        self._journal.contacts(self._contacts)
        usable = self._usable
        opening: list[Meeting] = []
        losing: list[Meeting] = []
        rows = zip(*(getattr(self._contacts, name).tolist() for name in Contacts.__slots__), strict=True)
        for a, b, begin_ms, end_ms, censored in rows:
            first, last = usable.window_ms(a, b, begin_ms, end_ms)
            if first < last and usable.is_long_enough(a, b, begin_ms, end_ms):
                opening.append((first, a, b))
                if not censored:
                    losing.append((last, a, b))
        self._feed(sorted(opening), Rank.CONTACT_OPENED, opened)
        self._feed(sorted(losing), Rank.CONTACT_LOST, lost)

    def record_until(self, at_ms: int) -> None:
        """Do nothing: everything was written down at the beginning."""

    def close(self, at_ms: int) -> None:
        """Do nothing: a contact that outlasts the run is known as censored from the beginning."""

    def _feed(self, meetings: list[Meeting], rank: Rank, action: OnPair) -> None:
        """Let the action happen for each of these, keeping only the next of them on the clock."""
        waiting = iter(meetings)

        def next_one() -> None:
            meeting = next(waiting, None)
            if meeting is not None:
                at_ms, a, b = meeting

                def happen() -> None:
                    action(a, b)
                    next_one()

                self._clock.call_at(at_ms, rank, happen)

        next_one()
