"""Whom a broker hands a notification to, and for how long it holds it.

It holds a copy until all receivers have acknowledged it, and waits for a receiver that is not in contact as
long as its patience lasts. A notification may come before the JOINs and subscriptions that it is for: after a
start with an empty store the neighbours state theirs again, each in its own time. So one without a receiver,
and every one that comes within one patience after a start, is held for that long and checked again with every
JOIN, subscription and tree (docs/decisions/0042-brokers-hold-and-recheck.md).
"""

from collections.abc import Mapping
from typing import Final

from dens.overlay.broker.advertisements import Advertisements
from dens.overlay.broker.custody import Custody
from dens.overlay.broker.entries import Entries, Entry
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.events import CopyDropped
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Work
from dens.overlay.wire.broker_messages import ALL
from dens.overlay.wire.codes import EXPIRED, HAS_IT, NOTIFICATION, REASON_NAMES, SUPERSEDED, Reason
from dens.overlay.wire.item import Item, ItemId

_SETTLED: Final = HAS_IT | {SUPERSEDED, EXPIRED}
"""After these statuses a neighbour does not need a notification any more."""
_PRIORITY: Final = 2
"""Notifications go behind routing messages."""
_OPEN_PERCENT: Final = 50
"""Above this share of the room open notifications are dropped first, the oldest of them."""


class Forwarding:
    """The notifications of a broker on their way."""

    __slots__ = (
        "_advertisements",
        "_custody",
        "_entries",
        "_events",
        "_limits",
        "_neighbours",
        "_options",
        "_quarantine",
        "_sessions",
        "_settled_ms",
        "_state",
        "_unknown",
    )

    def __init__(
        self,
        context: NodeContext,
        state: MediatorState,
        advertisements: Advertisements,
        entries: Entries,
        neighbours: Mapping[int, None],
        options: BrokerOptions,
    ) -> None:
        self._events = context.events
        self._quarantine = context.quarantine
        self._sessions = context.sessions
        self._state = state
        self._advertisements = advertisements
        self._entries = entries
        self._neighbours = neighbours
        self._options = options
        self._limits = context.limits
        self._custody = Custody(options.patience_ms)
        self._unknown: set[ItemId] = set()
        """Notifications of an earlier life whose receivers are not known yet."""
        self._settled_ms = 0
        """Until when every notification is open."""

    def started(self, now_ms: int) -> None:
        """Let neighbours state their requests before a notification counts as delivered to all."""
        self._settled_ms = now_ms + self._options.patience_ms

    # ------------------------------------------------------------------ receivers

    def receivers(self, item: Item, giver: int | None, now_ms: int) -> set[int]:
        """Return the neighbours that need a notification. Unless it comes from the parent, it goes there too.
        An invalid vector raises.
        """
        if self._options.floods:
            found = set(self._neighbours)
        else:
            found = self._entries.joined(item, now_ms)
            tree = self._advertisements.trees.get(item.origin) if self._options.advertisements else None
            if tree is not None and tree.parent != item.origin:
                found.add(tree.parent)
        if giver is not None:
            found.discard(giver)
        return found

    def begin(self, item_id: ItemId, receivers: set[int], giver: int | None, now_ms: int) -> None:
        """Hold a notification for these neighbours and for the ends that expect it."""
        is_expected = bool(receivers) or self._state.carried.is_pending(item_id)
        is_open = not is_expected or now_ms < self._settled_ms
        self._custody.begin(item_id, receivers, giver, is_open, now_ms)
        if is_open:
            self._make_room(now_ms)

    def _make_room(self, now_ms: int) -> None:
        """Drop open notifications where they would fill the room of those that have receivers."""
        carried, limits = self._state.carried, self._limits
        while (
            100 * len(carried) > _OPEN_PERCENT * limits.notification_items
            or 100 * carried.total_bytes > _OPEN_PERCENT * limits.notification_bytes
        ) and (oldest := self._oldest_open()) is not None:
            self._custody.close(oldest)
            if not self._custody.lacking(oldest) and not carried.is_pending(oldest):
                self._let_go(oldest, Reason.OLDEST, now_ms)

    def _oldest_open(self) -> ItemId | None:
        return next((one for one in self._custody.open() if one not in self._unknown), None)

    def hold(self, item_id: ItemId, now_ms: int) -> None:
        """Hold a notification whose receivers are not computed yet."""
        self._unknown.add(item_id)
        self._custody.begin(item_id, (), None, True, now_ms)

    def restore(self, item: Item, now_ms: int) -> None:
        """Hold a notification from before a restart for its receivers; some of them may have it."""
        self._unknown.discard(item.id)
        self.begin(item.id, self._receivers_again(item, now_ms), None, now_ms)

    def _receivers_again(self, item: Item, now_ms: int) -> set[int]:
        nobody: set[int] = set()
        return self._quarantine.attempt(
            Work.MATCHING, item, now_ms, self.receivers, item, None, now_ms, otherwise=nobody
        )

    def met(self, neighbour: int) -> None:
        """If notifications are flooded, hold all of them for a new neighbour too."""
        if self._options.floods and neighbour not in self._neighbours:
            self._custody.also_for(neighbour)

    def joined(self, entry: Entry, now_ms: int) -> None:
        """Check open notifications against a JOIN that has just come."""
        asked = [item for item in self._open() if entry.publisher in (item.origin, ALL)]
        if asked:
            for item in self._entries.satisfying(entry, asked, now_ms):
                self._also_for(item, {entry.held.item.origin}, now_ms)

    def tree_changed(self, publisher: int, now_ms: int) -> None:
        """Check open notifications of a publisher whose tree is new or has another parent."""
        for item in self._open():
            if item.origin == publisher:
                self._also_for(item, self._receivers_again(item, now_ms), now_ms)

    def _open(self) -> list[Item]:
        items = self._state.items
        return [items[item_id] for item_id in self._custody.open() if item_id in items]

    def _also_for(self, item: Item, receivers: set[int], now_ms: int) -> None:
        """Hold an open notification for these receivers too, and give it to those in contact."""
        if self._custody.add(item.id, receivers):
            self.offer(item.id, now_ms)

    # ------------------------------------------------------------------ sending

    def offer(self, item_id: ItemId, now_ms: int) -> None:
        """Offer a notification to its receivers in contact."""
        for neighbour in sorted(self._custody.lacking(item_id)):
            session = self._sessions.get(neighbour)
            if session is not None and session.is_ready:
                self._offer_to(session, item_id, now_ms)

    def offer_lacking(self, session: PeerSession, now_ms: int) -> None:
        """Offer a neighbour what it lacks."""
        for item_id in self._custody.lacked_by(session.peer):
            self._offer_to(session, item_id, now_ms)

    def _offer_to(self, session: PeerSession, item_id: ItemId, now_ms: int) -> None:
        item = self._state.items.get(item_id)
        if item is None:
            self._custody.forget(item_id)
        elif session.knows(item_id):
            self._custody.has(item_id, session.peer)
            self.release_if_done(item_id, now_ms)
        elif item.origin <= session.covered:
            session.offer(_PRIORITY, item_id, NOTIFICATION, item.size)

    def answered(self, item_id: ItemId, status: int, neighbour: int, now_ms: int) -> None:
        """Take the status of a neighbour. One that had no room may have some later."""
        if status in _SETTLED:
            self._custody.has(item_id, neighbour)
            self.release_if_done(item_id, now_ms)

    # ------------------------------------------------------------------ dropping

    def delivered(self, item_id: ItemId, now_ms: int) -> None:
        """Note that an endpoint has it."""
        self._custody.handed(item_id)
        self.release_if_done(item_id, now_ms)

    def release_if_done(self, item_id: ItemId, now_ms: int) -> None:
        """Drop a notification that all its receivers have, unless it is open."""
        custody = self._custody
        if (
            not custody.is_open(item_id)
            and not custody.lacking(item_id)
            and not self._state.carried.is_pending(item_id)
        ):
            reason = Reason.DELIVERED if custody.is_handed(item_id) else Reason.PATIENCE_OVER
            self._let_go(item_id, reason, now_ms)

    def _let_go(self, item_id: ItemId, reason: Reason, now_ms: int) -> None:
        self._unknown.discard(item_id)
        self._custody.forget(item_id)
        item = self._state.carried.remove(item_id)
        if item is not None:
            self._state.release(item, reason, now_ms)

    def forget(self, item_id: ItemId) -> None:
        """Forget an expired notification."""
        self._unknown.discard(item_id)
        self._custody.forget(item_id)

    @property
    def due_ms(self) -> int:
        """Return when the next wait is over."""
        return self._custody.due_ms

    def expire_waiting(self, now_ms: int) -> None:
        """Give up receivers that are not in contact and did not return in time."""
        while (item_id := self._custody.pop_due(now_ms)) is not None:
            self._give_up(item_id, now_ms)

    def _give_up(self, item_id: ItemId, now_ms: int) -> None:
        """Expect no further receivers; give up those that are not in contact, and report it; wait on for the
        others.
        """
        carried = self._state.carried.get(item_id)
        if carried is None:
            self._custody.forget(item_id)
            return
        word = REASON_NAMES[Reason.PATIENCE_OVER]
        self._custody.close(item_id)
        for one in sorted(self._custody.lacking(item_id) - self._sessions.keys()):
            self._custody.give_up(item_id, one)
            self._events.append(CopyDropped(now_ms, carried.item, one, word))
        for one in sorted(carried.pending.keys() - self._sessions.keys()):
            self._state.carried.delivered(item_id, one)
            self._events.append(CopyDropped(now_ms, carried.item, one, word))
        if carried.is_deferred and not carried.pending and not self._custody.lacking(item_id):
            self._let_go(item_id, Reason.PATIENCE_OVER, now_ms)
            return
        self.release_if_done(item_id, now_ms)
        if self._state.carried.get(item_id) is not None:
            self._custody.wait(item_id, now_ms)
