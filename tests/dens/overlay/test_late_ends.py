"""Expiry is reported when a node next acts, with the time of expiry: compared with a node that is woken
for every expiry.
"""

from collections import Counter
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import HoldingsEnded, MessageEvent, MessageExpired
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)
from tests.sizes import examples

TABLE = 7
SUBSCRIBER, FIRST, SECOND, PUBLISHER = 1, 2, 3, 4
LINKS = [(SUBSCRIBER, FIRST), (FIRST, SECOND), (SECOND, PUBLISHER), (SUBSCRIBER, SECOND), (FIRST, PUBLISHER)]
LIMITS = Limits(linger_ms=700, remember_ms=2_000)
DELAY_MS = 3


class Network:
    """Four engines on links that take a little time; if `is_woken`, each is woken for every expiry."""

    def __init__(self, is_woken: bool) -> None:
        self.is_woken = is_woken
        self.now_ms = 0
        self.engines: dict[int, Engine] = {
            SUBSCRIBER: SubscriberEndpoint(SUBSCRIBER, Mission(TABLE, limits=LIMITS), MemoryStore(), 0),
            FIRST: _mediator(FIRST),
            SECOND: _mediator(SECOND),
            PUBLISHER: PublisherEndpoint(
                PUBLISHER, Mission(TABLE, limits=LIMITS), MemoryStore(), 0, filter_host=TopicHost()
            ),
        }
        self.open: set[tuple[int, int]] = set()
        self.under_way: list[tuple[int, int, int, bytes]] = []
        self.sent: list[tuple[int, int, int, bytes]] = []
        self.told: dict[int, list[tuple[Any, ...]]] = {node: [] for node in self.engines}
        self.ends: dict[int, list[tuple[Any, ...]]] = {node: [] for node in self.engines}

    def run_until(self, at_ms: int) -> None:
        """Let time pass: ends first, then what arrives, then timers."""
        while (next_ms := self._next_ms()) <= at_ms:
            self.now_ms = max(self.now_ms, next_ms)
            if self.is_woken:
                for node, engine in self.engines.items():
                    if (end_ms := engine.next_expiry_ms()) is not None and end_ms <= self.now_ms:
                        engine.timer_due(self.now_ms)
                        self._hear(node)
            arrived = [one for one in self.under_way if one[0] <= self.now_ms]
            self.under_way = [one for one in self.under_way if one[0] > self.now_ms]
            for _, sender, receiver, data in arrived:
                if (min(sender, receiver), max(sender, receiver)) in self.open:
                    self.engines[receiver].receive(data, sender, self.now_ms)
                    self.settle(receiver)
            for node, engine in self.engines.items():
                if (timer_ms := engine.next_timer_ms()) is not None and timer_ms <= self.now_ms:
                    engine.timer_due(self.now_ms)
                    self.settle(node)
        self.now_ms = at_ms

    def _next_ms(self) -> int:
        timers = [engine.next_timer_ms() for engine in self.engines.values()]
        ends = [engine.next_expiry_ms() for engine in self.engines.values()] if self.is_woken else []
        soon = [max(one, self.now_ms + 1) for one in (*timers, *ends) if one is not None]
        return min([*soon, *(one[0] for one in self.under_way)], default=1 << 60)

    def settle(self, node: int) -> None:
        """Transfer a node's datagrams and collect its events."""
        for datagram in self.engines[node].datagrams_to_send(self.now_ms):
            peer, data = datagram.peer, datagram.data
            self.sent.append((self.now_ms, node, peer, data))
            self.under_way.append((self.now_ms + DELAY_MS, node, peer, data))
        self._hear(node)

    def _hear(self, node: int) -> None:
        while (event := self.engines[node].next_event()) is not None:
            if isinstance(event, MessageExpired | HoldingsEnded):
                self.ends[node].append(_plain(event))
            else:
                self.told[node].append(_plain(event))

    def act(self, what: str, which: int) -> None:
        """Do something that applications and links do."""
        if self.is_woken:
            self.run_until(self.now_ms)
        if what == "meet":
            pair = LINKS[which % len(LINKS)]
            if pair in self.open:
                self.open.remove(pair)
                for node, peer in (pair, pair[::-1]):
                    self.engines[node].contact_lost(peer, self.now_ms)
            else:
                self.open.add(pair)
                for node, peer in (pair, pair[::-1]):
                    self.engines[node].contact_opened(peer, self.now_ms)
                    self.settle(node)
        elif what == "publish":
            publisher = self.engines[PUBLISHER]
            assert isinstance(publisher, PublisherEndpoint)
            publisher.publish(LANGUAGE, bytes((3, which)), which % 12, self.now_ms)
            self.settle(PUBLISHER)
        elif what == "announce":
            publisher = self.engines[PUBLISHER]
            assert isinstance(publisher, PublisherEndpoint)
            publisher.announce(bytes((1, 2)), self.now_ms, which % 12)
            self.settle(PUBLISHER)
        else:
            subscriber = self.engines[SUBSCRIBER]
            assert isinstance(subscriber, SubscriberEndpoint)
            held = [one for one in subscriber.in_force if one.until_ms > self.now_ms]
            if what == "withdraw" and held:
                subscriber.unsubscribe(held[which % len(held)].id, self.now_ms)
            elif what == "subscribe":
                subscriber.expire(self.now_ms)
                id = which % 3
                subscriber.subscribe(
                    subscription(id, subscriber.next_seq(id), which % 12, 3, 1), LANGUAGE, self.now_ms
                )
            self.settle(SUBSCRIBER)


def _mediator(number: int) -> DensNode:
    return DensNode(
        number,
        Mission(TABLE, {LANGUAGE: TOPICS}, limits=LIMITS),
        MemoryStore(),
        0,
        directory=TopicDirectory(),
    )


def _plain(event: Any) -> tuple[Any, ...]:
    if isinstance(event, MessageEvent):
        return (type(event).__name__, event.at_ms, event.item.id, event.item.type, event.peer, event.reason)
    return (type(event).__name__, repr(event))


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["meet", "meet", "publish", "publish", "announce", "subscribe", "withdraw"]),
        st.integers(0, 60),
        st.integers(0, 4_000),
    ),
    max_size=30,
)


@settings(max_examples=examples(150), deadline=None)
@given(ACTS)
def test_output_does_not_depend_on_wake_ups_for_expiry(acts: list[tuple[str, int, int]]) -> None:
    woken, late = Network(is_woken=True), Network(is_woken=False)
    for network in (woken, late):
        for what, which, pause_ms in acts:
            network.act(what, which)
            network.run_until(network.now_ms + pause_ms)
        network.run_until(network.now_ms + 10_000)
        for node, engine in network.engines.items():
            engine.expire(network.now_ms)
            network._hear(node)
    assert late.sent == woken.sent
    assert late.told == woken.told
    for node in late.engines:
        assert late.engines[node].held() == woken.engines[node].held()
        ends_ms = [one[1] for one in late.ends[node] if one[0] == "MessageExpired"]
        assert ends_ms == sorted(ends_ms)
        assert Counter(late.ends[node]) == Counter(woken.ends[node])
