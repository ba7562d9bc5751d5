"""Store in memory for emulation: a crash loses exactly what is staged and not committed."""

from collections.abc import Iterator

from dens.overlay.storage.store import Key, Value, row_of
from dens.overlay.wire.item import Item, ItemId


class MemoryStore:
    """Emulates a durable store. Messages are kept as objects, so that a thousand nodes do not store
    everything twice, and become bytes in a crash, so that a restart reads what a disk would have.

    >>> store = MemoryStore()
    >>> store.put(2, 12, b"x")
    >>> list(store.crash().load())
    []
    """

    __slots__ = ("_payloads", "_rows", "_staged")

    def __init__(self, payloads: dict[ItemId, bytes] | None = None) -> None:
        """Stores with the same `payloads` share each payload between all nodes that hold a message."""
        self._payloads = payloads
        self._rows: dict[int, dict[Key, Value]] = {}
        self._staged: list[tuple[int, Key, Value | None]] = []

    def kept(self, item: Item) -> Item:
        """Return the message with the shared payload, if there is one."""
        if self._payloads is None:
            return item
        payload = self._payloads.setdefault(item.id, item.payload)
        if payload is not item.payload and payload == item.payload:
            item.payload = payload  # An equal one: the message stays the same.
        return item

    def put(self, space: int, key: Key, value: Value) -> None:
        """Write a row with the next commit."""
        self._staged.append((space, key, value))

    def erase(self, space: int, key: Key) -> None:
        """Remove a row with the next commit."""
        self._staged.append((space, key, None))

    def commit(self) -> None:
        """Apply the staged changes in order."""
        rows = self._rows
        for space, key, value in self._staged:
            if space not in rows:
                rows[space] = {}
            if value is None:
                rows[space].pop(key, None)
            else:
                rows[space][key] = value
        self._staged.clear()

    def load(self) -> Iterator[tuple[int, Key, Value]]:
        """Yield every committed row, ordered by space and key."""
        for space in sorted(self._rows):
            rows = self._rows[space]
            for key in sorted(rows):
                yield space, key, rows[key]

    def holds(self, space: int, key: Key) -> bool:
        """Return whether this row is committed."""
        return key in self._rows.get(space, ())

    def crash(self) -> "MemoryStore":
        """Return the store that a restart finds, with the committed rows only. Do not use the old
        one again.
        """
        survivor = MemoryStore(self._payloads)
        survivor._rows = {
            space: {key: row_of(value) for key, value in rows.items()} for space, rows in self._rows.items()
        }
        return survivor
