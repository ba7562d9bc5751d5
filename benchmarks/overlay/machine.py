"""How many messages a second one DENS node handles, as a pure machine and with a durable store.

The node is a `DensNode` in an open contact; the frames are made beforehand by a real peer, so that only the
node is measured. Every frame is answered: acknowledgements are collected and committed as in a real contact.
Processor time is counted for the pure machine; with a store it is the time that passes, disk included.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.engine_forms import COMPILED, EARLIER, PURE, forms
from benchmarks.measurement import Measurement, at_least, at_most
from benchmarks.sizes import sized
from dens.node.keys import IdentityBook, SigningKey, derive, new_signing_key
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Store
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import item_id
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

NODE, PEER = 1, 2
NOTIFICATIONS = sized(5_000, 64)
SUMMARIES = sized(10_000, 64)
GROUP = 32
ROUNDS = sized(3, 1)
LEAST_PER_S = {"known_summaries": 50_000, "new_notifications": 10_000, "durable_notifications": 5_000}
AGAINST_EARLIER = 1.5
_MEASURED = """
import json, sys, time
from pathlib import Path
{imports}
overlay._mediator = lambda node, store: {mediator}
store = SqliteStore(Path(sys.argv[1]) / "store.db")
print(json.dumps({{
    "known_summaries": overlay._summaries(),
    "new_notifications": overlay._new_notifications(overlay.MemoryStore()),
    "durable_notifications": overlay._new_notifications(store, time.perf_counter),
}}))
"""
RATES = _MEASURED.format(
    imports="""from benchmarks.overlay import machine as overlay
from dens.node.storage.sqlite import SqliteStore""",
    mediator="""overlay.DensNode(
    node,
    overlay.Mission(
        7, {overlay.LANGUAGE: overlay.TOPICS}, limits=overlay.Limits(session_burst=overlay.SUMMARIES)
    ),
    store,
    0,
    directory=overlay.TopicDirectory(),
)""",
)
EARLIER_RATES = _MEASURED.format(
    imports="""from benchmarks import overlay_machine as overlay
from dens.limits import Limits
from dens.stores.sqlite import SqliteStore""",
    mediator="""overlay.DensNode(
    node, 7, store, 0, matchers={overlay.LANGUAGE: overlay.TopicMatcher}, directory=overlay.TopicDirectory(),
    limits=Limits(session_burst=overlay.SUMMARIES),
)""",
)
"""The same functions of the earlier commit's own benchmark, under that commit's module names. Its node would
reject most summaries of a contact for their rate, hence the larger burst.
"""


def measure() -> Iterator[Measurement]:
    """Measure summaries, new notifications without and with a disk, and signatures."""
    rates = _side_by_side()
    for what, least in LEAST_PER_S.items():
        yield at_least(f"overlay_{what}_per_s_against_{least}", rates[PURE][what], float(least), 1.0)
        for form in (PURE, COMPILED):
            if form in rates and EARLIER in rates:
                name = f"overlay_{form}_{what}_per_s_against_earlier"
                yield at_least(name, rates[form][what], rates[EARLIER][what], AGAINST_EARLIER)
    sign_us, verify_us = _signatures()
    yield at_most("overlay_us_to_sign_against_200", sign_us, 200.0, 1.0)
    yield at_most("overlay_us_to_verify_against_500", verify_us, 500.0, 1.0)


def _side_by_side() -> dict[str, dict[str, float]]:
    """Return the best rates of each form of our text, measured in turns."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for form in forms():
            with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
                found = form.run(EARLIER_RATES if form.name == EARLIER else RATES, folder)
            known = best.setdefault(form.name, found)
            best[form.name] = {what: max(known[what], found[what]) for what in found}
    return best


def _mediator(node: int, store: Store) -> DensNode:
    """Return a node that takes every summary, however often they come."""
    limits = Limits(session_burst=SUMMARIES)
    return DensNode(node, Mission(7, {LANGUAGE: TOPICS}, limits=limits), store, 0, directory=TopicDirectory())


def _greet(node: DensNode, peer: DensNode | PublisherEndpoint) -> int:
    """Let both meet until there is nothing more to say; return the time."""
    node.contact_opened(PEER, 0)
    peer.contact_opened(NODE, 0)
    now_ms = 0
    for _ in range(50):
        now_ms += 10
        for datagram in node.datagrams_to_send(now_ms):
            peer.receive(datagram.data, NODE, now_ms)
        for datagram in peer.datagrams_to_send(now_ms):
            node.receive(datagram.data, PEER, now_ms)
    return now_ms


def _summaries() -> float:
    """Return how many summaries a second are taken with nothing new: both know ten publishers'
    thousand.
    """
    node, peer = _mediator(NODE, MemoryStore()), _mediator(PEER, MemoryStore())
    for origin in range(10, 20):
        for number in range(1_000):
            for machine in (node, peer):
                machine.context.durable.known.add(item_id(origin, number), 10**9)
    node.contact_opened(PEER, 0)
    peer.contact_opened(NODE, 0)
    summaries = []
    for now_ms in range(0, 500, 10):
        for datagram in peer.datagrams_to_send(now_ms):
            if datagram.data[1] == MessageType.SUMMARY:
                summaries.append(datagram.data)
            node.receive(datagram.data, PEER, now_ms)
        for datagram in node.datagrams_to_send(now_ms):
            peer.receive(datagram.data, NODE, now_ms)
    [summary] = summaries
    first = int.from_bytes(summary[8:12], "big")
    frames = [
        summary[:8] + (first + number).to_bytes(4, "big") + summary[12:] for number in range(1, SUMMARIES)
    ]
    begin = time.process_time()
    for number, frame in enumerate(frames):
        node.receive(frame, PEER, 1_000)
        if number % GROUP == GROUP - 1:
            node.datagrams_to_send(1_000)
    spent_s = time.process_time() - begin
    if node.context.sessions[PEER].summary_number != first + len(frames):
        raise AssertionError("not every summary was taken")
    return len(frames) / spent_s


def _new_notifications(store: Store, clock: Callable[[], float] = time.process_time) -> float:
    """Return how many notifications a second are matched, stored, committed in groups and acknowledged. They
    come as a publisher says what it has gathered: several in a datagram.
    """
    node = _mediator(NODE, store)
    publisher = PublisherEndpoint(PEER, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    now_ms = _greet(node, publisher)
    _subscribe(node, now_ms)
    frames: list[bytes] = []
    for begin in range(0, NOTIFICATIONS, GROUP):
        for number in range(begin, min(begin + GROUP, NOTIFICATIONS)):
            publisher.publish(LANGUAGE, bytes((1, number % 256)), 100, now_ms)
        frames += [one.data for one in publisher.datagrams_to_send(now_ms)]
        _acknowledge_all(publisher)
    begin_s = clock()
    for frame in frames:
        node.receive(frame, PEER, now_ms)
        node.datagrams_to_send(now_ms)
        while node.next_event() is not None:
            pass
    node.datagrams_to_send(now_ms + 100)
    spent_s = clock() - begin_s
    if node.notification_count != NOTIFICATIONS:
        raise AssertionError(f"{node.notification_count} of {NOTIFICATIONS} notifications were taken")
    return NOTIFICATIONS / spent_s


def _acknowledge_all(publisher: PublisherEndpoint) -> None:
    """Let the publisher believe that everything has arrived, so that it goes on."""
    [session] = publisher.context.sessions.values()
    for number in session.flights.ids:
        session.on_acknowledged(number, 0)


def _subscribe(node: DensNode, now_ms: int) -> None:
    """Give the node twenty subscriptions, of which about one in two is satisfied by a notification."""
    subscriber = SubscriberEndpoint(3, Mission(7), MemoryStore(), 0)
    for id in range(20):
        subscriber.subscribe(subscription(id, 0, 120, 1 + id % 2, 12 * id), LANGUAGE, now_ms)
    node.contact_opened(3, now_ms)
    subscriber.contact_opened(NODE, now_ms)
    for step in range(50):
        for datagram in subscriber.datagrams_to_send(now_ms + 10 * step):
            node.receive(datagram.data, 3, now_ms + 10 * step)
        for datagram in node.datagrams_to_send(now_ms + 10 * step):
            if datagram.peer == 3:
                subscriber.receive(datagram.data, NODE, now_ms + 10 * step)
    node.contact_lost(3, now_ms)
    if node.subscription_count != 20:
        raise AssertionError("the subscriptions did not arrive")


def _signatures() -> tuple[float, float]:
    """Return the microseconds of one signature and of one verification, the best of many."""
    key = new_signing_key(3)
    signer, book, statement = SigningKey(key), IdentityBook([derive(key)]), bytes(60)
    signature = signer.sign(statement)
    sign_s = verify_s = 1.0
    for _ in range(300):
        begin = time.perf_counter()
        signer.sign(statement)
        middle = time.perf_counter()
        if not book.verifies(3, statement, signature):
            raise AssertionError("a good signature does not verify")
        sign_s = min(sign_s, middle - begin)
        verify_s = min(verify_s, time.perf_counter() - middle)
    return 1e6 * sign_s, 1e6 * verify_s
