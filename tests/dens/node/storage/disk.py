"""A disk that remembers every call, can lose power between any two, and fails on demand.

It is a file system under SQLite, by APSW: real files, and a journal of what was written, synced, cut and
deleted. `states` replays the journal: what a machine may find after the power was lost at a boundary.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, cast

import apsw


@dataclass(frozen=True)
class Call:
    """One call by SQLite to the disk."""

    verb: str
    name: str
    offset: int = 0
    data: bytes = b""


class Disk(apsw.VFS):
    """Passes everything on, writes it down, and fails the n-th call with this error, once."""

    def __init__(self, name: str, fail_at: int = 0, error: type[Exception] = apsw.IOError) -> None:
        self.journal: list[Call] = []
        self.calls = 0
        self._fail_at = fail_at
        self._error = error
        self._name = name
        super().__init__(name, "")

    def called(self, call: Call) -> None:
        self.calls += 1
        if self.calls == self._fail_at:
            raise self._error(f"the disk refused call {self.calls}: {call.verb}")
        self.journal.append(call)

    def xOpen(self, name: Any, flags: list[int]) -> "_File":  # noqa: N802
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.called(Call("delete", Path(filename).name))
        super().xDelete(filename, syncdir)

    def connect(self, path: Path) -> sqlite3.Connection:
        """Open a file on this disk with the face of Python's own SQLite; checkpoints come often."""
        return cast(sqlite3.Connection, _Connection(path, self._name))


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        full = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._file_name = Path(full).name if full else "temporary"
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.called(Call("write", self._file_name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.called(Call("truncate", self._file_name, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.called(Call("sync", self._file_name))
        super().xSync(flags)


class _Connection:
    """An APSW connection that raises what Python's own SQLite raises."""

    def __init__(self, path: Path, vfs: str) -> None:
        try:
            self._connection = apsw.Connection(str(path), vfs=vfs)
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from error
        self.execute("PRAGMA wal_autocheckpoint = 6")

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        return self._ask(self._connection.execute, statement, values)

    def executemany(self, statement: str, rows: list[Any]) -> Any:
        return self._ask(self._connection.executemany, statement, rows)

    @staticmethod
    def _ask(do: Any, *arguments: Any) -> Any:
        try:
            return do(*arguments)
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise sqlite3.DatabaseError(str(error)) from error
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from error

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def close(self) -> None:
        with suppress(
            apsw.Error
        ):  # as Python's own: what could not be tidied up is found at the next opening
            self._connection.close()


def _apply(files: dict[str, bytearray], call: Call, length: int | None = None) -> None:
    if call.verb == "delete":
        files.pop(call.name, None)
        return
    content = files.setdefault(call.name, bytearray())
    if call.verb == "truncate":
        del content[call.offset :]
    elif call.verb == "write":
        data = call.data[:length]
        content.extend(bytes(max(0, call.offset + len(data) - len(content))))
        content[call.offset : call.offset + len(data)] = data


def states(journal: list[Call]) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Yield, for every boundary, the files that a power loss there may leave.

    What was synced is there. Of what was not, there may be nothing, all, all with the last write torn in the
    middle, or any part in any order.
    """
    synced: dict[str, bytearray] = {}
    waiting: list[Call] = []
    chance = Random(1)
    for boundary, call in enumerate(journal, 1):
        if call.verb == "sync":
            rest = []
            for one in waiting:
                if one.name == call.name:
                    _apply(synced, one)
                else:
                    rest.append(one)
            waiting = rest
        elif call.verb == "delete":
            waiting = [one for one in waiting if one.name != call.name]
            _apply(synced, call)
        else:
            waiting.append(call)
        some = [one for one in waiting if chance.random() < 0.5]
        for kept, torn in ((waiting[:0], False), (waiting, False), (waiting, True), (some, False)):
            files = {name: bytearray(content) for name, content in synced.items()}
            for position, one in enumerate(kept, 1):
                length = len(one.data) // 2 if torn and position == len(kept) else None
                _apply(files, one, length)
            yield boundary, {name: bytes(content) for name, content in files.items()}
