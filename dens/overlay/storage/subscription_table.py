"""Subscription table: subscriptions in force by (origin, id), and tombstones of withdrawn ones.

    state of (origin, id)   input                          next state
    unknown                 subscription seq s             in force s
    in force s              newer seq                      in force, the older revision ends
    in force s              same seq, later number         in force, renewed
    in force s              withdrawal of s or newer       withdrawn
    in force s              withdrawal of an older one     in force s, withdrawn below
    in force s              its end                        lingering s: matched for events from before its end
    lingering s             end of lingering               unknown
    withdrawn s             seq not newer than s           withdrawn s (refused as superseded)
    withdrawn s             newer seq                      in force, withdrawn below
    withdrawn s             end of the tombstone           unknown

Revisions are eight-bit serial numbers: a is newer than b iff 0 < (a − b) mod 256 < 128. A tombstone outlives
every copy of what it withdraws, because it has the longest lifetime of all revisions under that id. A newer
revision ends the older one like a withdrawal: its pending deliveries are dropped.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from dens.interfaces import SubscriptionKey
from dens.overlay.wire.codes import DIRECT_LANGUAGE, Status
from dens.overlay.wire.item import AT_ONCE_MS, NEVER_MS, Item
from dens.overlay.wire.messages import Subscribed, Withdrawal
from watchdog.header import body_of


def is_newer(a: int, b: int) -> bool:
    """Return whether revision a is newer than b.

    >>> is_newer(1, 255), is_newer(255, 1), is_newer(7, 7), is_newer(128, 0)
    (True, False, False, False)
    """
    return 0 < (a - b) % 256 < 128


@dataclass(frozen=True, slots=True)
class Subscription:
    """One revision in force, for events from `since_ms` until before `until_ms`."""

    item: Item
    id: int
    seq: int
    since_ms: int
    until_ms: int
    vector: bytes

    @property
    def key(self) -> SubscriptionKey:
        """Return (origin, id)."""
        return (self.item.origin, self.id)

    @property
    def body(self) -> bytes:
        """Return the part of its vector in its language."""
        return body_of(self.vector)

    @classmethod
    def of(cls, item: Item, payload: Subscribed) -> "Subscription":
        """Return the subscription of a message. One for plain messages has no beginning, because its address
        existed before: a subscriber that lost its store and subscribes again receives what was sent to it
        before.
        """
        since_ms = AT_ONCE_MS if item.language == DIRECT_LANGUAGE else item.created_ms - payload.in_force_ms
        return cls(item, payload.id, payload.seq, since_ms, item.expires_ms, payload.vector)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A remembered withdrawal."""

    item: Item
    id: int
    seq: int


class SubscriptionTable:
    """Subscriptions and tombstones of one node."""

    __slots__ = ("_heap", "_linger_ms", "_subscriptions", "_tombstones", "wake_ms")

    def __init__(self, linger_ms: int) -> None:
        self._linger_ms = linger_ms
        self._subscriptions: dict[SubscriptionKey, Subscription] = {}
        self._tombstones: dict[SubscriptionKey, Tombstone] = {}
        self._heap: list[tuple[int, SubscriptionKey]] = []
        self.wake_ms = NEVER_MS
        """When to call `pop_expired`: never later than the next one."""

    def __len__(self) -> int:
        return len(self._subscriptions)

    @property
    def tombstone_count(self) -> int:
        """Return the number of tombstones."""
        return len(self._tombstones)

    def get(self, key: SubscriptionKey) -> Subscription | None:
        """Return the newest revision, in force or lingering."""
        return self._subscriptions.get(key)

    def subscriptions(self) -> list[Subscription]:
        """Return all subscriptions, in force and lingering, in order of arrival."""
        return list(self._subscriptions.values())

    def tombstones(self) -> list[Tombstone]:
        """Return all tombstones, in order of arrival."""
        return list(self._tombstones.values())

    def judge(self, new: Subscription) -> Status:
        """Return whether `put` may follow: STORED or SUPERSEDED."""
        tombstone = self._tombstones.get(new.key)
        if tombstone is not None and not is_newer(new.seq, tombstone.seq):
            return Status.SUPERSEDED
        current = self._subscriptions.get(new.key)
        if current is None or is_newer(new.seq, current.seq):
            return Status.STORED
        if new.seq == current.seq and new.item.number > current.item.number:
            return Status.STORED
        return Status.SUPERSEDED

    def put(self, new: Subscription) -> Subscription | None:
        """Put a revision in force that `judge` accepted; return the one it replaces."""
        replaced = self._subscriptions.get(new.key)
        self._subscriptions[new.key] = new
        heappush(self._heap, (new.until_ms + self._linger_ms, new.key))
        if len(self._heap) > 64 + 4 * len(self._subscriptions):
            self._heap = [(held.until_ms + self._linger_ms, key) for key, held in self._subscriptions.items()]
            heapify(self._heap)
        self.wake_ms = self._heap[0][0]
        return replaced

    def withdraw(
        self, item: Item, withdrawal: Withdrawal
    ) -> tuple[Status, Subscription | None, Tombstone | None]:
        """Add a withdrawal; return its status, the subscription that it ends and the tombstone that it
        replaces.
        """
        key = (item.origin, withdrawal.id)
        older = self._tombstones.get(key)
        if older is not None and not is_newer(withdrawal.seq, older.seq):
            is_longer = withdrawal.seq == older.seq and item.expires_ms > older.item.expires_ms
            if not is_longer:
                return Status.SUPERSEDED, None, None
        self._tombstones[key] = Tombstone(item, withdrawal.id, withdrawal.seq)
        current = self._subscriptions.get(key)
        if current is None or is_newer(current.seq, withdrawal.seq):
            return Status.STORED, None, older
        del self._subscriptions[key]
        return Status.STORED, current, older

    def forget(self, key: SubscriptionKey) -> None:
        """Remove a subscription before its end, if there is one."""
        self._subscriptions.pop(key, None)

    def forget_tombstone(self, key: SubscriptionKey, item: Item) -> bool:
        """Remove a tombstone if it is that of this message; return whether it was."""
        tombstone = self._tombstones.get(key)
        if tombstone is None or tombstone.item.number != item.number:
            return False
        del self._tombstones[key]
        return True

    def next_expiry_ms(self) -> int | None:
        """Return when the next subscription stops lingering, or None."""
        heap = self._heap
        while heap:
            at_ms, key = heap[0]
            current = self._subscriptions.get(key)
            if current is not None and current.until_ms + self._linger_ms == at_ms:
                return at_ms
            heappop(heap)
        return None

    def pop_expired(self, now_ms: int) -> Subscription | None:
        """Remove and return a subscription that has stopped lingering, or None."""
        at_ms = self.next_expiry_ms()
        expired = None
        if at_ms is not None and at_ms <= now_ms:
            _, key = heappop(self._heap)
            expired = self._subscriptions.pop(key)
        self.wake_ms = self._heap[0][0] if self._heap else NEVER_MS
        return expired
