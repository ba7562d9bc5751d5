"""Languages with defects: brokers report them, compare bytes from then on, and complete all deliveries."""

from random import Random

import pytest

from dens.overlay.broker.languages import EqualBodies
from dens.overlay.events import MessageQuarantined
from emulation.fault_injection.topics import LANGUAGE, topic_covers
from plugins.routing import Changes, CoveringTable
from tests.dens.overlay.broker.net import BrokerNet
from tests.dens.overlay.broker.test_routing_laws import attached, check_history, random_graph
from tests.dens.overlay.broker.topic_routing import TABLES, TopicRouting


class Breaking(CoveringTable):
    """A table with a defect, which some bodies find."""

    def __init__(self) -> None:
        super().__init__(topic_covers)

    def insert(self, key: tuple[int, int], body: bytes) -> Changes:
        if body[1] % 3 == 0:
            raise ZeroDivisionError("a defect of this language")
        return super().insert(key, body)

    def remove(self, key: tuple[int, int]) -> Changes:
        if key[1] % 2:
            raise ZeroDivisionError("a defect of this language")
        return super().remove(key)


@pytest.mark.parametrize("seed", range(5))
def test_a_table_that_fails_becomes_one_of_equal_bodies(seed: int) -> None:
    chance = Random(seed)
    links = random_graph(chance, 4) + attached(chance, 4, 3)
    net = check_history(BrokerNet(links, table=Breaking), seed, 3, 30)
    told = [event for _, event in net.events if isinstance(event, MessageQuarantined)]
    reasons = {event.reason.split(" at ")[0] for event in told if event.reason}
    assert reasons == {"covering: ZeroDivisionError"}


@pytest.mark.parametrize("verb", ["advertises", "includes"])
def test_relations_that_fail_are_answered_carefully(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(7)
    links = random_graph(chance, 4) + attached(chance, 4, 3)
    net = BrokerNet(links)
    sound = getattr(TopicRouting, verb)

    def fails(self: TopicRouting, one: bytes, other: bytes) -> bool:
        if one != other and other[1] % 2:
            raise ZeroDivisionError("a defect of this language")
        return bool(sound(self, one, other))

    monkeypatch.setattr(TopicRouting, verb, fails)
    check_history(net, 7, 3, 30)


def test_a_bad_body_is_refused_and_changes_nothing() -> None:
    net = BrokerNet([(1, 2), (1, 200)])
    end = net.publisher(200)
    end.advertise(bytes((0, 0, 96, 1, 2, 3)), LANGUAGE, 0)
    net.run()
    assert net.broker(1).broker.advertisements.trees == {}


@pytest.mark.parametrize("seed", range(3))
def test_law_equal_bodies_are_forwarded_once(seed: int) -> None:
    chance = Random(seed)
    table, held = EqualBodies(), dict[tuple[int, int], bytes]()
    told: set[bytes] = set()
    for _ in range(300):
        key = chance.randrange(9), 0
        if chance.random() < 0.4:
            held.pop(key, None)
            changes = table.remove(key)
        else:
            held[key] = bytes((chance.randrange(4),))
            changes = table.insert(key, held[key])
        assert not told & set(changes.announced)
        assert told >= set(changes.withdrawn)
        told = (told | set(changes.announced)) - set(changes.withdrawn)
        assert told == set(held.values()) == set(table.bodies())
        assert table.covered == len(held) - len(told)
        assert table.mergers == 0
    assert TABLES["equal"]().bodies() == EqualBodies().bodies()
