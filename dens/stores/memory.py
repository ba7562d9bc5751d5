"""A store in memory that loses exactly what an unsynced disk would: everything staged and not committed."""

from collections.abc import Iterator

from dens.item import Item, ItemId
from dens.store import Key, Operation, Put, Space, Value, row_of


class MemoryStore:
    """The emulator's twin of a durable store. Messages are kept as they are and become bytes in a crash, so
    that a thousand nodes do not keep everything twice, and a restart reads what a disk would have.

    >>> store = MemoryStore()
    >>> store.stage(Put(Space.KNOWN, (1, 2), b"x"))
    >>> list(store.crash().load())
    []
    """

    __slots__ = ("_payloads", "_rows", "_staged")

    def __init__(self, payloads: dict[ItemId, bytes] | None = None) -> None:
        """Stores that are given the same `payloads` keep each once, however many nodes hold a message."""
        self._payloads = payloads
        self._rows: dict[tuple[Space, Key], Value] = {}
        self._staged: list[Operation] = []

    def kept(self, item: Item) -> Item:
        """Return an equal message with the payload that another store of this run keeps, if one does."""
        if self._payloads is None:
            return item
        payload = self._payloads.setdefault(item.id, item.payload)
        if payload is item.payload or payload != item.payload:
            return item
        return tuple.__new__(Item, (*item[:7], payload, *item[8:]))

    def stage(self, operation: Operation) -> None:
        """Note a change that the next commit will make durable."""
        self._staged.append(operation)

    def commit(self) -> None:
        """Apply what was staged, in order."""
        rows = self._rows
        for operation in self._staged:
            if isinstance(operation, Put):
                rows[operation[:2]] = operation[2]
            else:
                rows.pop(operation[:], None)
        self._staged.clear()

    def load(self) -> Iterator[tuple[Space, Key, Value]]:
        """Yield every committed row, ordered by space and key."""
        for space, key in sorted(self._rows):
            yield space, key, self._rows[space, key]

    def holds(self, space: Space, key: Key) -> bool:
        """Say whether this row is committed."""
        return (space, key) in self._rows

    def crash(self) -> "MemoryStore":
        """Return what a restart finds: the committed rows only. The old object should not be used again."""
        survivor = MemoryStore(self._payloads)
        survivor._rows = {row: row_of(value) for row, value in self._rows.items()}
        return survivor
