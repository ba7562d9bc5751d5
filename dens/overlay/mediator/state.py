"""What a mediator holds, durably: subscriptions, withdrawals, announcements, notifications, receipts.

Every message that is held is in `items`, and in the one table that its kind belongs to. What leaves is told
by an event that says why. How messages get in is in dens/overlay/mediator/handlers.py, who is owed what in
dens/overlay/mediator/pending.py.
"""

from typing import Final

from dens.interfaces import Directory
from dens.overlay.covering.decomposition import PartBook
from dens.overlay.covering.index import CoverBook
from dens.overlay.events import CopyDropped, MessageExpired
from dens.overlay.mediator.composition import Composing
from dens.overlay.mediator.directory import ServiceBook
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.mediator.pending import Owing
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
    """The memory of a mediator."""

    __slots__ = (
        "_durable",
        "_events",
        "_limits",
        "carried",
        "composing",
        "covering",
        "hosts",
        "items",
        "matchers",
        "owing",
        "parts",
        "receipts",
        "results",
        "services",
        "set_aside",
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
        self.services: Final = ServiceBook(directory)
        self.parts: Final = PartBook(languages)
        self.covering: Final = CoverBook(context, languages, mission.covering)
        self.composing: Final = Composing(context, languages)
        self.results: Final = HeldResults(context, ResultTracker(context, mission.results))
        self.set_aside: Final[dict[ItemId, None]] = {}
        """What could not be taken, and is only relayed."""
        self.owing: Final = Owing(context, self.matchers, hosts, self.table, self.carried, self.receipts)

    def hold(self, item: Item) -> None:
        """Hold a message, and know it."""
        self.items[item.id] = item
        self._durable.keep(item)

    def lapse(self, until_ms: int, now_ms: int) -> list[Subscription]:
        """Forget subscriptions that have lingered enough by then; return them."""
        expire_state: list[Subscription] = []
        while self.table.wake_ms <= until_ms and (ended := self.table.pop_expired(until_ms)) is not None:
            expire_state.append(ended)
            self.find_no_more(ended, now_ms)
            self.forget_services(ended, now_ms)
        return expire_state

    def find_no_more(self, ended: Subscription, now_ms: int) -> None:
        """Neither match a subscription any longer, nor compose anything for it."""
        self.owing.match_no_more(ended, now_ms)
        self.composing.remove(ended, now_ms)

    def lighten(self, item: Item) -> None:
        """Hold a notification with fewer copies to give."""
        self.items[item.id] = item
        self.carried.replace(item)
        self._durable.rewrite(item)

    def forget_services(self, ended: Subscription, now_ms: int) -> None:
        """Offer a subscription that has ended to no publisher any more."""
        self.services.remove(ended.key)
        self.parts.ended(ended.key)
        self.covering.remove(ended, now_ms)

    def put_aside(self, item: Item, now_ms: int) -> Status:
        """Hold a message that this node can do nothing with, and relay it; of too many the oldest goes. A
        subscriber is answered that it is not served here.
        """
        self.hold(item)
        self.set_aside[item.id] = None
        if len(self.set_aside) > self._limits.quarantined:
            oldest = self.items[next(iter(self.set_aside))]
            self.carried.remove(oldest.id)
            self.let_go_of(oldest, Reason.OLDEST, now_ms)
        return QUARANTINED if item.type in ASKING else STORED

    def let_go_of(self, item: Item, reason: Reason, now_ms: int) -> None:
        """Hold a message no longer, and say why."""
        self.items.pop(item.id, None)
        self.set_aside.pop(item.id, None)
        self.parts.remove(item.id)
        self.receipts.remove(item)
        if self.composing.is_on:
            self.composing.forget(item, now_ms)
        if self.results.said:
            self.results.release(item.id)
        self._durable.release(item)
        self._events.append(CopyDropped(now_ms, item, None, REASON_NAMES[reason]))

    def release(self, subscriber: int, id: int, now_ms: int) -> None:
        """Owe nothing more for this subscription."""
        waiting = self.carried.pending_for(subscriber) if subscriber in self.hosts else ()
        self.carried.drop_subscription(subscriber, id)
        for item_id in waiting:
            self.let_go_if_done(item_id, now_ms)

    def let_go_if_done(self, item_id: ItemId, now_ms: int) -> None:
        """Let go of a copy that came for the ends of this device, if none of them is owed it any more."""
        item = self.items.get(item_id)
        if item is not None and item.type == NOTIFY and not self.carried.is_pending(item_id):
            self.forget_copy(item, now_ms)

    def forget_copy(self, item: Item, now_ms: int) -> None:
        """Let go of a copy as if it had never been here: another mediator may make this one a carrier."""
        self.carried.remove(item.id)
        del self.items[item.id]
        self.composing.forget(item, now_ms)
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
        self.set_aside.pop(item_id, None)
        self.parts.remove(item_id)
        self._events.append(MessageExpired(now_ms, item, None, REASON_NAMES[Reason.LIFETIME_OVER]))
        return item
