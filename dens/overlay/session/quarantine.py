"""What is done when work with one message fails that must not fail: the message is quarantined, and nothing
ends.

A language, a directory, a filter host or a replication policy may be somebody else's, and have a defect that
one message finds. Such work is done here, in one place: whatever it raises becomes an event and a durable
mark, and that kind of work is not tried with that message again, after a restart neither. The message itself
stays held and is relayed; another node may be able to do what could not be done here. A mark dies with its
message, so marks need no bound of their own.

Work that reached its limit (dens/overlay/session/work_budget.py) is not failed work: an event says that its
outcome is undecided, and nothing is marked.

An error of `REFUSALS` says that bytes are bad, and is an answer while a message is being taken: whoever takes
it asks for that (`may_reject`). What a store raises is nobody's message's fault, and goes on.
"""

from collections import deque
from collections.abc import Callable
from enum import IntFlag
from pathlib import PurePath
from typing import Final, TypeVar

from dens.overlay.errors import RemoteProtocolError, StoreError
from dens.overlay.events import Event, MessageQuarantined, MessageUndecided
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.wire.codes import LINK_NUMBER
from dens.overlay.wire.item import Item
from watchdog.vector import VectorError

Outcome = TypeVar("Outcome")


class Work(IntFlag):
    """What may fail with one message. A number is written into stores, and never changes its meaning. The
    lower-case name is the word in events.
    """

    TAKING = 1
    """Learning what it means to this node."""
    MATCHING = 2
    """Holding it in a matcher, or finding what it satisfies."""
    LOOKUP = 4
    """Asking the directory who can serve it, or telling the directory of it."""
    FORMING = 8
    """Making of it what an end is to be sent."""
    SHARING = 16
    """Asking the replication policy about it."""
    FILTERING = 32
    """Handing it to a filter host."""
    ENDING = 64
    """Taking it out of somewhere when it is over; there is nothing left to mark then."""
    COVERING = 128
    """Asking which subscriptions stand for it at sources; it is installed as if none did."""
    COMPOSING = 256
    """Feeding it to a composer, or taking what that made of it."""


_NOT_KEPT: Final = Work.ENDING

REFUSALS: Final = (VectorError, RemoteProtocolError)
"""What says that bytes are bad, which is not the same as being broken: the one error of every verb that other
rooms are asked with bytes, and that of the overlay's own payloads.
"""


def describe_failure(work: Work, error: Exception) -> str:
    """Return which work failed, with what, and where: a bounded word, whatever the message says."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" at {PurePath(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
    return f"{str(work.name).lower()}: {type(error).__name__}{where}"


class Quarantine:
    """Does what may fail, and keeps away from it the messages with which it failed."""

    __slots__ = ("_durable", "_events", "_exceeded")

    def __init__(
        self, durable: DurableState, events: deque[Event], exceeded: tuple[type[Exception], ...] = ()
    ) -> None:
        """`exceeded` are errors that say that work reached a limit: it is undecided then, and no failure."""
        self._durable = durable
        self._events = events
        self._exceeded = exceeded

    def has_marks(self, item: Item) -> bool:
        """Return whether any work failed with this message."""
        return item.id in self._durable.quarantined

    def holds(self, item: Item, work: Work) -> bool:
        """Return whether this work failed with this message."""
        works = self._durable.quarantined.get(item.id)
        return works is not None and bool(works & work)  # Nearly always nothing has failed; flags are slow.

    def attempt(
        self,
        work: Work,
        item: Item,
        now_ms: int,
        do: Callable[..., Outcome],
        *arguments: object,
        otherwise: Outcome,
        peer: int | None = None,
        may_reject: bool = False,
    ) -> Outcome:
        """Return what `do(*arguments)` returns; or `otherwise`, where it fails or has failed with this
        message.
        """
        if self.holds(item, work):
            return otherwise
        try:
            return do(*arguments)
        except StoreError:
            raise
        except Exception as error:
            if may_reject and isinstance(error, REFUSALS):
                raise
            self.put(work, item, error, now_ms, peer)
            return otherwise

    def put(self, work: Work, item: Item, error: Exception, now_ms: int, peer: int | None = None) -> bool:
        """Quarantine a message with which this work failed, for as long as it is held; link messages never
        are. Work that reached a limit is undecided instead. Return whether the message is quarantined.
        """
        if isinstance(error, self._exceeded):
            self._events.append(MessageUndecided(now_ms, item, peer, describe_failure(work, error)))
            return False
        if not work & _NOT_KEPT and item.number < LINK_NUMBER:
            self._durable.mark_quarantined(item.id, work)
        self._events.append(MessageQuarantined(now_ms, item, peer, describe_failure(work, error)))
        return True
