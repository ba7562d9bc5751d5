"""A slow link that loses nothing: nothing is retransmitted, however full the window is."""

from collections import Counter, deque

import pytest

from dens.interfaces import BoundLanguage
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import HELLO, MessageType
from dens.overlay.wire.item import lifetime_code_ms
from emulation.fault_injection.topics import TopicDirectory, TopicHost
from plugins.direct.language import DIRECT, DirectMatcher, notification_for
from tests.dens.overlay.on_air import messages_in

HOUR_Q = lifetime_code_ms(3_600_000)
LANGUAGE = DIRECT.language_id
ONE, OTHER, ELSEWHERE = 1, 2, 3
Message = tuple[int, int, int]
"""Type, origin and number."""


def mediator(number: int, limits: Limits) -> DensNode:
    direct = BoundLanguage(matchers={LANGUAGE: DirectMatcher})
    mission = Mission(7, {LANGUAGE: direct}, limits=limits)
    return DensNode(number, mission, MemoryStore(), 0, directory=TopicDirectory())


def talk(machines: dict[int, ProtocolEngine], bytes_per_s: int, begin_ms: int, end_ms: int) -> list[Message]:
    """Let two nodes talk over a link that carries one datagram at a time, in the order in which they were
    handed over, whoever speaks; return what was sent."""
    sent: list[Message] = []
    waiting: deque[tuple[int, int, bytes]] = deque()
    free_ms = float(begin_ms)
    one, other = machines
    machines[one].contact_opened(other, begin_ms)
    machines[other].contact_opened(one, begin_ms)
    for now_ms in range(begin_ms, end_ms):
        while waiting and free_ms + 1_000 * len(waiting[0][2]) / bytes_per_s <= now_ms:
            sender, receiver, data = waiting.popleft()
            free_ms += 1_000 * len(data) / bytes_per_s
            machines[receiver].receive(data, sender, now_ms)
        for number, machine in machines.items():
            timer_ms = machine.next_timer_ms()
            if timer_ms is not None and timer_ms <= now_ms:
                machine.timer_due(now_ms)
            for datagram in machine.datagrams_to_send(now_ms):
                sent += [(item.type, item.origin, item.number) for item in messages_in(datagram.data, now_ms)]
                waiting.append((number, datagram.peer, datagram.data))
        if not waiting:
            free_ms = float(now_ms)
    return sent


def counts(sent: list[Message], kind: int) -> Counter[Message]:
    return Counter(message for message in sent if message[0] == kind)


@pytest.mark.parametrize(
    ("bytes_per_s", "messages", "message_bytes", "window_bytes"),
    [
        pytest.param(20_000, 20, 10_000, 65_536, id="a slow radio and big messages"),
        pytest.param(11_520, 500, 100, 16_384, id="a serial line and small messages"),
        pytest.param(4_800, 500, 30, 16_384, id="a slower radio and very small messages"),
    ],
)
def test_nothing_is_sent_twice_over_a_slow_link(
    bytes_per_s: int, messages: int, message_bytes: int, window_bytes: int
) -> None:
    limits = Limits(window_bytes=window_bytes)
    node = mediator(OTHER, limits)
    publisher = PublisherEndpoint(ONE, Mission(7, limits=limits), MemoryStore(), 0, filter_host=TopicHost())
    for _ in range(messages):
        publisher.publish(LANGUAGE, notification_for(ELSEWHERE, bytes(message_bytes)), HOUR_Q, 0)
    sent = talk({ONE: publisher, OTHER: node}, bytes_per_s, 0, 30_000)
    assert node.notification_count == messages
    assert set(counts(sent, int(MessageType.NOTIFICATION)).values()) == {1}
    assert set(counts(sent, int(MessageType.SUMMARY)).values()) == {1}
    assert sum(counts(sent, HELLO).values()) <= 4


def test_two_nodes_that_both_have_much_to_say_say_it_once() -> None:
    limits = Limits(window_bytes=65_536)
    nodes = {number: mediator(number, limits) for number in (ONE, OTHER)}
    for number, node in nodes.items():
        publisher = PublisherEndpoint(
            number + 10, Mission(7, limits=limits), MemoryStore(), 0, filter_host=TopicHost()
        )
        for _ in range(10):
            publisher.publish(LANGUAGE, notification_for(ELSEWHERE, bytes(10_000)), HOUR_Q, 0)
        talk({number + 10: publisher, number: node}, 10**8, 0, 2_000)
        node.contact_lost(number + 10, 2_000)
    sent = talk(dict(nodes), 20_000, 2_000, 30_000)
    assert [node.notification_count for node in nodes.values()] == [20, 20]
    assert set(counts(sent, int(MessageType.NOTIFICATION)).values()) == {1}
    assert sum(counts(sent, HELLO).values()) <= 6
