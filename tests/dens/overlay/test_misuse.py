"""What our own callers ask wrongly is refused with what and what to do, before anything has changed."""

from collections.abc import Callable
from typing import Any

import pytest

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.context import NodeContext
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.authentication import Authenticator
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

HOUR_Q = 95
VECTOR = subscription(1, 0, HOUR_Q, 3, 1)


def subscriber(node: Any = 3, check: Any = 7, key: bytes | None = None) -> SubscriberEndpoint:
    return SubscriberEndpoint(node, Mission(check, key=key), MemoryStore(), 0)


def publisher(node: Any = 3, check: Any = 7, key: bytes | None = None) -> PublisherEndpoint:
    return PublisherEndpoint(node, Mission(check, key=key), MemoryStore(), 0, filter_host=TopicHost())


def mediator(node: Any = 3, check: Any = 7, key: bytes | None = None) -> DensNode:
    return DensNode(
        node, Mission(check, {LANGUAGE: TOPICS}, key=key), MemoryStore(), 0, directory=TopicDirectory()
    )


MAKERS: list[Callable[..., Engine]] = [subscriber, publisher, mediator]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("node", [-1, 2**31, 1.0, "1", None])
def test_a_node_has_a_number_of_31_bits(make: Callable[..., Engine], node: object) -> None:
    with pytest.raises(LocalProtocolError, match=r"not a node number.*0\.\.2147483647"):
        make(node)
    assert make(0).node == 0
    assert make(2**31 - 1).node == 2**31 - 1


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("check", [-1, 256, 999, "7", None])
def test_a_table_check_is_one_byte(make: Callable[..., Engine], check: object) -> None:
    with pytest.raises(LocalProtocolError, match=r"not a table check.*MissionTable\.check"):
        make(3, check)
    make(3, 0)
    make(3, 255)


@pytest.mark.parametrize("make", MAKERS)
def test_a_seal_is_the_nodes_own(make: Callable[..., Engine]) -> None:
    assert make(3, key=b"mission").context.authenticator.node == 3
    with pytest.raises(LocalProtocolError, match=r"authenticator of node 4.*node 3"):
        NodeContext(3, MemoryStore(), Authenticator(4, b"mission"))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("peer", [3, -1, 2**31, "4"])
def test_a_contact_is_with_another_node(make: Callable[..., Engine], peer: Any) -> None:
    engine = make()
    with pytest.raises(LocalProtocolError, match="itself" if peer == 3 else "not a node number"):
        engine.contact_opened(peer, 0)
    assert engine.datagrams_to_send(0) == []


@pytest.mark.parametrize("vector", [VECTOR.hex(), None, 17, list(VECTOR), bytearray(VECTOR)])
def test_vectors_are_bytes(vector: Any) -> None:
    asker, sensor = subscriber(), publisher()
    asks: list[Callable[[], object]] = [
        lambda: asker.subscribe(vector, LANGUAGE, 0),
        lambda: sensor.publish(LANGUAGE, vector, HOUR_Q, 0),
        lambda: sensor.announce(vector, 0),
    ]
    for ask in asks:
        with pytest.raises(LocalProtocolError, match=f"bytes.*{type(vector).__name__}"):
            ask()
    assert asker.next_event() is None
    assert sensor.next_event() is None
    assert asker.in_force == ()
    assert sensor.held() == (0, 0, 0)


@pytest.mark.parametrize("code", [-1, 256, 1.5, "95", None])
def test_codes_are_bytes(code: Any) -> None:
    asker, sensor = subscriber(), publisher()
    asker.subscribe(VECTOR, LANGUAGE, 0)
    asks: list[Callable[[], object]] = [
        lambda: asker.subscribe(subscription(2, 0, HOUR_Q, 3, 1), code, 0),
        lambda: asker.renew(1, code, 0),
        lambda: sensor.publish(code, b"\x03\x05", HOUR_Q, 0),
        lambda: sensor.publish(LANGUAGE, b"\x03\x05", code, 0),
        lambda: sensor.announce(b"\x03", 0, code),
    ]
    for ask in asks:
        with pytest.raises(LocalProtocolError, match=r"0\.\.255"):
            ask()
    assert len(asker.in_force) == 1
    assert sensor.held() == (0, 0, 0)


def test_what_is_not_in_force_is_named_with_what_to_do() -> None:
    asker = subscriber()
    for ask in (lambda: asker.unsubscribe(9, 0), lambda: asker.renew(9, HOUR_Q, 0)):
        with pytest.raises(LocalProtocolError, match=r"no subscription 9 is in force.*subscribe"):
            ask()
    with pytest.raises(LocalProtocolError, match=r"subscription vector.*id, revision.*not 2 bytes"):
        asker.subscribe(b"\x01\x02", LANGUAGE, 0)
