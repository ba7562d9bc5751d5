"""FNIF, FNIFS and FNIFC release the same, whatever came and went, and what the definition says.

The oracle holds subscriptions in a dictionary and judges every one of them; it knows nothing of records,
followers or covers. The matchers of a DENS node that bear the same names are held to it too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.fuzzy.matching.algorithms import ALGORITHMS as MATCHERS
from tests.sizes import examples
from tests.watchdog.strategies import readings, subscriptions
from watchdog.aggregators import MOST_BASIC, WITH_RULES
from watchdog.codes import ALGORITHMS, INSTALLED, KNOWN, REPLACED
from watchdog.covering import covers, is_covered
from watchdog.filter import FuzzyFilter
from watchdog.header import body_of
from watchdog.membership import degree
from watchdog.pool import FOLLOWERS, KEY, Pool
from watchdog.reading import Reading
from watchdog.score import combine, satisfies
from watchdog.sharing import vector_part
from watchdog.vector import constraints_offset, indexes, is_newer
from watchdog.watchdog import Watchdog

Key = tuple[int, int]


def mask_of(b: bytes | bytearray) -> int:
    return int.from_bytes(b, "big")


def best_degree(vector: bytes, size: int, row: bytes | bytearray) -> int:
    """The largest degree that any membership of the event's age gives; without an age, the degree."""
    attributes = bytearray(8 * size)
    n = indexes(vector, len(vector) - size, size, attributes)
    at = constraints_offset(vector)
    degrees = bytearray(2 * n)
    for i in range(n):
        degrees[i] = degree(row[attributes[i]], *vector[at + 3 * i : at + 3 * i + 3])
    if not vector[-size] & 128:
        return combine(vector, 5, degrees, n)
    best = 0
    for trial in range(256) if WITH_RULES >> (vector[5] & 15) & 1 else (0, 255):
        degrees[n - 1] = trial
        best = max(best, combine(vector, 5, degrees, n))
    return best


@dataclass
class Oracle:
    """Every subscription by its key, judged one by one."""

    size: int
    exact: bool
    held: dict[Key, tuple[int, int, bytes]] = field(default_factory=dict)

    def install(self, key: Key, seq: int, vector: bytes, until_ms: int) -> None:
        if key not in self.held or seq == self.held[key][0] or is_newer(seq, self.held[key][0]):
            known = key in self.held and seq == self.held[key][0]
            self.held[key] = (seq, until_ms, self.held[key][2] if known else vector)

    def remove(self, key: Key, seq: int) -> None:
        if key in self.held and not is_newer(self.held[key][0], seq):
            del self.held[key]

    def expire(self, now_ms: int) -> None:
        self.held = {key: one for key, one in self.held.items() if -(-one[1] // 1000) * 1000 > now_ms}

    def released(self, reading: Reading) -> list[tuple[int, set[int]]]:
        """The attribute features released, in order, each with the degrees that may have released it."""
        size, age = self.size, 1 << 8 * self.size - 1
        have = mask_of(reading.mask)
        groups: dict[int, list[bytes]] = {}
        for _, _, vector in self.held.values():
            if mask_of(vector[-2 * size : -size]) == 1 << reading.event:
                groups.setdefault(mask_of(vector[-size:]), []).append(vector)
        found: list[tuple[int, set[int]]] = []
        for saf in sorted(groups, key=lambda saf: (-(saf & ~age).bit_count(), -saf)):
            feature = saf & ~age
            if not have or feature & ~have or (self.exact and not feature):
                continue
            if any(feature == done if self.exact else not feature & ~done for done, _ in found):
                continue
            degrees = {(vector[5], best_degree(vector, size, reading.row)) for vector in groups[saf]}
            enough = {degree_u8 for head, degree_u8 in degrees if satisfies(head, degree_u8)}
            if enough:
                found.append((feature or have, enough))
        return found


@st.composite
def near(draw: st.DrawFn, size: int) -> bytes:
    """Subscriptions out of few numbers, so that many are equal and many cover others."""
    attributes = draw(st.sampled_from([[0], [0, 1], [0, 1], [1, 2], [0, 8 * size - 1], [8 * size - 1]]))
    body = b""
    for _ in attributes:
        v, V = draw(st.sampled_from([(60, 90), (50, 90), (50, 200), (0, 255)]))
        body += bytes([v, V, draw(st.sampled_from([0, 40, 40, 127, 128 + 40, 128 + 60]))])
    aggregator = draw(st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5, 6]))
    block = bytes([len(attributes)]) + bytes([9, 3][: len(attributes)]) if aggregator == 6 else b""
    head = bytes([draw(st.sampled_from([0, 0, 5, 12])) << 4 | aggregator])
    features = (1).to_bytes(size, "big") + sum(1 << a for a in attributes).to_bytes(size, "big")
    return bytes(5) + head + block + body + features


@st.composite
def edges(draw: st.DrawFn, size: int) -> Reading:
    """Readings where the memberships of those subscriptions fall."""
    reading = Reading(size)
    reading.clear(0, 7, 9)
    for attribute in draw(st.sampled_from([[0, 1, 2], [0, 1], [0], [1, 2]])):
        reading.set(attribute, draw(st.sampled_from([0, 20, 45, 49, 55, 61, 75, 91, 99, 150, 203, 255])))
    return reading


@st.composite
def lives(draw: st.DrawFn) -> tuple[int, list[tuple[object, ...]]]:
    """Installs, revisions, withdrawals and the passing of time, with readings in between."""
    size = draw(st.sampled_from([1, 1, 1, 2]))
    keys = st.tuples(st.sampled_from([1, 300]), st.integers(0, 4))
    few = draw(st.lists(st.one_of(near(size), near(size), subscriptions(size, 0)), min_size=2, max_size=6))
    installs = st.tuples(
        st.just("install"),
        keys,
        st.integers(0, 3),
        st.sampled_from(few),
        st.sampled_from([60_000, 60_000, 1500, 5000]),
    )
    steps = st.one_of(
        installs,
        installs,
        st.tuples(st.just("remove"), keys, st.integers(0, 3)),
        st.tuples(st.just("wait"), st.integers(1, 4000)),
        st.tuples(st.just("read"), st.one_of(edges(size), readings(size, 0))),
    )
    return size, draw(st.lists(steps, min_size=12, max_size=40))


def records(pool: Pool) -> Iterator[tuple[int, int]]:
    """Every record: its block's number and its place."""
    for number, block in enumerate(pool.blocks):
        for i in range(block[1]):
            yield number, pool.header() + i * (block[0] << 1)


def check_pool(pool: Pool, oracle: Oracle) -> None:
    """The pool holds every subscription, equal ones once, and no active record is superfluous."""
    found = {}
    for number, at in records(pool):
        key = pool.field(number << 16 | at, KEY, 3)
        found[key >> 8, key & 255] = bytes(vector_part(pool, number << 16 | at))
    assert found == {key: vector[5:] for key, (_, _, vector) in oracle.held.items()}
    own = [bytes(pool.part(n << 16 | at)) for n, at in records(pool) if pool.blocks[n][2] != FOLLOWERS]
    assert sorted(own) == sorted(set(found.values()))
    if not pool.covering:
        return
    header, F = pool.header(), pool.feature_bytes
    for block in pool.blocks:
        if block[2] == FOLLOWERS:
            continue
        for i in range(block[1]):
            is_active = i < block[header - 1]
            assert is_covered(pool, block, header + i * (block[0] << 1)) is not is_active
        assert block[2 + F] == (mask_of(block[3 + F : 3 + 2 * F]) & ~(1 << 8 * F - 1)).bit_count()


def told(reading: Reading, size: int) -> bytes:
    """A notification with everything that was measured."""
    values = bytes(reading.row[i] for i in range(8 * size - 1) if reading.has(i))
    return bytes(6) + values + (1 << reading.event).to_bytes(size, "big") + bytes(reading.mask)


@settings(max_examples=examples(120))
@given(lives(), st.booleans())
def test_all_release_what_the_definition_releases(
    life: tuple[int, list[tuple[object, ...]]], exact: bool
) -> None:
    size, steps = life
    condition = "exact" if exact else "subset"
    oracle = Oracle(size, exact)
    filters = {
        name: FuzzyFilter(size, condition, pool=Pool(size, 400, algorithm=number))
        for name, number in ALGORITHMS.items()
    }
    guards = {name: Watchdog({1: one}) for name, one in filters.items()}
    now_ms = 0
    for what, *given_ in steps:
        oracle.expire(now_ms)
        if what == "install":
            key, seq, vector, left_ms = given_
            answers = {
                guard.install(*key, seq, 1, vector, left_ms, now_ms)
                for guard in guards.values()  # type: ignore[misc]
            }
            assert len(answers) == 1
            if answers <= {INSTALLED, KNOWN, REPLACED}:
                oracle.install(key, seq, vector, now_ms + left_ms)  # type: ignore[arg-type, operator]
        elif what == "remove":
            key, seq = given_
            assert len({guard.remove(*key, seq, now_ms) for guard in guards.values()}) == 1  # type: ignore[misc]
            oracle.remove(key, seq)  # type: ignore[arg-type]
        elif what == "wait":
            now_ms += given_[0]  # type: ignore[operator]
        else:
            [reading] = given_
            assert isinstance(reading, Reading)
            expected = oracle.released(reading)
            for name, guard in guards.items():
                released = [release for _, release in guard.feed(reading, now_ms)]
                features = [mask_of(release.vector[-size:]) for release in released]
                in_order = [feature for feature, _ in expected]
                assert (sorted(features) == sorted(in_order)) if name == "fnif" else features == in_order
                for feature, release in zip(features, released, strict=True):
                    assert release.degree_u8 in dict(expected)[feature]
                    assert release.vector[5] == release.degree_u8 // 17 << 4
        oracle.expire(now_ms)
        for name, guard in guards.items():
            guard.expire(now_ms)
            assert guard.interested() == len(oracle.held), name
            check_pool(filters[name].pool, oracle)


@settings(max_examples=examples(60))
@given(st.lists(near(1), max_size=14), st.lists(edges(1), max_size=3), st.booleans())
def test_a_node_that_matches_by_the_same_name_wants_what_the_board_released(
    wishes: list[bytes], feed: list[Reading], exact: bool
) -> None:
    condition = "exact" if exact else "subset"
    ageless = [vector for vector in wishes if not vector[-1] & 128]
    for name, number in ALGORITHMS.items():
        matcher = MATCHERS[name](None, "subset", 1)
        source = FuzzyFilter(1, condition, pool=Pool(1, 512, algorithm=number))
        for id, vector in enumerate(ageless):
            matcher.add((1, id), body_of(vector))
            source.add((1, id), vector)
        for reading in feed:
            if not reading.mask[0]:
                continue
            wanted = {ageless[match.key[1]][-1] for match in matcher.match(told(reading, 1), 0, 0)}
            if not exact:
                wanted = {saf for saf in wanted if not any(saf != o and not saf & ~o for o in wanted)}
            assert {release.vector[-1] for release in source.feed(reading)} == wanted


@given(st.lists(near(1), min_size=2, max_size=2), st.lists(edges(1), min_size=5, max_size=20))
def test_what_covers_is_satisfied_by_all_that_satisfies_the_covered(
    pair: list[bytes], feed: list[Reading]
) -> None:
    one, other = pair
    if one[-1] != other[-1]:
        return
    pool = Pool(1, 512)
    pool.put(1, 0, 0, 9, one, 5, len(one))
    pool.put(1, 1, 0, 9, other, 5, len(other))
    a, b = pool.find(1, 0), pool.find(1, 1)
    n = one[-1].bit_count()
    if covers(pool.blocks[a >> 16], (a & 65535) + 8, pool.blocks[b >> 16], (b & 65535) + 8, n):
        for reading in feed:
            if satisfies(other[5], best_degree(other, 1, reading.row)):
                assert satisfies(one[5], best_degree(one, 1, reading.row))


def test_covering_is_not_empty() -> None:
    """The wider core, the gentler slope, the lower threshold, the larger aggregator: each alone covers."""
    narrow = bytes(5) + bytes([0x50, 60, 90, 40, 60, 90, 40, 1, 3])
    wider = [
        narrow[:5] + bytes([0x50, 50, 90, 40, 60, 90, 40, 1, 3]),
        narrow[:5] + bytes([0x50, 60, 91, 40, 60, 90, 40, 1, 3]),
        narrow[:5] + bytes([0x50, 60, 90, 39, 60, 90, 40, 1, 3]),
        narrow[:5] + bytes([0x40, 60, 90, 40, 60, 90, 40, 1, 3]),
        narrow[:5] + bytes([0x53, 60, 90, 40, 60, 90, 40, 1, 3]),
    ]
    for wide in wider:
        source = FuzzyFilter(pool=Pool(1, 512, algorithm=ALGORITHMS["fnifc"]))
        source.add((1, 0), narrow)
        source.add((1, 1), wide)
        block = source.pool.blocks[0]
        assert (block[1], block[5]) == (2, 1)
        assert source.pool.field(6, KEY, 3) == 257
        source.remove((1, 1))
        assert (block[1], block[5]) == (1, 1)
        assert source.pool.field(6, KEY, 3) == 256


@pytest.mark.parametrize("flag", [0, 128])
def test_whatever_covers_has_no_smaller_degree_anywhere(flag: int) -> None:
    chance = Random(flag)
    found = 0
    for _ in range(3000):
        v, V, w, W = (chance.randrange(0, 12) for _ in range(4))
        a = bytes([0, min(v, V), max(v, V), chance.choice((40, 60, 100)) | flag, 0])
        b = bytes([0, min(w, W), max(w, W), chance.choice((40, 60, 100)) | flag, 0])
        if covers(a, 0, b, 0, 1):
            found += 1
            assert all(degree(x, *a[1:4]) >= degree(x, *b[1:4]) for x in range(40))
    assert 200 < found < 2000


def test_one_that_covers_many_is_the_only_one_looked_at() -> None:
    source = FuzzyFilter(pool=Pool(1, 512, algorithm=ALGORITHMS["fnifc"]))
    for id, low in enumerate((20, 60, 100, 140)):
        source.add((1, id), bytes(5) + bytes([0, low, low + 20, 60, 1, 1]))
    assert (source.pool.blocks[0][5], source.pool.judged()) == (4, 4)
    source.add((2, 0), bytes(5) + bytes([0, 10, 120, 60, 1, 1]))
    assert source.pool.blocks[0][5] == 2
    source.add((2, 1), bytes(5) + bytes([0, 10, 160, 60, 1, 1]))
    assert (source.pool.blocks[0][5], source.pool.judged()) == (1, 1)
    source.remove((2, 1))
    assert source.pool.blocks[0][5] == 2
    source.remove((2, 0))
    assert source.pool.blocks[0][5] == 4


THREE = bytes(5) + bytes([0, 10, 20, 127, 10, 20, 127, 10, 20, 127, 1, 7])


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_thousand_who_want_the_same_fit_a_pico_and_cost_one_record(name: str) -> None:
    pool = Pool(1, 2048, 8, ALGORITHMS[name])
    guard = Watchdog({1: FuzzyFilter(pool=pool)})
    answers = {guard.install(n >> 8, n & 255, 0, 1, THREE, 60_000 + n, 0) for n in range(1000)}
    assert answers == {0}
    assert (guard.interested(), guard.judged()) == (1000, 1)
    assert sum(block[1] for block in pool.blocks if block[2] != FOLLOWERS) == 1
    reading = Reading()
    reading.clear(0, 1, 0)
    for attribute in range(3):
        reading.set(attribute, 15)
    assert len(guard.feed(reading, 1)) == 1
    for n in range(999):
        guard.remove(n >> 8, n & 255, 0, 2)
        if n % 111 == 0:
            assert len(guard.feed(reading, 2)) == 1
    assert (guard.interested(), len(pool.blocks)) == (1, 1)
    guard.remove(999 >> 8, 999 & 255, 0, 3)
    assert (guard.interested(), pool.blocks, guard.feed(reading, 3)) == (0, [], [])


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_full_pool_that_refuses_a_revision_keeps_the_older_one(name: str) -> None:
    length = {"fnif": 14 + 2, "fnifs": 14, "fnifc": 14}[name]
    pool = Pool(1, 6 + length * 2, 2, ALGORITHMS[name])
    source = FuzzyFilter(pool=pool)
    one = bytes(5) + bytes([0, 0, 255, 127, 1, 1])
    for id in range(3):
        source.add((1, id), one)
    before = sorted(bytes(pool.part(n << 16 | at)) for n, at in records(pool))
    for id in range(3):
        with pytest.raises(Exception, match="no room"):
            source.add((1, id), THREE)
        assert sorted(bytes(pool.part(n << 16 | at))[:1] for n, at in records(pool)) == [
            part[:1] for part in before
        ]
        assert all(bytes(vector_part(pool, pool.find(1, id))) == one[5:] for id in range(3))


def test_only_the_plain_aggregators_cover_each_other() -> None:
    weighted = bytes(5) + bytes([6, 1, 9, 60, 90, 40, 1, 1])
    wider = bytes(5) + bytes([6, 1, 9, 50, 90, 40, 1, 1])
    lower = bytes(5) + bytes([6 | 0x10, 1, 9, 60, 90, 40, 1, 1])
    assert weighted[5] > MOST_BASIC
    source = FuzzyFilter(pool=Pool(1, 512, algorithm=ALGORITHMS["fnifc"]))
    for id, vector in enumerate((lower, weighted, wider)):
        source.add((1, id), vector)
    assert source.pool.blocks[0][5] == 2
