"""A durable store in one SQLite file: what was committed survives a crash of the process and of the machine.

Write-ahead log with `synchronous=FULL`, so that a commit returns only when the disk has it; one commit
serves all that was staged since the last. Every row carries a CRC-32 of its key and value, because SQLite
does not notice bits that rot. A file that is damaged, foreign, newer than this code, somebody else's or in
use is refused; with `recover=True` a damaged file is set aside under another name and every row that is still
whole is taken over into a new one. A file of an older version is brought forward
(dens/node/storage/migrations.py).
"""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from dens.node.storage.migrations import (
    CHECKSUMS,
    SCHEMA,
    SELECT,
    VERSION,
    checksum,
    migrate,
    migrated_value,
)
from dens.node.storage.owner import Owner, bind, owner_of
from dens.node.storage.store_file import (
    APPLICATION,
    Files,
    check_place,
    files_at,
    is_in_use,
    make_private,
    set_aside,
    was_store,
    why_not_opened,
    why_not_written,
)
from dens.overlay.errors import (
    DamagedStoreError,
    ForeignStoreError,
    MovedStoreError,
    StoreError,
    StoreInUseError,
)
from dens.overlay.storage.store import Key, Space, Value, row_of
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, Item, item_id

_SPACES: Final = frozenset(int(space) for space in Space)


def _connect(path: Path) -> sqlite3.Connection:
    make_private(path)
    return sqlite3.connect(path, isolation_level=None, timeout=0)


def _readable_owner(connection: sqlite3.Connection) -> Owner | None:
    """Return whose a damaged file is, as far as it still says so."""
    try:
        return owner_of(connection)
    except (sqlite3.DatabaseError, ValueError):
        return None


class SqliteStore:
    """One file, owned by one engine at a time.

    `owner` says whose it is; a new file, or one that does not say so yet, becomes that owner's. `connect`
    opens the file in autocommit mode; another one than SQLite's own stands for another disk.
    """

    def __init__(
        self,
        path: Path,
        *,
        owner: Owner | None = None,
        recover: bool = False,
        connect: Callable[[Path], sqlite3.Connection] = _connect,
    ) -> None:
        self.path: Final = path
        self._owner = owner
        self._connect = connect
        self._staged: dict[tuple[int, Key], Value | None] = {}
        self.damaged: Path | None = None
        """Where the damaged file is kept from which this one was recovered."""
        self._files: Files = {}
        check_place(path)
        try:
            self._connection = self._open()
        except DamagedStoreError:
            if not recover:
                raise
            self._recover()
        self._files = files_at(path)

    def _open(self) -> sqlite3.Connection:
        connection = None
        try:
            connection = self._connect(self.path)
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._refuse_other_database(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._check(connection)
            if self._owner is not None:
                self._own(connection, self._owner)
        except sqlite3.OperationalError as error:
            self._close_quietly(connection)
            kind = StoreInUseError if is_in_use(error) else StoreError
            raise kind(
                f"the store {self.path} cannot be opened: {why_not_opened(self.path, error)}"
            ) from error
        except sqlite3.DatabaseError as error:
            self._close_quietly(connection)
            if not was_store(self.path):
                raise self._is_none() from error
            raise self._is_damaged(f": {error}") from error
        except StoreError:
            self._close_quietly(connection)
            raise
        return connection

    def _is_none(self) -> StoreError:
        return StoreError(f"{self.path} is no store of a DENS node; choose another file")

    def _is_damaged(self, how: str) -> DamagedStoreError:
        return DamagedStoreError(f"the store {self.path} is damaged{how}; recover it or restore a copy")

    def _own(self, connection: sqlite3.Connection, owner: Owner) -> None:
        found = owner_of(connection)
        if found is None:
            bind(connection, owner)
        else:
            self._refuse_if_foreign(found)

    def _refuse_if_foreign(self, found: Owner | None) -> None:
        if found is not None and self._owner not in (None, found):
            raise ForeignStoreError(
                f"the store {self.path} belongs to {found}, and this is {self._owner}; give each a store of "
                "its own"
            )

    @staticmethod
    def _close_quietly(connection: sqlite3.Connection | None) -> None:
        if connection is not None:
            connection.close()

    def _refuse_other_database(self, connection: sqlite3.Connection) -> None:
        """Refuse what another program wrote, before anything is changed in it."""
        [tables] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        [application] = connection.execute("PRAGMA application_id").fetchone()
        if (tables or application) and application != APPLICATION:
            raise self._is_none()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Make a new file a store; of an older or damaged one find out that it is."""
        [tables] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if not tables:
            connection.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
            return
        if version not in CHECKSUMS:
            raise StoreError(
                f"the store {self.path} has version {version}, this code knows up to {VERSION}; use a newer "
                "dens"
            )
        [verdict] = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self._is_damaged(f": {verdict}")
        connection.execute("BEGIN IMMEDIATE")  # takes the lock, so that a second owner is noticed now
        connection.execute("COMMIT")
        expected = CHECKSUMS[version]
        for space, first, second, value, crc in connection.execute(SELECT):
            if expected(space, first, second, value) != crc:
                raise self._is_damaged(f" in row ({space}, {first}, {second})")
        if version < VERSION:
            migrate(connection, version)

    def _recover(self) -> None:
        """Set the damaged file aside, and begin with what is whole in it; somebody else's is left alone."""
        whole = self._whole_rows()
        self.damaged = set_aside(self.path)
        self._connection = self._open()
        for space, key, value in whole:
            self.put(space, key, value)
        self.commit()

    def _whole_rows(self) -> list[tuple[int, Key, bytes]]:
        rows: list[tuple[int, Key, bytes]] = []
        connection = self._connect(self.path)
        try:
            self._refuse_if_foreign(_readable_owner(connection))
            [version] = connection.execute("PRAGMA user_version").fetchone()
            expected = CHECKSUMS.get(version, checksum)
            for space, first, second, value, crc in connection.execute(SELECT):
                if space in _SPACES and expected(space, first, second, value) == crc:
                    today = migrated_value(version, space, value)
                    rows.append((space, item_id(first, second), today))
        except sqlite3.DatabaseError:
            pass  # what came before the damage is what there is
        finally:
            connection.close()
        return rows

    def kept(self, item: Item) -> Item:
        """Return the message as it is: a file shares nothing."""
        return item

    def put(self, space: int, key: Key, value: Value) -> None:
        """Write a row with the next commit; of several changes to one row the last counts."""
        self._staged[space, key] = value

    def erase(self, space: int, key: Key) -> None:
        """Remove a row with the next commit."""
        self._staged[space, key] = None

    def commit(self) -> None:
        """Write what was staged and wait for the disk. After an error nothing was written and all is still
        staged.
        """
        if not self._staged:
            return
        self.check_files()
        written: list[tuple[int, int, int, bytes, int]] = []
        erased: list[tuple[int, int, int]] = []
        for (kind, key), changed in self._staged.items():
            space, first, second = int(kind), key >> NUMBER_BITS, key & NUMBER_MASK
            if changed is None:
                erased.append((space, first, second))
            else:
                value = row_of(changed)
                written.append((space, first, second, value, checksum(space, first, second, value)))
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?)", written)
            connection.executemany("DELETE FROM row WHERE space = ? AND first = ? AND second = ?", erased)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise StoreError(
                f"the store {self.path} could not be written: {why_not_written(error)}"
            ) from error
        self._staged.clear()

    def check_files(self) -> None:
        """Raise `MovedStoreError` where the files that are written are not those a restart would find."""
        now = files_at(self.path)
        for ending, file in self._files.items():
            if file is not None and now[ending] != file:
                raise MovedStoreError(
                    f"{self.path}{ending} is not the file that was opened: it was moved, deleted or "
                    "exchanged while it was in use"
                )
        self._files = now

    def load(self) -> Iterator[tuple[int, Key, bytes]]:
        """Yield every committed row, ordered by space and key."""
        for space, first, second, value, _ in self._connection.execute(SELECT):
            yield space, item_id(first, second), value

    def holds(self, space: int, key: Key) -> bool:
        """Return whether this row is committed."""
        found = self._connection.execute(
            "SELECT 1 FROM row WHERE space = ? AND first = ? AND second = ?",
            (int(space), key >> NUMBER_BITS, key & NUMBER_MASK),
        )
        return found.fetchone() is not None

    def close(self) -> None:
        """Let the file go. What was staged and not committed is lost."""
        self._connection.close()
