"""Large groups of minima in bitsets: the same keys, degrees and order as anywhere else, whatever happens."""

import random
from collections.abc import Callable

import pytest

from plugins.fuzzy.matching import cut_bits
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.naive import NaiveMatcher
from plugins.fuzzy.matching.notification_rows import read_rows
from plugins.fuzzy.matching.shared import SharedMatcher
from watchdog.header import body_of


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let groups of some dozen rows stand in bitsets."""
    monkeypatch.setattr(cut_bits, "ROWS_FROM", 40)
    monkeypatch.setattr(cut_bits, "ATTRIBUTES_FROM", 2)
    monkeypatch.setattr(cut_bits, "MOST_MATCHING", 1.0)


def subscription(chance: random.Random) -> bytes:
    """Return a minimum over two to four constraints, the age among them, sometimes with a complement."""
    attributes = sorted(chance.choice([(0, 1), (0, 1, 2), (0, 2, 7), (0, 1, 2, 3)]))
    body = b""
    for _ in attributes:
        v, V = sorted((chance.randint(0, 255), chance.randint(0, 255)))
        complement = 128 if chance.random() < 0.02 else 0
        body += bytes([v, V, complement + chance.choice((127, chance.randint(0, 127)))])
    head = bytes([0, 0, 0, 0, 0, chance.choice([0, 0, 5, 15]) << 4])
    return head + body + bytes([1, sum(1 << a for a in attributes)])


def notification(chance: random.Random) -> bytes:
    attributes = chance.choice([(0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2), (0, 2), (1, 3)])
    values = bytes(chance.randint(0, 255) for _ in attributes)
    return bytes(6) + values + bytes([1, sum(1 << a for a in attributes)])


@pytest.mark.parametrize("make", [FastMatcher, SharedMatcher])
@pytest.mark.parametrize("condition", ["subset", "exact"])
def test_any_history_gives_what_naive_gives(
    make: Callable[..., "FastMatcher | SharedMatcher"], condition: str
) -> None:
    chance = random.Random(11)
    few = {"columns_from": 0} if make is FastMatcher else {}
    fast, naive = make(None, condition, 1, compile_from=0, **few), NaiveMatcher(None, condition, 1)
    was_used = []
    for step in range(8):
        for _ in range((400, 400, 4000, 400)[step % 4]):
            key = (chance.randint(0, 3), chance.randint(0, 255))
            if chance.random() < (0.1, 0.4, 0.95, 0.2)[step % 4]:
                fast.remove(key)
                naive.remove(key)
            else:
                vector = subscription(chance)
                fast.add(key, body_of(vector))
                naive.add(key, body_of(vector))
            if chance.random() < 0.02:
                told = notification(chance)
                assert fast.match(told, 0, 4000) == naive.match(told, 0, 4000)
        was_used.append(fast.search._bits.is_used)
        batch = [(notification(chance), chance.choice((0, 3000))) for _ in range(12)]
        assert list(fast.match_batch(batch, 4000)) == list(naive.match_batch(batch, 4000))
    assert set(was_used) == {True, False}, "groups come and go"


def test_together_or_not_bitsets_answer_the_same() -> None:
    chance = random.Random(5)
    fast = FastMatcher(None, "subset", 1, columns_from=0, compile_from=0)
    for number in range(3000):
        fast.add((number >> 8, number & 255), body_of(subscription(chance)))
    told = read_rows(fast._codec, [(notification(chance), 0) for _ in range(40)], 0)
    found = []
    for together in (True, False, None):
        ends, (keys, degrees) = fast.search.many(told.rows, told.events, told.features, together)
        pairs = list(zip(keys.tolist(), degrees.tolist(), strict=True))
        found.append([sorted(pairs[a:b]) for a, b in zip([0, *ends.tolist()], ends.tolist(), strict=False)])
    assert found[0] == found[1] == found[2]
    assert any(found[0])
    assert fast.search._bits.is_used
    assert fast.search._bits.held_bytes > 0
