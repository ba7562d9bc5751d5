"""What brokers ask: an advertisement announces no less than is published, and tables miss nothing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.interfaces import EntryTable
from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.filter import AtopssFilter
from plugins.atopss.notifications import Notification
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.relations.routing import AtopssRouting
from plugins.atopss.shapes.scale import HALF
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, at_most, interval, point
from plugins.atopss.subscriptions import Joined, Norm, Predicate, Subscription
from plugins.atopss.vectors import decode_subscription, encode_notification, encode_subscription
from plugins.language import SubscriptionKey
from plugins.routing import MergingOptions, RoutingOptions
from tests.plugins.atopss.shapes import shapes
from tests.plugins.atopss.subscriptions import subscriptions, values
from watchdog.vector import VectorError

OPTIONS = {
    "equal": RoutingOptions(covering=False),
    "covering": RoutingOptions(),
    "merging": RoutingOptions(merging=MergingOptions(overlap=0.2, possibility=0.5)),
    "merging alone": RoutingOptions(covering=False, merging=MergingOptions(overlap=0.2, possibility=0.5)),
}


def routing(options: RoutingOptions) -> AtopssRouting:
    return AtopssRouting(AtopssRelations(None), AtopssCodec(None), options)


ROUTING = routing(RoutingOptions())


def told(given: dict[int, Shape], event: int = 0) -> bytes:
    return encode_notification(Notification(1, 132, 0, event, given))


def advertisement(given: dict[int, Shape], event: int = 0) -> bytes:
    leaves = tuple(Predicate(attribute, shape) for attribute, shape in given.items())
    return encode_subscription(canonical(event, Joined(False, leaves)))


supports = st.dictionaries(st.integers(0, 3), shapes(curved=False), min_size=1, max_size=4)


@given(announced=supports, wanted=subscriptions(), published=values(most=4))
def test_law_what_is_published_and_satisfies_was_advertised(
    announced: dict[int, Shape], wanted: Subscription, published: dict[int, Shape]
) -> None:
    body, asked = advertisement(announced), encode_subscription(wanted)
    if published and ROUTING.admits(body, told(published)) and wanted.judge(published) is not None:
        assert ROUTING.advertises(body, asked)


@given(data=st.data(), announced=supports, wanted=subscriptions())
def test_law_values_within_the_support_are_announced(
    data: st.DataObject, announced: dict[int, Shape], wanted: Subscription
) -> None:
    """The law above, with publications that are made to lie in the advertisement."""
    published: dict[int, Shape] = {}
    for attribute, shape in announced.items():
        low, high = max(shape.m1, -500), min(shape.m4, 500)
        if low <= high and data.draw(st.booleans()):
            a, b = sorted(data.draw(st.tuples(st.integers(low, high), st.integers(low, high))))
            published[attribute] = interval(a, b) if a < b else point(a)
    if published:
        body = advertisement(announced)
        assert ROUTING.admits(body, told(published))
        if wanted.judge(published) is not None:
            assert ROUTING.advertises(body, encode_subscription(wanted))


@given(one=supports, other=supports, published=values(most=4))
def test_law_what_is_included_is_announced(
    one: dict[int, Shape], other: dict[int, Shape], published: dict[int, Shape]
) -> None:
    wide, narrow = advertisement(one | other), advertisement(other)
    assert ROUTING.includes(wide, narrow)
    assert ROUTING.includes(narrow, narrow)
    for a, b in ((advertisement(one), narrow), (narrow, wide)):
        if published and ROUTING.includes(a, b) and ROUTING.admits(b, told(published)):
            assert ROUTING.admits(a, told(published))


def test_fewer_attributes_ask_for_more_and_announce_less() -> None:
    size, both = advertisement({1: ANYTHING}), advertisement({0: ANYTHING, 1: ANYTHING})
    assert ROUTING.covers(size, both)
    assert not ROUTING.includes(size, both)
    assert ROUTING.includes(both, size)
    assert not ROUTING.admits(size, told({0: point(3), 1: point(4)}))


def test_the_ends_of_what_is_announced() -> None:
    body = advertisement({0: at_most(1500)}, event=3)
    assert ROUTING.admits(body, told({0: at_most(1200, 1500)}, event=3))
    assert not ROUTING.admits(body, told({0: at_most(1200, 1501)}, event=3))
    assert not ROUTING.admits(body, told({0: point(3)}, event=2))
    assert not ROUTING.admits(body, told({0: ANYTHING}, event=3))
    assert ROUTING.advertises(body, advertisement({0: at_least(1500)}, event=3))
    assert not ROUTING.advertises(body, advertisement({0: at_least(1501)}, event=3))
    assert not ROUTING.advertises(body, advertisement({1: at_least(0)}, event=3))


@pytest.mark.parametrize(
    "subscription",
    [
        canonical(0, Joined(True, (Predicate(0, point(1)), Predicate(1, point(1))))),
        canonical(0, Joined(False, (Predicate(0, at_least(1)), Predicate(0, at_most(9))))),
        canonical(0, Predicate(0, point(1), complement=True)),
        canonical(0, Predicate(0, point(1), possibility=6)),
        canonical(0, Predicate(0, point(1)), necessity=2),
        canonical(0, Joined(False, (Predicate(0, point(1)), Predicate(1, point(1)))), Norm.PRODUCT),
    ],
)
def test_invalid_advertisement_is_refused(subscription: Subscription) -> None:
    with pytest.raises(VectorError, match="an advertisement joins by and"):
        ROUTING.includes(encode_subscription(subscription), encode_subscription(subscription))


def test_advertisement_of_everything_admits_whole_readings() -> None:
    table = load_mission_table(["housing"])
    event = table.event("apartment")
    body = ROUTING.advertisement(event, event.attributes)
    assert body is not None
    source = AtopssFilter(table)
    source.add((1, 0), body)
    vector = told({0: at_most(1200, 1500), 3: ANYTHING}, event=event.index)
    assert source.offer(vector) == []  # Two of four attributes are not what was advertised.
    pair = ROUTING.advertisement(event, [event.attribute("rent"), event.attribute("distance")])
    assert pair is not None
    source.add((1, 0), pair)
    assert len(source.offer(vector)) == 1
    assert ROUTING.admits(pair, vector)
    assert ROUTING.advertisement(event, []) is None


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_law_after_any_history_a_table_lets_pass_what_anybody_wants(name: str, seed: int) -> None:
    """Bodies of a table, and changes that add up to them, against every subscription that it holds."""
    chance = random.Random(seed)
    table: EntryTable = routing(OPTIONS[name]).table()
    held: dict[SubscriptionKey, Subscription] = {}
    neighbour: set[bytes] = set()
    for _ in range(60):
        key = chance.randrange(8), chance.randrange(2)
        if key in held and chance.random() < 0.4:
            del held[key]
            changes = table.remove(key)
        else:
            low = chance.randrange(0, 60)
            shape = Shape(low, low + 5, low + 5 + chance.randrange(30), low + 60)
            leaves = [Predicate(0, shape, possibility=chance.choice([0, 2, 4, 6, HALF]))]
            if chance.random() < 0.5:
                leaves.append(Predicate(1, at_least(chance.randrange(50))))
            held[key] = canonical(0, Joined(False, tuple(leaves)))
            changes = table.insert(key, encode_subscription(held[key]))
        assert not neighbour & set(changes.announced)
        assert neighbour >= set(changes.withdrawn)
        neighbour |= set(changes.announced)
        neighbour -= set(changes.withdrawn)
        assert neighbour == set(table.bodies())
        entries = [decode_subscription(body) for body in neighbour]
        for _ in range(8):
            given = {0: point(chance.randrange(130)), 1: point(chance.randrange(60))}
            for wanted in held.values():
                if wanted.judge(given) is not None:
                    assert any(entry.judge(given) is not None for entry in entries)
    assert len(table.bodies()) + table.covered <= len(held) + table.mergers


MERGED = [
    (6, 18, {"min": 6, "average": 12, "max": 18}),
    (10, 12, {"min": 10, "average": 10, "max": 12}),
    (HALF, 10, {"min": 10, "average": 12, "max": HALF}),
    (14, 16, {"min": 14, "average": HALF, "max": 16}),
    (HALF, HALF, {"min": HALF, "average": HALF, "max": HALF}),
]
"""Two thresholds in thirtieths, and what becomes of them; a mean between two thresholds is lowered."""


@pytest.mark.parametrize(("first", "second", "kept"), MERGED)
@pytest.mark.parametrize("thresholds", ["min", "average", "max"])
def test_thresholds_of_a_merger(first: int, second: int, kept: dict[str, int], thresholds: str) -> None:
    merging = MergingOptions(overlap=0.0, possibility=0.0, thresholds=thresholds)  # type: ignore[arg-type]
    table = routing(RoutingOptions(merging=merging)).table()
    for number, threshold in enumerate((first, second)):
        corners = [corner + 10 * number for corner in (0, 10, 40, 50)]
        leaf = Predicate(0, Shape(*corners), possibility=threshold)
        table.insert((number, 0), encode_subscription(canonical(0, leaf)))
    [body] = table.bodies()
    assert decode_subscription(body).predicates[0].possibility == kept[thresholds]
    assert (table.mergers, table.covered) == (1, 0)
