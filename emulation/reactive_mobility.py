"""Worlds in which nodes are called away: what they are told changes their course, and so whom they meet.

A node of a group with `called` leaves its course when a notification is delivered to it, or when it finds a
match. Its mobility model says how it goes to where the source of the notification was when it was made; from
that moment on the pairs with that node have other contacts (`emulation.contacts.courses`). Who is on a call
hears no other until it is back, and for a while none from a source that it went to: otherwise a source that
goes on telling would keep whoever came to it.

Motion and contacts are written down as they become fact, by their ends, so how often a run pauses does not
change them.
"""

from functools import partial
from typing import Final

import numpy as np

from dens.events import Event, MessageEvent, NotificationDelivered, NotificationMatched
from emulation.clock import Rank
from emulation.contacts.contact import Contacts
from emulation.contacts.courses import Courses
from emulation.faults.world import HarshWorld
from emulation.journal import Journal
from emulation.mobility.model import AnswersCalls, Legs
from emulation.node import Node
from emulation.scenario.controls import range_windows
from emulation.trace.writer import TraceWriter
from emulation.world import World

AGAIN_MS: Final = 3_600_000
"""For so long after a call a device hears no other from the same source."""
_CALLS: Final[dict[str, tuple[type[MessageEvent] | type[NotificationMatched], str]]] = {
    "delivered": (NotificationDelivered, "subscriber"),
    "matched": (NotificationMatched, "mediator"),
}
"""What calls a node, and which of a device's engines tells it, by the word of the scenario."""


class CallJournal(Journal):
    """A journal that keeps what calls somebody until it is asked for it."""

    def __init__(self, trace: TraceWriter, tag_bytes: int) -> None:
        super().__init__(trace, tag_bytes)
        self.called_by: dict[int, type[MessageEvent] | type[NotificationMatched]] = {}
        """What calls each node that can be called."""
        self.calls: list[tuple[int, MessageEvent | NotificationMatched]] = []

    def event(self, node: int, event: Event) -> None:
        """Something happened in an engine, and may call its node."""
        super().event(node, event)
        wanted = self.called_by.get(node)
        if wanted is not None and isinstance(event, wanted):
            self.calls.append((node, event))


class CalledWorld(World):
    """A world whose nodes may change their course."""

    journal: CallJournal

    def _new_journal(self, trace: TraceWriter) -> CallJournal:
        return CallJournal(trace, self._crew.tag_bytes)

    def _arrange_meetings(self, walks: list[Legs], contacts: Contacts) -> None:
        """Put the contacts on the clock as they are planned, and listen for calls."""
        scenario = self._scenario
        self._courses = Courses(
            walks, contacts, range_windows(scenario.settings), float(scenario.duration_ms)
        )
        self._least_ms = self._least_contacts_ms()
        self._open: set[tuple[int, int]] = set()
        self._turns = [0] * self._devices
        """How often each device changed its course; a meeting that was planned before is void."""
        self._answers: dict[int, AnswersCalls] = {}
        self._chances: dict[int, np.random.Generator] = {}
        self._back_ms: dict[int, float] = {}
        self._went_ms: dict[tuple[int, int], int] = {}
        for group, devices, word, model in scenario.called():
            kind, role = _CALLS[word]
            self.journal.called_by.update((node.number, kind) for node in self._players(group, role))
            self._answers.update((device, model) for device in devices)
            self._chances.update((device, self._streams.stream("calls", device)) for device in devices)
        self._plan(contacts)

    # ------------------------------------------------------------------ facts

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this time, and write down what is fact by then."""
        super().run_until(at_ms)
        self.journal.motion_so_far(*self._courses.motion_until(at_ms))
        self.journal.contacts_so_far(self._courses.contacts_until(at_ms))

    def close(self, at_ms: int) -> None:
        """Write down the legs that nodes are on and the contacts that last when the run ends."""
        self.journal.motion_so_far(*self._courses.motion_until(at_ms, cut=True))
        self.journal.contacts_so_far(self._courses.contacts_until(at_ms, cut=True))

    # ------------------------------------------------------------------ meetings

    def _plan(self, contacts: Contacts) -> None:
        """Put contacts on the clock. Those of pairs that talk already only get their end."""
        now_ms = self._clock.now_ms
        rows = zip(*(getattr(contacts, name).tolist() for name in Contacts.__slots__), strict=True)
        for a, b, begin_ms, end_ms, censored in rows:
            meeting = (a, b), (self._turns[a], self._turns[b])
            first, last = self._usable(a, b, begin_ms, end_ms)
            if (a, b) in self._open and begin_ms <= now_ms + 1:
                last = max(last, now_ms)
            elif max(first, now_ms) < last and end_ms - begin_ms >= max(self._least_ms[a], self._least_ms[b]):
                self._clock.call_at(first, Rank.CONTACT_OPENED, partial(self._meet, *meeting))
            else:
                continue
            if not censored:
                self._clock.call_at(last, Rank.CONTACT_LOST, partial(self._part, *meeting))

    def _meet(self, pair: tuple[int, int], turns: tuple[int, int]) -> None:
        if turns == (self._turns[pair[0]], self._turns[pair[1]]):
            self._open.add(pair)
            self._contact_opened(*pair)

    def _part(self, pair: tuple[int, int], turns: tuple[int, int]) -> None:
        if turns == (self._turns[pair[0]], self._turns[pair[1]]) and pair in self._open:
            self._open.discard(pair)
            self._contact_lost(*pair)

    # ------------------------------------------------------------------ calls

    def _settle(self, node: Node, received: bytes = b"") -> None:
        super()._settle(node, received)
        while self.journal.calls:
            number, event = self.journal.calls.pop(0)
            self._call(self._nodes[number].seat.device, event)

    def _call(self, device: int, event: MessageEvent | NotificationMatched) -> None:
        """Let a device go to where the source of a notification was when it was made."""
        now_ms = self._clock.now_ms
        source = self._nodes[event.item.origin].seat.device
        went_ms = self._went_ms.get((device, source), -AGAIN_MS)
        if source == device or now_ms < self._back_ms.get(device, 0.0) or now_ms < went_ms + AGAIN_MS:
            return
        made_ms = min(max(event.item.created_ms, 0), now_ms)
        walks = self._courses.walks
        here, there = walks[device].place_at(now_ms), walks[source].place_at(made_ms)
        answer = self._answers[device].answer(
            here, there, now_ms, self._scenario.duration_ms, self._chances[device]
        )
        if answer is not None:
            self._back_ms[device] = answer.back_ms
            self._went_ms[device, source] = now_ms
            self._turn(device, answer.legs)

    def _turn(self, device: int, rest: Legs) -> None:
        """Give a device another course from now on, and plan its meetings anew."""
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


class CalledHarshWorld(CalledWorld, HarshWorld):
    """A world whose nodes may change their course and have a hard life."""
