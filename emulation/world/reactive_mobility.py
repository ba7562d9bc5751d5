"""Nodes that are called away: what they are told changes their course, and so whom they meet.

A node of a group with `called` leaves its course when a notification is delivered to it, or when it finds a
match. Its mobility model says how it goes to where the source of the notification was when it was made; from
that moment on the pairs with that node have other contacts (`emulation.world.reactive_contacts`). Who is on
a call hears no other until it is back, and for a while none from a source that it went to: otherwise a
source that goes on telling would keep whoever came to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dens.overlay.events import Event, MessageEvent, NotificationDelivered, NotificationMatched
from emulation.clock import Clock
from emulation.mobility.model import AnswersCalls
from emulation.random.streams import Streams
from emulation.scenario import Scenario
from emulation.world.reactive_contacts import ReactiveContacts

AGAIN_MS: Final = 3_600_000
"""For so long after a call a device hears no other from the same source."""
_CALLS: Final[dict[str, tuple[type[MessageEvent] | type[NotificationMatched], str]]] = {
    "delivered": (NotificationDelivered, "subscriber"),
    "matched": (NotificationMatched, "mediator"),
}
"""What calls a node, and which of a device's engines tells it, by the word of the scenario."""


@dataclass(frozen=True, slots=True)
class Responder:
    """A device that goes where it is called: what calls it, how it goes, and chance for its way."""

    called_by: type[MessageEvent] | type[NotificationMatched]
    model: AnswersCalls
    chance: np.random.Generator


def responders_of(scenario: Scenario, streams: Streams) -> dict[int, Responder]:
    """Return who can be called, by the number of the engine that tells of it."""
    found: dict[int, Responder] = {}
    for group, _, word, model in scenario.called():
        kind, role = _CALLS[word]
        for slot in scenario.slots():
            if (slot.group, slot.role) == (group, role):
                found[slot.number] = Responder(kind, model, streams.stream("calls", slot.device))
    return found


class ReactiveMobility:
    """Hears what engines tell, and lets devices turn."""

    def __init__(
        self,
        clock: Clock,
        contacts: ReactiveContacts,
        responders: Mapping[int, Responder],
        device_of: Sequence[int],
        duration_ms: int,
        mediators: frozenset[int] = frozenset(),
    ) -> None:
        """Take who can be called, the device of every engine, and which of them are mediators: where one made
        a composite, nothing was measured.
        """
        self._mediators = mediators
        self._clock = clock
        self._contacts = contacts
        self._responders = responders
        self._device_of = device_of
        self._duration_ms = duration_ms
        self._calls: list[tuple[int, MessageEvent | NotificationMatched]] = []
        self._back_ms: dict[int, float] = {}
        self._went_ms: dict[tuple[int, int], int] = {}

    def heard(self, node: int, event: Event) -> None:
        """Something happened in an engine: if it calls its device, that waits until `react`."""
        responder = self._responders.get(node)
        if (
            responder is not None
            and isinstance(event, responder.called_by)
            and event.item.origin not in self._mediators
        ):
            self._calls.append((node, event))

    def react(self) -> None:
        """Let devices follow the calls that were heard."""
        while self._calls:
            self._call(*self._calls.pop(0))

    def _call(self, node: int, event: MessageEvent | NotificationMatched) -> None:
        """Let a device go to where the source of a notification was when it was made."""
        now_ms = self._clock.now_ms
        device, source = self._device_of[node], self._device_of[event.item.origin]
        went_ms = self._went_ms.get((device, source), -AGAIN_MS)
        if source == device or now_ms < self._back_ms.get(device, 0.0) or now_ms < went_ms + AGAIN_MS:
            return
        made_ms = min(max(event.item.created_ms, 0), now_ms)
        here, there = self._contacts.place_at(device, now_ms), self._contacts.place_at(source, made_ms)
        responder = self._responders[node]
        answer = responder.model.answer(here, there, now_ms, self._duration_ms, responder.chance)
        if answer is not None:
            self._back_ms[device] = answer.back_ms
            self._went_ms[device, source] = now_ms
            self._contacts.turn(device, answer.legs)
