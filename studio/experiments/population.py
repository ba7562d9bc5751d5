"""The workload of paper 004, §5: 40 to 1000 subscriptions to 3 or 4 attributes, more and more of them equal.

The paper states the share of equal subscriptions for 100 (60 %), 500 (92 %) and 1000 (96 %); those between
are ours.
"""

import random
from typing import Final

SIMILARITY: Final = {40: 0.5, 100: 0.6, 200: 0.8, 500: 0.92, 1000: 0.96, 10_000: 0.96}
"""Number of subscriptions → share of them that equals another one."""

COUNTS: Final = (40, 100, 200, 500, 1000)

EVENT: Final = b"\x01"
ATTRIBUTES: Final = (0, 1, 2, 3)

PLAIN: Final = b""
PATTERN: Final = bytes([1, 0x82])
"""(p1 ∧ p2) ∨ the rest: d2c1 for three predicates, d2c2c for four."""

GEOMETRIC: Final = bytes([1, 0])
"""The geometric mean by Takagi–Sugeno rules."""


def subscriptions(
    count: int, aggregator: int = 0, block: bytes = PLAIN, seed: int = 1, similarity: float | None = None
) -> list[bytes]:
    """Return as many vectors; those that equal another differ from it in nothing but their number."""
    chance = random.Random(seed)
    alike = SIMILARITY[count] if similarity is None else similarity
    different = max(1, round(count * (1 - alike)))
    bodies = [_body(chance, aggregator, block) for _ in range(different)]
    bodies += [chance.choice(bodies) for _ in range(count - different)]
    chance.shuffle(bodies)
    return [bytes([number & 255, 0, 255, 0, 0]) + body for number, body in enumerate(bodies)]


def notifications(count: int, seed: int = 2) -> list[bytes]:
    """Return notifications that tell all four attributes."""
    chance = random.Random(seed)
    return [bytes(6) + chance.randbytes(len(ATTRIBUTES)) + EVENT + b"\x0f" for _ in range(count)]


def _body(chance: random.Random, aggregator: int, block: bytes) -> bytes:
    attributes = sorted(chance.sample(ATTRIBUTES, chance.choice([3, 4])))
    triples = b""
    for _ in attributes:
        low = chance.randint(0, 200)
        triples += bytes([low, low + chance.randint(10, 55), chance.randint(20, 80)])
    threshold = chance.randint(0, 10) << 4
    return (
        bytes([threshold | aggregator]) + block + triples + EVENT + bytes([sum(1 << a for a in attributes)])
    )
