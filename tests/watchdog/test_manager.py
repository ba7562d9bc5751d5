"""The watchdog: what it answers, what it forgets and when, and what it never brings back."""

from watchdog.codes import (
    ABSENT,
    BAD_VECTOR,
    FULL,
    INSTALLED,
    KNOWN,
    OVER,
    REMOVED,
    REPLACED,
    STALE,
    UNKNOWN_LANGUAGE,
    WITHDRAWN,
)
from watchdog.filter import FuzzyFilter
from watchdog.pool import Pool
from watchdog.reading import Reading, Release
from watchdog.watchdog import SENTENCES, Watchdog


def anything(id: int = 0, seq: int = 0) -> bytes:
    """A subscription to every value of attribute 0 of event 0."""
    return bytes([id, seq, 100, 0, 0, 0, 0, 255, 127, 1, 1])


def one_reading(value: int = 5) -> Reading:
    reading = Reading()
    reading.clear(0, 1, 0)
    reading.set(0, value)
    return reading


class EverythingPasses:
    """A filter of another language, which keeps no pool."""

    def __init__(self) -> None:
        self.keys: list[tuple[int, int]] = []

    def add(self, key: tuple[int, int], vector: bytes) -> None:
        self.keys.append(key)

    def remove(self, key: tuple[int, int]) -> None:
        if key in self.keys:
            self.keys.remove(key)

    def feed(self, reading: Reading) -> list[Release]:
        return [Release(b"x", 255) for _ in self.keys]


def test_a_revision_is_installed_known_replaced_or_stale() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    answers = [guard.install(7, 0, seq, 1, anything(0, seq), 60_000, 0) for seq in (5, 5, 6, 5, 134, 6)]
    assert answers == [INSTALLED, KNOWN, REPLACED, STALE, STALE, KNOWN]
    assert guard.interested() == 1
    assert guard.install(8, 0, 5, 1, anything(0, 5), 60_000, 0) == INSTALLED
    assert guard.interested() == 2


def test_refusals_have_reasons_and_are_counted() -> None:
    guard = Watchdog({1: FuzzyFilter()}, capacity=1)
    assert guard.install(7, 0, 0, 2, anything(), 60_000, 0) == UNKNOWN_LANGUAGE
    assert guard.install(7, 0, 0, 1, anything()[:-1], 60_000, 0) == BAD_VECTOR
    assert guard.install(7, 0, 0, 1, anything(), 0, 0) == OVER
    assert guard.install(7, 0, 0, 1, anything(), 60_000, 0) == INSTALLED
    assert guard.install(7, 1, 0, 1, anything(1), 60_000, 0) == FULL
    assert guard.install(7, 0, 1, 1, anything(0, 1), 60_000, 0) == REPLACED
    assert guard.counters["refused"] == 4
    small = Watchdog({1: FuzzyFilter(pool=Pool(1, 5 + 14, 1))})
    assert [small.install(7, n, 0, 1, anything(n), 60_000, 0) for n in (0, 1)] == [INSTALLED, FULL]


def test_every_answer_has_a_sentence() -> None:
    assert sorted(SENTENCES) == list(range(14))


def test_a_subscription_is_forgotten_in_time_and_not_before() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    guard.install(7, 0, 0, 1, anything(), 1500, 1_000)
    guard.install(7, 1, 0, 1, anything(1), 9_000, 1_000)
    assert guard.next_expiry_ms() == 3_000
    assert len(guard.feed(one_reading(), 2_500)) == 1
    assert guard.expire(2_999) == 0
    assert guard.expire(3_000) == 1
    assert guard.next_expiry_ms() == 10_000
    assert len(guard.feed(one_reading(), 9_999)) == 1
    assert guard.feed(one_reading(), 10_000) == []
    assert guard.next_expiry_ms() is None
    assert guard.counters["expired"] == 2
    assert guard.counters["readings"] == 3
    assert guard.counters["released"] == 2


def test_an_install_of_the_same_revision_renews_the_lifetime() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    guard.install(7, 0, 0, 1, anything(), 1_000, 0)
    assert guard.install(7, 0, 0, 1, anything(), 5_000, 500) == KNOWN
    assert len(guard.feed(one_reading(), 5_499)) == 1
    assert guard.feed(one_reading(), 6_000) == []


def test_what_was_removed_stays_removed_while_its_lifetime_lasts() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    guard.install(7, 0, 5, 1, anything(0, 5), 60_000, 0)
    assert guard.remove(7, 0, 4, 1_000) == STALE
    assert guard.remove(7, 0, 5, 1_000) == REMOVED
    assert guard.feed(one_reading(), 1_000) == []
    assert guard.remove(7, 0, 5, 1_000) == ABSENT
    assert guard.install(7, 0, 5, 1, anything(0, 5), 60_000, 2_000) == WITHDRAWN
    assert guard.install(7, 0, 4, 1, anything(0, 4), 60_000, 2_000) == WITHDRAWN
    assert guard.install(7, 0, 6, 1, anything(0, 6), 60_000, 2_000) == INSTALLED
    assert guard.remove(7, 0, 6, 3_000) == REMOVED
    assert guard.install(7, 0, 6, 1, anything(0, 6), 60_000, 62_001) == INSTALLED


def test_a_removal_that_comes_first_is_remembered() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    assert guard.remove(7, 0, 3, 0) == ABSENT
    assert guard.install(7, 0, 3, 1, anything(0, 3), 60_000, 10) == WITHDRAWN
    assert guard.install(7, 0, 4, 1, anything(0, 4), 60_000, 10) == INSTALLED


def test_the_memory_of_removals_is_bounded_and_drops_the_one_that_ends_first() -> None:
    guard = Watchdog({1: FuzzyFilter()}, remembered_removals=2)
    for id, lifetime in ((0, 30_000), (1, 10_000), (2, 20_000)):
        guard.install(7, id, 0, 1, anything(id), lifetime, 0)
        guard.remove(7, id, 0, 0)
    answers = [guard.install(7, id, 0, 1, anything(id), 1_000, 0) for id in range(3)]
    assert answers == [WITHDRAWN, INSTALLED, WITHDRAWN]


def test_filters_of_other_languages_are_kept_by_the_same_rules() -> None:
    other = EverythingPasses()
    guard = Watchdog({1: FuzzyFilter(), 9: other})
    assert guard.install(7, 0, 0, 9, b"opaque", 5_000, 0) == INSTALLED
    assert guard.install(7, 0, 0, 9, b"opaque", 5_000, 0) == KNOWN
    assert guard.install(7, 1, 0, 1, anything(1), 50_000, 0) == INSTALLED
    assert [language for language, _ in guard.feed(one_reading(), 1)] == [1, 9]
    assert guard.install(7, 0, 1, 1, anything(0, 1), 50_000, 10) == REPLACED
    assert other.keys == []
    assert guard.interested() == 2
    assert guard.install(7, 3, 0, 9, b"opaque", 5_000, 10) == INSTALLED
    assert guard.expire(6_000) == 1
    assert other.keys == []


def test_a_clock_that_jumps_back_expires_nothing() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    guard.install(7, 0, 0, 1, anything(), 1_000, 100_000)
    assert len(guard.feed(one_reading(), 5)) == 1
    assert len(guard.feed(one_reading(), 100_999)) == 1
    assert guard.feed(one_reading(), 101_000) == []
