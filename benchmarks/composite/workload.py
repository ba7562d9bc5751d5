"""Chains of three primitives at random, and readings of which each satisfies a given share of them."""

import gc
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.board_vectors import NotificationVector, encode_notification
from plugins.composite.composer import CompositeComposer
from plugins.composite.pattern import Joined, Leaf
from plugins.composite.vectors import CompositeBody, encode_body
from plugins.fuzzy.language import FUZZY
from plugins.language import Matcher

ALWAYS: Final = (-(10**12), 10**12)
WINDOW_S: Final = 60
_EVENT, _FIRST, _SECOND = 0, 1, 3
"""A patient's event class, and two of its attributes."""


def table() -> MissionTable:
    """Return the mission that the primitives are about."""
    return load_mission_table(["medical"])


def primitives(count: int, share: float, seed: int) -> list[bytes]:
    """Return crisp primitives over two attributes, each satisfied by this share of all readings."""
    rng = random.Random(seed)
    side = max(1, round(256 * share**0.5))
    found = []
    for _ in range(count):
        low, other = rng.randrange(257 - side), rng.randrange(257 - side)
        ranges = bytes((low, low + side - 1, 127, other, other + side - 1, 127))
        found.append(b"\0" + ranges + bytes((1 << _EVENT, 1 << _FIRST | 1 << _SECOND)))
    return found


def chains(
    count: int, share: float, seed: int, window_s: int = WINDOW_S
) -> list[tuple[bytes, tuple[bytes, ...]]]:
    """Return bodies of a; b; c with the primitives of each."""
    every = primitives(3 * count, share, seed)
    pattern = Joined("then", (Leaf(0), Leaf(1), Leaf(2)))
    found = []
    for at in range(0, len(every), 3):
        own = tuple(every[at : at + 3])
        body = CompositeBody(0, 0, "ends", False, window_s, 95, 0, pattern, (), own, ((),) * 3)
        found.append((encode_body(body, 1), own))
    return found


def readings(count: int, seed: int, satisfying: float = 1.0) -> list[bytes]:
    """Return notifications a second apart; of these only a share can satisfy anything."""
    rng = random.Random(seed)
    found = []
    for place in range(count):
        attributes = (_FIRST, _SECOND) if rng.random() < satisfying else (_SECOND,)
        values = bytes(rng.randrange(256) for _ in attributes)
        vector = NotificationVector(place % 65536, 95, place % 65536, 0, values, _EVENT, attributes)
        found.append(encode_notification(vector))
    return found


def composer(bodies: Sequence[bytes], mission: MissionTable) -> CompositeComposer:
    """Return a composer that looks for all of them."""
    found = CompositeComposer(mission, FUZZY.matcher)
    for place, body in enumerate(bodies):
        found.add((place >> 8, place & 255), body, 0, *ALWAYS)
    return found


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let no garbage collection fall into what is timed, as `timeit` does."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def judge(every: Sequence[bytes], mission: MissionTable) -> Matcher:
    """Return what judges single primitives."""
    found = FUZZY.matcher(mission)
    for place, primitive in enumerate(every):
        found.add((place >> 8, place & 255), bytes(2) + primitive)
    return found
