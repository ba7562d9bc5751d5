"""Handlers of a mediator: how each type of message changes its state.

    SUBSCRIBE, RENEW   put in force, match against held notifications
    UNSUBSCRIBE        end the subscription, drop its pending deliveries
    ANNOUNCE           update the directory
    NOTIFICATION       match, hold, compose, evict
    NOTIFY             the same, for endpoints of this device only
    RECEIPT            the notification is no longer pending for that subscriber

The cost of matching and composition is charged to the origin of the message
(dens/overlay/session/work_budget.py). If its budget is spent, a notification is held and matched later, and a
subscription is in force at once and matched against older notifications later
(dens/overlay/mediator/deferred_work.py).

A NOTIFY is held as one: it is pending only for endpoints hosted here, and dropped when they have it. What is
sent to whom is in dens/overlay/mediator/mediator.py.
"""

from collections.abc import Callable, Sequence
from typing import Final

from dens.interfaces import CompositeNotification
from dens.overlay.events import MessageUndecided, NotificationMade
from dens.overlay.mediator.deferred_work import Backlog, DeferredWork, Unmatched
from dens.overlay.mediator.matching import Failure, Match
from dens.overlay.mediator.pending import OnPending, read_subscription
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.session.results import Results
from dens.overlay.storage.notification_store import Carried
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import (
    ANNOUNCE,
    KNOWN,
    NO_ROOM,
    NOTIFICATION,
    NOTIFY,
    QUARANTINED,
    RECEIPT,
    RENEW,
    STATUS_NAMES,
    STORED,
    SUBSCRIBE,
    SUPERSEDED,
    UNEXPECTED,
    UNKNOWN_LANGUAGE,
    UNSUBSCRIBE,
    WORK,
    Reason,
    Status,
)
from dens.overlay.wire.item import LIFETIME_MS, Item, ItemId
from dens.overlay.wire.messages import Notify, Withdrawal
from watchdog.header import HEADER_ID

_WORK: Final = STATUS_NAMES[WORK]
"""Reason in events for messages that wait for their origin's budget."""
_BATCH_MAX: Final = 64
"""Notifications of a backlog that are matched per call."""
_NOT_RELAYED: Final = -1


class MessageRow:
    """How a mediator treats the messages of one type."""

    __slots__ = ("expire", "handle", "priority", "restore", "restore_order")

    def __init__(
        self,
        handle: Callable[[Item, int, int], Status],
        restore: Callable[[Item, int, int], None],
        expire: Callable[[Item, int], None] | None,
        priority: int,
        restore_order: int,
    ) -> None:
        self.handle: Final = handle
        """(item, via, now_ms): takes a new message that `via` sent."""
        self.restore: Final = restore
        """(item, end, now_ms): takes up a message after a restart. From `end` units of work on, matching is
        deferred."""
        self.expire: Final = expire
        """(item, now_ms): forgets an expired message in the table of its type; None if the table expires by
        itself."""
        self.priority: Final = priority
        """Order of transmission to other mediators, lowest first; negative if not relayed."""
        self.restore_order: Final = restore_order
        """Order after a restart, lowest first."""


class MessageHandlers:
    """Takes messages into the state of a mediator. `on_pending` is called for deliveries that are found
    pending later than their message was handled.
    """

    __slots__ = (
        "_budget",
        "_context",
        "_durable",
        "_limits",
        "_node",
        "_on_pending",
        "_quarantine",
        "_state",
        "rows",
        "waiting",
    )

    def __init__(self, context: NodeContext, state: MediatorState, on_pending: OnPending) -> None:
        self._context = context
        self._node = context.node
        self._limits = context.limits
        self._durable = context.durable
        self._quarantine = context.quarantine
        self._budget = context.work
        self._state = state
        self._on_pending = on_pending
        self.waiting: Final = DeferredWork(context.work)
        """Matching and composition that is done in later steps."""
        subscription, restore_subscription = self._handle_subscription, self._restore_subscription
        restore_event, expire_event = self._restore_notification, self._expire_notification
        self.rows: Final = {
            UNSUBSCRIBE: MessageRow(
                self._handle_withdrawal,
                self._restore_withdrawal,
                self._expire_withdrawal,
                priority=0,
                restore_order=0,
            ),
            SUBSCRIBE: MessageRow(subscription, restore_subscription, None, priority=1, restore_order=2),
            RENEW: MessageRow(subscription, restore_subscription, None, priority=1, restore_order=2),
            RECEIPT: MessageRow(
                self._handle_receipt,
                self._restore_receipt,
                self._expire_receipt,
                priority=2,
                restore_order=3,
            ),
            ANNOUNCE: MessageRow(
                self._handle_announcement,
                self._restore_announcement,
                self._expire_announcement,
                priority=3,
                restore_order=1,
            ),
            NOTIFICATION: MessageRow(
                self._handle_notification, restore_event, expire_event, priority=4, restore_order=4
            ),
            NOTIFY: MessageRow(
                self._handle_notify, restore_event, expire_event, priority=_NOT_RELAYED, restore_order=4
            ),
        }
        """By message type. A new type has its row here (docs/decisions/0047-message-types.md)."""

    def handle(self, item: Item, via: int, now_ms: int) -> Status:
        """Take a new message; return the status of its acknowledgement."""
        row = self.rows.get(item.type)
        return UNEXPECTED if row is None else row.handle(item, via, now_ms)

    def expire(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget an expired message; return whether it was held."""
        item = self._state.remove_expired(item_id, now_ms)
        if item is None:
            return False
        row = self.rows.get(item.type)
        if row is not None and row.expire is not None:
            row.expire(item, now_ms)
        return True

    def _handle_subscription(self, item: Item, via: int, now_ms: int) -> Status:
        state = self._state
        new = Subscription.of(item, read_subscription(item))
        if not state.pending.judges(item.language):
            return UNKNOWN_LANGUAGE
        status = state.table.judge(new)
        if status is not STORED:
            return status
        current = state.table.get(new.key)
        if current is None and len(state.table) >= self._limits.subscriptions:
            return NO_ROOM
        if self._budget.is_overdrawn(item.origin, now_ms) or self.waiting.referred > self._limits.owed:
            return WORK
        publishers = self._publishers_for(new, now_ms, may_reject=True)
        parts = self._parts_of(new, now_ms, may_reject=True)
        is_matched = state.pending.add_subscription(new, now_ms, may_reject=True)
        is_composed = is_matched and self._add_to_composer(new, now_ms)
        if current is not None:
            state.release(current.item, Reason.REPLACED, now_ms)
            if current.item.language != item.language or not is_matched:
                state.remove_from_matchers(current, now_ms)
            if current.seq != new.seq:
                state.drop_pending(item.origin, new.id, now_ms)
        state.table.put(new)
        state.hold(item)
        state.parts.add(item.id, parts)
        if is_matched:
            backlog = Backlog(item, state.carried.all(), is_composed)
            end = self._budget.total + self._limits.work_step
            if not self._catch_up(backlog, new, end, now_ms):
                self._wait(backlog, item, now_ms)
        state.services.add(new, publishers)
        state.covering.add(new, now_ms)
        return QUARANTINED if self._quarantine.has_marks(item) else STORED

    def _publishers_for(
        self, subscription: Subscription, now_ms: int, *, may_reject: bool = False
    ) -> tuple[int, ...]:
        return self._quarantine.attempt(
            Work.LOOKUP,
            subscription.item,
            now_ms,
            self._state.services.publishers_for,
            subscription,
            otherwise=(),
            may_reject=may_reject,
        )

    def _parts_of(
        self, subscription: Subscription, now_ms: int, *, may_reject: bool = False
    ) -> tuple[Item, ...]:
        return self._quarantine.attempt(
            Work.FORMING,
            subscription.item,
            now_ms,
            self._state.parts.decompose,
            subscription,
            otherwise=(),
            may_reject=may_reject,
        )

    def _handle_withdrawal(self, item: Item, via: int, now_ms: int) -> Status:
        state = self._state
        withdrawal = Withdrawal.decode(item.payload)
        if state.table.tombstone_count >= self._limits.tombstones:
            return NO_ROOM
        status, ended, older = state.table.withdraw(item, withdrawal)
        if status is not STORED:
            return status
        if older is not None:
            state.release(older.item, Reason.REPLACED, now_ms)
        if ended is not None:
            state.remove_from_matchers(ended, now_ms)
            state.remove_from_sources(ended, now_ms)
            state.drop_pending(*ended.key, now_ms)
            state.release(ended.item, Reason.WITHDRAWN, now_ms)
        state.hold(item)
        state.parts.add_removals(item, withdrawal)
        return STORED

    def _handle_announcement(self, item: Item, via: int, now_ms: int) -> Status:
        state = self._state
        older = state.services.announcement(item.origin)
        if older is not None and older.number > item.number:
            return SUPERSEDED
        self._add_announcement(item, via, now_ms, may_reject=True)
        for subscription in state.table.subscriptions():
            state.services.add(subscription, self._publishers_for(subscription, now_ms))
        if older is not None:
            state.parts.forget_refusals(item.origin)
            state.release(older, Reason.REPLACED, now_ms)
        state.hold(item)
        if len(state.services) > self._limits.announcements:
            earliest = state.services.earliest()
            state.services.forget(earliest)
            state.parts.forget_refusals(earliest.origin)
            state.release(earliest, Reason.OLDEST, now_ms)
            if earliest is item:
                return NO_ROOM
        return STORED

    def _add_announcement(self, item: Item, via: int, now_ms: int, *, may_reject: bool = False) -> None:
        """Add an announcement to the directory. It is the newest of its publisher even if that fails."""
        state = self._state
        self._quarantine.attempt(
            Work.LOOKUP,
            item,
            now_ms,
            state.services.learn_announcement,
            item,
            via,
            now_ms,
            otherwise=None,
            may_reject=may_reject,
        )
        state.services.note(item)

    def _handle_receipt(self, item: Item, via: int, now_ms: int) -> Status:
        state = self._state
        notification = state.receipts.add(item)
        state.carried.delivered(notification, item.origin)
        state.release_if_done(notification, now_ms)
        state.hold(item)
        while len(state.receipts) > self._limits.receipts:
            state.release(state.receipts.oldest(), Reason.OLDEST, now_ms)
        return STORED if item.id in state.items else NO_ROOM

    def _handle_notification(self, item: Item, via: int, now_ms: int) -> Status:
        state = self._state
        results: Results = ()
        if item.language in state.results.tracker.readers:
            results = state.results.tracker.read_results(item.language, item.payload)
            if not state.results.tracker.raises_any(results, now_ms):
                return SUPERSEDED
        if self._budget.is_spent(item.origin, now_ms) and state.pending.knows(item.language):
            if item.type == NOTIFY:
                return WORK
            carried = self._carry(item, results, ((), ()), now_ms)
            carried.is_unmatched = True
            self._wait(Unmatched(item, from_before=False), item, now_ms)
            self._make_room(now_ms)
            return STORED if item.id in state.items else NO_ROOM
        found = state.pending.match(item, now_ms)
        if found is None:
            return UNKNOWN_LANGUAGE
        carried = self._carry(item, results, found, now_ms)
        if item.language in state.composition.listeners:
            self._compose(carried, now_ms)
        self._make_room(now_ms)
        return STORED if item.id in state.items else NO_ROOM

    def _carry(
        self, item: Item, results: Results, found: tuple[Sequence[Match], Sequence[Failure]], now_ms: int
    ) -> Carried:
        """Hold a notification and note its pending deliveries; drop those that its results supersede."""
        state = self._state
        item = self._durable.kept(item)
        carried = state.carried.add(item, item.language in state.composition.languages)
        state.pending.add_matched(carried, found, now_ms)
        state.hold(item)
        if results:
            for overtaken in state.results.hold(carried, results, now_ms):
                state.carried.remove(overtaken)
                state.release(state.items[overtaken], Reason.REPLACED, now_ms)
        return carried

    def _make_room(self, now_ms: int) -> None:
        for victim, reason in self._state.carried.make_room(now_ms):
            self._state.release(victim, reason, now_ms)

    # ------------------------------------------------------------------ deferred work

    def _wait(self, job: Unmatched | Backlog, item: Item, now_ms: int) -> None:
        """Defer a job, and report it if the budget of its origin is spent."""
        self.waiting.put(job, now_ms)
        if self._budget.is_spent(job.origin, now_ms):
            self._context.events.append(MessageUndecided(now_ms, item, None, _WORK))

    def step(self, now_ms: int) -> list[ItemId]:
        """Do deferred work, at most `work_step` units plus one call. Return the notifications that are
        matched now.
        """
        end = self._budget.total + self._limits.work_step
        matched: list[ItemId] = []
        while self._budget.total < end and (job := self.waiting.take(now_ms)) is not None:
            if isinstance(job, Unmatched):
                self._match_deferred(job, now_ms)
                matched.append(job.item_id)
                continue
            item = self._state.items.get(job.item_id)
            new = None if item is None else Subscription.of(item, read_subscription(item))
            if new is None or self._state.table.get(new.key) != new or self._quarantine.has_marks(new.item):
                continue
            if not self._catch_up(job, new, end, now_ms):
                self.waiting.put_back(job, now_ms)
        self.waiting.settle(now_ms)
        return matched

    def _match_deferred(self, job: Unmatched, now_ms: int) -> None:
        """Match and compose a deferred notification."""
        state = self._state
        carried = state.carried.get(job.item_id)
        if carried is None or not carried.is_unmatched:
            return
        carried.is_unmatched = False
        state.pending.match_held(carried, now_ms, from_before=job.from_before)
        if carried.item.language in state.composition.listeners:
            self._compose(carried, now_ms)
            self._make_room(now_ms)
        for subscriber in list(carried.pending):
            self._on_pending(carried, subscriber, now_ms)
        state.release_if_done(job.item_id, now_ms)

    def _catch_up(self, job: Backlog, new: Subscription, end: int, now_ms: int) -> bool:
        """Match and compose the notifications that were held before a subscription, until `end` units are
        charged in total or the budget of its origin is spent. Return whether the job is done.
        """
        state, budget = self._state, self._budget
        while job.matched < len(job.carried):
            if budget.total >= end or budget.is_spent(job.origin, now_ms):
                return False
            batch = job.carried[job.matched : job.matched + job.batch]
            before = budget.total
            held = [one for one in batch if state.carried.get(one.item.id) is one]
            after = job.matched + len(batch)
            others = job.carried[after : after + _BATCH_MAX]
            others = [*others, *job.carried[max(job.matched - _BATCH_MAX, 0) : job.matched]]
            state.pending.match_with((new,), held, self._on_pending, now_ms, others=others)
            if self._quarantine.holds(new.item, Work.MATCHING):
                return True
            job.matched += len(batch)
            cost = (budget.total - before) // len(batch) + 1
            job.batch = max(1, min(_BATCH_MAX, self._limits.work_step // (16 * cost)))
        while job.is_composed and job.composed < len(job.carried):
            if budget.total >= end or budget.is_spent(job.origin, now_ms):
                return False
            carried = job.carried[job.composed]
            job.composed += 1
            if state.carried.get(carried.item.id) is carried:
                self._compose_for(new, carried, now_ms)
        if job.is_composed:
            self._make_room(now_ms)
        return True

    # ------------------------------------------------------------------ composition

    def _add_to_composer(self, subscription: Subscription, now_ms: int) -> bool:
        """Add a subscription to its composer; return whether that succeeded."""
        composition, item = self._state.composition, subscription.item
        if item.language not in composition.languages:
            return False
        is_there = self._quarantine.attempt(
            Work.COMPOSING, item, now_ms, composition.add, subscription, now_ms, otherwise=False
        )
        if not is_there:
            composition.remove(subscription, now_ms)
        return is_there

    def _compose_for(self, new: Subscription, carried: Carried, now_ms: int) -> None:
        """Compose for a subscription with a notification that was held before it."""
        state = self._state
        if carried.item.language in state.composition.listeners:
            self._compose(carried, now_ms, new)
            if carried.is_part and new.item.origin in state.composition.wanted_by(carried.item, now_ms):
                self._on_pending(carried, new.item.origin, now_ms)

    def _compose(self, carried: Carried, now_ms: int, only: Subscription | None = None) -> None:
        """Feed this notification to composers, for all subscriptions or for one."""
        composition, item = self._state.composition, carried.item
        for language, made in composition.feed(item, now_ms, only):
            self._quarantine.attempt(
                Work.COMPOSING, item, now_ms, self._add_composite, language, made, now_ms, otherwise=None
            )
        wanted = composition.wanted_by(item, now_ms)
        if wanted:
            self._state.carried.mark_part(carried, max(wanted.values()))

    def _add_composite(self, language: int, made: CompositeNotification, now_ms: int) -> None:
        """Hold a composite as a notification of this node, unless it has no new results or is expired."""
        state = self._state
        results = state.results.tracker.read_results(language, made.vector)
        if not state.results.tracker.raises_any(results, now_ms) or not self._durable.has_numbers:
            return
        if made.event_ms + LIFETIME_MS[made.lifetime_q] <= now_ms:
            return
        item = self._context.make(NOTIFICATION, language, made.lifetime_q, made.vector, made.event_ms)
        found = state.pending.match(item, now_ms)
        if found is None:
            return
        self._context.events.append(NotificationMade(now_ms, item))
        self._carry(item, results, found, now_ms)
        state.composition.news.append(item.id)

    def _handle_notify(self, item: Item, via: int, now_ms: int) -> Status:
        """Take a notification for endpoints of this device. It is matched here, because the sender may know
        only some of their subscriptions.
        """
        state = self._state
        if not state.hosts:
            return UNEXPECTED
        item = item.replace(payload=Notify.decode(item.payload).vector)
        status = self._handle_notification(item, via, now_ms)
        if status is SUPERSEDED:
            self._durable.know(item)  # A carrier would reject it too.
        if status is not STORED or state.carried.is_pending(item.id):
            return status
        has_it = any(state.receipts.has(item.id, end) for end in state.hosts)
        state.forget_copy(item, now_ms)
        return KNOWN if has_it else SUPERSEDED

    def restore(self, held: list[Item], now_ms: int) -> None:
        """Restore the held messages; matching beyond one step of work is deferred."""
        state = self._state
        end = self._budget.total + self._limits.work_step
        for item in sorted(held, key=lambda item: self.rows[item.type].restore_order):
            state.items[item.id] = item
            self._quarantine.attempt(
                Work.TAKING, item, now_ms, self.rows[item.type].restore, item, end, now_ms, otherwise=None
            )
            if self._quarantine.holds(item, Work.TAKING):
                state.relay_only[item.id] = None
        if state.composition.news:
            self._make_room(now_ms)

    def _restore_notification(self, item: Item, end: int, now_ms: int) -> None:
        state = self._state
        carried = state.carried.add(item, item.language in state.composition.languages)
        if results := state.results.tracker.read_results(item.language, item.payload):
            state.results.restore(item.id, results)
        if self._budget.total >= end or self._budget.is_spent(item.origin, now_ms):
            carried.is_unmatched = True
            self.waiting.put(Unmatched(item, from_before=True), now_ms)
            return
        state.pending.match_held(carried, now_ms, from_before=True)
        if item.language in state.composition.listeners:
            self._compose(carried, now_ms)

    def _restore_receipt(self, item: Item, end: int, now_ms: int) -> None:
        self._state.receipts.add(item)

    def _restore_withdrawal(self, item: Item, end: int, now_ms: int) -> None:
        withdrawal = Withdrawal.decode(item.payload)
        self._state.table.withdraw(item, withdrawal)
        self._state.parts.add_removals(item, withdrawal)

    def _restore_announcement(self, item: Item, end: int, now_ms: int) -> None:
        self._add_announcement(item, self._node, now_ms)

    def _restore_subscription(self, item: Item, end: int, now_ms: int) -> None:
        state = self._state
        subscription = Subscription.of(item, read_subscription(item))
        state.table.put(subscription)
        if state.pending.add_subscription(subscription, now_ms):
            self._add_to_composer(subscription, now_ms)
        state.services.add(subscription, self._publishers_for(subscription, now_ms))
        state.parts.add(item.id, self._parts_of(subscription, now_ms))
        state.covering.add(subscription, now_ms)

    # ------------------------------------------------------------------ expiry

    def _expire_notification(self, item: Item, now_ms: int) -> None:
        state = self._state
        state.carried.remove(item.id)
        if state.composition.is_on:
            state.composition.forget(item, now_ms)
        if state.results.by_item:
            state.results.release(item.id)

    def _expire_receipt(self, item: Item, now_ms: int) -> None:
        self._state.receipts.remove(item)

    def _expire_withdrawal(self, item: Item, now_ms: int) -> None:
        self._state.table.forget_tombstone((item.origin, item.payload[HEADER_ID]), item)

    def _expire_announcement(self, item: Item, now_ms: int) -> None:
        self._state.services.forget(item)
        self._state.parts.forget_refusals(item.origin)
