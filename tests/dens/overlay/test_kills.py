"""What was acknowledged survives kill -9 of a real process with a real store, and is shown once.

The soak kills three hundred times each.
"""

import os
import select
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from dens.node.storage.sqlite import SqliteStore
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import MessageAcknowledged, NotificationDelivered
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space, Store
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, ItemId, item_id
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

MEDIATOR, SUBSCRIBER, FIRST_PUBLISHER = 2, 3, 100
LONG_Q = 120
LIVES_OF_A_FILE = 30
"""Then a new file is taken: opening takes longer the more there is in it, and nearly all the time would go
into reading it.
"""


def one_life(work: Callable[[int], None], chance: Random, waits: bool) -> bytes:
    """Let a process work, kill it at a random moment, and return its output until then.

    One that is waited for lives until its first word at least; another may not even have opened its store.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(writes)
        finally:
            os._exit(1)
    os.close(writes)
    if waits:
        select.select([reads], [], [], 60.0)
    time.sleep(chance.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    with os.fdopen(reads, "rb") as told:
        return told.read()


def word(mark: bytes, said: ItemId) -> bytes:
    return mark + (said >> NUMBER_BITS).to_bytes(2, "big") + (said & NUMBER_MASK).to_bytes(4, "big")


def words(told: bytes, mark: bytes) -> list[ItemId]:
    """Return the lines with this mark, in order; a truncated last line does not count."""
    whole = [told[at : at + 7] for at in range(0, len(told) - 6, 7)]
    return [
        item_id(int.from_bytes(one[1:3], "big"), int.from_bytes(one[3:], "big"))
        for one in whole
        if one[:1] == mark
    ]


def mediator(store: Store) -> DensNode:
    return DensNode(MEDIATOR, Mission(7, {LANGUAGE: TOPICS}), store, 0, directory=TopicDirectory())


def publisher(node: int) -> PublisherEndpoint:
    return PublisherEndpoint(node, Mission(7), MemoryStore(), 0, filter_host=TopicHost())


def live(
    node: DensNode, ends: list[PublisherEndpoint | SubscriberEndpoint], happened: Callable[[Engine], None]
) -> None:
    """Publish without end at the mediator, and let all of them talk; print each one served."""
    for end in ends:
        node.contact_opened(end.node, 0)
        end.contact_opened(MEDIATOR, 0)
    now_ms = 0
    while True:
        now_ms += 5
        for end in ends:
            if isinstance(end, PublisherEndpoint):
                for _ in range(4):
                    end.publish(LANGUAGE, b"\x01\x02", LONG_Q, now_ms)
            end.timer_due(now_ms)
            for datagram in end.datagrams_to_send(now_ms):
                node.receive(datagram.data, end.node, now_ms)
        for datagram in node.datagrams_to_send(now_ms):
            next(end for end in ends if end.node == datagram.peer).receive(datagram.data, MEDIATOR, now_ms)
        for engine in (node, *ends):
            happened(engine)


def carry(path: Path, publisher_node: int, told: int) -> None:
    """Be a mediator with a real store that accepts a publisher's messages; print every acknowledgement."""

    def happened(engine: Engine) -> None:
        while (event := engine.next_event()) is not None:
            if isinstance(event, MessageAcknowledged) and engine.node == publisher_node and not event.reason:
                os.write(told, word(b"A", event.item.id))

    live(mediator(SqliteStore(path)), [publisher(publisher_node)], happened)


def kill_mediators(folder: Path, most: int) -> int:
    """Kill mediators at random moments; all that they acknowledged is held. Return how much that was."""
    chance = Random(5)
    count = 0
    acknowledged: set[ItemId] = set()
    for life in range(most):
        path = folder / f"mediator {life // LIVES_OF_A_FILE}.db"
        if life % LIVES_OF_A_FILE == 0:
            acknowledged = set()
        told = one_life(partial(carry, path, FIRST_PUBLISHER + life), chance, waits=life % 2 == 1)
        acknowledged.update(words(told, b"A"))
        count += len(words(told, b"A"))
        store = SqliteStore(path)
        held = {key for space, key, _ in store.load() if space == Space.ITEM}
        assert acknowledged <= held
        assert mediator(store).notification_count == len(held)
        store.close()
    return count


def listen(path: Path, life: int, told: int) -> None:
    """Be a subscriber with a real store; print what was acknowledged for it and what its application saw.

    Two publishers say the same as in the life before, and one says something new.
    """
    end = SubscriberEndpoint(SUBSCRIBER, Mission(7), SqliteStore(path), 0)
    if not end.in_force:
        end.subscribe(subscription(5, end.next_seq(5), LONG_Q, 1, 1), LANGUAGE, 0)

    def happened(engine: Engine) -> None:
        while (event := engine.next_event()) is not None:
            if isinstance(event, NotificationDelivered):
                os.write(told, word(b"S", event.item.id))
            elif isinstance(event, MessageAcknowledged) and event.item.type == MessageType.NOTIFY:
                os.write(told, word(b"A", event.item.id))

    live(mediator(MemoryStore()), [publisher(FIRST_PUBLISHER + life + n) for n in range(3)] + [end], happened)


def kill_subscribers(folder: Path, most: int) -> tuple[int, int]:
    """Kill subscribers at random moments; return how much they saw, and what they took and never saw.

    Nothing is seen twice. Whoever dies while it is being given a notification may not see that one: at most
    one for each life.
    """
    chance = Random(6)
    seen_count = lost_count = 0
    for first_life in range(0, most, LIVES_OF_A_FILE):
        path = folder / f"subscriber {first_life}.db"
        acknowledged: set[ItemId] = set()
        seen: list[ItemId] = []
        lives = range(first_life, min(most, first_life + LIVES_OF_A_FILE))
        for life in lives:
            told = one_life(partial(listen, path, life), chance, waits=life % 2 == 1)
            acknowledged.update(words(told, b"A"))
            seen += words(told, b"S")
            assert len(set(seen)) == len(seen)
        store = SqliteStore(path)
        last = SubscriberEndpoint(SUBSCRIBER, Mission(7), store, 0)
        while (event := last.next_event()) is not None:
            if isinstance(event, NotificationDelivered):
                seen.append(event.item.id)
        store.close()
        lost = acknowledged - set(seen)
        assert len(set(seen)) == len(seen)
        assert len(lost) <= len(lives)
        seen_count += len(seen)
        lost_count += len(lost)
    return seen_count, lost_count


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_killing_a_mediator(tmp_path: Path) -> None:
    assert kill_mediators(tmp_path, 36) >= 18


def test_nothing_is_seen_twice_by_killing_a_subscriber(tmp_path: Path) -> None:
    assert kill_subscribers(tmp_path, 36)[0] >= 18
