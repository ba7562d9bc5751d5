"""One hostile node of the mission floods twenty honest ones: they hardly notice, and nothing outgrows its
bound.
"""

from dataclasses import replace
from random import Random

import pytest

from dens.interfaces import BoundLanguage
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import DIRECT_LANGUAGE, MessageType
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK
from emulation.fault_injection.plan import QUICK, Faults, Plan
from emulation.fault_injection.topics import LANGUAGE, TopicDirectory, TopicHost
from emulation.fault_injection.world import World
from plugins.direct.language import DirectMatcher
from tests.dens.overlay.on_air import messages_in

ROOM = replace(QUICK, notification_items=200, notification_bytes=3_600, receipts=400, known_items=1_000)
SECONDS = 30


def run(seed: int, a_second: int) -> tuple[World, int]:
    """Let a hostile publisher, always in contact with two mediators, publish this many events per second.

    Contacts and operations of the honest nodes are drawn apart, so that they are the same whatever it does.
    """
    plan = Plan(subscribers=6, mediators=8, publishers=6, faults=Faults(flood=1e-9), limits=ROOM)
    world = World(seed, plan)
    honest, [hostile] = list(range(1, 21)), world.hostile
    chance = Random(seed)
    for subscriber in world.subscribers:
        world.applications.subscribe(subscriber, 0)
    for at_ms in range(0, 1_000 * SECONDS, 250):
        a, b = chance.sample(honest, 2)
        for_ms = chance.randrange(500, 6_000)
        world.at(at_ms, lambda a=a, b=b, for_ms=for_ms: world.open(a, b, for_ms))  # type: ignore[misc]
    for at_ms in range(0, 1_000 * SECONDS, 400):
        publisher = chance.choice(world.publishers)
        world.at(at_ms, lambda node=publisher: world.applications.publish(node))  # type: ignore[misc]

    def flood() -> None:
        machine = world.machines[hostile]
        assert isinstance(machine, PublisherEndpoint)
        for number in range(a_second):
            machine.publish(LANGUAGE, bytes((1 + number % 2, 255)), 90, world.local(hostile))
        world.turn(hostile)

    for mediator in world.mediators[:2]:
        world.open(hostile, mediator, 1_000 * SECONDS)
    for at_ms in range(0, 1_000 * SECONDS, 1_000):
        world.at(at_ms, flood)
    world.run(1_000 * SECONDS)
    return world, sum(item_id >> NUMBER_BITS != hostile for _, item_id in world.delivered)


def test_honest_delivery_hardly_suffers_and_memory_is_bounded() -> None:
    quiet, flooded = run(1, 0), run(1, 25)
    assert quiet[1] > 60
    assert flooded[1] >= 0.95 * quiet[1]
    world = flooded[0]
    taken = max(one & NUMBER_MASK for _, one in world.delivered if one >> NUMBER_BITS in world.hostile)
    assert taken > ROOM.notification_items
    for node in world.all_nodes():
        machine = world.machines[node]  # the checker has checked the other bounds of mediators at every step
        assert machine.context.durable.known.released_count <= ROOM.known_items
        assert not machine.context.events
        for session in machine.context.sessions.values():
            assert len(session._also_has) < 1_000
            assert len(session._taken) < 1_000
            assert len(session.queue) <= ROOM.notification_items + ROOM.receipts + 100


@pytest.mark.parametrize("flood_bytes", [11, 900])
def test_a_flood_does_not_fill_the_air_of_others(flood_bytes: int) -> None:
    """A contact is too short for all; a flooder came first, and honest publishers still get their turns."""

    def mediator(node: int) -> DensNode:
        direct = BoundLanguage(matchers={DIRECT_LANGUAGE: DirectMatcher})
        mission = Mission(7, {DIRECT_LANGUAGE: direct}, limits=Limits(window_bytes=512))
        return DensNode(node, mission, MemoryStore(), 0, directory=TopicDirectory())

    node, peer = mediator(1), mediator(2)
    for publisher, count, size, at_ms in ((9, 300, flood_bytes, 0), (5, 10, 11, 9_000), (6, 10, 11, 9_000)):
        end = PublisherEndpoint(publisher, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
        for number in range(count):
            end.publish(DIRECT_LANGUAGE, bytes((1, number % 256)) * size, 100, at_ms)
        converse(node, end, at_ms, 60_000)
        node.contact_lost(publisher, 60_000)
    assert node.notification_count == 320
    bytes_across = converse(node, peer, 60_000, 400_000, most_bytes=2_500)
    assert bytes_across >= 2_500
    carried = [one.item.origin for one in peer.state.carried.all()]
    assert carried.count(5) == carried.count(6) == 10
    assert 0 < carried.count(9) < 60


def converse(a: Engine, b: Engine, begin_ms: int, end_ms: int, most_bytes: int = 10**9) -> int:
    """Let two engines talk until this many bytes of notifications were sent; return the number sent."""
    a.contact_opened(b.node, begin_ms)
    b.contact_opened(a.node, begin_ms)
    crossed = 0
    for now_ms in range(begin_ms, end_ms, 100):
        said = 0
        for speaker, hearer in ((a, b), (b, a)):
            for out in speaker.datagrams_to_send(now_ms):
                if out.peer == hearer.node and crossed < most_bytes:
                    hearer.receive(out.data, speaker.node, now_ms)
                    said += 1
                    crossed += sum(
                        item.size for item in messages_in(out.data) if item.type == MessageType.NOTIFICATION
                    )
        if not said and now_ms > begin_ms + 3_000:
            break
    return crossed
