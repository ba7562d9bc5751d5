"""Tables made of covering alone, and what brokers ask of languages that say nothing of routing."""

import random
from dataclasses import replace

import pytest

from emulation.fault_injection.topics import topic_covers
from knowledge_manager.mission_table import load_mission_table
from plugins.language import SubscriptionKey
from plugins.registry import language_named
from plugins.routing import CoveringTable, RelatedRouting, RoutingOptions, routing_of, same

TABLE = load_mission_table(["medical"])


def roots(bodies: set[bytes]) -> set[bytes]:
    """Return those that nothing else covers, by the definition."""
    return {one for one in bodies if not any(two != one and topic_covers(two, one) for two in bodies)}


@pytest.mark.parametrize("seed", range(5))
def test_law_after_any_history_the_roots_are_forwarded(seed: int) -> None:
    chance = random.Random(seed)
    table, held = CoveringTable(topic_covers), dict[SubscriptionKey, bytes]()
    told: set[bytes] = set()
    for _ in range(400):
        key = chance.randrange(12), 0
        if chance.random() < 0.4:
            held.pop(key, None)
            changes = table.remove(key)
        else:
            held[key] = bytes((chance.randrange(3), chance.randrange(40)))
            changes = table.insert(key, held[key])
        assert not told & set(changes.announced)
        told = (told | set(changes.announced)) - set(changes.withdrawn)
        assert told == set(table.bodies()) == roots(set(held.values()))
        assert len(table.bodies()) + table.covered == len(held)
        assert table.mergers == 0


def test_without_covering_equal_bodies_stand_for_each_other() -> None:
    table = CoveringTable(same)
    assert table.insert((1, 0), b"a").announced == (b"a",)
    assert table.insert((2, 0), b"a").announced == ()
    assert table.remove((1, 0)).withdrawn == ()
    assert table.remove((2, 0)).withdrawn == (b"a",)
    assert table.remove((2, 0)).withdrawn == ()


def test_language_with_relations_uses_these_and_its_matcher() -> None:
    fuzzy = replace(language_named("fuzzy"), routing=None)
    found = routing_of(fuzzy, TABLE, RoutingOptions())
    assert isinstance(found, RelatedRouting)
    vector = bytes.fromhex("00006700009592ff547bff3f00c249010b")
    body = vector[3:]
    assert found.includes(body, body)
    assert found.advertises(body, body)
    assert found.admits(body, bytes.fromhex("00015f0001f0ac7ec2010b"))
    assert found.advertisement(TABLE.event("patient"), ()) is None


def test_language_without_relations_is_not_called() -> None:
    assert routing_of(language_named("direct"), TABLE, RoutingOptions()) is None
