"""Advertisements of a publisher: those in force, and the revisions that may still exist at brokers.

A publisher without an advertisement starts a new *generation* with its next one: brokers then rebuild its
tree (docs/decisions/0028-brokers.md).
"""

from collections.abc import Callable

from dens.overlay.errors import LocalProtocolError
from dens.overlay.storage.subscription_table import Subscription, is_newer
from dens.overlay.wire.broker_messages import Advertised, Unadvertised
from dens.overlay.wire.codes import ADVERTISE
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Subscribed, Withdrawal


class OwnAdvertisements:
    """The advertisements of one publisher, by id."""

    __slots__ = ("_generation", "_items", "_used", "in_force")

    def __init__(self) -> None:
        self.in_force: dict[int, Subscription] = {}
        """By id; for reading."""
        self._items: dict[ItemId, Item] = {}
        self._used: dict[int, tuple[int, int]] = {}
        self._generation = 0

    def get(self, item_id: ItemId) -> Item | None:
        """Return a held message, or None."""
        return self._items.get(item_id)

    def generation(self, number: int) -> int:
        """Return the generation of an advertisement with this number."""
        return self._generation if self.in_force else number

    def check_free(self, id: int, seq: int) -> None:
        """Refuse a revision that is not newer than all that may exist at brokers."""
        used = self._used.get(id)
        if used is not None and not is_newer(seq, used[0]):
            raise LocalProtocolError(
                f"revision {seq} of advertisement {id} is not newer than {used[0]}, which was used already"
            )

    def next_seq(self, id: int) -> int:
        """Return a revision that is newer than all that may exist at brokers."""
        used = self._used.get(id)
        return 0 if used is None else (used[0] + 1) % 256

    def current(self, id: int) -> Subscription:
        """Return the advertisement in force with this id, or raise LocalProtocolError."""
        current = self.in_force.get(id)
        if current is None:
            raise LocalProtocolError(f"no advertisement {id} is in force; advertise first")
        return current

    def put(self, new: Subscription) -> Subscription | None:
        """Put an advertisement in force; return the one it replaces."""
        self._generation = max(self._generation, Advertised.decode(new.item.payload).generation)
        replaced = self.in_force.get(new.id)
        if replaced is not None:
            del self._items[replaced.item.id]
        self.in_force[new.id] = new
        self._items[new.item.id] = new.item
        self._use(new.id, new.seq, new.until_ms)
        return replaced

    def withdrawal(self, id: int) -> Unadvertised:
        """Return the payload that withdraws an advertisement."""
        return Unadvertised(self._generation, Withdrawal(id, self.current(id).seq))

    def until_ms(self, id: int) -> int:
        """Return until when a revision may exist at brokers."""
        return self._used[id][1]

    def withdraw(self, item: Item) -> Subscription | None:
        """Withdraw an advertisement; return it if it was in force."""
        payload = Unadvertised.decode(item.payload)
        self._generation = max(self._generation, payload.generation)
        ended = self.in_force.pop(payload.withdrawal.id, None)
        if ended is not None:
            del self._items[ended.item.id]
        self._items[item.id] = item
        self._use(payload.withdrawal.id, payload.withdrawal.seq, item.expires_ms)
        return ended

    def _use(self, id: int, seq: int, until_ms: int) -> None:
        used = self._used.get(id)
        if used is None:
            self._used[id] = seq, until_ms
        else:
            self._used[id] = seq if is_newer(seq, used[0]) else used[0], max(until_ms, used[1])

    def restore(self, item: Item) -> None:
        """Load a message of an earlier run; withdrawals come first."""
        if item.type == ADVERTISE:
            self.put(Subscription.of(item, Subscribed(0, Advertised.decode(item.payload).vector)))
        else:
            self.withdraw(item)

    def expire(self, item_id: ItemId, now_ms: int) -> Item | None:
        """Remove and return an expired message, or return None if it is not here."""
        item = self._items.pop(item_id, None)
        if item is None:
            return None
        for id, current in list(self.in_force.items()):
            if current.item.id == item_id:
                del self.in_force[id]
        for id, (_, until_ms) in list(self._used.items()):
            if until_ms <= now_ms:
                del self._used[id]
        return item

    def are_known(self, knows: Callable[[ItemId], bool]) -> bool:
        """Return whether `knows` holds for all advertisements in force."""
        return all(knows(advertisement.item.id) for advertisement in self.in_force.values())
