"""An engine's books, row by row: what is erased is gone, and what is remembered has a bound and shares."""

import hashlib
import hmac

import pytest

from dens.overlay.limits import Limits
from dens.overlay.storage.durable_state import DurableState, init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space
from dens.overlay.wire.authentication import EVERYONE, Authenticator, node_key
from dens.overlay.wire.codes import Role
from dens.overlay.wire.item import NEVER_MS, Item, ItemId, item_id

LIMITS = Limits(known_items=8, origin_share_percent=25, remember_ms=1_000, number_step=4)


def item(origin: int, number: int, created_ms: int = 0) -> Item:
    return Item(35, 1, origin, number, created_ms, 8, 0, b"xy")


def spaces(store: MemoryStore, item_id: ItemId) -> set[str]:
    return {space.name for space in Space if store.holds(space, item_id)}


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def durable(store: MemoryStore) -> DurableState:
    return DurableState(store, LIMITS)


def test_what_ends_loses_its_rows_and_is_known_for_a_while(store: MemoryStore, durable: DurableState) -> None:
    one, other, third = item(3, 1), item(3, 2), item(3, 3)
    for each in (one, other, third):
        durable.keep(each)
        durable.mark_unverified(each.id)
    durable.commit()
    assert spaces(store, one.id) == {"ITEM", "UNVERIFIED"}
    assert durable.is_unverified(one.id)
    durable.release(one)
    durable.expire_held(other.id, other.expires_ms)
    durable.forget(third.id)
    durable.commit()
    assert [spaces(store, each.id) for each in (one, other, third)] == [{"KNOWN"}, {"KNOWN"}, set()]
    assert not any(durable.is_unverified(each.id) for each in (one, other, third))
    assert [each.id in durable.known for each in (one, other, third)] == [True, True, False]
    until_ms = one.expires_ms + LIMITS.remember_ms
    assert durable.known.pop_expired(until_ms) is None
    assert durable.known.pop_forgotten(until_ms - 1) is None
    assert durable.known.pop_forgotten(until_ms) == one.id
    assert durable.known.pop_forgotten(until_ms) == other.id


def test_nothing_is_durable_before_the_commit_and_everything_after(
    store: MemoryStore, durable: DurableState
) -> None:
    durable.keep(item(3, 1))
    durable.add_to_inbox(item(4, 1))
    assert not spaces(store, item_id(3, 1)) | spaces(store, item_id(4, 1))
    durable.commit()
    assert (spaces(store, item_id(3, 1)), spaces(store, item_id(4, 1))) == ({"ITEM"}, {"INBOX"})
    assert DurableState(store.crash(), LIMITS).load() == ([item(3, 1)], [item(4, 1)])
    durable.mark_unverified(item_id(4, 1))
    durable.remove_from_inbox(item_id(4, 1))
    durable.commit()
    assert spaces(store, item_id(4, 1)) == set()


def test_whoever_is_above_its_share_is_forgotten_first(store: MemoryStore, durable: DurableState) -> None:
    for number in range(3):
        durable.know(item(1, number))
    for number in range(5):
        durable.know(item(2, number))
    durable.know(item(2, 9))  # origin 2 has six of eight, and pays with its own oldest
    assert item_id(2, 0) not in durable.known
    assert item_id(1, 0) in durable.known
    durable.know(item(3, 0))  # origin 3 has one, so the oldest of all goes
    assert item_id(1, 0) not in durable.known
    assert durable.known.released_count == 8
    durable.commit()
    assert spaces(store, item_id(2, 0)) == spaces(store, item_id(1, 0)) == set()
    assert spaces(store, item_id(3, 0)) == {"KNOWN"}


def test_exactly_its_share_is_not_above_it() -> None:
    durable = DurableState(MemoryStore(), LIMITS)
    for number in range(7):
        durable.know(item(1, number))
    durable.know(item(2, 0))
    durable.know(item(2, 1))  # two of eight are a quarter
    assert item_id(2, 0) in durable.known
    assert item_id(1, 0) not in durable.known


def test_numbers_are_reserved_before_they_are_used_and_no_restart_repeats_one() -> None:
    store = MemoryStore()
    used: list[int] = []
    for _ in range(4):
        durable = DurableState(store, LIMITS)
        durable.load()
        for _ in range(3):
            used.append(durable.session_number())
            durable.commit()
        store = store.crash()
    assert used == [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15]
    durable = DurableState(store, LIMITS)
    durable.load()
    assert durable.item_number() == 0


def test_without_a_mission_key_nothing_is_tagged_and_nothing_verifies() -> None:
    bare, keyed = Authenticator(3), Authenticator(3, b"mission")
    role = Role.PUBLISHER
    tag = keyed.tag(b"body", role, 3, 5)
    assert (keyed.node, keyed.tag_bytes, len(tag)) == (3, 8, 8)
    assert (bare.tag(b"body", role, 3, 5), bare.tag_bytes) == (b"", 0)
    assert not bare.verifies(b"body", tag, 3, role, 5)
    assert not bare.verifies(b"body", b"", 3, role, 5)
    assert not bare.verifies_broadcast(b"body", keyed.tag(b"body", role, EVERYONE, 0), 3, role)
    assert keyed.verifies(b"body", tag, 3, role, 5)


def test_what_is_known_is_read_again_whatever_the_clock_showed_and_is_forgotten_for_good() -> None:
    store = MemoryStore()
    durable = DurableState(store, LIMITS)
    early, late = item(3, 1, created_ms=-9_000_000), item(3, 2, created_ms=9_000_000)
    durable.know(early)
    durable.know(late)
    durable.commit()
    again = DurableState(store.crash(), LIMITS)
    assert again.load() == ([], [])
    until_ms = early.expires_ms + LIMITS.remember_ms
    assert again.known.forget_ms == until_ms < 0
    assert again.known.pop_forgotten(0) == early.id
    assert again.known.forget_ms == late.expires_ms + LIMITS.remember_ms
    durable.forget(early.id)
    durable.commit()
    assert (spaces(store, early.id), spaces(store, late.id)) == (set(), {"KNOWN"})


def test_the_bytes_of_rows_and_tags_stay_what_they_were() -> None:
    """Files that exist and boards that are out there have them; `tag` is checked against hashlib by hand."""
    store = MemoryStore()
    durable = DurableState(store, LIMITS)
    durable.know(item(3, 1, created_ms=0x0102030405))
    durable.mark_unverified(item_id(3, 2))
    durable.session_number()
    durable.commit()
    rows = {(space, key): value for space, key, value in store.load()}
    assert rows[Space.KNOWN, item_id(3, 1)] == (0x0102030405 + 2_000 + 1_000).to_bytes(8, "big")
    assert rows[Space.UNVERIFIED, item_id(3, 2)] == b""
    assert [value for (space, _), value in rows.items() if space == Space.COUNTER] == [bytes(7) + b"\x05"]
    key = hmac.new(b"mission", b"dens node key v2\x03\x00\x00\x01\x02", hashlib.sha256).digest()
    assert node_key(b"mission", 0x0102, Role.PUBLISHER) == key
    tag = hmac.new(key, b"\x00\x00\x00\x07\x01\x02\x03\x04body", hashlib.sha256).digest()[:8]
    assert Authenticator(0x0102, b"mission").tag(b"body", Role.PUBLISHER, 7, 0x01020304) == tag
    assert Authenticator(7, b"mission").verifies(b"body", tag, 0x0102, Role.PUBLISHER, 0x01020304)


def test_a_changed_form_takes_the_place_of_the_one_that_is_held() -> None:
    store = MemoryStore()
    durable = DurableState(store, LIMITS)
    first = item(3, 1)
    durable.keep(first)
    durable.commit()
    durable.rewrite(first.replace(copies=3))
    assert DurableState(store.crash(), LIMITS).load()[0] == [first]
    durable.commit()
    [held], _ = DurableState(store.crash(), LIMITS).load()
    assert (held.id, held.copies) == (first.id, 3)


def test_a_renewed_end_replaces_the_earlier_one() -> None:
    """What is left in the order of ends of an end that was moved, or of what is forgotten, is passed over."""
    known = DurableState(MemoryStore(), LIMITS).known
    known.add(item_id(3, 1), 100)
    known.mark_released(item_id(3, 1), 300)
    known.add(item_id(3, 2), 200)
    known.forget(item_id(3, 2))
    assert (known.wake_ms, known.forget_ms) == (100, 300)
    assert known.pop_expired(10**9) is None
    assert known.wake_ms == NEVER_MS
    assert known.pop_forgotten(299) is None
    assert known.pop_forgotten(300) == item_id(3, 1)
    assert known.forget_ms == NEVER_MS
    assert known.pop_forgotten(10**9) is None


class CountingStore(MemoryStore):
    """Counts the writes."""

    commits = 0

    def commit(self) -> None:
        self.commits += 1
        super().commit()


def test_empty_change_is_not_written() -> None:
    store = CountingStore()
    durable = DurableState(store, LIMITS)
    durable.load()
    durable.commit()
    assert store.commits == 0
    durable.keep(item(3, 1))
    durable.commit()
    durable.commit()
    assert store.commits == 1


def test_what_is_held_and_what_is_marked_is_so_after_a_restart_too() -> None:
    store = MemoryStore()
    durable = DurableState(store, LIMITS)
    held = item(3, 1)
    durable.keep(held)
    durable.mark_unverified(held.id)
    durable.commit()
    again = DurableState(store.crash(), LIMITS)
    assert again.load() == ([held], [])
    assert again.is_unverified(held.id)
    assert held.id in again.known
    assert again.known.pop_expired(held.expires_ms - 1) is None
    assert again.known.pop_expired(held.expires_ms) == (held.id, held.expires_ms)


def test_numbers_of_a_fresh_store_begin_at_the_given_start(store: MemoryStore) -> None:
    """A store that was lost began earlier; what it gave out is below what its successor does."""
    init_counters(store, 1_000)
    first = DurableState(store.crash(), LIMITS)
    first.load()
    assert [first.item_number(), first.item_number(), first.session_number()] == [1_000, 1_001, 1_000]


def test_numbers_that_were_given_out_go_on_wherever_they_were(
    store: MemoryStore, durable: DurableState
) -> None:
    durable.item_number()
    durable.commit()
    init_counters(store, 1_000)
    again = DurableState(store.crash(), LIMITS)
    again.load()
    assert (again.item_number(), again.session_number()) == (LIMITS.number_step, 1_000)
