"""What was acknowledged survives power loss at every write, a full disk and a failing one."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from dens.node.storage.migrations import CHECKSUMS, SELECT
from dens.node.storage.sqlite import SqliteStore
from dens.overlay.errors import StoreError
from dens.overlay.storage.store import Key, Space
from dens.overlay.wire.item import item_id
from tests.dens.node.storage.disk import Disk, states

Rows = dict[tuple[int, Key], bytes]


def rows(store: SqliteStore) -> Rows:
    return {(space, key): value for space, key, value in store.load()}


def work(store: SqliteStore, commits: int, done: list[Rows], chance: Random) -> None:
    """Write, replace and erase; note what is there after every commit."""
    model = dict(done[-1])
    for number in range(commits):
        staged = dict(model)
        for _ in range(3):
            key = (Space.ITEM, item_id(1, chance.randrange(12)))
            if key in staged and chance.random() < 0.3:
                del staged[key]
                store.erase(*key)
            else:
                staged[key] = bytes((number,)) * chance.randrange(1, 900)
                store.put(*key, staged[key])
        done.append(staged)  # under way: a failure may come before or after it is durable
        store.commit()
        model = staged


def opened(folder: Path, files: dict[str, bytes]) -> Rows:
    for old in folder.glob("node.db*"):
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    store = SqliteStore(folder / "node.db")
    try:
        return rows(store)
    finally:
        store.close()


def made_old(path: Path, connect: Callable[[Path], sqlite3.Connection]) -> None:
    """Make a file one of version 1 again."""
    connection = connect(path)
    found = connection.execute(SELECT).fetchall()
    connection.execute("BEGIN IMMEDIATE")
    for row in found:
        connection.execute(
            "UPDATE row SET crc = ? WHERE space = ? AND first = ? AND second = ?",
            (CHECKSUMS[1](*row[:4]), *row[:3]),
        )
    connection.execute("DROP TABLE meta")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("COMMIT")
    connection.close()


def test_power_lost_while_a_file_is_brought_forward_leaves_the_old_one_or_the_new(tmp_path: Path) -> None:
    disk = Disk("power forward")
    path = tmp_path / "node.db"
    store = SqliteStore(path, connect=disk.connect)
    done: list[Rows] = [{}]
    work(store, 4, done, Random(5))
    store.close()
    made_old(path, disk.connect)
    begun = len(disk.journal)
    SqliteStore(path, connect=disk.connect).close()
    assert len(disk.journal) > begun
    found = tmp_path / "found"
    found.mkdir()
    checked = 0
    for boundary, files in states(disk.journal):
        if boundary >= begun:
            checked += 1
            assert opened(found, files) == done[-1]
    assert checked > 10


def lose_power(folder: Path, commits: int, synchronous: str) -> tuple[int, int]:
    """Return how many states of the disk a power loss may leave, and in how many acknowledged rows are
    missing.
    """
    disk = Disk(f"power {synchronous}")
    store = SqliteStore(folder / "node.db", connect=disk.connect)
    store._connection.execute(f"PRAGMA synchronous = {synchronous}")
    done: list[Rows] = [{}]
    ready = [len(disk.journal)]
    chance = Random(3)
    for _ in range(commits):
        work(store, 1, done, chance)
        ready.append(len(disk.journal))
    store.close()
    found = folder / "found"
    found.mkdir()
    seen: set[tuple[int, frozenset[tuple[str, bytes]]]] = set()
    lost = 0
    for boundary, files in states(disk.journal):
        committed = sum(at <= boundary for at in ready) - 1
        state = (committed, frozenset(files.items()))
        if state not in seen:
            seen.add(state)
            lost += opened(found, files) not in done[max(0, committed) : committed + 2]
    return len(seen), lost


def test_power_may_be_lost_at_every_write(tmp_path: Path) -> None:
    disk_states, lost = lose_power(tmp_path, 25, "FULL")
    assert disk_states > 150
    assert lost == 0


def test_a_store_that_does_not_wait_for_the_disk_would_be_noticed(tmp_path: Path) -> None:
    assert lose_power(tmp_path, 6, "NORMAL")[1] > 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_every_call_of_the_disk_may_fail(tmp_path: Path, error: type[Exception]) -> None:
    failed = went_on = 0
    reasons = set()
    for fail_at in range(1, 400):
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        disk = Disk(f"failing {error.__name__}", fail_at, error)
        done: list[Rows] = [{}]
        store = None
        try:
            store = SqliteStore(folder / "node.db", connect=disk.connect)
            work(store, 6, done, Random(3))
        except StoreError as refused:
            failed += 1
            reasons.add(str(refused).split(":")[0].split("node.db ")[1])
            if store is not None:
                assert rows(store) in done[-2:]
                store.commit()  # all is still staged, and the disk works again
                assert rows(store) == done[-1]
                went_on += 1
        if store is not None:
            store.close()
        if disk.calls < fail_at:
            break
        again = SqliteStore(folder / "node.db")
        assert rows(again) in done[-2:]
        again.close()
    assert disk.calls < fail_at
    assert reasons == {"cannot be opened", "could not be written"}
    assert failed > 15
    assert went_on > 10
