"""The short cut against the definition, at the very distances where it decides."""

from random import Random

import pytest

from watchdog.aggregators import MOST_BASIC
from watchdog.grader import first_satisfied
from watchdog.pool import Pool
from watchdog.score import satisfies, vector_degree


def graded(vector: bytes, row: bytes, k: int) -> int:
    """What the filter says of one subscription without an age."""
    pool = Pool(1, 64, 1)
    assert pool.put(1, 0, 0, 9, vector, 5, len(vector))
    return first_satisfied(pool.blocks[0], 13, 1, bytearray(row[:k]), 0, bytearray(16), None)


@pytest.mark.parametrize("kind", range(MOST_BASIC + 1))
def test_what_is_refused_and_what_passes(kind: int) -> None:
    chance = Random(kind)
    passed = 0
    for _ in range(4000):
        k = chance.randint(1, 4)
        constraints = b""
        row = bytearray(8)
        for i in range(k):
            v = chance.randint(0, 255)
            V = chance.randint(v, min(255, v + 40))
            g = chance.choice((chance.randint(0, 127), chance.randint(40, 110), chance.randint(0, 255)))
            constraints += bytes((v, V, g))
            row[i] = max(0, min(255, chance.choice((v, V)) + chance.randint(-25, 25)))
        head = chance.randint(0, 15) << 4 | kind
        vector = bytes([0, 0, 100, 0, 0, head]) + constraints + bytes([1, (1 << k) - 1])
        block = Pool(1, 64, 1)
        block.put(1, 0, 0, 9, vector, 5, len(vector))
        for i in range(k):
            v, V, _, r = block.blocks[0][14 + 4 * i : 18 + 4 * i]
            if chance.random() < 0.7:
                row[i] = max(0, min(255, chance.choice((v - r, V + r)) + chance.randint(-1, 1)))
        degree_u8 = vector_degree(vector, 1, row)
        expected = degree_u8 if satisfies(head, degree_u8) else 0
        assert graded(vector, bytes(row), k) == expected
        passed += expected > 0
    assert 400 < passed < 3800
