"""Candidates: one sorted stack of events per primitive, stream and key, shared by all patterns.

Partial matches are never stored. A pattern is searched in the stacks by lowering
(`plugins.composite.search.search`). A stack is a sorted list of events; degrees are stored in the events.
Stacks without a key, the common case, belong to their stream: an event reaches all of its own through one
table.
"""

from bisect import bisect_left
from collections.abc import Callable
from operator import attrgetter
from typing import Final, TypeVar

from plugins.composite.search.events import Event, Stream

_Name = TypeVar("_Name")
Place = tuple[Stream | None, bytes]
"""The stream, None for all of them together, and the bytes of the key."""
Stack = list[Event]
EMPTY: Final[Stack] = []
Order = Callable[[Event], int]
"""Sort key of the events of a stack."""
IN_STREAM: Final[Order] = attrgetter("key")
AMONG_ALL: Final[Order] = attrgetter("any_key")


class Slot:
    """The stacks of a primitive for one choice of key attributes, within streams or over all of them."""

    __slots__ = ("_streams", "attributes", "is_any", "is_plain", "number", "order", "stacks", "users")

    def __init__(self, number: int, attributes: tuple[int, ...], is_any: bool) -> None:
        self.number = number
        """The number of the primitive."""
        self.attributes = attributes
        self.is_any = is_any
        self.is_plain = not attributes and not is_any
        """Whether the slot has no key, so that the stack belongs to the stream and not to this slot."""
        self.order: Order = AMONG_ALL if is_any else IN_STREAM
        self.users = 0
        self.stacks: dict[Place, Stack] = {}
        self._streams: dict[bytes, dict[Stream, Stack]] = {}
        """If all sources are combined: the stacks of single streams by key."""

    def key_of(self, event: Event) -> bytes:
        """Return the bytes of the key in an event, which has them if it satisfies the primitive."""
        values = event.values
        return bytes([values[index] for index in self.attributes]) if self.attributes else b""

    def at(self, stream: Stream | None, key: bytes) -> Stack | None:
        """Return the candidates of a stream, or of all streams, for a key; None if there are none."""
        if self.is_plain and stream is not None:
            return stream.stacks.get(self.number)
        if self.is_any and stream is not None:
            own = self._streams.get(key)
            return None if own is None else own.get(stream)
        return self.stacks.get((stream, key))

    def streams(self, key: bytes) -> list[Stream]:
        """Return the streams with candidates for a key, if all sources are combined."""
        return list(self._streams.get(key, ()))

    def push(self, event: Event) -> None:
        """Add an event that satisfies the primitive to its stacks, unless it is there."""
        if self.is_plain:
            _push(event.stream.stacks, self.number, event, self.order)
            return
        key = self.key_of(event)
        _push(self.stacks, (None if self.is_any else event.stream, key), event, self.order)
        if self.is_any:
            _push(self._streams.setdefault(key, {}), event.stream, event, self.order)

    def drop(self, event: Event) -> None:
        """Remove an event from its stacks; an unknown one is ignored."""
        if self.is_plain:
            _drop(event.stream.stacks, self.number, event, self.order)
            return
        key = self.key_of(event)
        _drop(self.stacks, (None if self.is_any else event.stream, key), event, self.order)
        own = self._streams.get(key)
        if own is not None:
            _drop(own, event.stream, event, self.order)
            if not own:
                del self._streams[key]


def _push(stacks: dict[_Name, Stack], name: _Name, event: Event, order: Order) -> None:
    stack = stacks.get(name)
    place = order(event)
    if stack is None:
        stacks[name] = [event]
    elif place > order(stack[-1]):
        stack.append(event)
    else:
        at = bisect_left(stack, place, key=order)
        if stack[at] is not event:
            stack.insert(at, event)


def _drop(stacks: dict[_Name, Stack], name: _Name, event: Event, order: Order) -> None:
    stack = stacks.get(name)
    if stack is None:
        return
    at = bisect_left(stack, order(event), key=order)
    if at < len(stack) and stack[at] is event:
        del stack[at]
        if not stack:
            del stacks[name]
