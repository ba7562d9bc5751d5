"""Notification store: the notifications a node carries, bounded in bytes and items, and their pending
deliveries.

Drop policy, when space is needed:

1. expired notifications; 2. those that all known subscribers have (the one that was delivered first); 3. the
oldest of the origin, or of the subscriber of composites, that is furthest above its share; 4. the one with
the lowest degree, none at all being the lowest; the oldest among equals. A notification that may become part
of a composite counts like a pending one, with the degree of that part.

Pending deliveries are a product of notifications and subscriptions, so they have a limit too. At the limit a
subscriber is *deferred*: its pending deliveries are dropped, and recomputed (`resume`) when it is met. The
subscriber whose first pending delivery is the oldest is deferred first, but never for its own sake: of a
subscriber that exceeds the limit alone, as many are kept as fit. The entries of one notification for one
subscriber are kept together or not at all, because they are delivered together; one such set always fits.

A composite is made for one subscription, so it is charged to the share of its subscriber, not to that of the
mediator that made it: otherwise one subscription could evict the composites of all others. Undelivered
composites of one subscription have a limit of their own; beyond it the oldest are dropped.

The new notification takes part: it may be dropped itself. A subscription that arrives later may match a
notification that is delivered to all others, so delivered ones stay until the space is needed or they expire.
"""

from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from dens.interfaces import SubscriptionKey
from dens.overlay.limits import Limits
from dens.overlay.wire.codes import Reason
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Satisfied

_SUBSCRIBER: Final = 1 << 31
"""Marks the account of a subscriber: as an origin the same node has a separate one."""


class Carried:
    """A notification and its pending deliveries: per subscriber, the subscriptions that it satisfies."""

    __slots__ = (
        "account",
        "charged_to",
        "degree_u8",
        "giver",
        "is_composite",
        "is_deferred",
        "is_part",
        "is_unmatched",
        "item",
        "order",
        "pending",
    )

    def __init__(self, item: Item, is_composite: bool = False) -> None:
        self.item = item
        self.account = item.origin
        """The account it is charged to: its origin, or, marked, its subscriber."""
        self.is_composite = is_composite
        """Whether it is made for one subscription."""
        self.charged_to: SubscriptionKey | None = None
        """The subscription that a composite is charged to."""
        self.pending: dict[int, dict[int, Satisfied]] = {}
        self.giver: int | None = None
        """The peer that sent it; None if unknown, as after a restart."""
        self.order = 0
        """Its position among all that were ever added."""
        self.degree_u8 = 0
        self.is_deferred = False
        """Whether it may be pending for a deferred subscriber, so that it does not count as delivered."""
        self.is_unmatched = False
        """Whether it still has to be matched (dens/overlay/mediator/deferred_work.py), so that it may be
        pending for any subscriber.
        """
        self.is_part = False
        """Whether it may become part of a composite, so that it is needed even if it is delivered."""


class NotificationStore:
    """Carries notifications. It drops nothing by itself: `make_room` returns what was dropped."""

    __slots__ = (
        "_account_bytes",
        "_by_account",
        "_by_subscriber",
        "_carried",
        "_deferred",
        "_delivered",
        "_least",
        "_limits",
        "_over_share",
        "_over_waiting",
        "_share_bytes",
        "_share_items",
        "_waiting",
        "added",
        "pending_pairs",
        "total_bytes",
    )

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._share_bytes = limits.notification_bytes * limits.origin_share_percent // 100
        self._share_items = limits.notification_items * limits.origin_share_percent // 100
        self._carried: dict[ItemId, Carried] = {}
        self._by_account: dict[int, dict[ItemId, None]] = {}
        self._account_bytes: dict[int, int] = {}
        self._over_share: dict[int, None] = {}
        self._waiting: dict[SubscriptionKey, dict[ItemId, None]] = {}
        """Undelivered composites by subscription, oldest first."""
        self._over_waiting: dict[SubscriptionKey, None] = {}
        self._by_subscriber: dict[int, dict[ItemId, None]] = {}
        self._delivered: dict[ItemId, None] = {}
        self._least: list[tuple[int, int, ItemId]] = []
        self._deferred: set[int] = set()
        self.added = 0
        """Number of notifications ever added."""
        self.total_bytes = 0
        self.pending_pairs = 0
        """Number of pending (notification, subscription) pairs."""

    def __len__(self) -> int:
        return len(self._carried)

    def get(self, item_id: ItemId) -> Carried | None:
        return self._carried.get(item_id)

    def all(self) -> list[Carried]:
        """Return all, in order of arrival."""
        return list(self._carried.values())

    def pending_for(self, subscriber: int) -> list[ItemId]:
        """Return the pending notifications of a subscriber, in the order in which they matched."""
        return list(self._by_subscriber.get(subscriber, ()))

    def pending_subscribers(self, item_id: ItemId) -> Collection[int]:
        """Return the subscribers for whom this notification is pending."""
        carried = self._carried.get(item_id)
        return () if carried is None else carried.pending.keys()

    def is_pending(self, item_id: ItemId) -> bool:
        """Return whether this notification is, or may be, pending for any subscriber."""
        carried = self._carried.get(item_id)
        if carried is None:
            return False
        return bool(carried.pending) or carried.is_deferred or carried.is_unmatched

    def add(self, item: Item, is_composite: bool = False) -> Carried:
        """Add a notification. `make_room` must follow when its pending deliveries are known. A composite is
        charged to its subscriber with its first pending delivery.
        """
        item_id = item.id
        carried = self._carried[item_id] = Carried(item, is_composite)
        self.added += 1
        carried.order = self.added
        self._charge(carried)
        heappush(self._least, (0, item.created_ms, item_id))
        return carried

    def _charge(self, carried: Carried) -> None:
        self._by_account.setdefault(carried.account, {})[carried.item.id] = None
        self._count(carried.account, carried.item.size)

    def _refund(self, carried: Carried) -> None:
        of_account = self._by_account[carried.account]
        del of_account[carried.item.id]
        if not of_account:
            del self._by_account[carried.account]
        self._count(carried.account, -carried.item.size)

    def _count(self, account: int, size: int) -> None:
        self.total_bytes += size
        used = self._account_bytes.get(account, 0) + size
        if used:
            self._account_bytes[account] = used
        else:
            del self._account_bytes[account]
        if used > self._share_bytes or len(self._by_account.get(account, ())) > self._share_items:
            self._over_share[account] = None
        else:
            self._over_share.pop(account, None)

    def _charge_subscriber(self, carried: Carried, subscription: SubscriptionKey) -> None:
        """Charge a composite to its subscriber and subscription."""
        self._refund(carried)
        carried.account = subscription[0] | _SUBSCRIBER
        carried.charged_to = subscription
        self._charge(carried)
        waiting = self._waiting.setdefault(subscription, {})
        waiting[carried.item.id] = None
        if len(waiting) > self._limits.waiting_composites:
            self._over_waiting[subscription] = None

    def _stop_waiting(self, carried: Carried) -> None:
        waiting = None if carried.charged_to is None else self._waiting.get(carried.charged_to)
        if waiting is None or carried.charged_to is None:
            return
        waiting.pop(carried.item.id, None)
        if len(waiting) <= self._limits.waiting_composites:
            self._over_waiting.pop(carried.charged_to, None)
        if not waiting:
            del self._waiting[carried.charged_to]

    def replace(self, item: Item) -> None:
        """Replace a notification by one with another copies code."""
        self._carried[item.id].item = item

    def remove(self, item_id: ItemId) -> Item | None:
        """Remove and return a notification, or return None if it is not here."""
        carried = self._carried.pop(item_id, None)
        if carried is None:
            return None
        item = carried.item
        self._refund(carried)
        self._stop_waiting(carried)
        self._delivered.pop(item_id, None)
        for subscriber, mine in carried.pending.items():
            self.pending_pairs -= len(mine)
            self._drop_pending(subscriber, item_id)
        return item

    def is_deferred(self, subscriber: int) -> bool:
        """Return whether this subscriber may have more pending deliveries than are kept."""
        return subscriber in self._deferred

    @property
    def has_deferred(self) -> bool:
        """Return whether any subscriber is deferred."""
        return bool(self._deferred)

    def resume(self, subscriber: int) -> None:
        """Keep pending deliveries of this subscriber again; the caller recomputes them."""
        self._deferred.discard(subscriber)

    def _has_room(self, carried: Carried, subscriber: int, more: int) -> bool:
        """Return whether that many more pairs of this subscriber may be kept; defer others if necessary."""
        if subscriber in self._deferred:
            return False
        own = len(carried.pending.get(subscriber, ()))
        while self.pending_pairs + more > self._limits.owed and self.pending_pairs > own:
            other = next((known for known in self._by_subscriber if known != subscriber), None)
            if other is None:
                self._deferred.add(subscriber)
                return False
            self._defer(other)
        return True

    def _defer(self, subscriber: int) -> None:
        self._deferred.add(subscriber)
        for item_id in self._by_subscriber.pop(subscriber):
            carried = self._carried[item_id]
            self.pending_pairs -= len(carried.pending.pop(subscriber))
            carried.is_deferred = True

    def add_pending(self, carried: Carried, subscriber: int, satisfied: Sequence[Satisfied]) -> None:
        """Add a pending delivery for these subscriptions of a subscriber."""
        item_id = carried.item.id
        self._delivered.pop(item_id, None)
        if carried.is_composite and carried.charged_to is None:
            self._charge_subscriber(carried, (subscriber, satisfied[0][0]))
        self._note_degree(carried, max(entry[2] for entry in satisfied))
        mine = carried.pending.get(subscriber)
        more = len(satisfied) if mine is None else sum(entry[0] not in mine for entry in satisfied)
        if not self._has_room(carried, subscriber, more):
            carried.is_deferred = True
            if mine is not None:
                self.pending_pairs -= len(carried.pending.pop(subscriber))
                self._drop_pending(subscriber, item_id)
            return
        self.pending_pairs += more
        carried.pending.setdefault(subscriber, {}).update({entry[0]: entry for entry in satisfied})
        self._by_subscriber.setdefault(subscriber, {})[item_id] = None

    def _note_degree(self, carried: Carried, degree_u8: int) -> None:
        """Note a degree: the drop policy uses the highest one."""
        if degree_u8 > carried.degree_u8:
            carried.degree_u8 = degree_u8
            heappush(self._least, (degree_u8, carried.item.created_ms, carried.item.id))

    def mark_part(self, carried: Carried, degree_u8: int) -> None:
        """Note that a notification may become part of a composite, and its degree for that part."""
        carried.is_part = True
        self._delivered.pop(carried.item.id, None)
        self._note_degree(carried, degree_u8)

    def _is_done(self, carried: Carried) -> bool:
        is_open = carried.pending or carried.is_deferred or carried.is_unmatched
        return not is_open and not carried.is_part

    def delivered_elsewhere(self, carried: Carried) -> None:
        """Note that a subscriber with a matching subscription has it already, from another node."""
        if self._is_done(carried):
            self._delivered[carried.item.id] = None

    def delivered(self, item_id: ItemId, subscriber: int) -> bool:
        """Note that this subscriber has it; return whether it was pending here."""
        carried = self._carried.get(item_id)
        mine = None if carried is None else carried.pending.pop(subscriber, None)
        if carried is None or mine is None:
            return False
        self.pending_pairs -= len(mine)
        self._drop_pending(subscriber, item_id)
        if self._is_done(carried):
            self._delivered[item_id] = None
        return True

    def drop_subscription(self, subscriber: int, id: int) -> None:
        """Drop the pending deliveries of a subscription that was withdrawn or replaced."""
        for item_id in self.pending_for(subscriber):
            carried = self._carried[item_id]
            mine = carried.pending[subscriber]
            if mine.pop(id, None) is None:
                continue
            self.pending_pairs -= 1
            if not mine:
                del carried.pending[subscriber]
                self._drop_pending(subscriber, item_id)

    def drop_refused(self, item_id: ItemId, subscriber: int, refused: Iterable[Satisfied]) -> None:
        """Drop the pending delivery of a notification for these revisions, which the subscriber refused."""
        carried = self._carried.get(item_id)
        mine = None if carried is None else carried.pending.get(subscriber)
        if carried is None or mine is None:
            return
        for id, seq, _, _ in refused:
            if id in mine and mine[id][1] == seq:
                del mine[id]
                self.pending_pairs -= 1
        if not mine:
            del carried.pending[subscriber]
            self._drop_pending(subscriber, item_id)

    def _drop_pending(self, subscriber: int, item_id: ItemId) -> None:
        carried = self._carried.get(item_id)
        if carried is not None and carried.charged_to is not None:
            self._stop_waiting(carried)
        waiting = self._by_subscriber[subscriber]
        del waiting[item_id]
        if not waiting:
            del self._by_subscriber[subscriber]

    def make_room(self, now_ms: int) -> list[tuple[Item, Reason]]:
        """Drop notifications until the limits hold; return them with their reasons, in order."""
        victims: list[tuple[Item, Reason]] = []
        while (
            self._over_waiting
            or len(self._carried) > self._limits.notification_items
            or self.total_bytes > self._limits.notification_bytes
        ):
            item_id, reason = self._victim()
            item = self._carried[item_id].item
            if item.expires_ms <= now_ms:
                reason = Reason.LIFETIME_OVER
            self.remove(item_id)
            victims.append((item, reason))
        if len(self._least) > 64 + 4 * len(self._carried):
            self._least = [
                (carried.degree_u8, carried.item.created_ms, item_id)
                for item_id, carried in self._carried.items()
            ]
            heapify(self._least)
        return victims

    def _excess(self, account: int) -> tuple[int, int]:
        """Return the share of an account in thousandths, of bytes or items, whichever is larger."""
        limits = self._limits
        in_bytes = 1_000 * self._account_bytes[account] // limits.notification_bytes
        in_items = 1_000 * len(self._by_account[account]) // limits.notification_items
        return max(in_bytes, in_items), account

    def _victim(self) -> tuple[ItemId, Reason]:
        if self._over_waiting:
            subscription = next(iter(self._over_waiting))
            return next(iter(self._waiting[subscription])), Reason.OVER_QUOTA
        if self._delivered:
            return next(iter(self._delivered)), Reason.DELIVERED
        if self._over_share and len(self._by_account) > 1:
            worst = max(self._over_share, key=self._excess)
            return next(iter(self._by_account[worst])), Reason.OVER_QUOTA
        while True:
            degree_u8, _, item_id = heappop(self._least)
            carried = self._carried.get(item_id)
            if carried is not None and carried.degree_u8 == degree_u8:
                return item_id, Reason.LOWEST_DEGREE
