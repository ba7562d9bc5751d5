"""Events of a world as SimPy events, for processes that wait for them.

While there is a watch, the clock steps from millisecond to millisecond. A watch therefore ends as soon as no
process waits for it and no variable holds it, as after `yield run.delivered() | run.timeout_ms(900)` that
timed out. SimPy's own objects keep a waiting process alive only through the event that it waits for, so a
watch with waiting processes has to be held here.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import simpy

from dens.overlay.events import (
    Event,
    MessageCreated,
    MessageEvent,
    NotificationDelivered,
    NotificationMatched,
)
from dens.overlay.wire.codes import MessageType
from emulation.clock import Clock

Key = tuple[str, int | None, int | None]
"""The kind of event, and a node (None: any) or two devices."""


class Observed(NamedTuple):
    """An event of a notification, and the name of its node."""

    node: str
    event: MessageEvent | NotificationMatched


class Inbox(simpy.Store):
    """Collects all events of one kind until `cancel`."""

    def __init__(self, environment: simpy.Environment, cancel: Callable[[simpy.Store], None]) -> None:
        super().__init__(environment)
        self._cancel = cancel

    def cancel(self) -> None:
        """Stop collecting. Collected events stay."""
        self._cancel(self)


class _Callbacks(list[Any]):
    """Callbacks of a watch, which is held as long as there are any."""

    def __init__(self, watch: simpy.Event, held: set[simpy.Event]) -> None:
        super().__init__()
        self._watch = ref(watch)
        self._held = held

    def append(self, callback: Any) -> None:
        super().append(callback)
        watch = self._watch()
        if watch is not None and not watch.triggered:
            self._held.add(watch)

    def remove(self, callback: Any) -> None:
        super().remove(callback)
        if not self and (watch := self._watch()) is not None:
            self._held.discard(watch)


class Watchers:
    """The watches of a world."""

    def __init__(self, clock: Clock, names: list[str]) -> None:
        """Take the names of the nodes by number."""
        self._clock = clock
        self._names = names
        self._held: set[simpy.Event] = set()
        self._watches: dict[Key, list[ReferenceType[simpy.Event]]] = {}
        self._inboxes: dict[Key, list[Inbox]] = {}

    def watch(self, kind: str, a: int | None, b: int | None = None) -> simpy.Event:
        """Return an event that happens with the next of this kind."""
        key = (kind, a, b)
        event = self._clock.environment.event()
        event.callbacks = _Callbacks(event, self._held)
        self._watches.setdefault(key, []).append(ref(event, partial(self._forget, key)))
        self._update_clock()
        return event

    def inbox(self, kind: str, node: int | None) -> Inbox:
        """Return a store that gets all of this kind from now on."""
        key = (kind, node, None)
        inbox = Inbox(self._clock.environment, partial(self._close, key))
        self._inboxes.setdefault(key, []).append(inbox)
        self._update_clock()
        return inbox

    def on_event(self, node: int, event: Event) -> None:
        """Handle an event of an engine."""
        if not self._clock.is_watched:
            return
        if isinstance(event, NotificationDelivered):
            self._observe("delivered", node, event)
        elif isinstance(event, NotificationMatched):
            if not event.from_before:
                self._observe("matched", node, event)
        elif isinstance(event, MessageCreated) and event.item.type == MessageType.NOTIFICATION:
            self._observe("published", node, event)

    def on_contact(self, a: int, b: int) -> None:
        """Handle a contact of two devices."""
        self._happen(("contact", min(a, b), max(a, b)), self._clock.now_ms)

    def on_contact_lost(self, a: int, b: int) -> None:
        """Handle the end of a contact of two devices."""
        self._happen(("lost", min(a, b), max(a, b)), self._clock.now_ms)

    def _observe(self, kind: str, node: int, event: MessageEvent | NotificationMatched) -> None:
        observed = Observed(self._names[node], event)
        for who in (node, None):
            self._happen((kind, who, None), observed)
            for inbox in self._inboxes.get((kind, who, None), ()):
                inbox.put(observed)
                self._clock.yield_to_others()

    def _happen(self, key: Key, value: Any) -> None:
        for reference in self._watches.pop(key, ()):
            event = reference()
            if event is not None and not event.triggered:
                event.succeed(value)
                self._held.discard(event)
                self._clock.yield_to_others()
        self._update_clock()

    def _forget(self, key: Key, reference: ReferenceType[simpy.Event]) -> None:
        """Drop a watch that was garbage-collected."""
        watches = self._watches.get(key, [])
        if reference in watches:
            watches.remove(reference)
        if not watches:
            self._watches.pop(key, None)
        self._update_clock()

    def _close(self, key: Key, inbox: simpy.Store) -> None:
        inboxes = self._inboxes.get(key, [])
        if inbox in inboxes:
            inboxes.remove(inbox)
        if not inboxes:
            self._inboxes.pop(key, None)
        self._update_clock()

    def _update_clock(self) -> None:
        self._clock.is_watched = bool(self._watches or self._inboxes)
