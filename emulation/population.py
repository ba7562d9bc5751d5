"""Subscriptions that chance makes: how many, how alike; what each asks for is its language's doing.

The share `similarity` of all subscriptions equals another one in everything but its number.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

_TRIES: Final = 20
"""How often another one is drawn for each that should differ; of few names there are not many."""


def draw_population(
    chance: np.random.Generator,
    draw: Callable[[np.random.Generator], bytes],
    *,
    number: int,
    similarity: float,
) -> list[bytes]:
    """Return the bodies of so many subscriptions, each of those that differ made by `draw`."""
    different = max(1, round(number * (1.0 - similarity)))
    found: dict[bytes, None] = {}
    for _ in range(_TRIES * different):
        if len(found) == different:
            break
        found[draw(chance)] = None
    kinds = list(found)
    everybody = kinds + [kinds[int(chance.integers(len(kinds)))] for _ in range(number - len(kinds))]
    return [everybody[index] for index in chance.permutation(number)]
