"""Receipts: which subscribers are known to have which notifications."""

from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import read_receipt


class ReceiptTable:
    """The receipts that a mediator carries, by notification, oldest first.

    Receipts are counted: a subscriber that lost its store makes another receipt for the same notification.
    """

    __slots__ = ("_by_notification", "_items")

    def __init__(self) -> None:
        self._by_notification: dict[ItemId, dict[int, int]] = {}
        self._items: dict[ItemId, Item] = {}

    def __len__(self) -> int:
        return len(self._items)

    def has(self, notification: ItemId, subscriber: int) -> bool:
        """Return whether this subscriber is known to have this notification."""
        subscribers = self._by_notification.get(notification)
        return subscribers is not None and subscriber in subscribers

    def add(self, item: Item) -> ItemId:
        """Add a receipt; return its notification, or raise RemoteProtocolError and change nothing."""
        notification = read_receipt(item.payload)
        if item.id not in self._items:
            subscribers = self._by_notification.setdefault(notification, {})
            subscribers[item.origin] = subscribers.get(item.origin, 0) + 1
        self._items[item.id] = item
        return notification

    def oldest(self) -> Item:
        """Return the receipt that was added first."""
        return next(iter(self._items.values()))

    def remove(self, item: Item) -> None:
        """Remove a receipt; any other message is ignored."""
        if self._items.pop(item.id, None) is None:
            return
        notification = read_receipt(item.payload)
        subscribers = self._by_notification[notification]
        subscribers[item.origin] -= 1
        if not subscribers[item.origin]:
            del subscribers[item.origin]
        if not subscribers:
            del self._by_notification[notification]
