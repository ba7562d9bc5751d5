"""Contacts of nodes whose courses change during a run.

Contacts are scheduled as planned. When a node changes its course, its contacts are computed again
(`emulation.contacts.courses`), and its earlier schedule is void; other pairs are not affected. Motion and
contacts are recorded when they end, so that the number of checkpoints does not change the trace.
"""

from functools import partial

import numpy as np

from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.courses import Courses
from emulation.contacts.usable import UsableTime
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.mobility.model import Legs, Point
from emulation.world.contact_schedule import OnPair


class ReactiveContacts:
    """The contacts of courses, on the clock."""

    def __init__(
        self, clock: Clock, journal: GroundTruthRecorder, courses: Courses, usable: UsableTime
    ) -> None:
        self._clock = clock
        self._journal = journal
        self._courses = courses
        self._usable = usable
        self._recorded_ms = 0
        self._open: set[tuple[int, int]] = set()
        self._turns = [0] * len(courses.walks)
        """The number of course changes of each device; calls scheduled before the last one are void."""

    def begin(self, opened: OnPair, lost: OnPair) -> None:
        """Schedule the contacts of the initial courses."""
        self._opened, self._lost = opened, lost
        self._plan(self._courses.contacts)

    def record_until(self, at_ms: int) -> None:
        """Record legs and contacts that ended by now."""
        since_ms, self._recorded_ms = self._recorded_ms, at_ms
        self._journal.more_motion(*self._courses.motion_until(at_ms, since_ms=since_ms))
        self._journal.more_contacts(self._courses.contacts_until(at_ms, since_ms=since_ms))

    def close(self, at_ms: int) -> None:
        """Record current legs and open contacts when the run ends."""
        since_ms = self._recorded_ms
        self._journal.more_motion(*self._courses.motion_until(at_ms, since_ms=since_ms, cut=True))
        self._journal.more_contacts(self._courses.contacts_until(at_ms, since_ms=since_ms, cut=True))

    def place_at(self, device: int, at_ms: float) -> Point:
        """Return the place of a device at a time, according to its current course."""
        return self._courses.walks[device].place_at(at_ms)

    def turns(self, device: int) -> int:
        """Return the number of course changes of a device."""
        return self._turns[device]

    def turn(self, device: int, rest: Legs) -> None:
        """Change the course of a device from now on, and schedule its contacts again."""
        now_ms = self._clock.now_ms
        contacts = self._courses.turn(device, now_ms, rest)
        self._turns[device] += 1
        self._plan(contacts)
        lasting = contacts.begin_ms <= now_ms + 1
        still = set(zip(contacts.a[lasting].tolist(), contacts.b[lasting].tolist(), strict=True))
        for pair in sorted(pair for pair in self._open if device in pair and pair not in still):
            # At the limit of the range, rounding may end a contact at the moment of the change.
            turns = self._turns[pair[0]], self._turns[pair[1]]
            self._clock.call_at(now_ms, Rank.CONTACT_LOST, partial(self._part, pair, turns))

    def _plan(self, contacts: Contacts) -> None:
        """Schedule contacts. For pairs already in contact only the end is scheduled."""
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
