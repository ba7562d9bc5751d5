"""Outbox of a broker for messages other than notifications, in make-before-break order.

Additions (ADVERTISE, JOIN) are sent at once. A withdrawal waits until all earlier additions to that
neighbour, and all additions that replace it elsewhere, are acknowledged, because links do not keep order. A
summary that names a message counts as its acknowledgement; so does any status.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.item import Item, ItemId

Addressed = tuple[int, Item]
"""The neighbour, and the message for it."""
_Sent = tuple[int, ItemId]
_MAKE: Final = 0
_BREAK: Final = 1


class Outbox:
    """Unacknowledged messages by neighbour. Those no longer held need no acknowledgement."""

    __slots__ = ("_breaks", "_held", "_makes", "_sessions")

    def __init__(self, context: NodeContext, held: Mapping[ItemId, Item]) -> None:
        self._sessions = context.sessions
        self._held = held
        self._makes: dict[_Sent, Item] = {}
        """Unacknowledged additions."""
        self._breaks: dict[_Sent, tuple[Item, set[_Sent]]] = {}
        """Unacknowledged withdrawals, and the additions that they wait for."""

    def send(self, makes: Iterable[Addressed], breaks: Iterable[Addressed]) -> None:
        """Send additions and the withdrawals that wait for them."""
        new: list[_Sent] = []
        for neighbour, item in makes:
            new.append((neighbour, item.id))
            self._makes[neighbour, item.id] = item
            self._offer(_MAKE, neighbour, item)
        withdrawals = list(breaks)
        if withdrawals:
            self._forget_released()
        for neighbour, item in withdrawals:
            before = {sent for sent in self._makes if sent[0] == neighbour} | set(new)
            self._breaks[neighbour, item.id] = item, before
            if not before:
                self._offer(_BREAK, neighbour, item)

    def met(self, session: PeerSession, makes: Iterable[Item], breaks: Iterable[Item]) -> list[Item]:
        """Send a neighbour in contact what it lacks; return what its summary names. Messages of origins that
        the received parts of the summary do not cover wait for further parts.
        """
        peer, known = session.peer, []
        for item in makes:
            if session.knows(item.id):
                known.append(item)
            else:
                self._makes[peer, item.id] = item
                self._offer(_MAKE, peer, item)
        for item in breaks:
            if session.knows(item.id):
                known.append(item)
            elif (peer, item.id) not in self._breaks:
                self._breaks[peer, item.id] = item, {sent for sent in self._makes if sent[0] == peer}
        for item in known:
            self.on_acknowledged(peer, item.id)
        self._release()
        return known

    def on_acknowledged(self, neighbour: int, item_id: ItemId) -> None:
        """Note an acknowledgement."""
        sent = neighbour, item_id
        self._breaks.pop(sent, None)
        if self._makes.pop(sent, None) is not None:
            self._release()

    def cancel(self, makes: Iterable[Addressed]) -> None:
        """Cancel additions that were never sent."""
        for neighbour, item in makes:
            self._makes.pop((neighbour, item.id), None)
        self._release()

    def _forget_released(self) -> None:
        """Forget messages that are no longer held."""
        for sent in [one for one in self._makes if one[1] not in self._held]:
            del self._makes[sent]
        for sent in [one for one in self._breaks if one[1] not in self._held]:
            del self._breaks[sent]

    def _release(self) -> None:
        """Offer the withdrawals that no longer wait."""
        if not self._breaks:
            return
        self._forget_released()
        for (neighbour, _), (item, before) in self._breaks.items():
            before &= self._makes.keys()
            if not before:
                self._offer(_BREAK, neighbour, item)

    def _offer(self, priority: int, neighbour: int, item: Item) -> None:
        session = self._sessions.get(neighbour)
        if session is not None and session.is_ready and item.origin <= session.covered:
            session.offer(priority, item.id, item.type, item.size)
