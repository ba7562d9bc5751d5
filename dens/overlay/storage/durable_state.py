"""Durable state of an engine: held and known messages, marks, and counters of numbers.

- A held message has an ITEM row; a released one has a KNOWN row with the time until which its id is
  remembered.
- Numbers are reserved in steps before their use, so that no number is used twice after a restart. They are
  finite: a
node that has used all message numbers makes no more messages, and one without session numbers does not start.
- Changes are staged; `commit` makes them durable, all or none.
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
"""In place of an origin, with a peer as number: the counter of the sessions with this peer."""
_LINK_NUMBERS: Final = item_id(3, 0)
_LINK_STEP: Final = 4_096
"""Link numbers that are reserved at once."""
_LINKS_PER_NUMBER: Final = 32
"""Link messages are more frequent: the link numbers of a new store start this many times as high."""
_ENDS: Final = {_ITEM_NUMBERS: LINK_NUMBER, _SESSION_NUMBERS: 1 << 32}
"""The first number of each counter that does not fit into an envelope or HELLO."""

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
"""Key of the only row of its space."""


def init_counters(store: Store, least: int) -> None:
    """Start the counters of a new store at `least`, durably.

    Peers may remember numbers for longer than a file exists: a node that lost its store and started at 0
    again would use numbers that its peers take for known.
    """
    counters = {key for space, key, _ in store.load() if space == _COUNTER}
    firsts = {_ITEM_NUMBERS: least, _SESSION_NUMBERS: least, _LINK_NUMBERS: _LINKS_PER_NUMBER * least}
    for counter, first in firsts.items():
        if counter not in counters:
            store.put(_COUNTER, counter, first.to_bytes(8, "big"))
    store.commit()


class DurableState:
    """The durable state of one engine, written through its store."""

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
        """Reserved copies; for reading."""
        self.policy_state = b""
        """The last stored state of the replication policy; for reading."""
        self._store = store
        self._limits = limits
        self._unverified: set[ItemId] = set()
        self.quarantined: Final[dict[ItemId, int]] = {}
        """Kinds of work that are skipped for a message (dens/overlay/session/quarantine.py); for reading."""
        self.sessions_with: Final[dict[int, int]] = {}
        """The last session with peers for which it is noted; for reading."""
        self._occupied: dict[ItemId, int] = {}
        self.labels: Final[dict[int, str]] = {}
        """Names of this node's subscriptions by id; for reading."""
        self._neighbours: dict[ItemId, int] = {}
        self._is_dirty = False
        self._next_number = {_ITEM_NUMBERS: 0, _SESSION_NUMBERS: 1, _LINK_NUMBERS: 1}
        self._reserved = dict(self._next_number)

    def load(self) -> tuple[list[Item], list[Item]]:
        """Load the committed rows; return the held messages and those in the inbox."""
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
        """Make all staged changes durable."""
        if self._is_dirty:
            self._store.commit()
            self._is_dirty = False

    def item_number(self) -> int:
        """Return an unused message number."""
        return self._number(_ITEM_NUMBERS)

    def occupy(self, item_id: ItemId, count: int) -> None:
        """Reserve the next `count` numbers for the parts of a new subscription; note the count while it is
        held.
        """
        self.skip_numbers(count)
        if count:
            self._occupied[item_id] = count
            self._put(_OCCUPIED, item_id, bytes((count,)))

    def label(self, id: int, name: str | None) -> None:
        """Set or remove the name of a subscription of this node."""
        if name is not None:
            self.labels[id] = name
            self._put(_LABEL, id, name.encode())
        elif self.labels.pop(id, None) is not None:
            self._erase(_LABEL, id)

    def skip_numbers(self, count: int) -> None:
        """Skip numbers: they belong to the parts of the previous message."""
        for _ in range(count):
            self._number(_ITEM_NUMBERS)

    def occupied(self, item_id: ItemId) -> int:
        """Return how many numbers and ids after its own a held message occupies."""
        return self._occupied.get(item_id, 0)

    def note_neighbour(self, item_id: ItemId, node: int) -> None:
        """Note the sender or receiver of a held message, while it is held."""
        self._neighbours[item_id] = node
        self._put(_NEIGHBOUR, item_id, node.to_bytes(4, "big"))

    def neighbour(self, item_id: ItemId) -> int | None:
        """Return the noted sender or receiver of a held message, or None."""
        return self._neighbours.get(item_id)

    def reserve(self, item_id: ItemId, peer: int, reservation: Reservation) -> None:
        """Store the reservation of a copy for this peer, while the message is held."""
        self.reservations.put(item_id, peer, reservation)
        self._put(_RESERVATION, row_key(item_id, peer), reservation.encode())

    def settle(self, item_id: ItemId, peer: int) -> None:
        """Remove the reservation of a copy for this peer."""
        self.reservations.remove(item_id, peer)
        self._erase(_RESERVATION, row_key(item_id, peer))

    def note_policy(self, state: bytes) -> None:
        """Store the state of the replication policy."""
        if state != self.policy_state:
            self.policy_state = state
            self._put(_POLICY, _POLICY_STATE, state)

    def note_met(self, node: int) -> None:
        """Note a neighbour that was met; at most `joins` neighbours are noted."""
        key = item_id(node, LINK_NUMBER)
        if key not in self._neighbours and len(self.met()) < self._limits.joins:
            self.note_neighbour(key, node)

    def met(self) -> list[int]:
        """Return the neighbours that were met."""
        return [node for key, node in self._neighbours.items() if key & NUMBER_MASK == LINK_NUMBER]

    def session_number(self) -> int:
        """Return an unused session number."""
        return self._number(_SESSION_NUMBERS)

    def note_session(self, peer: int, number: int) -> None:
        """Note the session of a contact with a peer, unless a later one is noted."""
        if self.sessions_with.get(peer, 0) < number:
            self.sessions_with[peer] = number
            self._put(_COUNTER, item_id(_SESSIONS_WITH, peer), (number + 1).to_bytes(8, "big"))

    def forget_sessions(self, peer: int) -> None:
        """Remove the noted session with a peer."""
        del self.sessions_with[peer]
        self._erase(_COUNTER, item_id(_SESSIONS_WITH, peer))

    def link_number(self) -> int:
        """Return the next link number. Peers compare it with others of this session and of the one before, so
        it rises over restarts; it wraps around at the end.
        """
        number = self._next_number[_LINK_NUMBERS]
        if number >= self._reserved[_LINK_NUMBERS]:
            self._reserved[_LINK_NUMBERS] = number + _LINK_STEP
            self._put(_COUNTER, _LINK_NUMBERS, self._reserved[_LINK_NUMBERS].to_bytes(8, "big"))
        self._next_number[_LINK_NUMBERS] = number + 1
        return LINK_NUMBER | number % LINK_NUMBER

    def require_numbers(self, count: int) -> None:
        """Raise LocalProtocolError if fewer message numbers are left."""
        if self._next_number[_ITEM_NUMBERS] + count > _ENDS[_ITEM_NUMBERS]:
            raise LocalProtocolError(
                "this node has used all its 2^31 message numbers; start it with a new store, or under "
                "another node number"
            )

    @property
    def has_numbers(self) -> bool:
        """Return whether a message number is left."""
        return self._next_number[_ITEM_NUMBERS] < _ENDS[_ITEM_NUMBERS]

    def _number(self, counter: ItemId) -> int:
        number = self._next_number[counter]
        if number >= _ENDS[counter]:
            if counter == _ITEM_NUMBERS:
                self.require_numbers(1)
            raise StoreError(
                "this node has used all its 2^32 session numbers; start it under another node number"
            )
        if number >= self._reserved[counter]:
            self._reserved[counter] = number + self._limits.number_step
            self._put(_COUNTER, counter, self._reserved[counter].to_bytes(8, "big"))
        self._next_number[counter] = number + 1
        return number

    def keep(self, item: Item) -> None:
        """Store a message; it is held until it expires or is released."""
        item_id = item.id
        self.known.add(item_id, item.expires_ms)
        self._store.put(_ITEM, item_id, item)
        self._is_dirty = True

    def kept(self, item: Item) -> Item:
        """Return a message as the store keeps it; call this before it is held anywhere."""
        return self._store.kept(item)

    def rewrite(self, item: Item) -> None:
        """Store a changed form of a held message."""
        self._put(_ITEM, item.id, item)

    def mark_unverified(self, item_id: ItemId) -> None:
        """Mark a message that came without a tag, while it is held."""
        self._unverified.add(item_id)
        self._put(_UNVERIFIED, item_id, b"")

    def is_unverified(self, item_id: ItemId) -> bool:
        """Return whether a held message came without a tag."""
        return item_id in self._unverified

    def mark_quarantined(self, item_id: ItemId, work: int) -> None:
        """Mark kinds of work that are skipped for a message, while it is held."""
        self.quarantined[item_id] = works = self.quarantined.get(item_id, 0) | work
        self._put(_QUARANTINED, item_id, works.to_bytes(2, "big"))

    @property
    def quarantined_count(self) -> int:
        """Return the number of messages with such marks."""
        return len(self.quarantined)

    def clear_quarantine(self, item_id: ItemId) -> None:
        """Remove the quarantine marks of a message that is not, or no longer, held."""
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
        """Release a held message; its id stays known until some time after its lifetime."""
        self._unmark(item.id)
        self._erase(_ITEM, item.id)
        self.know(item)

    def know(self, item: Item) -> None:
        """Remember the id of a message that is not held, so that peers do not offer it again."""
        until_ms = item.expires_ms + self._limits.remember_ms
        self.known.add_released(item.id, until_ms)
        self._remember(item.id, until_ms)

    def expire_held(self, item_id: ItemId, end_ms: int) -> None:
        """Release an expired message; its id stays known for a while."""
        until_ms = end_ms + self._limits.remember_ms
        self._unmark(item_id)
        self._erase(_ITEM, item_id)
        self.known.mark_released(item_id, until_ms)
        self._remember(item_id, until_ms)

    def forget(self, item_id: ItemId) -> None:
        """Forget a message and its id."""
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
        """Remember the rank of a result until then, or until a later known end. Beyond the limit the oldest
        is forgotten: that of this origin if it is above its share.
        """
        results, limits = self.results, self._limits
        self.forget_results(now_ms)
        self._put(_RESULT, key, results.note(key, rank, until_ms, origin))
        while len(results) > limits.known_results:
            is_above = 100 * results.count_of(origin) > limits.known_results * limits.origin_share_percent
            self.forget_result(results.oldest_of(origin) if is_above else results.oldest())

    def forget_results(self, now_ms: int) -> None:
        """Forget the results whose time is over."""
        while (over := self.results.pop_forgotten(now_ms)) is not None:
            self._erase(_RESULT, over)

    def forget_result(self, key: Key) -> None:
        self.results.forget(key)
        self._erase(_RESULT, key)

    def add_to_inbox(self, item: Item) -> None:
        """Store a delivery until the application has taken it."""
        self._put(_INBOX, item.id, item)

    def remove_from_inbox(self, item_id: ItemId) -> None:
        """Remove a delivery that the application has taken."""
        self._unmark(item_id)
        self._erase(_INBOX, item_id)
