"""Covering, merging and advertisements on axes that end: sound for every value of the domain."""

import random
from dataclasses import replace

import pytest

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.notifications import Notification
from plugins.atopss.relations.covering import AtopssForest, PlainColumns
from plugins.atopss.relations.cuts import covers
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.relations.routing import AtopssRouting
from plugins.atopss.shapes.scale import HALF
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, at_most, interval, point
from plugins.atopss.subscriptions import Form, Joined, Norm, Predicate, Subscription
from plugins.atopss.vectors import encode_notification, encode_subscription
from plugins.routing import RoutingOptions
from tests.plugins.atopss.population_oracle import random_population, verdict
from tests.plugins.atopss.short import EVENT, LENGTHS, SHORT

HOUSING = load_mission_table(["housing"])
RELATIONS = AtopssRelations(HOUSING)
ROUTING = AtopssRouting(RELATIONS, AtopssCodec(HOUSING), RoutingOptions())
SHORT_ROUTING = AtopssRouting(AtopssRelations(SHORT), AtopssCodec(SHORT), RoutingOptions())


def asked(shape: Shape, complement: bool = False, **whole: int) -> bytes:
    """Return a subscription to rents, whose domain is 0 to 5000."""
    return encode_subscription(canonical(3, Predicate(0, shape, complement), **whole))


def told(shape: Shape) -> bytes:
    return encode_notification(Notification(0, 0, 0, 3, {0: shape}))


EQUALS = [
    (interval(0, 1500), at_most(1500), False),
    (interval(-7, 1500), at_most(1500), False),
    (Shape(-9, 0, 1200, 1500), at_most(1200, 1500), False),
    (interval(0, 5000), ANYTHING, False),
    (at_least(0), ANYTHING, False),
    (at_most(5000), interval(-1, 6000), False),
    (interval(0, 1500), at_most(1500), True),
    (Shape(-20, 10, 5000, 5000), Shape(-20, 10, 5100, 5200), True),
]


@pytest.mark.parametrize(("one", "other", "complement"), EQUALS)
def test_what_is_the_same_on_the_domain_covers_each_other(one: Shape, other: Shape, complement: bool) -> None:
    bodies = [asked(shape, complement, necessity=HALF) for shape in (one, other)]
    assert RELATIONS.covers(*bodies)
    assert RELATIONS.covers(*reversed(bodies))
    if not complement:
        assert RELATIONS.similarity(*bodies) is not None
        assert RELATIONS.merge(*bodies) is not None
        forest = RELATIONS.forest()
        for number, body in enumerate(bodies):
            forest.insert((number, 0), body)
        assert forest.roots() == [(0, 0)]


WHOLE = [at_least(0), at_most(5000), interval(0, 5000), interval(-5, 7000), ANYTHING]


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("value", [ANYTHING, at_most(1200, 1500), at_least(9, 99), point(0), point(5000)])
def test_an_advertisement_of_the_whole_domain_admits_every_value(whole: Shape, value: Shape) -> None:
    assert ROUTING.admits(asked(whole), told(value))
    for other in WHOLE:
        assert ROUTING.includes(asked(whole), asked(other))


def test_the_ends_of_what_is_announced() -> None:
    budget = asked(interval(0, 1500))
    assert ROUTING.admits(budget, told(at_most(1200, 1500)))
    assert not ROUTING.admits(budget, told(at_most(1200, 1501)))
    assert not ROUTING.admits(asked(at_least(1)), told(at_most(1200)))
    assert ROUTING.admits(budget, told(Shape(-30, 10, 20, 40)))
    assert ROUTING.includes(budget, asked(at_most(1500)))
    assert not ROUTING.includes(asked(at_least(1)), asked(at_most(1500)))
    assert not ROUTING.advertises(budget, asked(interval(0, 5000), complement=True))
    assert not ROUTING.advertises(budget, asked(at_least(5001)))
    assert ROUTING.advertises(budget, asked(interval(1500, 1600)))


def plain(chance: random.Random) -> tuple[Subscription, list[dict[int, Shape]]]:
    """Return a subscription that joins by the minimum, and values that may satisfy it."""
    while True:
        population, notifications = random_population(chance, EVENT, LENGTHS)
        for wanted in population:
            if wanted.norm == Norm.MIN and wanted.form != Form.TOKENS:
                return wanted, [one.values for one in notifications]


def narrowed(chance: random.Random, wide: Subscription) -> Subscription:
    """Return what is often covered: corners move a little, also across the ends of the domain."""
    leaves = []
    for leaf in wide.predicates:
        shape = leaf.shape
        moved = [
            corner + chance.choice([-2, -1, 0, 0, 1, 2])
            for corner in (shape.m1, shape.m2, shape.m3, shape.m4)
        ]
        is_plain = sorted(moved) == moved and abs(shape.m1) < 100 and abs(shape.m4) < 500
        leaves.append(replace(leaf, shape=Shape(*moved)) if is_plain else leaf)
    return canonical(
        wide.event,
        Joined(wide.form == Form.OR, tuple(leaves)),
        possibility=wide.possibility,
        necessity=wide.necessity,
    )


def check_covering(chance: random.Random) -> int:
    """Compare reported covers with the definition; return how many were reported."""
    wide, values = plain(chance)
    narrow = narrowed(chance, wide)
    if not covers(wide, narrow, LENGTHS):
        assert not covers(wide, narrow)
        return 0
    for known in values:
        if verdict(narrow, known, LENGTHS) is not None:
            assert verdict(wide, known, LENGTHS) is not None
    return 1


def check_advertising(chance: random.Random) -> int:
    """Hold advertisements against the definition; return how many publications one admits."""
    wanted, values = plain(chance)
    announced = plain(chance)[0]
    leaves = {leaf.attribute: Predicate(leaf.attribute, leaf.shape) for leaf in announced.predicates}
    body = encode_subscription(canonical(EVENT, Joined(False, tuple(leaves.values()))))
    admitted = 0
    for known in values:
        told_of = {at: shape for at, shape in known.items() if at in leaves}
        if not told_of:
            continue
        vector = encode_notification(Notification(0, 0, 0, EVENT, told_of))
        if SHORT_ROUTING.admits(body, vector):
            admitted += 1
            if verdict(wanted, told_of, LENGTHS) is not None:
                assert SHORT_ROUTING.advertises(body, encode_subscription(wanted))
    return admitted


def test_law_what_covers_on_the_domain_covers_by_the_definition() -> None:
    chance = random.Random(37)
    assert sum(check_covering(chance) for _ in range(300)) > 100


def test_law_what_is_admitted_and_satisfies_was_advertised() -> None:
    chance = random.Random(38)
    assert sum(check_advertising(chance) for _ in range(300)) > 50


def test_columns_on_a_domain_are_subscriptions_side_by_side() -> None:
    import numpy as np

    chance = np.random.default_rng(37)
    corners = np.sort(chance.integers(-5, 15, (400, 1, 4)), axis=2)
    levels = chance.choice([0, 0, HALF, 30], (400, 1, 2))
    columns = PlainColumns(EVENT, np.zeros((400, 1), np.int64), corners, levels)
    keys = [(number, 0) for number in range(400)]
    bulk, single = (AtopssForest(AtopssCodec(SHORT)) for _ in range(2))
    bulk.insert_all(keys, columns)
    for row, key in enumerate(keys):
        body = encode_subscription(canonical(EVENT, columns.subscription(row).predicates[0]))
        single.insert(key, body)
    assert bulk.roots() == single.roots()
    held = {key: columns.subscription(row) for row, key in enumerate(keys)}
    roots = bulk.roots()
    assert len(roots) < 400
    for key in keys:
        above = bulk.parent(key)
        assert above is None or covers(held[above], held[key], LENGTHS)
    for one in roots:
        assert not any(covers(held[other], held[one], LENGTHS) for other in roots if other != one)
