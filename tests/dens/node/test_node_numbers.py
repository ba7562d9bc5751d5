"""Mediators and brokers with real languages serve every number that nodes and messages may have."""

import pytest

from dens.node.assembly import assembly_of
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.events import MessageQuarantined
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.broker_messages import Join
from dens.overlay.wire.codes import JOIN, NOTIFICATION, SUBSCRIBE, Role
from dens.overlay.wire.item import Item, lifetime_code_ms
from plugins.registry import languages
from plugins.routing import RoutingOptions
from tests.dens.overlay.test_quarantine import events
from tests.plugins.test_node_numbers import JOIN_NUMBERS, NUMBERS, SAMPLES
from watchdog.header import framed

HOUR_Q = lifetime_code_ms(3_600_000)
ROUTED = sorted(number for number, sample in SAMPLES.items() if not sample.names_its_key)
PEERS = [number for number in NUMBERS if number]


def told_in(language: int) -> int:
    """Return the language of the notifications that a language's subscriptions are about."""
    return min(languages([])[language].matchers)


@pytest.mark.slow
@pytest.mark.parametrize("language", ROUTED)
def test_a_broker_takes_joins_of_every_neighbour_and_number(language: int) -> None:
    sample = SAMPLES[language]
    made = assembly_of(sample.table, routing=RoutingOptions())
    broker = made.broker(1, MemoryStore(), 0, BrokerOptions())
    joins = [
        Item(
            JOIN,
            language,
            peer,
            number,
            0,
            HOUR_Q,
            1,
            Join(9, framed(0, 0, HOUR_Q, sample.bodies[0])).encode(),
        )
        for peer in PEERS
        for number in (1, *JOIN_NUMBERS[:-1], (1 << 31) - 1)
    ]
    for item in joins:
        broker.broker.entries.add(item, 0)
    told = Item(NOTIFICATION, told_in(language), 9, 1, 0, HOUR_Q, 1, sample.ask((1, 1)))
    assert broker.broker.entries.joined(told, 0) == set(PEERS)
    for item in joins:
        broker.broker.entries.remove(item.id, 0)
    assert broker.broker.entries.joined(told, 0) == set()
    assert not [event for event in events(broker) if isinstance(event, MessageQuarantined)]


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_a_mediator_owes_to_subscribers_of_every_number(language: int) -> None:
    sample = SAMPLES[language]
    made = assembly_of(sample.table, known={one: languages([])[one] for one in (language, told_in(language))})
    node = made.mediator(1, MemoryStore(), 0)
    for peer in PEERS:
        node.contact_opened(peer, 0)
        vector = framed(0, 0, HOUR_Q, sample.bodies[0])
        item = Item(SUBSCRIBE, language, peer, 1, 0, HOUR_Q, 1, vector)
        session = node.context.sessions[peer]
        session.role = Role.SUBSCRIBER
        node._on_items([item], session, 0)
    expected = set()
    for number, peer in enumerate(PEERS):
        told = Item(NOTIFICATION, told_in(language), peer, 2 + number, 0, HOUR_Q, 1, sample.ask((peer, 0)))
        session = node.context.sessions[peer]
        session.role = Role.PUBLISHER
        node._on_items([told], session, 0)
        expected |= {(told.id, one) for one in (PEERS if not sample.names_its_key else [peer])}
    owed = {(held.item.id, one) for held in node.state.carried.all() for one in held.pending}
    assert not [event for event in events(node) if isinstance(event, MessageQuarantined)]
    assert owed == expected
