"""An engine's books, row by row: what is erased is gone, and what is remembered has a bound and shares."""

import pytest

from dens.item import Item, ItemId
from dens.ledger import Ledger
from dens.limits import Limits
from dens.seal import Sealer
from dens.store import Space
from dens.stores.memory import MemoryStore

LIMITS = Limits(known_items=8, origin_share_percent=25, remember_ms=1_000, number_step=4)


def item(origin: int, number: int, created_ms: int = 0) -> Item:
    return Item(35, 1, origin, number, created_ms, 8, 0, b"xy")


def spaces(store: MemoryStore, item_id: ItemId) -> set[str]:
    return {space.name for space in Space if store.holds(space, item_id)}


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def ledger(store: MemoryStore) -> Ledger:
    return Ledger(store, LIMITS)


def test_what_ends_loses_its_rows_and_is_known_for_a_while(store: MemoryStore, ledger: Ledger) -> None:
    one, other, third = item(3, 1), item(3, 2), item(3, 3)
    for each in (one, other, third):
        ledger.keep(each)
        ledger.mark_unverified(each.id)
    ledger.commit()
    assert spaces(store, one.id) == {"ITEM", "UNVERIFIED"}
    assert ledger.is_unverified(one.id)
    ledger.let_go(one)
    ledger.held_ended(other.id, other.expires_ms)
    ledger.forget(third.id)
    ledger.commit()
    assert [spaces(store, each.id) for each in (one, other, third)] == [{"KNOWN"}, {"KNOWN"}, set()]
    assert not any(ledger.is_unverified(each.id) for each in (one, other, third))
    assert [each.id in ledger.known for each in (one, other, third)] == [True, True, False]
    until_ms = one.expires_ms + LIMITS.remember_ms
    assert ledger.known.pop_ended(until_ms - 1) is None
    assert ledger.known.pop_ended(until_ms) == (one.id, until_ms)
    assert ledger.known.pop_ended(until_ms) == (other.id, until_ms)


def test_nothing_is_durable_before_the_commit_and_everything_after(
    store: MemoryStore, ledger: Ledger
) -> None:
    ledger.keep(item(3, 1))
    ledger.put_into_inbox(item(4, 1))
    assert not spaces(store, (3, 1)) | spaces(store, (4, 1))
    ledger.commit()
    assert (spaces(store, (3, 1)), spaces(store, (4, 1))) == ({"ITEM"}, {"INBOX"})
    ledger.mark_unverified((4, 1))
    ledger.take_from_inbox((4, 1))
    ledger.commit()
    assert spaces(store, (4, 1)) == set()


def test_whoever_is_above_its_share_is_forgotten_first(store: MemoryStore, ledger: Ledger) -> None:
    for number in range(3):
        ledger.know(item(1, number))
    for number in range(5):
        ledger.know(item(2, number))
    ledger.know(item(2, 9))  # origin 2 has six of eight, and pays with its own oldest
    assert (2, 0) not in ledger.known
    assert (1, 0) in ledger.known
    ledger.know(item(3, 0))  # origin 3 has one, so the oldest of all goes
    assert (1, 0) not in ledger.known
    assert ledger.known.done_count == 8
    ledger.commit()
    assert spaces(store, (2, 0)) == spaces(store, (1, 0)) == set()
    assert spaces(store, (3, 0)) == {"KNOWN"}


def test_exactly_its_share_is_not_above_it() -> None:
    ledger = Ledger(MemoryStore(), LIMITS)
    for number in range(7):
        ledger.know(item(1, number))
    ledger.know(item(2, 0))
    ledger.know(item(2, 1))  # two of eight are a quarter
    assert (2, 0) in ledger.known
    assert (1, 0) not in ledger.known


def test_numbers_are_reserved_before_they_are_used_and_no_restart_repeats_one() -> None:
    store = MemoryStore()
    used: list[int] = []
    for _ in range(4):
        ledger = Ledger(store, LIMITS)
        ledger.load()
        for _ in range(3):
            used.append(ledger.link_number())
            ledger.commit()
        store = store.crash()
    assert used == [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15]
    ledger = Ledger(store, LIMITS)
    ledger.load()
    assert ledger.item_number() == 0


def test_without_a_mission_key_nothing_is_sealed_and_nothing_verifies() -> None:
    bare, keyed = Sealer(3), Sealer(3, b"mission")
    assert (bare.tag(b"body", 5), bare.tag_bytes) == (b"", 0)
    assert not bare.verifies(b"body", keyed.tag(b"body", 5), 3, 5)
    assert not bare.verifies(b"body", b"", 3, 5)
    assert keyed.tag(b"body", 5) != Sealer(9, b"mission").tag(b"body", 5)
    assert Sealer(9, b"mission").verifies(b"body", keyed.tag(b"body", 5), 3, 5)
    assert not Sealer(9, b"mission").verifies(b"body", keyed.tag(b"body", 5), 4, 5)
    assert not Sealer(9, b"mission").verifies(b"body", keyed.tag(b"body", 6), 3, 5)


def test_what_is_known_is_read_again_whatever_the_clock_showed_and_is_forgotten_for_good() -> None:
    store = MemoryStore()
    ledger = Ledger(store, LIMITS)
    early, late = item(3, 1, created_ms=-9_000_000), item(3, 2, created_ms=9_000_000)
    ledger.know(early)
    ledger.know(late)
    ledger.commit()
    again = Ledger(store.crash(), LIMITS)
    assert again.load() == ([], [])
    until_ms = early.expires_ms + LIMITS.remember_ms
    assert again.known.pop_ended(0) == (early.id, until_ms)
    assert again.known.next_end_ms() == late.expires_ms + LIMITS.remember_ms
    ledger.forget(early.id)
    ledger.commit()
    assert (spaces(store, early.id), spaces(store, late.id)) == (set(), {"KNOWN"})
