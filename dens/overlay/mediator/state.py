"""State of a mediator: subscriptions, withdrawals, announcements, notifications, receipts.

Every held message is in `items` and in the table of its type. A removal is reported by an event with its
reason. Messages are added in dens/overlay/mediator/handlers.py; pending deliveries are in
dens/overlay/mediator/pending.py.
"""

from typing import Final

from dens.interfaces import Directory
from dens.overlay.covering.decomposition import PartTable
from dens.overlay.covering.index import CoverTable
from dens.overlay.events import CopyDropped, MessageExpired
from dens.overlay.mediator.composition import Composition
from dens.overlay.mediator.directory import ServiceDirectory
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.mediator.pending import PendingDeliveries
from dens.overlay.mission import Mission
from dens.overlay.session.context import NodeContext
from dens.overlay.session.results import HeldResults, ResultTracker
from dens.overlay.storage.notification_store import NotificationStore
from dens.overlay.storage.receipts import ReceiptTable
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable
from dens.overlay.wire.codes import (
    ASKING,
    NOTIFY,
    QUARANTINED,
    REASON_NAMES,
    STORED,
    Reason,
    Status,
)
from dens.overlay.wire.item import Item, ItemId


class MediatorState:
    """Tables of a mediator."""

    __slots__ = (
        "_durable",
        "_events",
        "_limits",
        "carried",
        "composition",
        "covering",
        "hosts",
        "items",
        "matchers",
        "parts",
        "pending",
        "receipts",
        "relay_only",
        "results",
        "services",
        "table",
    )

    def __init__(
        self,
        context: NodeContext,
        mission: Mission,
        directory: Directory,
        hosts: frozenset[int] = frozenset(),
    ) -> None:
        languages = mission.languages
        self._durable = context.durable
        self._events = context.events
        self._limits = context.limits
        self.hosts: Final = hosts
        """The subscribers on this device."""
        self.items: Final[dict[ItemId, Item]] = {}
        self.table: Final = SubscriptionTable(context.limits.linger_ms)
        self.carried: Final = NotificationStore(context.limits)
        self.receipts: Final = ReceiptTable()
        self.matchers: Final = LanguageMatchers(languages, context.work, mission.on_matched)
        self.services: Final = ServiceDirectory(directory)
        self.parts: Final = PartTable(languages)
        self.covering: Final = CoverTable(context, languages, mission.covering)
        self.composition: Final = Composition(context, languages)
        self.results: Final = HeldResults(context, ResultTracker(context, mission.results))
        self.relay_only: Final[dict[ItemId, None]] = {}
        """Messages that could not be handled and are only relayed."""
        self.pending: Final = PendingDeliveries(
            context, self.matchers, hosts, self.table, self.carried, self.receipts
        )

    def hold(self, item: Item) -> None:
        """Hold a message durably."""
        self.items[item.id] = item
        self._durable.keep(item)

    def expire_subscriptions(self, until_ms: int, now_ms: int) -> list[Subscription]:
        """Remove subscriptions whose linger time is over; return them."""
        expire_state: list[Subscription] = []
        while self.table.wake_ms <= until_ms and (ended := self.table.pop_expired(until_ms)) is not None:
            expire_state.append(ended)
            self.remove_from_matchers(ended, now_ms)
            self.remove_from_sources(ended, now_ms)
        return expire_state

    def remove_from_matchers(self, ended: Subscription, now_ms: int) -> None:
        """Remove a subscription from matchers and composers."""
        self.pending.remove_subscription(ended, now_ms)
        self.composition.remove(ended, now_ms)

    def replace_copies(self, item: Item) -> None:
        """Hold a notification with another number of copies."""
        self.items[item.id] = item
        self.carried.replace(item)
        self._durable.rewrite(item)

    def remove_from_sources(self, ended: Subscription, now_ms: int) -> None:
        """Stop offering an ended subscription to publishers."""
        self.services.remove(ended.key)
        self.parts.ended(ended.key)
        self.covering.remove(ended, now_ms)

    def hold_for_relay(self, item: Item, now_ms: int) -> Status:
        """Hold a message that could not be handled, and relay it; beyond the limit the oldest is dropped. A
        subscriber gets the status that it is not served here.
        """
        self.hold(item)
        self.relay_only[item.id] = None
        if len(self.relay_only) > self._limits.quarantined:
            oldest = self.items[next(iter(self.relay_only))]
            self.carried.remove(oldest.id)
            self.release(oldest, Reason.OLDEST, now_ms)
        return QUARANTINED if item.type in ASKING else STORED

    def release(self, item: Item, reason: Reason, now_ms: int) -> None:
        """Drop a message and report the reason."""
        self.items.pop(item.id, None)
        self.relay_only.pop(item.id, None)
        self.parts.remove(item.id)
        self.receipts.remove(item)
        if self.composition.is_on:
            self.composition.forget(item, now_ms)
        if self.results.by_item:
            self.results.release(item.id)
        self._durable.release(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    def drop_pending(self, subscriber: int, id: int, now_ms: int) -> None:
        """Drop the pending deliveries of a subscription."""
        waiting = self.carried.pending_for(subscriber) if subscriber in self.hosts else ()
        self.carried.drop_subscription(subscriber, id)
        for item_id in waiting:
            self.release_if_done(item_id, now_ms)

    def release_if_done(self, item_id: ItemId, now_ms: int) -> None:
        """Drop a copy that came for endpoints of this device if it is no longer pending for any of them."""
        item = self.items.get(item_id)
        if item is not None and item.type == NOTIFY and not self.carried.is_pending(item_id):
            self.forget_copy(item, now_ms)

    def forget_copy(self, item: Item, now_ms: int) -> None:
        """Drop a copy as if it had never been here: another mediator may make this one a carrier."""
        self.carried.remove(item.id)
        del self.items[item.id]
        self.composition.forget(item, now_ms)
        self.results.forget(item.id)
        self._durable.forget(item.id)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[Reason.DELIVERED]))

    def remove_expired(self, item_id: ItemId, now_ms: int) -> Item | None:
        """Remove an expired message from what all types share; return it if it was held. The table of its
        type is left to dens/overlay/mediator/handlers.py.
        """
        item = self.items.pop(item_id, None)
        if item is None:
            return None
        self.relay_only.pop(item_id, None)
        self.parts.remove(item_id)
        self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        return item
