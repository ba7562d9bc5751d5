"""Contacts of nodes whose courses change while the run goes on.

They are put on the clock as they are planned. When a node turns, those of its pairs are planned again
(`emulation.contacts.courses`); what was planned before for these pairs is void, and no other pair is looked
at. Motion and contacts are written down as they become fact, by their ends, so how often a run pauses does
not change them.
"""

from functools import partial

import numpy as np

from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.courses import Courses
from emulation.contacts.usable import UsableTime
from emulation.ground_truth_recorder import SurroundingsJournal
from emulation.mobility.model import Legs, Point
from emulation.world.contact_schedule import OnPair


class ReactiveContacts:
    """The contacts of courses, on the clock."""

    def __init__(
        self, clock: Clock, journal: SurroundingsJournal, courses: Courses, usable: UsableTime
    ) -> None:
        self._clock = clock
        self._journal = journal
        self._courses = courses
        self._usable = usable
        self._recorded_ms = 0
        self._open: set[tuple[int, int]] = set()
        self._turns = [0] * len(courses.walks)
        """How often each device changed its course; a meeting that was planned before is void."""

    def begin(self, opened: OnPair, lost: OnPair) -> None:
        """Put the contacts on the clock as they are planned before any turn."""
        self._opened, self._lost = opened, lost
        self._plan(self._courses.contacts)

    def record_until(self, at_ms: int) -> None:
        """Write down what has become fact by now."""
        since_ms, self._recorded_ms = self._recorded_ms, at_ms
        self._journal.more_motion(*self._courses.motion_until(at_ms, since_ms=since_ms))
        self._journal.more_contacts(self._courses.contacts_until(at_ms, since_ms=since_ms))

    def close(self, at_ms: int) -> None:
        """Write down the legs that nodes are on and the contacts that last when the run ends."""
        since_ms = self._recorded_ms
        self._journal.more_motion(*self._courses.motion_until(at_ms, since_ms=since_ms, cut=True))
        self._journal.more_contacts(self._courses.contacts_until(at_ms, since_ms=since_ms, cut=True))

    def place_at(self, device: int, at_ms: float) -> Point:
        """Return where a device is, was, or will be if nothing changes its course."""
        return self._courses.walks[device].place_at(at_ms)

    def turns(self, device: int) -> int:
        """Return how often a device changed its course."""
        return self._turns[device]

    def turn(self, device: int, rest: Legs) -> None:
        """Give a device another course from now on, and plan its meetings again."""
        now_ms = self._clock.now_ms
        contacts = self._courses.turn(device, now_ms, rest)
        self._turns[device] += 1
        self._plan(contacts)
        lasting = contacts.begin_ms <= now_ms + 1
        still = set(zip(contacts.a[lasting].tolist(), contacts.b[lasting].tolist(), strict=True))
        for pair in sorted(pair for pair in self._open if device in pair and pair not in still):
            # At the border of the range rounding may end a contact at the very moment of the turn.
            turns = self._turns[pair[0]], self._turns[pair[1]]
            self._clock.call_at(now_ms, Rank.CONTACT_LOST, partial(self._part, pair, turns))

    def _plan(self, contacts: Contacts) -> None:
        """Put contacts on the clock. Those of pairs that talk already only get their end."""
        now_ms = self._clock.now_ms
        opens_ms, lost_ms = self._usable.windows_ms(contacts)
        is_used = (np.maximum(opens_ms, now_ms) < lost_ms) & self._usable.are_long_enough(contacts)
        columns = contacts.a, contacts.b, contacts.begin_ms, contacts.censored, opens_ms, lost_ms, is_used
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for a, b, begin_ms, censored, first, last, used in rows:
            meeting = (a, b), (self._turns[a], self._turns[b])
            is_open = (a, b) in self._open and begin_ms <= now_ms + 1
            if not is_open:
                if not used:
                    continue
                self._clock.call_at(first, Rank.CONTACT_OPENED, partial(self._meet, *meeting))
            if not censored:
                self._clock.call_at(last, Rank.CONTACT_LOST, partial(self._part, *meeting))

    def _meet(self, pair: tuple[int, int], turns: tuple[int, int]) -> None:
        if turns == (self._turns[pair[0]], self._turns[pair[1]]):
            self._open.add(pair)
            self._opened(*pair)

    def _part(self, pair: tuple[int, int], turns: tuple[int, int]) -> None:
        if turns == (self._turns[pair[0]], self._turns[pair[1]]) and pair in self._open:
            self._open.discard(pair)
            self._lost(*pair)
