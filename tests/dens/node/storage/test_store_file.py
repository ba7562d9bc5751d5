"""A store's file while it is in use: who may read it, and that it is still where it was."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dens.node.storage.sqlite import SqliteStore
from dens.overlay.errors import MovedStoreError, StoreError
from dens.overlay.storage.store import Space
from dens.overlay.wire.item import item_id

ROW = (Space.KNOWN, item_id(1, 2), b"x")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_store_is_its_owners_alone_and_so_is_its_log(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "node.sqlite")
    store.put(*ROW)
    store.commit()
    assert {one.name: mode(one) for one in tmp_path.iterdir()} == {
        "node.sqlite": 0o600,
        "node.sqlite-wal": 0o600,
    }
    store.close()
    assert {one.name: mode(one) for one in tmp_path.iterdir()} == {"node.sqlite": 0o600}


def test_a_store_that_is_recovered_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "node.sqlite"
    path.write_bytes(b"\0" * 8192)
    store = SqliteStore(path, recover=True)
    assert mode(path) == 0o600
    store.close()


def test_who_may_read_a_store_that_is_there_is_its_owners_business(tmp_path: Path) -> None:
    path = tmp_path / "node.sqlite"
    SqliteStore(path).close()
    path.chmod(0o640)
    SqliteStore(path).close()
    assert mode(path) == 0o640


def renamed(path: Path) -> None:
    path.rename(path.with_name("away.sqlite"))


def deleted(path: Path) -> None:
    path.unlink()


def exchanged(path: Path) -> None:
    """As a backup does that is copied over it."""
    copy = path.with_name("copy.sqlite")
    shutil.copy(path, copy)
    copy.replace(path)


def folder_renamed(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def log_deleted(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


@pytest.mark.parametrize("away", [renamed, deleted, exchanged, folder_renamed, log_deleted])
def test_a_store_that_is_not_where_it_was_takes_nothing_more(
    tmp_path: Path, away: Callable[[Path], None]
) -> None:
    """What is acknowledged must be found by the next start, and that looks where the store's name is."""
    folder = tmp_path / "node"
    folder.mkdir()
    path = folder / "node.sqlite"
    store = SqliteStore(path)
    store.put(*ROW)
    store.commit()
    store.check_files()
    away(path)
    with pytest.raises(MovedStoreError, match=r"node\.sqlite"):
        store.check_files()
    store.put(Space.KNOWN, item_id(1, 3), b"y")
    for _ in range(2):
        with pytest.raises(MovedStoreError):
            store.commit()
    store.close()


def test_what_was_committed_before_a_store_was_moved_is_in_the_moved_file(tmp_path: Path) -> None:
    path = tmp_path / "node.sqlite"
    store = SqliteStore(path)
    store.put(*ROW)
    store.commit()
    renamed(path)
    store.put(Space.KNOWN, item_id(1, 3), b"y")
    with pytest.raises(MovedStoreError):
        store.commit()
    store.close()
    (tmp_path / "away.sqlite").rename(path)
    again = SqliteStore(path)
    assert [key for space, key, _ in again.load() if space == Space.KNOWN] == [item_id(1, 2)]
    again.close()


def test_a_store_that_was_put_back_is_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "node.sqlite"
    store = SqliteStore(path)
    store.put(*ROW)
    renamed(path)
    with pytest.raises(MovedStoreError):
        store.commit()
    (tmp_path / "away.sqlite").rename(path)
    store.commit()
    assert store.holds(Space.KNOWN, item_id(1, 2))
    store.close()


def test_store_that_becomes_read_only_is_reported_as_such(tmp_path: Path) -> None:
    """A disk whose file system was remounted read-only answers every write so."""
    connections: list[sqlite3.Connection] = []

    def connect(path: Path) -> sqlite3.Connection:
        connections.append(sqlite3.connect(path, isolation_level=None, timeout=0))
        return connections[-1]

    store = SqliteStore(tmp_path / "node.sqlite", connect=connect)
    connections[0].execute("PRAGMA query_only = ON")
    store.put(*ROW)
    with pytest.raises(
        StoreError, match="it can no longer be written; is its disk mounted read-only"
    ) as told:
        store.commit()
    assert "full" not in str(told.value)
    connections[0].execute("PRAGMA query_only = OFF")
    store.commit()
    assert store.holds(Space.KNOWN, item_id(1, 2)), "nothing that was staged is lost"
    store.close()
