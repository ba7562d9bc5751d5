"""Whom a broker hands a notification to, and for how long it holds it.

It holds a copy until everybody whom it is for has acknowledged it, and waits for whoever is not in contact as
long as its patience lasts.
"""

from collections.abc import Mapping
from typing import Final

from dens.brokers.advertisements import Advertisements
from dens.brokers.entries import Entries
from dens.brokers.handing import WHOEVER, Handing
from dens.brokers.options import BrokerOptions
from dens.context import NodeContext
from dens.events import CopyDropped
from dens.item import Item, ItemId
from dens.mediator_state import MediatorState
from dens.numbers import EXPIRED, HAS_IT, NOTIFICATION, REASON_NAMES, SUPERSEDED, Reason
from dens.peer_session import PeerSession
from dens.quarantine import Work

_SETTLED: Final = HAS_IT | {SUPERSEDED, EXPIRED}
"""After these answers a neighbour needs a notification no more."""
_PRIORITY: Final = 2
"""Notifications go behind what says where they go."""


class Forwarding:
    """The notifications of a broker on their way."""

    __slots__ = (
        "_advertisements",
        "_entries",
        "_events",
        "_handing",
        "_neighbours",
        "_options",
        "_quarantine",
        "_sessions",
        "_state",
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
        self._handing = Handing(options.patience_ms)

    # ------------------------------------------------------------------ whom it is for

    def receivers(self, item: Item, giver: int | None, now_ms: int) -> set[int]:
        """Return the neighbours that a notification is for. What does not come from above goes up too. What
        is no notification raises.
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

    def begin(self, item_id: ItemId, receivers: set[int], now_ms: int) -> None:
        """Hold a notification for these neighbours, and for whoever is owed it."""
        self._handing.begin(item_id, receivers, now_ms)

    def restore(self, item: Item, now_ms: int) -> None:
        """Hold a notification of an earlier life for those whom it is for; some of them may have it."""
        receivers = {WHOEVER}
        if not self._options.floods:
            nobody: set[int] = set()
            receivers = self._quarantine.attempt(
                Work.MATCHING, item, now_ms, self.receivers, item, None, now_ms, otherwise=nobody
            )
        self.begin(item.id, receivers, now_ms)
        self.let_go_if_done(item.id, now_ms)

    def met(self, neighbour: int) -> None:
        """Where everybody gets everything, let a neighbour that is new have what is held."""
        if self._options.floods and neighbour not in self._neighbours:
            self._handing.also_for(neighbour)

    # ------------------------------------------------------------------ giving it

    def offer(self, item_id: ItemId, now_ms: int) -> None:
        """Give a notification to those in contact whom it is for."""
        for neighbour in sorted(self._handing.lacking(item_id)):
            session = self._sessions.get(neighbour)
            if session is not None and session.is_ready:
                self._offer_to(session, item_id, now_ms)

    def offer_lacking(self, session: PeerSession, now_ms: int) -> None:
        """Give a neighbour what it lacks."""
        for item_id in self._handing.lacked_by(session.peer):
            self._offer_to(session, item_id, now_ms)

    def _offer_to(self, session: PeerSession, item_id: ItemId, now_ms: int) -> None:
        item = self._state.items.get(item_id)
        if item is None:
            self._handing.forget(item_id)
        elif session.knows(item_id):
            self._handing.has(item_id, session.peer)
            self.let_go_if_done(item_id, now_ms)
        elif item.origin <= session.covered:
            session.offer(_PRIORITY, item_id, NOTIFICATION, item.size)

    def answered(self, item_id: ItemId, status: int, neighbour: int, now_ms: int) -> None:
        """Learn how a neighbour took it. One that had no room may have some another time."""
        if status in _SETTLED:
            self._handing.has(item_id, neighbour)
            self.let_go_if_done(item_id, now_ms)

    # ------------------------------------------------------------------ letting go of it

    def let_go_if_done(self, item_id: ItemId, now_ms: int) -> None:
        """Let go of a notification that everybody has whom it was for."""
        if not self._handing.lacking(item_id) and not self._state.carried.is_owed(item_id):
            self._let_go(item_id, Reason.DELIVERED, now_ms)

    def _let_go(self, item_id: ItemId, reason: Reason, now_ms: int) -> None:
        self._handing.forget(item_id)
        item = self._state.carried.remove(item_id)
        if item is not None:
            self._state.let_go_of(item, reason, now_ms)

    def forget(self, item_id: ItemId) -> None:
        """Hold it no longer: its lifetime is over."""
        self._handing.forget(item_id)

    @property
    def due_ms(self) -> int:
        """Return when patience is over with something."""
        return self._handing.due_ms

    def lose_patience(self, now_ms: int) -> None:
        """Give up those that are not in contact and were waited for long enough."""
        while (item_id := self._handing.pop_due(now_ms)) is not None:
            self._give_up(item_id, now_ms)

    def _give_up(self, item_id: ItemId, now_ms: int) -> None:
        """Give up those that are not in contact, and say so; wait on for the others."""
        carried = self._state.carried.get(item_id)
        if carried is None:
            self._handing.forget(item_id)
            return
        word = REASON_NAMES[Reason.PATIENCE_OVER]
        for one in sorted(self._handing.lacking(item_id) - self._sessions.keys()):
            self._handing.has(item_id, one)
            if one != WHOEVER:
                self._events.append(CopyDropped(now_ms, carried.item, one, word))
        for one in sorted(carried.owed.keys() - self._sessions.keys()):
            self._state.carried.delivered(item_id, one)
            self._events.append(CopyDropped(now_ms, carried.item, one, word))
        if carried.is_deferred and not carried.owed and not self._handing.lacking(item_id):
            self._let_go(item_id, Reason.PATIENCE_OVER, now_ms)
            return
        self.let_go_if_done(item_id, now_ms)
        if self._state.carried.get(item_id) is not None:
            self._handing.wait(item_id, now_ms)
