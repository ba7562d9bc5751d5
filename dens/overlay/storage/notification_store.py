"""The notifications a node carries, bounded in bytes and items, and whom each is still owed to.

When room is needed the victims are, in this order:

1. what has expired; 2. what everybody known to be owed it has (the one that has been so for longest); 3. the
oldest of the origin, or of the subscriber of composites, that is furthest above its share; 4. what satisfies
its subscriptions least, nothing at all being the least; the oldest among equals. What a composite may be made
of counts as if it were owed, with the degree to which it is that part.

What is owed is a product of notifications and subscriptions, so it has a bound too. Where that is reached a
subscriber is *deferred*: nothing is kept of what it is owed, until somebody asks for it to be found again
(`resume`), which is when the subscriber is met. The one whose first was found longest ago is deferred
first, and never one for the sake of itself: of a subscriber that is owed more than all the room there is, as
much is kept as there is room for. What one notification is owed to a subscriber for is kept together or not
at all, because it is told together; one such always may be.

A composite is made for one subscription, so it is charged to the share of its subscriber, not to that of the
mediator that made it: else one subscription could evict the composites of all others. Composites of one
subscription that wait for delivery have a bound of their own; of more, the oldest go.

The newcomer takes part: it may be its own victim. A later learnt subscription may be owed something that is
delivered to all others, so delivered notifications stay until the room is needed or they expire.
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
"""Marks the account of a subscriber: as an origin the same node has another one."""


class Carried:
    """One notification, and for each subscriber that is still owed it the subscriptions it satisfies."""

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
        """Whose share it is charged to: its origin's, or with a mark its subscriber's."""
        self.is_composite = is_composite
        """Whether it is made for one subscription."""
        self.charged_to: SubscriptionKey | None = None
        """The subscription that a composite is charged to."""
        self.pending: dict[int, dict[int, Satisfied]] = {}
        self.giver: int | None = None
        """From which peer it came; None where that is not known, as after a restart."""
        self.order = 0
        """Which one it is of all that were added to its store."""
        self.degree_u8 = 0
        self.is_deferred = False
        """Whether it may be owed to somebody deferred, so that nobody can say that everybody has it."""
        self.is_unmatched = False
        """Whether it waits to be matched (dens/overlay/mediator/deferred_work.py), so that it may be owed
        to anybody."""
        self.is_part = False
        """Whether a composite may be made of it, so that it is needed even if everybody has it."""


class NotificationStore:
    """Carries notifications. It changes nothing by itself: whoever adds is told what had to go."""

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
        """Composites that are not delivered yet, by the subscription they wait for, oldest first."""
        self._over_waiting: dict[SubscriptionKey, None] = {}
        self._by_subscriber: dict[int, dict[ItemId, None]] = {}
        self._delivered: dict[ItemId, None] = {}
        self._least: list[tuple[int, int, ItemId]] = []
        self._deferred: set[int] = set()
        self.added = 0
        """How many were ever added."""
        self.total_bytes = 0
        self.pending_pairs = 0
        """How many subscriptions are kept as owed, over all notifications."""

    def __len__(self) -> int:
        return len(self._carried)

    def get(self, item_id: ItemId) -> Carried | None:
        """Return one that is carried."""
        return self._carried.get(item_id)

    def all(self) -> list[Carried]:
        """Return all, in the order in which they came."""
        return list(self._carried.values())

    def pending_for(self, subscriber: int) -> list[ItemId]:
        """Return what this subscriber is still owed, in the order in which that was found."""
        return list(self._by_subscriber.get(subscriber, ()))

    def pending_subscribers(self, item_id: ItemId) -> Collection[int]:
        """Return who is still owed this one."""
        carried = self._carried.get(item_id)
        return () if carried is None else carried.pending.keys()

    def is_pending(self, item_id: ItemId) -> bool:
        """Return whether anybody is, or may turn out to be, still owed this one."""
        carried = self._carried.get(item_id)
        if carried is None:
            return False
        return bool(carried.pending) or carried.is_deferred or carried.is_unmatched

    def add(self, item: Item, is_composite: bool = False) -> Carried:
        """Carry this notification. `make_room` should follow when it is known whom it is owed to. A composite
        is charged to its subscriber as soon as it is owed to one.
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
        """Charge a composite to its subscriber, and let it wait for its subscription."""
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
        """Put another copies code on one that is carried."""
        self._carried[item.id].item = item

    def remove(self, item_id: ItemId) -> Item | None:
        """Carry it no longer; return it, or None where it was not here."""
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
        """Return whether more may be owed to this subscriber than is kept."""
        return subscriber in self._deferred

    @property
    def has_deferred(self) -> bool:
        """Return whether more may be owed to anybody than is kept."""
        return bool(self._deferred)

    def resume(self, subscriber: int) -> None:
        """Keep again what this subscriber is owed; whoever asks finds it."""
        self._deferred.discard(subscriber)

    def _has_room(self, carried: Carried, subscriber: int, more: int) -> bool:
        """Return whether so many pairs more of this subscriber's may be kept; make room if need be."""
        if subscriber in self._deferred:
            return False
        own = len(carried.pending.get(subscriber, ()))
        while self.pending_pairs + more > self._limits.owed and self.pending_pairs > own:
            other = next((one for one in self._by_subscriber if one != subscriber), None)
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
        """Note that this subscriber is owed this one, for these subscriptions."""
        item_id = carried.item.id
        self._delivered.pop(item_id, None)
        if carried.is_composite and carried.charged_to is None:
            self._charge_subscriber(carried, (subscriber, satisfied[0][0]))
        self._satisfies(carried, max(one[2] for one in satisfied))
        mine = carried.pending.get(subscriber)
        more = len(satisfied) if mine is None else sum(one[0] not in mine for one in satisfied)
        if not self._has_room(carried, subscriber, more):
            carried.is_deferred = True
            if mine is not None:
                self.pending_pairs -= len(carried.pending.pop(subscriber))
                self._drop_pending(subscriber, item_id)
            return
        self.pending_pairs += more
        carried.pending.setdefault(subscriber, {}).update({one[0]: one for one in satisfied})
        self._by_subscriber.setdefault(subscriber, {})[item_id] = None

    def _satisfies(self, carried: Carried, degree_u8: int) -> None:
        """Note how well it satisfies something: with its best degree it takes part when room is needed."""
        if degree_u8 > carried.degree_u8:
            carried.degree_u8 = degree_u8
            heappush(self._least, (degree_u8, carried.item.created_ms, carried.item.id))

    def mark_part(self, carried: Carried, degree_u8: int) -> None:
        """Note that a composite may be made of this one, and how well it satisfies that part."""
        carried.is_part = True
        self._delivered.pop(carried.item.id, None)
        self._satisfies(carried, degree_u8)

    def _is_done(self, carried: Carried) -> bool:
        is_open = carried.pending or carried.is_deferred or carried.is_unmatched
        return not is_open and not carried.is_part

    def delivered_elsewhere(self, carried: Carried) -> None:
        """Note that a subscriber that would be owed this one has it from elsewhere."""
        if self._is_done(carried):
            self._delivered[carried.item.id] = None

    def delivered(self, item_id: ItemId, subscriber: int) -> bool:
        """Note that this subscriber has it; return whether it was still owed it here."""
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
        """Owe nothing more for this subscription: it was withdrawn or replaced."""
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
        """Owe this one no more for these revisions of this subscriber's."""
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
        """Remove what has to go until the bounds hold; return it with the reason for each, in order."""
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
        """Return how far an account is above its share, of bytes or of items, in thousandths of all room."""
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
