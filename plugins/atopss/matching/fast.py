"""`fast`: the default. A sieve of bytes, then verification, compiled.

A few subscriptions are scanned one by one. Once there have been `columns_from` of them, plain ones, an *and*
of predicates joined by the minimum, are rows that compiled code decides. Others are rows too, one per term of
their normal form: what passes the sieve is then decided by the definition.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.naive import NaiveMatcher, found_match
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import Degrees
from plugins.language import Match, SubscriptionKey

COLUMNS_FROM: Final = 256
"""With fewer subscriptions a linear scan is fastest."""


class FastMatcher:
    """Holds subscriptions one by one while they are few, and in rows from then on."""

    __slots__ = ("_codec", "_columns_from", "_few", "_rows")

    def __init__(self, table: MissionTable | None, columns_from: int = COLUMNS_FROM) -> None:
        self._codec = AtopssCodec(table)
        self._few: NaiveMatcher | None = NaiveMatcher(table)
        self._rows: Any = None
        """The `SievedRows`, once there are many: their dependencies are not imported before."""
        self._columns_from = columns_from

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        wanted = self._codec.subscription(body)
        few = self._few
        if few is not None and key not in few.held and len(few.held) >= self._columns_from:
            self._spread()
        if self._few is not None:
            self._few.held[key] = wanted
            return
        self._rows.remove(key)
        self._rows.put([(key, wanted)])

    def add_all(self, subscriptions: Sequence[tuple[SubscriptionKey, bytes]]) -> None:
        """Add many new subscriptions at once."""
        decoded = [(key, self._codec.subscription(body)) for key, body in subscriptions]
        self._spread()
        if self._few is not None:
            self._few.held |= dict(decoded)
        else:
            self._rows.put(decoded)

    def remove(self, key: SubscriptionKey) -> None:
        if self._few is not None:
            self._few.remove(key)
        else:
            self._rows.remove(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        return self._matches(self._codec.notification(vector))

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, _) in enumerate(notifications):
            yield position, self._matches(self._codec.notification(vector))

    @property
    def rows(self) -> Any:
        """Return the rows, or None while there are few."""
        return self._rows

    def satisfied(self, notification: Notification) -> list[tuple[SubscriptionKey, Degrees]]:
        found: list[tuple[SubscriptionKey, Degrees]]
        found = (
            self._few.satisfied(notification) if self._few is not None else self._rows.satisfied(notification)
        )
        return found

    def _matches(self, notification: Notification) -> list[Match]:
        return [found_match(key, degrees) for key, degrees in sorted(self.satisfied(notification))]

    def _spread(self) -> None:
        """Move the few into rows, all of them or none, if there is a compiler."""
        if self._few is None:
            return
        from plugins.kernels.compiled import is_available

        if is_available():
            from plugins.atopss.matching.sieved_rows import SievedRows

            rows = SievedRows(self._codec.table)
            rows.put(list(self._few.held.items()))
            self._few, self._rows = None, rows
