"""An engine's books: what it holds and knows, durably, and the numbers it has given out.

- A message that is held has an ITEM row; one that is only known has a KNOWN row with the time until which.
- Numbers are reserved in steps ahead of their use, so that no restart gives one out twice. They end: a node
  that has used them all makes no more messages, and one without a session left does not start.
- Everything is staged first; `commit` makes it durable, all or none.
"""

from typing import Final

from dens.overlay.errors import LocalProtocolError, StoreError
from dens.overlay.limits import Limits
from dens.overlay.storage.deduplication import KnownItems
from dens.overlay.storage.known_results import KnownResults
from dens.overlay.storage.reservations import Reservation, Reservations, row_key
from dens.overlay.storage.store import Key, Space, Store, Value, item_of, row_of
from dens.overlay.wire.codes import LINK_NUMBER
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, Item, ItemId, item_id

_ITEM_NUMBERS: Final = item_id(0, 0)
_SESSION_NUMBERS: Final = item_id(1, 0)
_SESSIONS_WITH: Final = 2
"""Behind it stands a peer: the counter of the sessions with that one alone."""
_LINK_NUMBERS: Final = item_id(3, 0)
_LINK_STEP: Final = 4_096
"""So many link numbers are reserved at once."""
_LINKS_PER_NUMBER: Final = 32
"""Link messages are more than messages: the link numbers of a new store begin so many times as high."""
_ENDS: Final = {_ITEM_NUMBERS: LINK_NUMBER, _SESSION_NUMBERS: 1 << 32}
"""The first number of each counter that no envelope or hello can say."""

_ITEM: Final = int(Space.ITEM)
_KNOWN: Final = int(Space.KNOWN)
_COUNTER: Final = int(Space.COUNTER)
_INBOX: Final = int(Space.INBOX)
_UNVERIFIED: Final = int(Space.UNVERIFIED)
_QUARANTINED: Final = int(Space.QUARANTINED)
_OCCUPIED: Final = int(Space.OCCUPIED)
_NEIGHBOUR: Final = int(Space.NEIGHBOUR)
_RESULT: Final = int(Space.RESULT)
_LABEL: Final = int(Space.LABEL)
_RESERVATION: Final = int(Space.RESERVATION)
_POLICY: Final = int(Space.POLICY)
_POLICY_STATE: Final = 0
"""The only row of its space."""


def init_counters(store: Store, least: int) -> None:
    """Let the numbers of a store that has given out none begin here, durably.

    Peers remember numbers for longer than a file may live: whoever lost its store and began at nothing again
    would say new things under numbers that they take for known.
    """
    counters = {key for space, key, _ in store.load() if space == _COUNTER}
    firsts = {_ITEM_NUMBERS: least, _SESSION_NUMBERS: least, _LINK_NUMBERS: _LINKS_PER_NUMBER * least}
    for counter, first in firsts.items():
        if counter not in counters:
            store.put(_COUNTER, counter, first.to_bytes(8, "big"))
    store.commit()


class DurableState:
    """The rows of one engine, written through its store."""

    __slots__ = (
        "_is_dirty",
        "_limits",
        "_neighbours",
        "_next_number",
        "_occupied",
        "_reserved",
        "_store",
        "_unverified",
        "known",
        "labels",
        "policy_state",
        "quarantined",
        "reservations",
        "results",
        "sessions_with",
    )

    def __init__(self, store: Store, limits: Limits) -> None:
        self.known: Final = KnownItems()
        self.results: Final = KnownResults()
        self.reservations: Final = Reservations()
        """Copies that are not settled; for reading."""
        self.policy_state = b""
        """What the replication policy had learnt when this was last noted; for reading."""
        self._store = store
        self._limits = limits
        self._unverified: set[ItemId] = set()
        self.quarantined: Final[dict[ItemId, int]] = {}
        """The kinds of work that are not done with a message (dens/overlay/session/quarantine.py); for
        reading."""
        self.sessions_with: Final[dict[int, int]] = {}
        """The last session with each peer for which that is noted; for reading."""
        self._occupied: dict[ItemId, int] = {}
        self.labels: Final[dict[int, str]] = {}
        """The names of this node's own subscriptions by id; for reading."""
        self._neighbours: dict[ItemId, int] = {}
        self._is_dirty = False
        self._next_number = {_ITEM_NUMBERS: 0, _SESSION_NUMBERS: 1, _LINK_NUMBERS: 1}
        self._reserved = dict(self._next_number)

    def load(self) -> tuple[list[Item], list[Item]]:
        """Take up what was committed; return the messages that are held, and those in the inbox."""
        held: list[Item] = []
        inbox: list[Item] = []
        for space, key, value in self._store.load():
            if space == _COUNTER and key >> NUMBER_BITS == _SESSIONS_WITH:
                self.sessions_with[key & NUMBER_MASK] = int.from_bytes(row_of(value), "big") - 1
            elif space == _COUNTER:
                self._next_number[key] = self._reserved[key] = int.from_bytes(row_of(value), "big")
            elif space == _UNVERIFIED:
                self._unverified.add(key)
            elif space == _QUARANTINED:
                self.quarantined[key] = int.from_bytes(row_of(value), "big")
            elif space == _OCCUPIED:
                self._occupied[key] = int.from_bytes(row_of(value), "big")
            elif space == _NEIGHBOUR:
                self._neighbours[key] = int.from_bytes(row_of(value), "big")
            elif space == _LABEL:
                self.labels[key] = row_of(value).decode()
            elif space == _RESULT:
                self.results.restore(key, row_of(value))
            elif space == _RESERVATION:
                self.reservations.restore(key, row_of(value))
            elif space == _POLICY:
                self.policy_state = row_of(value)
            elif space == _KNOWN:
                self.known.add_released(key, int.from_bytes(row_of(value), "big", signed=True))
            else:
                item = item_of(key, value)
                if space == _ITEM:
                    self.known.add(key, item.expires_ms)
                    held.append(item)
                else:
                    inbox.append(item)
        return held, inbox

    def _put(self, space: int, key: Key, value: Value) -> None:
        self._store.put(space, key, value)
        self._is_dirty = True

    def _erase(self, space: int, key: Key) -> None:
        self._store.erase(space, key)
        self._is_dirty = True

    def commit(self) -> None:
        """Make everything durable that was staged."""
        if self._is_dirty:
            self._store.commit()
            self._is_dirty = False

    def item_number(self) -> int:
        """Return a number for a message that was never used."""
        return self._number(_ITEM_NUMBERS)

    def occupy(self, item_id: ItemId, count: int) -> None:
        """Use so many numbers after that of a subscription which was just made, and remember it while it is
        held.
        """
        self.skip_numbers(count)
        if count:
            self._occupied[item_id] = count
            self._put(_OCCUPIED, item_id, bytes((count,)))

    def label(self, id: int, name: str | None) -> None:
        """Name a subscription of this node's, or remove its name."""
        if name is not None:
            self.labels[id] = name
            self._put(_LABEL, id, name.encode())
        elif self.labels.pop(id, None) is not None:
            self._erase(_LABEL, id)

    def skip_numbers(self, count: int) -> None:
        """Give so many numbers to nobody here: they are those of the parts of the message before."""
        for _ in range(count):
            self._number(_ITEM_NUMBERS)

    def occupied(self, item_id: ItemId) -> int:
        """Return how many numbers, and ids, after its own a message that is held occupies."""
        return self._occupied.get(item_id, 0)

    def note_neighbour(self, item_id: ItemId, node: int) -> None:
        """Note by whom a message came that is held, or to whom it goes, while it is held."""
        self._neighbours[item_id] = node
        self._put(_NEIGHBOUR, item_id, node.to_bytes(4, "big"))

    def neighbour(self, item_id: ItemId) -> int | None:
        """Return by whom a message that is held came, or to whom it goes, if that was noted."""
        return self._neighbours.get(item_id)

    def reserve(self, item_id: ItemId, peer: int, reservation: Reservation) -> None:
        """Note what became of a copy for this peer, while the message is held."""
        self.reservations.put(item_id, peer, reservation)
        self._put(_RESERVATION, row_key(item_id, peer), reservation.encode())

    def settle(self, item_id: ItemId, peer: int) -> None:
        """Forget the reservation of a copy for this peer."""
        self.reservations.remove(item_id, peer)
        self._erase(_RESERVATION, row_key(item_id, peer))

    def note_policy(self, state: bytes) -> None:
        """Note what the replication policy has learnt."""
        if state != self.policy_state:
            self.policy_state = state
            self._put(_POLICY, _POLICY_STATE, state)

    def note_met(self, node: int) -> None:
        """Note, durably, that a neighbour was met; at most `joins` of them are noted."""
        key = item_id(node, LINK_NUMBER)
        if key not in self._neighbours and len(self.met()) < self._limits.joins:
            self.note_neighbour(key, node)

    def met(self) -> list[int]:
        """Return the neighbours that were noted as met."""
        return [node for key, node in self._neighbours.items() if key & NUMBER_MASK == LINK_NUMBER]

    def session_number(self) -> int:
        """Return a number for a session that was never used."""
        return self._number(_SESSION_NUMBERS)

    def note_session(self, peer: int, number: int) -> None:
        """Note, durably, that a peer was met in this session, if in no later one."""
        if self.sessions_with.get(peer, 0) < number:
            self.sessions_with[peer] = number
            self._put(_COUNTER, item_id(_SESSIONS_WITH, peer), (number + 1).to_bytes(8, "big"))

    def forget_sessions(self, peer: int) -> None:
        """Note no longer when a peer was met."""
        del self.sessions_with[peer]
        self._erase(_COUNTER, item_id(_SESSIONS_WITH, peer))

    def link_number(self) -> int:
        """Return a number for a link message. Peers compare it with others of one session and with those of
        the session before, so it rises over restarts, and begins again behind the last.
        """
        number = self._next_number[_LINK_NUMBERS]
        if number >= self._reserved[_LINK_NUMBERS]:
            self._reserved[_LINK_NUMBERS] = number + _LINK_STEP
            self._put(_COUNTER, _LINK_NUMBERS, self._reserved[_LINK_NUMBERS].to_bytes(8, "big"))
        self._next_number[_LINK_NUMBERS] = number + 1
        return LINK_NUMBER | number % LINK_NUMBER

    def require_numbers(self, count: int) -> None:
        """Refuse to begin what needs so many numbers for messages where fewer are left."""
        if self._next_number[_ITEM_NUMBERS] + count > _ENDS[_ITEM_NUMBERS]:
            raise LocalProtocolError(
                "this node has used all its 2^31 numbers for messages; start it with a new store, or under "
                "another number"
            )

    @property
    def has_numbers(self) -> bool:
        """Return whether a number for a message is left."""
        return self._next_number[_ITEM_NUMBERS] < _ENDS[_ITEM_NUMBERS]

    def _number(self, counter: ItemId) -> int:
        number = self._next_number[counter]
        if number >= _ENDS[counter]:
            if counter == _ITEM_NUMBERS:
                self.require_numbers(1)
            raise StoreError(
                "this node has used all its 2^32 numbers for sessions; start it under another number"
            )
        if number >= self._reserved[counter]:
            self._reserved[counter] = number + self._limits.number_step
            self._put(_COUNTER, counter, self._reserved[counter].to_bytes(8, "big"))
        self._next_number[counter] = number + 1
        return number

    def keep(self, item: Item) -> None:
        """Hold this message until it ends, and know it."""
        item_id = item.id
        self.known.add(item_id, item.expires_ms)
        self._store.put(_ITEM, item_id, item)
        self._is_dirty = True

    def kept(self, item: Item) -> Item:
        """Return a message as the store would keep it; do so before it is held anywhere."""
        return self._store.kept(item)

    def rewrite(self, item: Item) -> None:
        """Hold a changed form of a message that is held already."""
        self._put(_ITEM, item.id, item)

    def mark_unverified(self, item_id: ItemId) -> None:
        """Note that a message came without a tag, for as long as it is held."""
        self._unverified.add(item_id)
        self._put(_UNVERIFIED, item_id, b"")

    def is_unverified(self, item_id: ItemId) -> bool:
        """Return whether a message that is held came without a tag."""
        return item_id in self._unverified

    def mark_quarantined(self, item_id: ItemId, work: int) -> None:
        """Note that these kinds of work are not done with a message, for as long as it is held."""
        self.quarantined[item_id] = works = self.quarantined.get(item_id, 0) | work
        self._put(_QUARANTINED, item_id, works.to_bytes(2, "big"))

    @property
    def quarantined_count(self) -> int:
        """Return how many messages are marked."""
        return len(self.quarantined)

    def clear_quarantine(self, item_id: ItemId) -> None:
        """Take the marks of quarantine off a message: it is not, or no longer, held."""
        if self.quarantined.pop(item_id, None) is not None:
            self._erase(_QUARANTINED, item_id)

    def _unmark(self, item_id: ItemId) -> None:
        self.clear_quarantine(item_id)
        if self._occupied and self._occupied.pop(item_id, None) is not None:
            self._erase(_OCCUPIED, item_id)
        if self._neighbours and self._neighbours.pop(item_id, None) is not None:
            self._erase(_NEIGHBOUR, item_id)
        if self.reservations.by_item:
            for peer in self.reservations.peers_of(item_id):
                self.settle(item_id, peer)
        if item_id in self._unverified:
            self._unverified.remove(item_id)
            self._erase(_UNVERIFIED, item_id)

    def release(self, item: Item) -> None:
        """Hold this message no longer, but know it until it would have ended anyway."""
        self._unmark(item.id)
        self._erase(_ITEM, item.id)
        self.know(item)

    def know(self, item: Item) -> None:
        """Know a message that is not held, so that nobody offers it again."""
        until_ms = item.expires_ms + self._limits.remember_ms
        self.known.add_released(item.id, until_ms)
        self._remember(item.id, until_ms)

    def expire_held(self, item_id: ItemId, end_ms: int) -> None:
        """Hold a message no longer whose lifetime is over, but know it for a while."""
        until_ms = end_ms + self._limits.remember_ms
        self._unmark(item_id)
        self._erase(_ITEM, item_id)
        self.known.mark_released(item_id, until_ms)
        self._remember(item_id, until_ms)

    def forget(self, item_id: ItemId) -> None:
        """Forget a message altogether."""
        self._unmark(item_id)
        self.known.forget(item_id)
        self._erase(_ITEM, item_id)
        self._erase(_KNOWN, item_id)

    def _remember(self, item_id: ItemId, until_ms: int) -> None:
        self._put(_KNOWN, item_id, until_ms.to_bytes(8, "big", signed=True))
        limits, origin = self._limits, item_id >> NUMBER_BITS
        while self.known.released_count > limits.known_items:
            if 100 * self.known.released_count_of(origin) > limits.known_items * limits.origin_share_percent:
                oldest = self.known.oldest_released_of(origin)
            else:
                oldest = self.known.oldest_released()
            self.known.forget(oldest)
            self.clear_quarantine(oldest)
            self._erase(_KNOWN, oldest)

    def note_result(self, key: Key, rank: int, until_ms: int, origin: int, now_ms: int) -> None:
        """Remember the rank of a result until then, or later where that was known; of too many the oldest
        goes, of this origin where that is above its share.
        """
        results, limits = self.results, self._limits
        self.forget_results(now_ms)
        self._put(_RESULT, key, results.note(key, rank, until_ms, origin))
        while len(results) > limits.known_results:
            is_above = 100 * results.count_of(origin) > limits.known_results * limits.origin_share_percent
            self.forget_result(results.oldest_of(origin) if is_above else results.oldest())

    def forget_results(self, now_ms: int) -> None:
        """Forget the results that are over."""
        while (over := self.results.pop_forgotten(now_ms)) is not None:
            self._erase(_RESULT, over)

    def forget_result(self, key: Key) -> None:
        """Forget a result now."""
        self.results.forget(key)
        self._erase(_RESULT, key)

    def add_to_inbox(self, item: Item) -> None:
        """Keep a delivery for the application."""
        self._put(_INBOX, item.id, item)

    def remove_from_inbox(self, item_id: ItemId) -> None:
        """Give a delivery to the application."""
        self._unmark(item_id)
        self._erase(_INBOX, item_id)
