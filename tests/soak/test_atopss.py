"""The approximate language, at length: ten million vectors, eighty thousand pairs and thousands of
populations against the oracle, with and without domains, and a forest of ten thousand. Its laws have ten
thousand examples each (tests/plugins/atopss).
"""

import random
from math import ceil, floor
from pathlib import Path

import numpy as np
import pytest

from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.algorithms import ALGORITHMS
from plugins.atopss.relations.covering import AtopssForest
from plugins.atopss.relations.cuts import covers
from plugins.atopss.shapes.degrees import judged, necessity, possibility
from plugins.atopss.shapes.scale import INFINITE
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.vectors import (
    decode_notification,
    decode_subscription,
    encode_notification,
    encode_subscription,
)
from tests.dens.cli.test_atopss_populations import check_population
from tests.plugins.atopss.matching.test_domain_populations import SAME
from tests.plugins.atopss.matching.test_domain_populations import check_population as check_short_population
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.relations.test_covering import drawn as drawn_columns
from tests.plugins.atopss.relations.test_domain_relations import check_advertising, check_covering
from tests.plugins.atopss.shapes import PROFILES, drawn
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION
from watchdog.vector import VectorError

NESTED = bytes.fromhex("00003700810000140100280500000142" + "82")
CURVED = bytes.fromhex("0000120041" + "00250211500a140a" + "015b8805500a")


def test_ten_million_vectors() -> None:
    chance = random.Random(20260126)
    seeds = [SUBSCRIPTION[3:], NESTED, CURVED]
    accepted = 0
    for number in range(10_000_000):
        is_asking = bool(number & 1)
        seed = chance.choice(seeds) if is_asking else PUBLICATION
        vector = bytearray(seed) if number & 2 else bytearray(chance.randbytes(number % 29))
        for _ in range(chance.randrange(3)):
            if vector:
                vector[chance.randrange(len(vector))] = chance.randrange(256)
        data = bytes(vector)
        try:
            if is_asking:
                again = encode_subscription(decode_subscription(data))
            else:
                again = encode_notification(decode_notification(data))
        except VectorError:
            continue
        accepted += 1
        assert again == data
    assert accepted > 1_000_000


def test_forty_thousand_pairs() -> None:
    chance = random.Random(20260127)
    for number in range(40_000):
        is_curved = number % 25 == 0
        wanted, value = _shape(chance, is_curved), _shape(chance, is_curved)
        found = exact(drawn(wanted), drawn(value))
        assert judged(wanted, value) == tuple(floor(510 * degree) for degree in found)
        up = possibility(wanted, value, up=True), necessity(wanted, value, up=True)
        assert up == tuple(ceil(510 * degree) for degree in found)


def test_forty_thousand_pairs_over_a_domain() -> None:
    """Corners at, before and behind both ends; values that are cut off, or have no ends."""
    chance = random.Random(20260128)
    for number in range(40_000):
        is_curved, length = number % 25 == 0, chance.choice([0, 1, 7, 300])
        moved = chance.choice([0, 0, length // 3 + 1])
        wanted = _moved(_shape(chance, is_curved), -moved)
        value = _moved(_shape(chance, is_curved), -moved)
        if value.m2 > length or value.m3 < 0:
            continue
        complement = bool(number & 1)
        found = exact(drawn(wanted), drawn(value), complement=complement, domain=(0, length))
        known = value.within(length)
        assert judged(wanted, known, complement=complement) == tuple(floor(510 * degree) for degree in found)


@pytest.mark.parametrize("algorithm", SAME)
def test_a_thousand_populations_over_a_domain(algorithm: str) -> None:
    chance = random.Random(f"soak on short axes {algorithm}")
    assert sum(check_short_population(chance, algorithm) for _ in range(1000)) > 3000


def test_twenty_thousand_relations_over_a_domain() -> None:
    chance = random.Random(20260129)
    assert sum(check_covering(chance) for _ in range(20_000)) > 5000
    assert sum(check_advertising(chance) for _ in range(20_000)) > 3000


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS.keys() - {"crisp"}))
def test_three_hundred_populations(dens, tmp_path: Path, algorithm: str) -> None:
    """Through the command, by every algorithm that has the answers of the definition."""
    chance = random.Random(f"soak {algorithm}")
    assert sum(check_population(dens, tmp_path, chance, algorithm) for _ in range(300)) > 1000


def test_a_forest_of_ten_thousand_is_the_plain_one() -> None:
    """Columns, one by one, removals in between: roots and parents are those of plain comparisons."""
    chance = np.random.default_rng(29)
    columns = drawn_columns(chance, 10_000, 2)
    keys = [(number >> 8, number & 255) for number in range(10_000)]
    forest = AtopssForest(AtopssCodec(None))
    forest.insert_all(keys, columns)
    held = {key: columns.subscription(row) for row, key in enumerate(keys)}
    for _ in range(5):
        gone = [
            keys[int(at)] for at in chance.choice(len(keys), 1000, replace=False) if keys[int(at)] in held
        ]
        forest.remove_all(gone)
        for key in gone:
            del held[key]
        roots = forest.roots()
        kept = {key: held[key] for key in roots}
        for key, wanted in held.items():
            above = forest.parent(key)
            assert (above is None) == (key in kept)
            assert above is None or covers(held[above], wanted)
        for key, wanted in list(kept.items())[:400]:
            assert not any(covers(other, wanted) for one, other in kept.items() if one != key)


def _moved(shape: Shape, by: int) -> Shape:
    m1, m2, m3, m4 = (
        corner if abs(corner) == INFINITE else corner + by
        for corner in (shape.m1, shape.m2, shape.m3, shape.m4)
    )
    return Shape(m1, m2, m3, m4, shape.left, shape.right)


def _shape(chance: random.Random, is_curved: bool) -> Shape:
    reach = chance.choice([9, 400])
    m1, m2, m3, m4 = sorted(chance.randrange(reach) for _ in range(4))
    if chance.random() < 0.2:
        m1 = m2 = -INFINITE
    if chance.random() < 0.2:
        m3 = m4 = INFINITE
    left = chance.choice(PROFILES) if is_curved and m1 < m2 else 0
    right = chance.choice(PROFILES) if is_curved and m3 < m4 else 0
    return Shape(m1, m2, m3, m4, left, right)
