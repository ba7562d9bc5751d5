"""Degrees of pseudo-random subscriptions for pseudo-random readings, the same on every runtime.

All numbers stay below 2**30, so that no runtime does it otherwise than the others.
"""

from watchdog.score import score

_PATTERNS = (
    b"\x02\x00\xc0",
    b"\x04\x00\x01\xc0\x42",
    b"\x06\x00\x02\x82\x01\xc0\x42",
    b"\x07\x00\x02\x42\x01\x03\x42\x82",
)
"""A token string for each number of predicates from 1 to 4."""


class Chance:
    """Bytes from two small linear congruential generators."""

    def __init__(self, seed: int) -> None:
        self.x = seed % 1048573
        self.y = seed * 7 % 1048571

    def byte(self) -> int:
        """Return the next byte."""
        self.x = (self.x * 1021 + 7919) % 1048573
        self.y = (self.y * 1013 + 104729) % 1048571
        return (self.x >> 12 ^ self.y >> 9) & 255


def fill_body(chance: Chance, body: bytearray, aggregator: int, k: int) -> None:
    """Write byte 5, the block and k constraints of a subscription with this aggregator."""
    body[0] = chance.byte() & 240 | aggregator
    at = 1
    if aggregator == 6:
        body[1] = k
        for i in range(k):
            body[2 + i] = chance.byte() | 1
        at = 2 + k
    elif 7 <= aggregator <= 8:
        body[1] = 1
        body[2] = chance.byte() & 1
        at = 3
    elif aggregator >= 14 and k <= 4 and chance.byte() & 1:
        tokens = _PATTERNS[k - 1]
        for i in range(len(tokens)):
            body[1 + i] = tokens[i]
        at = 1 + len(tokens)
    elif aggregator >= 14:
        every = (1 << k - 1) - 1
        body[1] = 1
        body[2] = chance.byte() & (128 | every)
        if body[2] & 127 == every:
            body[2] &= 128
        if k == 1:
            body[2] = 0
        at = 3
    for _ in range(k):
        v = chance.byte()
        V = chance.byte()
        body[at] = v if v < V else V
        body[at + 1] = V if v < V else v
        body[at + 2] = chance.byte()
        at += 3


def checksum(first: int, count: int) -> int:
    """Return a checksum over the degrees of `count` pairs: each subscription is scored for eight readings."""
    attributes = bytearray(range(8))
    body = bytearray(64)
    degrees = bytearray(16)
    row = bytearray(8)
    kinds = (0, 1, 2, 3, 4, 5, 6, 7, 8, 14, 15)
    total = 1
    for number in range(first, first + count // 8):
        chance = Chance(number * 31 + 17)
        k = 1 + number % 7
        aggregator = kinds[number // 7 % 11]
        if k == 1 and 7 <= aggregator <= 8:
            aggregator = 4
        fill_body(chance, body, aggregator, k)
        for _ in range(8):
            for i in range(k):
                row[i] = chance.byte()
            total = (total * 251 + score(body, 0, row, attributes, k, degrees)) % 4194301
    return total
