"""Deduplication of results: what notifications state, independent of the messages that carry it.

Two mediators that compose the same result make two messages. A result has an identity, the same in both, and
a rank: rank 1 (a prediction came true, or did not) supersedes rank 0 (the prediction). The highest rank of
every identity is stored durably (dens/overlay/storage/known_results.py).

- A mediator accepts a notification iff it raises the rank of an identity, and drops those that others
  supersede in
  all their results.
- A subscriber delivers one iff it raises an identity from unknown to rank 0, or from rank 0 to 1. So it has
  rank 0
only of delivered results, and delivers no outcome without its prediction and no prediction after its outcome.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

from dens.interfaces import ResultReader
from dens.overlay.session.context import NodeContext
from dens.overlay.storage.notification_store import Carried
from dens.overlay.wire.item import Item, ItemId

_DIGEST_BYTES: Final = 11
"""It fits into the key of a row, and collisions within a mission are negligible."""
_RANKS: Final = (0, 1)

Results = tuple[tuple[int, int, int], ...]
"""Results of a notification: digest of the identity, rank, and for how long others may repeat it."""


class ResultTracker:
    """Reads the results of notifications, and remembers them for one node."""

    __slots__ = ("_durable", "_limits", "readers")

    def __init__(self, context: NodeContext, readers: Mapping[int, ResultReader] | None = None) -> None:
        self._durable = context.durable
        self._limits = context.limits
        self.readers: Final = dict(readers or {})
        """By language; for reading."""

    def read_results(self, language: int, vector: bytes) -> Results:
        """Return the results of a notification; nothing if its language has none. An invalid
        vector raises.
        """
        reader = self.readers.get(language)
        if reader is None:
            return ()
        results: list[tuple[int, int, int]] = []
        for result in reader(vector):
            rank = result.rank
            if rank not in _RANKS:
                raise ValueError(f"the rank of a result is 0 or 1, not {rank}")
            digest = blake2b(bytes((language,)) + result.identity, digest_size=_DIGEST_BYTES).digest()
            results.append((int.from_bytes(digest, "big"), rank, result.span_ms))
        return tuple(results)

    def raises_any(self, results: Results, now_ms: int) -> bool:
        """Return whether one of these results raises a rank."""
        known = self._durable.results
        return any(rank > known.rank(key, now_ms) for key, rank, _ in results)

    def is_shown(self, results: Results, now_ms: int) -> bool:
        """Return whether a subscriber delivers these: one is new, or the outcome of a delivered
        prediction.
        """
        known = self._durable.results
        return any(known.rank(key, now_ms) == rank - 1 for key, rank, _ in results)

    def has_room_for(self, results: Results, now_ms: int) -> bool:
        """Return whether all of these can be remembered without forgetting an unexpired one."""
        self._durable.forget_results(now_ms)
        return len(self._durable.results) + len(results) <= self._limits.known_results

    def note(self, item: Item, results: Results, now_ms: int, account: int) -> None:
        """Remember the results of a message for as long as it, or another with the same results, may exist.
        They are charged to the share of this account.
        """
        until_ms = item.expires_ms + self._limits.remember_ms
        for key, rank, span_ms in results:
            self._durable.note_result(key, rank, until_ms + span_ms, account, now_ms)


class HeldResults:
    """The results of the notifications that a mediator holds."""

    __slots__ = ("_durable", "_holders", "by_item", "tracker")

    def __init__(self, context: NodeContext, tracker: ResultTracker) -> None:
        self._durable = context.durable
        self.tracker: Final = tracker
        self.by_item: Final[dict[ItemId, Results]] = {}
        """Results by message, without messages that have none; for reading."""
        self._holders: dict[int, dict[ItemId, None]] = {}

    def hold(self, carried: Carried, results: Results, now_ms: int) -> list[ItemId]:
        """Add a message; return the held messages that it supersedes."""
        item = carried.item
        self.tracker.note(item, results, now_ms, carried.account)
        self.restore(item.id, results)
        known = self._durable.results
        related = {item_id: None for key, _, _ in results for item_id in self._holders[key]}
        return [
            item_id
            for item_id in related
            if all(rank < known.rank(key, now_ms) for key, rank, _ in self.by_item[item_id])
        ]

    def restore(self, item_id: ItemId, results: Results) -> None:
        """Add a message whose results are remembered already."""
        self.by_item[item_id] = results
        for key, _, _ in results:
            self._holders.setdefault(key, {})[item_id] = None

    def release(self, item_id: ItemId) -> Results:
        """Remove a message; its results stay remembered. Return those that no other held message has."""
        results = self.by_item.pop(item_id, ())
        alone: list[tuple[int, int, int]] = []
        for key, rank, span_ms in results:
            holders = self._holders[key]
            del holders[item_id]
            if not holders:
                del self._holders[key]
                alone.append((key, rank, span_ms))
        return tuple(alone)

    def forget(self, item_id: ItemId) -> None:
        """Remove a message, and forget its results that no other held message has."""
        for key, _, _ in self.release(item_id):
            self._durable.forget_result(key)
