"""Which subscriptions are in force, by (origin, id), and which were withdrawn.

    state of (origin, id)   what comes                     becomes
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
every copy of what it withdraws, because its maker gives it the longest lifetime of any revision it ever made
under that id. A newer revision ends the older one as a withdrawal would: what the older one was still owed
is owed no longer.
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
    """One revision in force: events from `since_ms` until before `until_ms` are owed to it."""

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
        """Return the part of its vector that is its language's."""
        return body_of(self.vector)

    @classmethod
    def of(cls, item: Item, said: Subscribed) -> "Subscription":
        """Make one from the message and its payload. A plain message is for an address, which its subscriber
        had before it subscribed, so such a subscription has no beginning: who lost its store, and subscribes
        again, receives what was sent to it before.
        """
        since_ms = AT_ONCE_MS if item.language == DIRECT_LANGUAGE else item.created_ms - said.in_force_ms
        return cls(item, said.id, said.seq, since_ms, item.expires_ms, said.vector)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A withdrawal that is remembered."""

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
        """When to look for ends: never later than the next one."""

    def __len__(self) -> int:
        return len(self._subscriptions)

    @property
    def tombstone_count(self) -> int:
        """Return how many withdrawals are remembered."""
        return len(self._tombstones)

    def get(self, key: SubscriptionKey) -> Subscription | None:
        """Return the newest revision, in force or lingering."""
        return self._subscriptions.get(key)

    def subscriptions(self) -> list[Subscription]:
        """Return all, in force and lingering, in the order in which they were learnt."""
        return list(self._subscriptions.values())

    def tombstones(self) -> list[Tombstone]:
        """Return all remembered withdrawals, in the order in which they were learnt."""
        return list(self._tombstones.values())

    def judge(self, new: Subscription) -> Status:
        """Return whether this revision would be taken: STORED or SUPERSEDED."""
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
        """Put a revision in force that `judge` found good; return what it replaces."""
        replaced = self._subscriptions.get(new.key)
        self._subscriptions[new.key] = new
        heappush(self._heap, (new.until_ms + self._linger_ms, new.key))
        if len(self._heap) > 64 + 4 * len(self._subscriptions):
            self._heap = [(one.until_ms + self._linger_ms, key) for key, one in self._subscriptions.items()]
            heapify(self._heap)
        self.wake_ms = self._heap[0][0]
        return replaced

    def withdraw(self, item: Item, said: Withdrawal) -> tuple[Status, Subscription | None, Tombstone | None]:
        """Remember a withdrawal; return status, the subscription it ends, the tombstone it replaces."""
        key = (item.origin, said.id)
        older = self._tombstones.get(key)
        if older is not None and not is_newer(said.seq, older.seq):
            is_longer = said.seq == older.seq and item.expires_ms > older.item.expires_ms
            if not is_longer:
                return Status.SUPERSEDED, None, None
        self._tombstones[key] = Tombstone(item, said.id, said.seq)
        current = self._subscriptions.get(key)
        if current is None or is_newer(current.seq, said.seq):
            return Status.STORED, None, older
        del self._subscriptions[key]
        return Status.STORED, current, older

    def forget(self, key: SubscriptionKey) -> None:
        """Forget a revision before its end; an unknown one is no error."""
        self._subscriptions.pop(key, None)

    def forget_tombstone(self, key: SubscriptionKey, item: Item) -> bool:
        """Forget a tombstone if this message is the one remembered; return whether it was."""
        tombstone = self._tombstones.get(key)
        if tombstone is None or tombstone.item.number != item.number:
            return False
        del self._tombstones[key]
        return True

    def next_expiry_ms(self) -> int | None:
        """Return when the next subscription has lingered enough, or None."""
        heap = self._heap
        while heap:
            at_ms, key = heap[0]
            current = self._subscriptions.get(key)
            if current is not None and current.until_ms + self._linger_ms == at_ms:
                return at_ms
            heappop(heap)
        return None

    def pop_expired(self, now_ms: int) -> Subscription | None:
        """Forget and return a subscription that has lingered enough, or None."""
        at_ms = self.next_expiry_ms()
        ended = None
        if at_ms is not None and at_ms <= now_ms:
            _, key = heappop(self._heap)
            ended = self._subscriptions.pop(key)
        self.wake_ms = self._heap[0][0] if self._heap else NEVER_MS
        return ended
