"""Candidates: for each primitive, stream and key one sorted stack of events, shared by all patterns.

No partial match is ever stored. What a pattern needs is found in the stacks by lowering
(`plugins.composite.search`). Stacks without a key, which most are, lie at their stream: an event reaches all
of its own through one table.
"""

from typing import TypeVar

from plugins.composite.events import Event, Stack, Stream

_Name = TypeVar("_Name")
Place = tuple[Stream | None, bytes]
"""The stream, None for all of them together, and the bytes of the key."""


EMPTY = Stack()


class Slot:
    """The stacks of a primitive under one choice of key attributes, within streams or over all of them."""

    __slots__ = ("attributes", "is_any", "is_plain", "number", "stacks", "users")

    def __init__(self, number: int, attributes: tuple[int, ...], is_any: bool) -> None:
        self.number = number
        """The primitive's."""
        self.attributes = attributes
        self.is_any = is_any
        self.is_plain = not attributes and not is_any
        """Whether a stream has one stack, because there is no key: it lies there, and not here."""
        self.users = 0
        self.stacks: dict[Place, Stack] = {}

    def key_of(self, event: Event) -> bytes:
        """Return the bytes of the key in an event, which has them where it satisfies the primitive."""
        values = event.values
        return bytes([values[index] for index in self.attributes]) if self.attributes else b""

    def at(self, stream: Stream | None, key: bytes) -> Stack | None:
        """Return the candidates of a stream, or of all of them, under a key; None where there are none."""
        if self.is_plain and stream is not None:
            return stream.stacks.get(self.number)
        return self.stacks.get((stream, key))

    def push(self, event: Event, degree: int) -> None:
        """Put an event that satisfies the primitive into its stacks."""
        if self.is_plain:
            _at(event.stream.stacks, self.number).push(event.key, event, degree)
            return
        key = self.key_of(event)
        order = event.any_key if self.is_any else event.key
        for stream in (None, event.stream) if self.is_any else (event.stream,):
            _at(self.stacks, (stream, key)).push(order, event, degree)

    def drop(self, event: Event) -> None:
        """Take an event out of its stacks."""
        if self.is_plain:
            _drop(event.stream.stacks, self.number, event.key)
            return
        key = self.key_of(event)
        order = event.any_key if self.is_any else event.key
        for stream in (None, event.stream) if self.is_any else (event.stream,):
            _drop(self.stacks, (stream, key), order)


def _at(stacks: dict[_Name, Stack], name: _Name) -> Stack:
    stack = stacks.get(name)
    if stack is None:
        stack = stacks[name] = Stack()
    return stack


def _drop(stacks: dict[_Name, Stack], name: _Name, order: int) -> None:
    stack = stacks.get(name)
    if stack is not None:
        stack.drop(order)
        if not stack.keys:
            del stacks[name]
