"""Bytes that were nearly something."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from watchdog.vector import VectorError


def mutated(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a seed with some bytes changed, left out, doubled or cut off."""
    found = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(found)) if found else 0
        match rng.randrange(5):
            case 0 | 1 if found:
                found[at] = rng.randrange(256)
            case 2 if found:
                del found[at]
            case 3:
                found.insert(at, rng.randrange(256))
            case _:
                del found[at:]
    return bytes(found)


def survives(
    decode: Callable[..., Any], encode: Callable[..., bytes] | None, given: bytes, *more: Any
) -> bool:
    """Return whether bytes are read; they are refused by `VectorError` and nothing else, and what is read has
    one spelling.
    """
    try:
        found = decode(given, *more)
    except VectorError as error:
        refused = error
    else:
        assert encode is None or encode(found, *more) == given
        return True
    assert 0 <= refused.offset <= len(given) + 3
    return False
