"""What boards need besides the filter: numbers, tags, a clock, and a filter host that is only a pool."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.wire.authentication import EVERYONE, Authenticator, node_key
from dens.overlay.wire.codes import Role
from dens.overlay.wire.item import item_id
from tests.sizes import examples
from tests.watchdog.strategies import subscriptions
from watchdog.authentication import Authenticator as BoardAuthenticator
from watchdog.authentication import hmac
from watchdog.clock import HOUR_MS, Clock
from watchdog.codes import BAD_VECTOR, FULL, INSTALLED, KNOWN, OVER, REPLACED, STALE, UNKNOWN_LANGUAGE
from watchdog.filter import FuzzyFilter
from watchdog.numbers import STEP, Numbers
from watchdog.pool import EXPIRY, Pool
from watchdog.scan import Scan
from watchdog.small_host import SmallHost
from watchdog.watchdog import Watchdog


def taken(numbers: Numbers, row: int) -> int:
    b = bytearray(6)
    numbers.write(row, b, 1)
    return int.from_bytes(b[1:5], "big")


def test_no_restart_gives_a_number_out_twice(tmp_path: Path) -> None:
    seen: dict[int, list[int]] = {0: [], 1: []}
    for start in range(4):
        numbers = Numbers(str(tmp_path / "n"))
        for row in (0, 1):
            seen[row] += [taken(numbers, row) for _ in range(1 + start * 700)]
    for row in (0, 1):
        assert seen[row] == sorted(set(seen[row]))
    assert seen[0][0] == 1


@pytest.mark.parametrize("damage", ["", "x1", "\x00\xff"])
def test_a_power_cut_while_a_number_file_is_written(tmp_path: Path, damage: str) -> None:
    last = 0
    for _ in range(5):
        numbers = Numbers(str(tmp_path / "n"))
        first = taken(numbers, 1)
        assert first > last
        last = first
        (tmp_path / f"n{(numbers.end + STEP) // STEP & 1}").write_text(damage, encoding="utf-8")


@given(
    st.binary(min_size=1, max_size=80),
    st.binary(max_size=60),
    st.integers(0, 65536) | st.integers(0, 2**31 - 2),
    st.integers(-1, 2**31 - 1),
    st.integers(0, 2**32 - 1),
)
def test_tags_are_those_of_the_overlay(
    key: bytes, body: bytes, node: int, receiver: int, session: int
) -> None:
    sealed, number = bytearray(body + bytes(8)), session.to_bytes(4, "big")
    authenticator = BoardAuthenticator(node, key)
    authenticator.append_tag(sealed, len(body), receiver, number)
    to = EVERYONE if receiver < 0 else receiver
    assert bytes(sealed[len(body) :]) == Authenticator(node, key).tag(body, Role.PUBLISHER, to, session)
    peer = node + 1
    other = Authenticator(peer, key)
    tag = other.tag(body, Role.MEDIATOR, node, session)
    assert authenticator.verifies(body + tag, len(body), peer, number)
    assert not authenticator.verifies(body + tag, len(body), node, number)
    assert not authenticator.verifies(body + bytes(8), len(body), peer, number)
    assert not authenticator.verifies(body + tag, len(body), peer, (session ^ 1).to_bytes(4, "big"))
    for role, to in ((Role.MEDIATOR, peer), (Role.MEDIATOR, EVERYONE), (Role.SUBSCRIBER, node)):
        wrong = other.tag(body, role, to, session)
        assert not authenticator.verifies(body + wrong, len(body), peer, number)
    derived = hmac(key, b"dens node key v2", bytes((Role.PUBLISHER,)), node.to_bytes(4, "big"))
    assert derived == node_key(key, node, Role.PUBLISHER)


def test_a_clock_that_jumps_does_not_move_time() -> None:
    ticks = iter([1000, 1500, 1400, 1450, 1450 + 2 * HOUR_MS, 1460 + 2 * HOUR_MS])
    clock = Clock(lambda: next(ticks), lambda a, b: a - b)
    assert [clock.now_ms() for _ in range(5)] == [500, 500, 550, 550, 560]
    assert clock.jumps == 2


def test_a_clock_that_wraps_goes_on() -> None:
    def difference(a: int, b: int) -> int:
        return ((a - b + 2**29) % 2**30) - 2**29

    ticks = iter([2**30 - 100, 2**30 - 1, 50])
    clock = Clock(lambda: next(ticks), difference)
    assert [clock.now_ms(), clock.now_ms()] == [99, 150]
    assert clock.jumps == 0


def small_host(block_bytes: int = 5 + 22 * 2, blocks: int = 1) -> SmallHost:
    pool = Pool(1, block_bytes, blocks)
    return SmallHost(pool, Scan(pool, False, 95, None))


VECTOR = bytes([1, 0, 100, 0, 0, 0, 10, 20, 127, 10, 20, 127, 10, 20, 127, 1, 7])


def test_the_small_host_answers_like_the_watchdog() -> None:
    host, watchdog = small_host(), Watchdog({1: FuzzyFilter(pool=Pool(1, 5 + 22 * 2, 1))})
    asked = [
        (7, 1, 0, 1, VECTOR, 5000, INSTALLED),
        (7, 1, 0, 1, VECTOR, 9000, KNOWN),
        (7, 1, 1, 1, VECTOR, 5000, REPLACED),
        (7, 1, 0, 1, VECTOR, 5000, STALE),
        (7, 2, 0, 2, VECTOR, 5000, UNKNOWN_LANGUAGE),
        (7, 2, 0, 1, VECTOR[:-1], 5000, BAD_VECTOR),
        (7, 2, 0, 1, VECTOR[:6] + b"\xff" + VECTOR[7:], 5000, BAD_VECTOR),
        (7, 2, 0, 1, VECTOR[:-1] + b"\x00", 5000, BAD_VECTOR),
        (7, 2, 0, 1, VECTOR, 0, OVER),
        (7, 2, 0, 1, VECTOR, 5000, INSTALLED),
        (7, 3, 0, 1, VECTOR, 5000, FULL),
    ]
    for origin, id, seq, language, vector, left_ms, expected in asked:
        assert host.install(origin, id, seq, language, vector, left_ms, 1000) == expected
        assert watchdog.install(origin, id, seq, language, vector, left_ms, 1000) == expected
    assert host.pool.count == watchdog.interested() == 2
    host.remove(7, 1, 0, 1000)
    assert host.pool.count == 2
    host.remove(7, 1, 1, 1000)
    host.remove(7, 9, 1, 1000)
    assert host.pool.count == 1
    host.forget(EXPIRY, 4, 0, 6)
    assert host.pool.count == 1
    host.forget(EXPIRY, 4, 0, 7)
    assert host.pool.count == 0


@settings(max_examples=examples(60))
@given(st.one_of(subscriptions(1), st.binary(min_size=3, max_size=40)))
def test_the_small_host_takes_nothing_that_the_checks_refuse(vector: bytes) -> None:
    """An INSTALL has three bytes at least; one of three to five once raised IndexError and had no answer."""
    host, watchdog = small_host(5 + 60 * 9), Watchdog({1: FuzzyFilter()})
    answer = host.install(1, vector[0], 0, 1, vector, 5000, 0)
    if len(vector) > 5 and vector[5] & 15 > 5:
        assert answer == UNKNOWN_LANGUAGE
    else:
        exact = watchdog.install(1, vector[0], 0, 1, vector, 5000, 0)
        assert answer == exact or (answer, exact) == (INSTALLED, BAD_VECTOR)


def test_the_watchdog_names_whose_subscriptions_it_holds() -> None:
    from dens.overlay.wire.summary import decode

    watchdog = Watchdog({1: FuzzyFilter()})
    assert watchdog.origins() == b""
    for origin in (300, 7, 65535, 7, 8):
        watchdog.install(origin, origin & 3, 0, 1, VECTOR, 5000, 0)
    summary = decode(watchdog.origins())
    assert [origin for origin in range(65536) if summary.names(origin)] == [7, 8, 300, 65535]
    assert item_id(7, 0) not in summary
    assert item_id(7, 2**31 - 1) in summary
