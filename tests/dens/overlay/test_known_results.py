"""Known results are kept at their highest rank, for their lifetime, and within bounds."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dens.node.storage.sqlite import SqliteStore
from dens.overlay.limits import Limits
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.storage.known_results import UNKNOWN, KnownResults
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space

KEYS = st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), KEYS, st.integers(0, 1), st.integers(1, 30), st.integers(7, 9)),
        st.tuples(st.just("forget"), KEYS, st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("pass"), st.just(0), st.just(0), st.integers(1, 10), st.just(0)),
    )
)


@given(STEPS)
def test_it_knows_what_a_plain_list_knows(steps: list[tuple[str, int, int, int, int]]) -> None:
    known, now_ms = KnownResults(), 0
    said: list[tuple[int, int, int]] = []
    for what, key, rank, of_time, origin in steps:
        if what == "note":
            if known.rank(key, now_ms) == UNKNOWN:
                said = [one for one in said if one[0] != key]
                known.forget(key)
            known.note(key, rank, now_ms + of_time, origin)
            said.append((key, rank, now_ms + of_time))
        elif what == "forget":
            known.forget(key)
            said = [one for one in said if one[0] != key]
        else:
            now_ms += of_time
            while (over := known.pop_forgotten(now_ms)) is not None:
                said = [one for one in said if one[0] != over]
        for one in range(6):
            of_key = [entry for entry in said if entry[0] == one]
            is_live = any(until_ms > now_ms for _, _, until_ms in of_key)
            expected = max(rank for _, rank, _ in of_key) if is_live else UNKNOWN
            assert known.rank(one, now_ms) == expected
    assert sum(known.count_of(origin) for origin in (7, 8, 9)) == len(known)


def test_results_survive_on_a_disk_with_the_widest_keys(tmp_path: Path) -> None:
    widest = (1 << 88) - 1
    store = SqliteStore(tmp_path / "node.db")
    ledger = DurableState(store, Limits())
    ledger.note_result(widest, 1, -5_000, 2**31 - 1, -10_000)
    ledger.note_result(0, 0, 99, 7, -10_000)
    ledger.commit()
    store.close()
    again = DurableState(SqliteStore(tmp_path / "node.db"), Limits())
    again.load()
    assert [again.results.rank(key, -6_000) for key in (widest, 0, 1)] == [1, 0, UNKNOWN]
    assert again.results.rank(widest, -5_000) == UNKNOWN
    assert again.results.count_of(2**31 - 1) == 1


def test_one_origin_cannot_make_a_node_forget_the_results_of_others() -> None:
    store = MemoryStore()
    ledger = DurableState(store, Limits(known_results=8))
    for key in range(4):
        ledger.note_result(key, 0, 1_000, 7, 0)
    for key in range(100, 150):
        ledger.note_result(key, 0, 1_000, 66, 0)
    ledger.commit()
    assert len(ledger.results) == 8
    assert [ledger.results.rank(key, 0) for key in range(4)] == [0] * 4
    assert len(store._rows[Space.RESULT]) == 8


def test_what_is_over_leaves_no_row_behind() -> None:
    store = MemoryStore()
    ledger = DurableState(store, Limits())
    for key in range(50):
        ledger.note_result(key, 0, key, 7, 0)
    ledger.note_result(99, 0, 1_000, 7, 100)
    ledger.commit()
    assert list(store._rows[Space.RESULT]) == [99]
