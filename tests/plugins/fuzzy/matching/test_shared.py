"""What only `shared` promises: slices, in the order of thresholds, without copying."""

import random

import numpy as np

from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.shared import SharedMatcher
from watchdog.header import BODY_AT, body_of

TERMS = [bytes([0, 80, 40]), bytes([60, 160, 50]), bytes([140, 255, 127])]


def vectors(count: int, chance: random.Random) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    rows = [
        bytes([0, 0, 0, 0, 0, chance.randint(0, 15) << 4])
        + chance.choice(TERMS)
        + chance.choice(TERMS)
        + bytes([1, chance.choice([3, 5, 6])])
        for _ in range(count)
    ]
    return np.frombuffer(b"".join(rows), np.uint8).reshape(count, -1)


def test_slices_hold_everybody_whom_the_degree_satisfies() -> None:
    chance = random.Random(2)
    population = vectors(900, chance)
    keys = np.arange(900, dtype=np.uint32)
    shared, fast = SharedMatcher(None), FastMatcher(None)
    shared.add_all(keys, population[:, BODY_AT:])
    fast.add_all(keys, population[:, BODY_AT:])
    for number in range(0, 900, 4):
        shared.remove((number >> 8, number & 255))
        fast.remove((number >> 8, number & 255))
    for number in range(0, 900, 12):
        vector = population[(number * 7) % 900].tobytes()
        shared.add((number >> 8, number & 255), body_of(vector))
        fast.add((number >> 8, number & 255), body_of(vector))
    assert shared.store.count == len({row[6:].tobytes() for row in population})
    for _ in range(10):
        told = bytes(6) + chance.randbytes(3) + b"\x01\x07"
        assert shared.match(told, 0, 0) == fast.match(told, 0, 0)
        for part in shared.match_slices(told, 0, 0):
            assert part.keys.base is not None
            for key in part.keys.tolist():
                assert part.degree_u8 >= 17 * (_threshold_of(shared, key))


def _threshold_of(matcher: SharedMatcher, key: int) -> int:
    concept = matcher._concept(matcher._held.get(key) - 1)
    place = int(np.flatnonzero(concept.keys[: concept.ends[-1]] == key)[0])
    return int(np.searchsorted(concept.ends, place, side="right"))


def test_unreferenced_concept_leaves_nothing_behind() -> None:
    matcher = SharedMatcher(None)
    vector = vectors(1, random.Random(1))[0].tobytes()
    for round_ in range(3):
        for number in range(40):
            matcher.add((number, round_), body_of(vector))
        assert matcher.store.count == 1
        for number in range(40):
            matcher.remove((number, round_))
        assert matcher.store.count == 0
        assert matcher._numbers == {}
