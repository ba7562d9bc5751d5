"""Quarantine: isolates a message whose processing raised unexpectedly, so that the node keeps running.

A language, directory, filter host or replication policy may come from another package and fail with one
message. `Quarantine.attempt` calls it: an exception becomes an event and a durable mark, and this kind of
work is never tried with this message again, not even after a restart. The message stays held and is relayed;
another node may be able to process it. A mark is removed with its message, so marks need no limit of their
own.

Work that reached its limit (dens/overlay/session/work_budget.py) has not failed: an event reports that the
outcome is undecided, and nothing is marked.

`REFUSALS` mean invalid bytes, a regular result while a message is received; callers that handle them pass
`may_reject`. Exceptions of the store are not caused by a message and propagate.
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
    """Kinds of work that may fail with one message. The numbers are in stores and never change their meaning;
    the lower-case names are in events.
    """

    TAKING = 1
    """Receiving the message."""
    MATCHING = 2
    """Adding it to a matcher, or matching it."""
    LOOKUP = 4
    """Querying the directory about it, or adding it to the directory."""
    FORMING = 8
    """Making the form that an endpoint receives."""
    SHARING = 16
    """Calling the replication policy."""
    FILTERING = 32
    """Installing it in a filter host."""
    ENDING = 64
    """Removing it after its end; nothing is left to mark then."""
    COVERING = 128
    """Finding subscriptions that cover it at sources; on failure it is installed as if there were none."""
    COMPOSING = 256
    """Feeding it to a composer, or making its composites."""


_NOT_KEPT: Final = Work.ENDING

REFUSALS: Final = (VectorError, RemoteProtocolError)
"""Exceptions for invalid bytes: that of languages, directories and filter hosts, and that of the overlay's
own payloads. Any other exception is a defect.
"""


def describe_failure(work: Work, error: Exception) -> str:
    """Return the kind of work, the type of the exception and its place. The length is bounded: texts of
    exceptions may quote the message.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" at {PurePath(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
    return f"{str(work.name).lower()}: {type(error).__name__}{where}"


class Quarantine:
    """Calls code that may fail, and skips messages with which it has failed."""

    __slots__ = ("_durable", "_events", "_exceeded")

    def __init__(
        self, durable: DurableState, events: deque[Event], exceeded: tuple[type[Exception], ...] = ()
    ) -> None:
        """`exceeded` are exceptions of work that reached a limit: its outcome is undecided."""
        self._durable = durable
        self._events = events
        self._exceeded = exceeded

    def has_marks(self, item: Item) -> bool:
        """Return whether any work failed with this message."""
        return item.id in self._durable.quarantined

    def holds(self, item: Item, work: Work) -> bool:
        """Return whether this work failed with this message."""
        works = self._durable.quarantined.get(item.id)
        return works is not None and bool(works & work)  # Hardly anything ever fails; flags are slow.

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
        """Return `do(*arguments)`, or `otherwise` if it fails or has failed with this message."""
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
        """Quarantine a message with which this work failed, for as long as it is held; link messages are
        never marked. Work that reached a limit is undecided instead. Return whether the work failed.
        """
        if isinstance(error, self._exceeded):
            self._events.append(MessageUndecided(now_ms, item, peer, describe_failure(work, error)))
            return False
        if not work & _NOT_KEPT and item.number < LINK_NUMBER:
            self._durable.mark_quarantined(item.id, work)
        self._events.append(MessageQuarantined(now_ms, item, peer, describe_failure(work, error)))
        return True
