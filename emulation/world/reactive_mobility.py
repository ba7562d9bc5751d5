"""Reactive nodes: notifications change their course, and therefore their contacts.

A node of a group with `called` leaves its course when a notification is delivered to it, or when it finds a
match. Its mobility model leads it to where the source was when it made the notification; its contacts change
from then on (`emulation.world.reactive_contacts`). A node on a call ignores other calls until it is back, and
for a while those of the same source: otherwise a source that keeps publishing would hold it for ever.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dens.overlay.events import Event, MessageEvent, NotificationDelivered, NotificationMatched
from emulation.clock import Clock
from emulation.mobility.model import AnswersCalls
from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.world.reactive_contacts import ReactiveContacts

AGAIN_MS: Final = 3_600_000
"""The time after a call in which a device ignores calls of the same source."""
_CALLS: Final[dict[str, tuple[type[MessageEvent] | type[NotificationMatched], str]]] = {
    "delivered": (NotificationDelivered, "subscriber"),
    "matched": (NotificationMatched, "mediator"),
}
"""By the value of `called`: the event that calls a node, and the role whose engine reports it."""


@dataclass(frozen=True, slots=True)
class Responder:
    """A reactive device: the event that calls it, its model, and its random generator."""

    called_by: type[MessageEvent] | type[NotificationMatched]
    model: AnswersCalls
    rng: np.random.Generator


def responders_of(scenario: Scenario, streams: RandomStreams) -> dict[int, Responder]:
    """Return the reactive devices, by the number of the engine that reports their calls."""
    responders: dict[int, Responder] = {}
    for group, _, word, model in scenario.called():
        kind, role = _CALLS[word]
        for slot in scenario.slots():
            if (slot.group, slot.role) == (group, role):
                responders[slot.number] = Responder(kind, model, streams.rng("calls", slot.device))
    return responders


class ReactiveMobility:
    """Changes the course of devices in response to events of their engines."""

    def __init__(
        self,
        clock: Clock,
        contacts: ReactiveContacts,
        responders: Mapping[int, Responder],
        device_of: Sequence[int],
        duration_ms: int,
        mediators: frozenset[int] = frozenset(),
    ) -> None:
        """Take the reactive devices, the device of every engine, and the mediators: composites that they make
        have no place and call no device.
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

    def on_event(self, node: int, event: Event) -> None:
        """Record an event of an engine if it calls its device; `react` follows the call."""
        responder = self._responders.get(node)
        if (
            responder is not None
            and isinstance(event, responder.called_by)
            and event.item.origin not in self._mediators
        ):
            self._calls.append((node, event))

    def react(self) -> None:
        """Let devices follow the recorded calls."""
        while self._calls:
            self._call(*self._calls.pop(0))

    def _call(self, node: int, event: MessageEvent | NotificationMatched) -> None:
        """Send a device to where the source of a notification was when it made it."""
        now_ms = self._clock.now_ms
        device, source = self._device_of[node], self._device_of[event.item.origin]
        went_ms = self._went_ms.get((device, source), -AGAIN_MS)
        if source == device or now_ms < self._back_ms.get(device, 0.0) or now_ms < went_ms + AGAIN_MS:
            return
        made_ms = min(max(event.item.created_ms, 0), now_ms)
        here, there = self._contacts.place_at(device, now_ms), self._contacts.place_at(source, made_ms)
        responder = self._responders[node]
        answer = responder.model.answer(here, there, now_ms, self._duration_ms, responder.rng)
        if answer is not None:
            self._back_ms[device] = answer.back_ms
            self._went_ms[device, source] = now_ms
            self._contacts.turn(device, answer.legs)
