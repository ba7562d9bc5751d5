"""Versions of the store's file format, and the migration of older files.

    1   a row's checksum covers "space first second" in decimal, and its value
    2   a row's checksum covers space, first and second in seventeen bytes, and its value, which is quicker;
        marks of unverified messages may be among the rows
    3   `meta` has the kind and the number of the owner (dens/node/storage/owner.py); a migrated file belongs
        to the first process that opens it
    4   messages are in envelopes of version 2: a delivery in the inbox counts its subscriptions in two bytes;
        marks of quarantined messages may be among the rows
    5   ids occupied by parts of subscriptions may be among the rows
    6   messages are in envelopes of version 3: origins have four bytes, in receipts too
    7   results, and which neighbours brokers have messages from and for, may be among the rows; marks of
        quarantine have two bytes
    8   messages are in envelopes of version 4, which differ from those of version 3 by their number only;
        reserved copies, the state of a replication policy, and names of subscriptions may be among the rows

A file is migrated step by step when it is opened, all steps in one transaction: after a power cut it is the
old file or the new one. Every row is first checked by the rule of its own version. An older program refuses a
newer file.
"""

import sqlite3
from collections.abc import Callable
from struct import Struct
from typing import Final
from zlib import crc32

VERSION: Final = 8
_ROWS: Final = """
CREATE TABLE row (
    space INTEGER NOT NULL,
    first INTEGER NOT NULL,
    second INTEGER NOT NULL,
    value BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (space, first, second)
) STRICT, WITHOUT ROWID
"""
_META: Final = """
CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID
"""
SCHEMA: Final = (_ROWS, _META)
SELECT: Final = "SELECT space, first, second, value, crc FROM row ORDER BY space, first, second"

_ITEM: Final = 1
_INBOX: Final = 4
_ENVELOPED: Final = frozenset({_ITEM, _INBOX})
"""The spaces whose rows are a local time and an envelope (dens/overlay/storage/store.py)."""
_TIME_BYTES: Final = 8
_ENVELOPE_BYTES: Final = 16
"""Of an envelope of version 1 or 2."""
_ORIGIN_AT: Final = 4
_RECEIPT: Final = 19
_WIDER: Final = b"\x00\x00"
"""Prefix of an origin that had two bytes and has four now."""

Checksum = Callable[[int, int, int, bytes], int]
_KEY: Final = Struct(">BQQ")
_LONG: Final = (1 << 64) - 1


def _decimal(space: int, first: int, second: int, value: bytes) -> int:
    return crc32(value, crc32(f"{space} {first} {second}".encode()))


def checksum(space: int, first: int, second: int, value: bytes) -> int:
    """Return the checksum of a row of the newest version."""
    return crc32(value, crc32(_KEY.pack(space & 0xFF, first & _LONG, second & _LONG)))


CHECKSUMS: Final[dict[int, Checksum]] = {1: _decimal, **dict.fromkeys(range(2, VERSION + 1), checksum)}
"""The checksum of a row by the version of its file."""


def _from_1_to_2(connection: sqlite3.Connection) -> None:
    rows = connection.execute(SELECT).fetchall()
    connection.executemany(
        "UPDATE row SET crc = ? WHERE space = ? AND first = ? AND second = ?",
        [(checksum(*row[:4]), *row[:3]) for row in rows],
    )


def _from_2_to_3(connection: sqlite3.Connection) -> None:
    connection.execute(_META)


def _from_3_to_4(connection: sqlite3.Connection) -> None:
    _rewrite(connection, _in_envelope_2)


def _one_more_kind(connection: sqlite3.Connection) -> None:
    """Do nothing: existing rows are the same, there is only one more kind."""


def _from_5_to_6(connection: sqlite3.Connection) -> None:
    _rewrite(connection, _in_envelope_3)


def _from_7_to_8(connection: sqlite3.Connection) -> None:
    _rewrite(connection, _in_envelope_4)


def _rewrite(connection: sqlite3.Connection, newer: Callable[[int, bytes], bytes]) -> None:
    """Rewrite every row with an envelope."""
    rows = connection.execute(SELECT).fetchall()
    rewritten = [(*row[:3], newer(row[0], row[3])) for row in rows if row[0] in _ENVELOPED]
    connection.executemany(
        "UPDATE row SET value = ?, crc = ? WHERE space = ? AND first = ? AND second = ?",
        [(row[3], checksum(*row), *row[:3]) for row in rewritten],
    )


def migrated_value(version: int, space: int, value: bytes) -> bytes:
    """Return the value of an intact row of this version in the newest version."""
    if space not in _ENVELOPED:
        return value
    if version < 4:
        value = _in_envelope_2(space, value)
    if version < 6:
        value = _in_envelope_3(space, value)
    return _in_envelope_4(space, value) if version < 8 else value


def _in_envelope_2(space: int, value: bytes) -> bytes:
    """Return a row with an envelope of version 1 as one with an envelope of version 2."""
    time, enveloped = value[:_TIME_BYTES], value[_TIME_BYTES:]
    if not enveloped or enveloped[0] >> 4 != 1:
        return value
    header = bytes((2 << 4 | enveloped[0] & 0x0F,)) + enveloped[1:_ENVELOPE_BYTES]
    payload = enveloped[_ENVELOPE_BYTES:]
    return time + header + (_counted_in_two_bytes(payload) if space == _INBOX else payload)


def _in_envelope_3(space: int, value: bytes) -> bytes:
    """Return a row with an envelope of version 2 as one with an envelope of version 3. Signatures stay valid,
    because the signed bytes are the same (dens/overlay/session/signatures.py).
    """
    time, enveloped = value[:_TIME_BYTES], value[_TIME_BYTES:]
    if len(enveloped) < _ENVELOPE_BYTES or enveloped[0] >> 4 != 2:
        return value
    header = bytes((3 << 4 | enveloped[0] & 0x0F,)) + enveloped[1:_ORIGIN_AT] + _WIDER
    header += enveloped[_ORIGIN_AT:_ENVELOPE_BYTES]
    payload = enveloped[_ENVELOPE_BYTES:]
    return time + header + (_WIDER + payload if enveloped[1] == _RECEIPT else payload)


def _in_envelope_4(space: int, value: bytes) -> bytes:
    """Return a row with an envelope of version 3 as one with an envelope of version 4."""
    time, enveloped = value[:_TIME_BYTES], value[_TIME_BYTES:]
    if not enveloped or enveloped[0] >> 4 != 3:
        return value
    return time + bytes((4 << 4 | enveloped[0] & 0x0F,)) + enveloped[1:]


def _counted_in_two_bytes(payload: bytes) -> bytes:
    """Return a notify with a count of two bytes, and after every degree the length of no detail."""
    count, end = payload[0], 1 + 3 * payload[0]
    entries = [payload[at : at + 3] + b"\x00" for at in range(1, end, 3)]
    return count.to_bytes(2, "big") + b"".join(entries) + payload[end:]


_STEPS: Final[dict[int, Callable[[sqlite3.Connection], None]]] = {
    1: _from_1_to_2,
    2: _from_2_to_3,
    3: _from_3_to_4,
    4: _one_more_kind,
    5: _from_5_to_6,
    6: _one_more_kind,
    7: _from_7_to_8,
}


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Migrate a file of an older version with intact rows to the newest, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for step in range(version, VERSION):
        _STEPS[step](connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
