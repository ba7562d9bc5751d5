"""What notifications say, apart from the messages that say it: who takes, shows and lets go of what.

Two mediators that find the same make two messages. A result has an identity, which is the same in both, and a
rank: what is said at rank 1 (a prediction came true, or did not) overtakes rank 0 (it was predicted). The
highest rank of every identity is remembered durably (dens/overlay/storage/known_results.py), with the
message that said it.

- A mediator takes a notification iff it raises some identity, and lets go of those that others overtake in
  all that they say.
- A subscriber shows one iff it raises some identity from unknown to rank 0, or from rank 0 to 1. So it knows
  rank 0 only of what it has shown, and shows no outcome without its prediction, and no prediction after it.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

from dens.interfaces import ResultReader
from dens.overlay.session.context import NodeContext
from dens.overlay.storage.notification_store import Carried
from dens.overlay.wire.item import Item, ItemId

_DIGEST_BYTES: Final = 11
"""A row's key has room for it, and no two of a mission's results have one digest."""
_RANKS: Final = (0, 1)

Results = tuple[tuple[int, int, int], ...]
"""What a notification says: the digest of each identity, the rank, and how long after it others say it."""


class ResultTracker:
    """Reads results, and remembers them for one node."""

    __slots__ = ("_durable", "_limits", "readers")

    def __init__(self, context: NodeContext, readers: Mapping[int, ResultReader] | None = None) -> None:
        self._durable = context.durable
        self._limits = context.limits
        self.readers: Final = dict(readers or {})
        """By language; for reading."""

    def read_results(self, language: int, vector: bytes) -> Results:
        """Return what a notification says; nothing where its language has no results. A bad vector raises."""
        reader = self.readers.get(language)
        if reader is None:
            return ()
        said: list[tuple[int, int, int]] = []
        for result in reader(vector):
            rank = result.rank
            if rank not in _RANKS:
                raise ValueError(f"a result has the rank 0 or 1, here is {rank}")
            digest = blake2b(bytes((language,)) + result.identity, digest_size=_DIGEST_BYTES).digest()
            said.append((int.from_bytes(digest, "big"), rank, result.span_ms))
        return tuple(said)

    def raises_any(self, said: Results, now_ms: int) -> bool:
        """Return whether anything of this is news."""
        known = self._durable.results
        return any(rank > known.rank(key, now_ms) for key, rank, _ in said)

    def is_shown(self, said: Results, now_ms: int) -> bool:
        """Return whether a subscriber shows this: it is new, or the outcome of something that was shown."""
        known = self._durable.results
        return any(known.rank(key, now_ms) == rank - 1 for key, rank, _ in said)

    def has_room_for(self, said: Results, now_ms: int) -> bool:
        """Return whether all of this can be remembered without forgetting anything that is not over."""
        self._durable.forget_results(now_ms)
        return len(self._durable.results) + len(said) <= self._limits.known_results

    def note(self, item: Item, said: Results, now_ms: int, account: int) -> None:
        """Remember what a message says, for as long as it, or another that says it, may be somewhere; it is
        charged to the share of this account.
        """
        until_ms = item.expires_ms + self._limits.remember_ms
        for key, rank, span_ms in said:
            self._durable.note_result(key, rank, until_ms + span_ms, account, now_ms)


class HeldResults:
    """What the notifications say that a mediator holds."""

    __slots__ = ("_durable", "_holders", "said", "tracker")

    def __init__(self, context: NodeContext, tracker: ResultTracker) -> None:
        self._durable = context.durable
        self.tracker: Final = tracker
        self.said: Final[dict[ItemId, Results]] = {}
        """What each of those says that say anything; for reading."""
        self._holders: dict[int, dict[ItemId, None]] = {}

    def hold(self, carried: Carried, said: Results, now_ms: int) -> list[ItemId]:
        """Remember what a message says that is held from now on; return those that are overtaken by it."""
        item = carried.item
        self.tracker.note(item, said, now_ms, carried.account)
        self.restore(item.id, said)
        known = self._durable.results
        met = {one: None for key, _, _ in said for one in self._holders[key]}
        return [one for one in met if all(rank < known.rank(key, now_ms) for key, rank, _ in self.said[one])]

    def restore(self, item_id: ItemId, said: Results) -> None:
        """Know what a message says that is held."""
        self.said[item_id] = said
        for key, _, _ in said:
            self._holders.setdefault(key, {})[item_id] = None

    def release(self, item_id: ItemId) -> Results:
        """Hold a message no longer; what it said stays said. Return what nobody else here says."""
        said = self.said.pop(item_id, ())
        alone: list[tuple[int, int, int]] = []
        for key, rank, span_ms in said:
            holders = self._holders[key]
            del holders[item_id]
            if not holders:
                del self._holders[key]
                alone.append((key, rank, span_ms))
        return tuple(alone)

    def forget(self, item_id: ItemId) -> None:
        """Hold a message no longer, as if it had never been here."""
        for key, _, _ in self.release(item_id):
            self._durable.forget_result(key)
