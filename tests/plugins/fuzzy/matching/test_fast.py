"""What only `fast` promises: blocks that fill and empty, both machines, loading in bulk, and its memory."""

import random
import sys

import numpy as np
import pytest

from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.naive import NaiveMatcher
from plugins.fuzzy.matching.notification_rows import read_rows
from plugins.kernels import compiled as compiling
from watchdog.aggregators import AGGREGATOR_NAMES, MIN, WEIGHTED_MEAN, WITH_PATTERN, WITH_RULES
from watchdog.header import BODY_AT, body_of
from watchdog.vector import VectorError

AGGREGATORS = (MIN, MIN, *AGGREGATOR_NAMES)


def block(aggregator: int, k: int, chance: random.Random) -> bytes:
    if aggregator == WEIGHTED_MEAN:
        return bytes([k, *(chance.randint(1, 255) for _ in range(k))])
    if WITH_RULES >> aggregator & 1:
        return bytes([1, chance.randint(0, 1)])
    if WITH_PATTERN >> aggregator & 1:
        return bytes([1, 0 if k == 1 else 128])
    return b""


def subscription(chance: random.Random, aggregators: tuple[int, ...] = AGGREGATORS) -> bytes:
    attributes = chance.sample([0, 1, 2, 7], chance.randint(1, 3))
    k = len(attributes)
    aggregator = chance.choice([a for a in aggregators if k > 1 or not WITH_RULES >> a & 1])
    body = b""
    for _ in range(k):
        v, V = sorted((chance.randint(0, 255), chance.randint(0, 255)))
        body += bytes([v, V, chance.choice([chance.randint(0, 127), 128 + chance.randint(0, 127)])])
    head = bytes([0, 0, 0, 0, 0, chance.choice([0, 0, 5, 12, 15]) << 4 | aggregator])
    return head + block(aggregator, k, chance) + body + bytes([1, sum(1 << a for a in attributes)])


def notification(chance: random.Random) -> bytes:
    attributes = chance.sample([0, 1, 2, 3], chance.randint(2, 4))
    values = bytes(chance.randint(0, 255) for _ in attributes)
    return bytes(6) + values + bytes([1, sum(1 << a for a in attributes)])


@pytest.mark.parametrize(
    ("columns_from", "compile_from"),
    [(0, 0), (0, 10**9), (100, 10**9)],
    ids=["compiled", "numpy", "few at first"],
)
@pytest.mark.parametrize("condition", ["subset", "exact"])
def test_blocks_fill_and_empty_without_losing_anybody(
    columns_from: int, compile_from: int, condition: str
) -> None:
    chance = random.Random(columns_from + compile_from % 97)
    fast = FastMatcher(None, condition, 1, columns_from, compile_from)
    naive = NaiveMatcher(None, condition, 1)
    for step in range(4):
        for _ in range(700):
            key = (chance.randint(0, 3), chance.randint(0, 255))
            if chance.random() < (0.25, 0.9, 0.2, 0.97)[step]:
                fast.remove(key)
                naive.remove(key)
            else:
                vector = subscription(chance)
                fast.add(key, body_of(vector))
                naive.add(key, body_of(vector))
        assert len(fast) == len(naive._held)
        for _ in range(6):
            told = notification(chance)
            assert fast.match(told, 0, 4000) == naive.match(told, 0, 4000)


def test_without_numba_it_matches_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    vectors = [subscription(chance) for _ in range(300)]
    told = [notification(chance) for _ in range(5)]
    found = []
    for hidden in (False, True):
        if hidden:
            monkeypatch.setitem(sys.modules, "numba", None)
            assert not compiling.is_available()
        matcher = FastMatcher(None, "subset", 1, 0, 0)
        for number, vector in enumerate(vectors):
            matcher.add((9, number % 256) if number < 256 else (10, number - 256), body_of(vector))
        found.append([matcher.match(nv, 0, 0) for nv in told])
    assert found[0] == found[1]
    assert any(found[0])


def plain(count: int, chance: random.Random) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    rows = []
    for _ in range(count):
        attributes = chance.sample(range(7), 3)
        triples = b""
        for _ in attributes:
            v, V = sorted((chance.randint(0, 255), chance.randint(0, 255)))
            triples += bytes([v, V, chance.randint(0, 255)])
        head = bytes([0, 0, 0, 0, 0, chance.randint(0, 15) << 4 | chance.randint(0, 5)])
        rows.append(head + triples + bytes([1, sum(1 << a for a in attributes)]))
    return np.frombuffer(b"".join(rows), np.uint8).reshape(count, -1)


def test_loading_in_bulk_is_adding_one_by_one() -> None:
    chance = random.Random(11)
    vectors = plain(400, chance)
    keys = np.arange(1000, 1400, dtype=np.uint32)
    bulk, single = FastMatcher(None), FastMatcher(None)
    bulk.add_all(keys[:150], vectors[:150][:, BODY_AT:])
    bulk.add_all(keys[150:], vectors[150:][:, BODY_AT:])
    for key, vector in zip(keys.tolist(), vectors, strict=True):
        single.add((key >> 8, key & 255), body_of(vector.tobytes()))
    for number in range(1000, 1400, 3):
        bulk.remove((number >> 8, number & 255))
        single.remove((number >> 8, number & 255))
    for _ in range(8):
        told = bytes(6) + chance.randbytes(7) + b"\x01\x7f"
        assert bulk.match(told, 0, 0) == single.match(told, 0, 0)


def test_loading_in_bulk_refuses_what_is_malformed() -> None:
    vectors = plain(5, random.Random(1)).copy()
    matcher = FastMatcher(None)
    vectors[3, 6:8] = (9, 3)
    with pytest.raises(VectorError, match="v is greater than V"):
        matcher.add_all(np.arange(5, dtype=np.uint32), vectors[:, BODY_AT:])
    assert len(matcher) == 0


def test_a_subscription_of_three_attributes_takes_at_most_32_bytes() -> None:
    matcher = FastMatcher(None)
    vectors = plain(60_000, random.Random(3))
    plain_minimum = vectors.copy()
    plain_minimum[:, 5] &= 0xF0
    plain_minimum[:, [8, 11, 14]] &= 127
    matcher.add_all(np.arange(60_000, dtype=np.uint32), plain_minimum[:, BODY_AT:])
    assert matcher.store.held_bytes / 60_000 <= 32


def test_a_key_that_the_overlay_cannot_have_is_refused() -> None:
    matcher = FastMatcher(None)
    for key in ((-1, 0), (0, -1), (1 << 24, -1)):
        with pytest.raises(ValueError, match="not a subscription key"):
            matcher.add(key, body_of(bytes.fromhex("00000000000064c87f0101")))


def _twice(x: int) -> int:
    return 2 * x


def _four_times(x: int) -> int:
    return _twice(_twice(x))


def test_compiling_takes_the_callees_along_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(compiling, "announce", said.append)
    monkeypatch.setattr(compiling, "_ready", {})
    assert compiling.compiled(_four_times)(np.int64(3)) == 12
    assert compiling.compiled(_twice)(np.int64(3)) == 6
    assert len(said) == 1
    with pytest.raises(TypeError, match="plain function"):
        compiling.compiled(len)


def test_cuts_are_where_the_degree_exceeds_the_floor() -> None:
    chance = random.Random(8)
    fast, naive = FastMatcher(None, "subset", 1, 0, 0), NaiveMatcher(None)
    for number in range(600):
        v, V = sorted((chance.choice([0, 1, 100, 254, 255]), chance.randint(0, 255)))
        threshold = chance.choice([0, 1, 7, 14, 15]) << 4
        vector = bytes([0, 0, 0, 0, 0, threshold, v, V, chance.choice([0, 1, 60, 126, 127]), 1, 1])
        if chance.random() < 0.4:
            vector = vector[:8] + bytes([vector[8] | 128]) + vector[9:]
        fast.add((number >> 8, number & 255), body_of(vector))
        naive.add((number >> 8, number & 255), body_of(vector))
    every = [(bytes(6) + bytes([x, 1, 1]), 0) for x in range(256)]
    assert dict(fast.match_batch(every, 0)) == dict(naive.match_batch(every, 0))


@pytest.mark.parametrize("condition", ["subset", "exact"])
def test_asking_together_finds_what_asking_one_by_one_finds(condition: str) -> None:
    chance = random.Random(6)
    matcher = FastMatcher(None, condition, 1, 0, 0)
    for number in range(9000):
        matcher.add((number >> 8, number & 255), body_of(subscription(chance, (0, 0, 0, 0, 0, 3, 6, 15))))
    told = read_rows(FuzzyCodec(None), [(notification(chance), 0) for _ in range(90)], 3000)
    found = []
    for together in (False, True):
        ends, (keys, degrees) = matcher.search.many(told.rows, told.events, told.features, together)
        parts = zip(np.split(keys, ends[:-1]), np.split(degrees, ends[:-1]), strict=True)
        found.append([sorted(zip(k.tolist(), d.tolist(), strict=True)) for k, d in parts])
    assert found[0] == found[1]
    assert sum(map(len, found[0])) > 5000


def test_batch_reports_all_matches_before_a_bad_vector() -> None:
    chance = random.Random(7)
    matcher = FastMatcher(None, "subset", 1, 0, 0)
    for number in range(200):
        matcher.add((0, number), body_of(subscription(chance)))
    batch = [(notification(chance), 0) for _ in range(40)]
    for bad in (b"", batch[25][0][:-1], batch[25][0][:5] + b"\x01" + batch[25][0][6:]):
        some = [*batch[:25], (bad, 0), *batch[26:]]
        seen = []
        with pytest.raises(VectorError):
            seen.extend(matcher.match_batch(some, 0))
        answers = matcher.match_batch(some, 0)
        assert [next(answers)[0] for _ in range(25)] == list(range(25))
