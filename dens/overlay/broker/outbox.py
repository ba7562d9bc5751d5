"""What a broker tells its neighbours beside notifications, and in which order: make before break.

What adds something (an advertisement, a JOIN) goes out at once. What takes something back waits until all
that was to be told to that neighbour before it, and all that takes its place elsewhere, is answered: on the
air nothing keeps its order. An answer is an acknowledgement, whatever it says, or a summary that names the
message.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.item import Item, ItemId

Told = tuple[int, Item]
"""Whom something is told, and what."""
_Word = tuple[int, ItemId]
_MAKE: Final = 0
_BREAK: Final = 1


class Outbox:
    """Keeps who has not answered what. What is no longer held needs no answer."""

    __slots__ = ("_breaks", "_held", "_makes", "_sessions")

    def __init__(self, context: NodeContext, held: Mapping[ItemId, Item]) -> None:
        self._sessions = context.sessions
        self._held = held
        self._makes: dict[_Word, Item] = {}
        """What adds something, and is not answered."""
        self._breaks: dict[_Word, tuple[Item, set[_Word]]] = {}
        """What takes something back, is not answered, and for which answers it waits."""

    def tell(self, makes: Iterable[Told], breaks: Iterable[Told]) -> None:
        """Tell what belongs together."""
        new: list[_Word] = []
        for neighbour, item in makes:
            new.append((neighbour, item.id))
            self._makes[neighbour, item.id] = item
            self._offer(_MAKE, neighbour, item)
        taken_back = list(breaks)
        if taken_back:
            self._let_go()
        for neighbour, item in taken_back:
            before = {word for word in self._makes if word[0] == neighbour} | set(new)
            self._breaks[neighbour, item.id] = item, before
            if not before:
                self._offer(_BREAK, neighbour, item)

    def met(self, session: PeerSession, makes: Iterable[Item], breaks: Iterable[Item]) -> list[Item]:
        """Tell a neighbour that is in contact again what it lacks of all that it should know; return what it
        turns out to know. What the parts of its summary that have come are not about waits for the others.
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
                self._breaks[peer, item.id] = item, {word for word in self._makes if word[0] == peer}
        for item in known:
            self.answered(peer, item.id)
        self._release()
        return known

    def answered(self, neighbour: int, item_id: ItemId) -> None:
        """Take an answer."""
        word = neighbour, item_id
        self._breaks.pop(word, None)
        if self._makes.pop(word, None) is not None:
            self._release()

    def cancel(self, makes: Iterable[Told]) -> None:
        """Tell something no more that never left."""
        for neighbour, item in makes:
            self._makes.pop((neighbour, item.id), None)
        self._release()

    def _let_go(self) -> None:
        """Wait no longer for answers to what is no longer held."""
        for word in [one for one in self._makes if one[1] not in self._held]:
            del self._makes[word]
        for word in [one for one in self._breaks if one[1] not in self._held]:
            del self._breaks[word]

    def _release(self) -> None:
        """Offer what takes something back and waits for nothing any more."""
        if not self._breaks:
            return
        self._let_go()
        for (neighbour, _), (item, before) in self._breaks.items():
            before &= self._makes.keys()
            if not before:
                self._offer(_BREAK, neighbour, item)

    def _offer(self, priority: int, neighbour: int, item: Item) -> None:
        session = self._sessions.get(neighbour)
        if session is not None and session.is_ready and item.origin <= session.covered:
            session.offer(priority, item.id, item.type, item.size)
