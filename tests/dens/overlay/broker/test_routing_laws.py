"""What a network of brokers delivers, against an oracle that knows the subscriptions and nothing else."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.broker.options import BrokerOptions
from tests.dens.overlay.broker.net import Air, BrokerNet, Link
from tests.dens.overlay.broker.topic_routing import TABLES


def random_tree(chance: Random, brokers: int) -> list[Link]:
    return [(chance.randint(1, number - 1), number) for number in range(2, brokers + 1)]


def random_graph(chance: Random, brokers: int) -> list[Link]:
    links = set(random_tree(chance, brokers))
    for _ in range(brokers):
        a, b = chance.sample(range(1, brokers + 1), 2)
        links.add((min(a, b), max(a, b)))
    return sorted(links)


def attached(chance: Random, brokers: int, ends: int) -> list[Link]:
    """Return subscribers and publishers, each at one broker."""
    found = [(chance.randint(1, brokers), 100 + number) for number in range(ends)]
    return found + [(chance.randint(1, brokers), 200 + number) for number in range(ends)]


class History:
    """What applications do, drawn from a seed: the same for every way to route."""

    def __init__(self, seed: int, ends: int, steps: int) -> None:
        self._seed, self._ends, self._steps = seed, ends, steps

    def live_through(self, net: BrokerNet) -> Iterator[None]:
        """Do one thing after the other, and let the network come to rest after each."""
        chance = Random(self._seed)
        asked: set[tuple[int, int]] = set()
        advertised: dict[tuple[int, int], tuple[int, int]] = {}
        for node in range(200, 200 + self._ends):
            advertised[node, 0] = chance.randint(1, 3), 0
            net.advertise(node, 0, *advertised[node, 0])
        net.run()
        for _ in range(self._steps):
            what = chance.choices(
                ("subscribe", "unsubscribe", "advertise", "unadvertise", "publish"), (4, 2, 1, 1, 6)
            )[0]
            node, id = chance.randrange(self._ends), chance.randrange(3)
            topic, value = chance.randint(1, 3), chance.randint(0, 255)
            if what == "subscribe":
                net.subscribe(100 + node, id, topic, value)
                asked.add((100 + node, id))
            elif what == "unsubscribe" and (100 + node, id) in asked:
                net.unsubscribe(100 + node, id)
                asked.discard((100 + node, id))
            elif what == "advertise":
                advertised[200 + node, id] = topic, value
                net.advertise(200 + node, id, topic, value)
            elif what == "unadvertise" and (200 + node, id) in advertised:
                net.unadvertise(200 + node, id)
                del advertised[200 + node, id]
            elif what == "publish":
                own = [one for (who, _), one in advertised.items() if who == 200 + node]
                if own:
                    topic, least = chance.choice(own)
                    net.publish(200 + node, topic, chance.randint(least, 255))
            net.run()
            yield


def check_history(net: BrokerNet, seed: int, ends: int, steps: int) -> BrokerNet:
    for _ in History(seed, ends, steps).live_through(net):
        assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == len(set(net.delivered))
    return net


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.booleans(), st.sampled_from(sorted(TABLES)))
def test_every_network_delivers_what_the_oracle_owes(
    seed: int, brokers: int, circles: bool, table: str
) -> None:
    chance = Random(seed)
    links = random_graph(chance, brokers) if circles and brokers > 1 else random_tree(chance, brokers)
    ends = attached(chance, brokers, 3)
    routed = check_history(BrokerNet(links + ends, table=TABLES[table]), seed, 3, 25)
    flooded = check_history(BrokerNet(links + ends, options=BrokerOptions(floods=True)), seed, 3, 25)
    assert set(routed.delivered) == set(flooded.delivered)
    assert all(count == 1 for count in routed.crossings.values())
    assert len(routed.crossings) <= len(flooded.crossings)
    routed.run(routed.options.patience_ms)
    assert all(not len(one.state.carried) for one in routed.brokers)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from(sorted(TABLES)))
def test_without_advertisements_a_tree_delivers_the_same(seed: int, brokers: int, table: str) -> None:
    chance = Random(seed)
    links = random_tree(chance, brokers) + attached(chance, brokers, 3)
    options = BrokerOptions(advertisements=False)
    net = check_history(BrokerNet(links, options=options, table=TABLES[table]), seed, 3, 25)
    assert all(count == 1 for count in net.crossings.values())


def test_languages_without_relations_compare_bytes() -> None:
    chance = Random(5)
    links = random_graph(chance, 5) + attached(chance, 5, 3)
    check_history(BrokerNet(links, has_relations=False), 5, 3, 40)


@pytest.mark.parametrize("seed", range(4))
def test_with_a_mission_key_it_is_the_same(seed: int) -> None:
    chance = Random(seed)
    links = random_graph(chance, 5) + attached(chance, 5, 2)
    check_history(BrokerNet(links, key=b"a mission key"), seed, 2, 20)


@pytest.mark.parametrize("seed", range(6))
def test_frames_that_are_lost_and_late_cost_nothing_but_time(seed: int) -> None:
    chance = Random(seed)
    links = random_graph(chance, 5) + attached(chance, 5, 2)
    net = BrokerNet(links, air=Air(loss=0.2, late_ms=(1, 120), seed=seed))
    for _ in History(seed, 2, 12).live_through(net):
        net.run(20_000)
        assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == len(set(net.delivered))
