"""Laws of every store, and what a file on a disk must survive."""

import sqlite3
from pathlib import Path
from random import Random

import pytest

from dens.node.keys import IdentityBook, SigningKey, derive
from dens.node.keys import Key as KeyFile
from dens.node.storage.migrations import VERSION
from dens.node.storage.owner import Owner
from dens.node.storage.sqlite import SqliteStore
from dens.overlay.errors import DamagedStoreError, ForeignStoreError, StoreError
from dens.overlay.limits import Limits
from dens.overlay.session.signatures import has_valid_signature, signed
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Key, Space, Store, row_of
from dens.overlay.wire.item import Item, item_id
from dens.overlay.wire.messages import Receipt
from emulation.fault_injection.plan import CrashingStore, Faults, Plan
from emulation.fault_injection.world import World


class CrashingSqliteStore(SqliteStore):
    """A file whose owner dies without a word."""

    def crash(self) -> "CrashingSqliteStore":
        self.close()
        return CrashingSqliteStore(self.path)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> CrashingStore:
    return MemoryStore() if request.param == "memory" else CrashingSqliteStore(tmp_path / "node.db")


def rows(store: Store) -> dict[tuple[int, Key], bytes]:
    return {(space, key): row_of(value) for space, key, value in store.load()}


def test_a_crash_leaves_exactly_what_was_committed(store: CrashingStore) -> None:
    chance = Random(1)
    committed: dict[tuple[int, Key], bytes] = {}
    staged = dict(committed)
    for _ in range(300):
        space: int = chance.choice(list(Space))
        key = item_id(chance.randrange(3), chance.randrange(2**31))
        what = chance.random()
        if what < 0.5:
            value = chance.randbytes(chance.randrange(40))
            staged[space, key] = value
            store.put(space, key, value)
        elif what < 0.7 and staged:
            space, key = chance.choice(sorted(staged))
            del staged[space, key]
            store.erase(space, key)
        elif what < 0.9:
            store.commit()
            committed = dict(staged)
        else:
            store = store.crash()
            staged = dict(committed)
        assert rows(store) == committed
        assert [(space, key) for space, key, _ in store.load()] == sorted(committed)


def filled(path: Path, count: int = 200) -> None:
    store = SqliteStore(path)
    for number in range(count):
        store.put(Space.ITEM, item_id(1, number), bytes((number % 256,)) * 50)
    store.commit()
    store.close()


def test_two_owners_of_one_file_are_refused(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "node.db")
    first.put(Space.ITEM, item_id(1, 1), b"x")
    first.commit()
    with pytest.raises(StoreError, match="another node"):
        SqliteStore(tmp_path / "node.db")
    first.close()
    assert rows(SqliteStore(tmp_path / "node.db")) == {(Space.ITEM, item_id(1, 1)): b"x"}


def test_foreign_and_newer_files_are_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE t (x)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="not the store of a DENS node"):
        SqliteStore(tmp_path / "other.db")
    filled(tmp_path / "node.db", 1)
    connection = sqlite3.connect(tmp_path / "node.db")
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(StoreError, match="version 9"):
        SqliteStore(tmp_path / "node.db", recover=True)


@pytest.mark.parametrize("seed", range(1, 13))
def test_rotten_bits_are_noticed_and_what_is_whole_is_recovered(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "node.db"
    filled(path)
    before = rows_of(path)
    data = bytearray(path.read_bytes())
    # A value, not free space: the fifty equal bytes of one row.
    position = data.index(bytes((seed,)) * 50) + seed
    data[position] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        SqliteStore(path)
    recovered = SqliteStore(path, recover=True)
    after = rows(recovered)
    assert after.items() < before.items()
    assert len(after) == len(before) - 1
    assert (tmp_path / "node.db.damaged").read_bytes()[position] == data[position]
    recovered.close()
    assert rows_of(path) == after


def other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE letters (x TEXT)")
    connection.executemany("INSERT INTO letters VALUES (?)", [("dear" * 100,)] * 100)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("what", ["text", "xml", "other database", "damaged other database"])
def test_a_file_that_never_was_a_store_is_refused_and_left_as_it_is(tmp_path: Path, what: str) -> None:
    path = tmp_path / "node.db"
    if what == "text":
        path.write_bytes(b"not a database at all" * 100)
    elif what == "xml":
        path.write_bytes(b"<subscription/>")
    else:
        other_database(path)
        if what.startswith("damaged"):
            data = bytearray(path.read_bytes())
            data[100:4096] = b"\xff" * 3996
            path.write_bytes(data)
    before = path.read_bytes()
    for recover in (False, True):
        with pytest.raises(StoreError, match="is not the store of a DENS node") as refused:
            SqliteStore(path, recover=recover)
        assert not isinstance(refused.value, DamagedStoreError)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if not one.name.endswith(("-wal", "-shm"))] == ["node.db"]


@pytest.mark.parametrize(
    ("first", "last", "with_what"),
    [
        (0, 16, b"\xa5"),
        (0, 100, b"\x00"),
        (0, 100, b"\xa5"),
        (0, 4096, b"\x00"),
        (100, 3000, b"\x00"),
        (100, 3000, b"\xa5"),
        (16, 68, b"\xa5"),
    ],
)
def test_a_store_whose_first_page_is_damaged_is_still_known_for_one(
    tmp_path: Path, first: int, last: int, with_what: bytes
) -> None:
    path = tmp_path / "node.db"
    filled(path)
    data = bytearray(path.read_bytes())
    data[first:last] = with_what * (last - first)
    path.write_bytes(data)
    with pytest.raises(DamagedStoreError, match="recover it"):
        SqliteStore(path)
    store = SqliteStore(path, recover=True)
    assert store.damaged == tmp_path / "node.db.damaged"
    assert store.damaged.read_bytes() == bytes(data)
    store.close()
    again = SqliteStore(path)
    assert again.damaged is None
    again.close()


def test_file_that_cannot_be_a_store_is_reported_in_words(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder; name a file in it: .*node\.sqlite"):
        SqliteStore(tmp_path)
    with pytest.raises(StoreError, match="not a regular file"):
        SqliteStore(Path("/dev/null"))
    with pytest.raises(StoreError, match=r"the folder .*missing does not exist; make it"):
        SqliteStore(tmp_path / "missing" / "node.db")


NODE, ASKER = Owner("DENS node", 1), Owner("subscriber", 7)


@pytest.mark.parametrize("other", [Owner("DENS node", 9), Owner("publisher", 1), ASKER])
def test_a_store_belongs_to_one_number_and_kind(tmp_path: Path, other: Owner) -> None:
    path = tmp_path / "node.db"
    SqliteStore(path, owner=NODE).close()
    before = path.read_bytes()
    for recover in (False, True):
        with pytest.raises(ForeignStoreError, match=f"belongs to DENS node 1, and this is {other}"):
            SqliteStore(path, owner=other, recover=recover)
    assert path.read_bytes() == before
    SqliteStore(path, owner=NODE).close()


def test_a_damaged_store_of_another_is_not_recovered(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    SqliteStore(path, owner=NODE).close()
    filled(path)
    data = bytearray(path.read_bytes())
    data[data.index(b"\x07" * 50)] ^= 1
    path.write_bytes(data)
    with pytest.raises(ForeignStoreError, match="belongs to DENS node 1"):
        SqliteStore(path, owner=ASKER, recover=True)
    assert not (tmp_path / "node.db.damaged").exists()
    recovered = SqliteStore(path, owner=NODE, recover=True)
    assert len(rows(recovered)) == 199
    recovered.close()
    with pytest.raises(ForeignStoreError):
        SqliteStore(path, owner=ASKER)


def rows_of(path: Path) -> dict[tuple[int, Key], bytes]:
    store = SqliteStore(path)
    try:
        return rows(store)
    finally:
        store.close()


def test_a_full_disk_is_an_error_and_costs_nothing_that_was_committed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "node.db")
    store.put(Space.ITEM, item_id(1, 1), b"before")
    store.commit()
    store._connection.execute("PRAGMA max_page_count = 6")
    store.put(Space.ITEM, item_id(1, 2), bytes(200_000))
    with pytest.raises(StoreError, match="disk full"):
        store.commit()
    assert rows(store) == {(Space.ITEM, item_id(1, 1)): b"before"}
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.commit()
    assert len(rows(store)) == 2


@pytest.fixture
def sqlite_world(tmp_path: Path) -> World:
    plan = Plan(
        faults=Faults(loss=0.2, repeat=0.1, slow=0.1, crash=0.03),
        limits=Limits(hello_ms=300, retry_ms=150, retry_most_ms=600),
        duration_ms=15_000,
        operation_every_ms=400,
    )
    return World(11, plan, lambda node: CrashingSqliteStore(tmp_path / f"{node}.db"))


def test_the_promises_hold_on_a_real_file(sqlite_world: World) -> None:
    sqlite_world.live_through()
    sqlite_world.heal(6_000)
    assert sqlite_world.checker.missing_deliveries(sqlite_world.now_ms) == []
    assert sqlite_world.crashes > 3
    assert sqlite_world.delivered


def test_stores_of_one_run_keep_a_payload_once_and_never_a_wrong_one() -> None:
    payloads: dict[Key, bytes] = {}
    one, other = MemoryStore(payloads), MemoryStore(payloads)
    item = Item(35, 1, 7, 9, 100, 40, 1, bytes(range(200)))
    here = one.kept(item)
    there = other.kept(item.replace(payload=bytes(bytearray(item.payload)), hops=2, created_ms=50))
    assert there.payload is here.payload
    assert there == item.replace(hops=2, created_ms=50)
    assert other.kept(item.replace(payload=b"forged")).payload == b"forged"
    assert MemoryStore().kept(item) is item


OLD = Path(__file__).parent / "old_stores"
SIGNER = KeyFile("signing", 65_535, bytes(range(32)))


def rows_of_old(version: int) -> tuple[list[Item], list[Item], dict[tuple[int, Key], bytes]]:
    """Return what was written into the files that are kept: what is held, the inbox, and the other rows. From
    version 5 on there are receipts, one with a signature, and what a subscription occupies.
    """
    chance = Random(1)
    held = [Item(35, 1, 7, number, 1000 * number, 90, 1, chance.randbytes(11)) for number in range(12)]
    held.insert(0, Item(16, 1, 3, 0, -500, 100, 0, bytes((5, 0, 100)) + chance.randbytes(14)))
    inbox = [Item(20, 1, 8, 4, 777, 90, 2, bytes((0, 1, 5, 0, 200, 0)) + chance.randbytes(11))]
    others: dict[tuple[int, Key], bytes] = {
        (Space.KNOWN, item_id(9, 3 * number)): (10**9 + number).to_bytes(8, "big", signed=True)
        for number in range(12)
    }
    others[Space.COUNTER, item_id(0, 0)] = (64).to_bytes(8, "big")
    others[Space.COUNTER, item_id(1, 0)] = (129).to_bytes(8, "big")
    if version >= 5:
        held.append(Item(19, 0, 300, 5, 4_000, 90, 2, Receipt(item_id(65_535, 2**31 - 1)).encode()))
        receipt = Item(19, 0, 65_535, 6, 5_000, 90, 1, Receipt(item_id(7, 3)).encode())
        held.append(signed(receipt, SigningKey(SIGNER)))
        others[Space.OCCUPIED, item_id(3, 0)] = b"\x02"
    return held, inbox, others


def version_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    [version] = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return int(version)


@pytest.mark.parametrize("version", [1, 3, 5, 7])
def test_an_old_file_is_brought_forward_with_everything_in_it(version: int, tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    path.write_bytes((OLD / f"version_{version}.db").read_bytes())
    assert version_of(path) == version
    held, inbox, others = rows_of_old(version)
    for _ in range(2):
        store = SqliteStore(path, owner=NODE)
        ledger = DurableState(store, Limits())
        assert ledger.load() == (held, inbox)
        assert rows(store).items() >= others.items()
        store.put(Space.UNVERIFIED, item_id(7, 1), b"")
        store.commit()
        store.close()
        assert version_of(path) == VERSION == 8
        with pytest.raises(ForeignStoreError):
            SqliteStore(path, owner=ASKER)  # whoever opened it first is its owner
    assert ledger.item_number() == 64


def test_what_was_signed_before_origins_grew_is_still_signed(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    path.write_bytes((OLD / "version_5.db").read_bytes())
    held, _ = DurableState(SqliteStore(path), Limits()).load()
    [receipt] = [item for item in held if item.signature]
    book = IdentityBook([derive(SIGNER)])
    assert has_valid_signature(receipt, book)
    assert not has_valid_signature(receipt.replace(payload=Receipt(item_id(7 << 16, 3)).encode()), book)


def test_a_file_of_version_4_takes_up_what_subscriptions_occupy(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    store = SqliteStore(path, owner=ASKER)
    store.put(Space.KNOWN, item_id(1, 2), bytes(8))
    store.commit()
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 4")
    connection.commit()
    connection.close()
    store = SqliteStore(path, owner=ASKER)
    DurableState(store, Limits()).occupy(item_id(1, 1), 2)
    store.commit()
    store.close()
    assert version_of(path) == VERSION
    again = DurableState(SqliteStore(path, owner=ASKER), Limits())
    again.load()
    assert (again.occupied(item_id(1, 1)), again.occupied(item_id(1, 2)), item_id(1, 2) in again.known) == (
        2,
        0,
        True,
    )


@pytest.mark.parametrize("version", [1, 3, 5, 7])
def test_an_old_file_that_rotted_is_refused_kept_and_recovered(version: int, tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    held, inbox, _ = rows_of_old(version)
    data = bytearray((OLD / f"version_{version}.db").read_bytes())
    data[data.index(held[5].payload)] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged in row"):
        SqliteStore(path)
    assert version_of(path) == version
    store = SqliteStore(path, recover=True)
    assert DurableState(store, Limits()).load() == (held[:5] + held[6:], inbox)
    store.close()
    assert (version_of(path), version_of(tmp_path / "node.db.damaged")) == (VERSION, version)
