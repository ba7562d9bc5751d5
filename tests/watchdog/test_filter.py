"""The filter and its pool against the definition: dictionaries, sorting and whole evaluations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.sizes import examples
from tests.watchdog.strategies import readings, subscriptions
from watchdog.codes import INSTALLED, KNOWN, REPLACED, STALE
from watchdog.filter import FuzzyFilter, PoolFull
from watchdog.pool import EXPIRY, KEY, NEVER, SEQ, Pool
from watchdog.reading import Reading
from watchdog.score import satisfies, vector_degree
from watchdog.vector import VectorError, check_notification, constraints_offset

Population = dict[tuple[int, int], bytes]


def mask_of(b: bytes | bytearray) -> int:
    return int.from_bytes(b, "big")


def degree_at_any_age(vector: bytes, size: int, reading: Reading) -> int:
    """The best degree that a subscription gets at any age (all 256 codes)."""
    row = bytearray(reading.row)
    best = 0
    for row[-1] in range(256):
        best = max(best, vector_degree(vector, size, row))
    return best


def expected(population: Population, size: int, reading: Reading, exact: bool) -> list[int]:
    """The features released, by the definition, for subscriptions that do not ask for an age."""
    age = 1 << (8 * size - 1)
    have = mask_of(reading.mask)
    groups: dict[int, list[bytes]] = {}
    for vector in population.values():
        if mask_of(vector[-2 * size : -size]) == 1 << reading.event:
            groups.setdefault(mask_of(vector[-size:]) & ~age, []).append(vector)
    released: list[int] = []
    for feature in sorted(groups, key=lambda f: (-f.bit_count(), -f)):
        if feature & ~have or (not exact and any(not feature & ~done for done in released)):
            continue
        if any(satisfies(v[5], vector_degree(v, size, reading.row)) for v in groups[feature]):
            released.append(feature)
    return released


@st.composite
def situations(draw: st.DrawFn) -> tuple[int, Population, list[Reading]]:
    size = draw(st.sampled_from([1, 1, 1, 2, 8]))
    vectors = draw(st.lists(st.one_of(subscriptions(size, 0), subscriptions(size)), max_size=12))
    population = {(n * 300, n): vector for n, vector in enumerate(vectors)}
    return size, population, [draw(readings(size, 0)) for _ in range(3)]


def filter_of(population: Population, size: int, features: str, block_bytes: int) -> FuzzyFilter:
    guard = FuzzyFilter(size, features, pool=Pool(size, block_bytes))
    for key, vector in population.items():
        guard.add(key, vector)
    return guard


@given(situations(), st.booleans(), st.sampled_from([512, 4096]))
def test_the_filter_releases_what_the_definition_releases(
    case: tuple[int, Population, list[Reading]], exact: bool, block_bytes: int
) -> None:
    size, population, feed = case
    ageless = {k: v for k, v in population.items() if not v[-size] & 128}
    guard = filter_of(ageless, size, "exact" if exact else "subset", block_bytes)
    for reading in feed:
        releases = guard.feed(reading)
        assert [mask_of(r.vector[-size:]) for r in releases] == expected(ageless, size, reading, exact)
        for release in releases:
            check_notification(release.vector, size)
            assert release.vector[:5] == bytes(
                [reading.number >> 8, reading.number & 255, 95, reading.stamp_s >> 8, reading.stamp_s & 255]
            )
            assert release.vector[5] == release.degree_u8 // 17 << 4
            feature = mask_of(release.vector[-size:])
            present = [a for a in range(8 * size) if feature >> a & 1]
            assert list(release.vector[6 : -2 * size]) == [reading.row[a] for a in present]


@settings(max_examples=examples(50))
@given(situations(), st.booleans())
def test_what_matches_at_any_age_passes(case: tuple[int, Population, list[Reading]], exact: bool) -> None:
    size, population, feed = case
    guard = filter_of(population, size, "exact" if exact else "subset", 512)
    age = 1 << (8 * size - 1)
    for reading in feed:
        sent = [mask_of(r.vector[-size:]) for r in guard.feed(reading)]
        have = mask_of(reading.mask)
        for vector in population.values():
            feature = mask_of(vector[-size:]) & ~age
            if mask_of(vector[-2 * size : -size]) != 1 << reading.event or feature & ~have or not have:
                continue
            if satisfies(vector[5], degree_at_any_age(vector, size, reading)):
                if exact:
                    assert feature in sent or feature == 0
                else:
                    assert any(not feature & ~done for done in sent)


def test_an_age_alone_is_served_by_everything_that_was_measured() -> None:
    guard = FuzzyFilter()
    guard.add((1, 0), bytes(5) + bytes([0, 0, 40, 127, 1, 128]))
    reading = Reading()
    reading.clear(0, 7, 0)
    assert guard.feed(reading) == []
    reading.set(2, 9)
    reading.set(5, 8)
    assert [r.vector[6:] for r in guard.feed(reading)] == [bytes([9, 8, 1, 0b100100])]


def test_a_bad_vector_changes_nothing() -> None:
    guard = FuzzyFilter()
    good = bytes(5) + bytes([0, 0, 255, 127, 1, 1])
    guard.add((1, 0), good)
    with pytest.raises(VectorError):
        guard.add((1, 0), good[:-1])
    assert guard.pool.count == 1


def test_a_full_pool_refuses_and_keeps_what_it_has() -> None:
    guard = FuzzyFilter(pool=Pool(1, 5 + 14 * 2, 1))
    one = bytes(5) + bytes([0, 0, 255, 127, 1, 1])
    three = bytes(5) + bytes([0]) + bytes([0, 255, 127]) * 3 + bytes([1, 7])
    guard.add((1, 0), one)
    guard.add((1, 1), one)
    with pytest.raises(PoolFull, match="11 bytes"):
        guard.add((1, 2), one)
    with pytest.raises(PoolFull):
        guard.add((1, 1), three)
    assert [guard.pool.find(1, id) >= 0 for id in range(3)] == [True, True, False]
    guard.remove((1, 0))
    guard.add((1, 1), three)
    assert guard.pool.count == 1


def test_three_attributes_cost_seventeen_bytes_and_five_more() -> None:
    pool = Pool(1, 5 + 22 * 10, 1)
    vector = bytes(5) + bytes([0]) + bytes([0, 255, 127]) * 3 + bytes([1, 7])
    assert len(vector) == 17
    assert [pool.put(1, n, 0, NEVER, vector, 5, 17) for n in range(11)] == [True] * 10 + [False]


class PoolAgainstDictionary(RuleBasedStateMachine):
    """Random puts, removals and renewals leave the same content as a dictionary would have."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = Pool(1, 512, 6)
        self.model: dict[tuple[int, int], tuple[int, int, bytes]] = {}

    @rule(
        origin=st.sampled_from([0, 1, 256, 65535]),
        id=st.integers(0, 3),
        expiry=st.integers(0, 50),
        data=st.data(),
    )
    def put(self, origin: int, id: int, expiry: int, data: st.DataObject) -> None:
        vector = data.draw(subscriptions(1))
        held = self.pool.find(origin, id)
        if held >= 0:
            assert self.pool.part(held) == self.model.pop((origin, id))[2][5:]
            self.pool.remove(held)
        if self.pool.put(origin, id, vector[1], expiry, vector, 5, len(vector)):
            self.model[origin, id] = (vector[1], expiry, vector)
        else:
            assert len(self.pool.blocks) == 6

    @rule(origin=st.sampled_from([0, 1, 256, 65535]), id=st.integers(0, 3))
    def remove(self, origin: int, id: int) -> None:
        address = self.pool.find(origin, id)
        assert (address >= 0) == ((origin, id) in self.model)
        if address >= 0:
            self.pool.remove(address)
            del self.model[origin, id]

    @rule(now=st.integers(0, 50))
    def expire(self, now: int) -> None:
        while (address := self.pool.first_expired(now)) >= 0:
            del self.model[divmod(self.pool.field(address, KEY, 3), 256)]
            self.pool.remove(address)
        assert all(expiry > now for _, expiry, _ in self.model.values())

    @invariant()
    def same_content(self) -> None:
        assert self.pool.count == len(self.model)
        assert self.pool.next_expiry_s() == min((e for _, e, _ in self.model.values()), default=NEVER)
        for (origin, id), (seq, expiry, vector) in self.model.items():
            address = self.pool.find(origin, id)
            assert (self.pool.field(address, SEQ, 1), self.pool.field(address, EXPIRY, 4)) == (seq, expiry)
            block = self.pool.blocks[address >> 16]
            at = address & 65535
            first = constraints_offset(vector)
            assert block[at + 8 : at + 3 + first] == vector[5:first]
            held = block[at + 3 + first : at + (block[0] << 1)]
            constraints = [vector[i : i + 3] for i in range(first, len(vector) - 2, 3)]
            assert [held[4 * i : 4 * i + 3] for i in range(len(constraints))] == constraints
            assert (block[2], block[4]) == (vector[-2], vector[-1])

    @invariant()
    def blocks_are_sorted_and_hold_every_record(self) -> None:
        keys = [(block[2], block[3], block[4]) for block in self.pool.blocks]
        assert keys == sorted(keys, reverse=True)
        assert all(rank == (saf & 127).bit_count() for _, rank, saf in keys)
        assert all(block[1] for block in self.pool.blocks)
        assert sum(block[1] for block in self.pool.blocks) == len(self.model)


TestPoolAgainstDictionary = PoolAgainstDictionary.TestCase
TestPoolAgainstDictionary.settings = settings(max_examples=25, stateful_step_count=25)


def test_revisions_are_judged() -> None:
    pool = Pool()
    vector = bytes(5) + bytes([0, 0, 255, 127, 1, 1])
    assert pool.judge(1, 2, 250) == INSTALLED
    pool.put(1, 2, 250, NEVER, vector, 5, 11)
    assert [pool.judge(1, 2, seq) for seq in (250, 251, 3, 249, 122)] == [
        KNOWN,
        REPLACED,
        REPLACED,
        STALE,
        STALE,
    ]
