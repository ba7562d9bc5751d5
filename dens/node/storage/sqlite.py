"""A durable store in one SQLite file. Committed data survives a crash of the process and of the machine.

It uses a write-ahead log with `synchronous=FULL`, so that a commit returns when the data is on disk; one
commit writes everything staged since the last. Every row has a CRC-32 of its key and value, because SQLite
does not detect flipped bits. A file that is damaged, foreign, newer than this code, owned by another node or
in use is refused. With `recover=True` a damaged file is renamed and its intact rows are copied into a new
one. A file of an older version is migrated (dens/node/storage/migrations.py).
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
    """Return the owner of a damaged file if it is still readable."""
    try:
        return owner_of(connection)
    except (sqlite3.DatabaseError, ValueError):
        return None


class SqliteStore:
    """One file, owned by one engine at a time.

    A new file, or one without an owner, becomes the property of `owner`. `connect` opens the file in
    autocommit mode; tests replace it to simulate a failing disk.
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
        """The damaged file from which this one was recovered."""
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
                raise self._not_a_store() from error
            raise self._is_damaged(f": {error}") from error
        except StoreError:
            self._close_quietly(connection)
            raise
        return connection

    def _not_a_store(self) -> StoreError:
        return StoreError(f"{self.path} is not the store of a DENS node; choose another file")

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
        """Refuse a database of another program before anything in it is changed."""
        [tables] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        [application] = connection.execute("PRAGMA application_id").fetchone()
        if (tables or application) and application != APPLICATION:
            raise self._not_a_store()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Initialise a new file; migrate an older one; refuse a damaged one."""
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
                f"the store {self.path} has version {version}, and this dens supports up to {VERSION}; "
                "use a newer one"
            )
        [verdict] = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self._is_damaged(f": {verdict}")
        connection.execute("BEGIN IMMEDIATE")  # takes the lock, so that a second process is detected now
        connection.execute("COMMIT")
        expected = CHECKSUMS[version]
        for space, first, second, value, crc in connection.execute(SELECT):
            if expected(space, first, second, value) != crc:
                raise self._is_damaged(f" in row ({space}, {first}, {second})")
        if version < VERSION:
            migrate(connection, version)

    def _recover(self) -> None:
        """Rename the damaged file and copy its intact rows; the file of another owner is left alone."""
        intact = self._intact_rows()
        self.damaged = set_aside(self.path)
        self._connection = self._open()
        for space, key, value in intact:
            self.put(space, key, value)
        self.commit()

    def _intact_rows(self) -> list[tuple[int, Key, bytes]]:
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
            pass  # keep the rows before the damage
        finally:
            connection.close()
        return rows

    def kept(self, item: Item) -> Item:
        """Return the message unchanged: a file does not share objects."""
        return item

    def put(self, space: int, key: Key, value: Value) -> None:
        """Write a row with the next commit. The last of several changes to one row counts."""
        self._staged[space, key] = value

    def erase(self, space: int, key: Key) -> None:
        """Remove a row with the next commit."""
        self._staged[space, key] = None

    def commit(self) -> None:
        """Write the staged rows and wait for the disk. After an error nothing is written; all stay staged."""
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
        """Raise `MovedStoreError` if the open files are not those that a restart would find."""
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
        """Close the file. Staged rows that are not committed are lost."""
        self._connection.close()
