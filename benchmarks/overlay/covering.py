"""What covering in the system saves on the way to a source, and what it costs a mediator.

Real engines of the fuzzy language: one mediator, one source, subscribers with the populations of the paper
(`experiments/dens_experiments/fuzzy/workload.py`), none, a half or 96 % of them equal to another.
Subscriptions come in one after the other within a quarter of an hour, with lifetimes of 68 minutes, in two
worlds: the mediator meets the source when it has all of them (`first_sight`), or is with it all the time
(`in_contact`). Ours is with covering, the peer's the same world without.

Installs and bytes (of installs alone: envelope, vector and tag) are counts that no machine changes. Seconds
are processor time of the mediator alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import process_time

from benchmarks.measurement import Measurement, beside
from benchmarks.sizes import sized
from dens.node.assembly import assembly_of
from dens.overlay.limits import Limits
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import INSTALL
from dens.overlay.wire.envelope import read_header
from dens_experiments.fuzzy.workload import WORKLOADS
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table
from plugins.registry import languages
from watchdog.watchdog import Watchdog

MEDIATOR, SOURCE, FIRST_SUBSCRIBER = 1, 2, 3
COUNT = sized(1_000, 20)
EACH = sized(250, 5)
"""Subscriptions of one subscriber."""
WORKLOAD = WORKLOADS["paper"]
SIMILARITIES = (0.0, 0.5, 0.96)
LIFETIME_Q = 96
STEP_MS = 900
FUZZY = 1


@dataclass(slots=True)
class Cost:
    """What one world took."""

    installs: int = 0
    octets: int = 0
    mediator_s: float = 0.0


def measure() -> Iterator[Measurement]:
    """Count installs and their bytes, and take the mediator's time."""
    for similarity in SIMILARITIES:
        for world in ("first_sight", "in_contact"):
            ours, peer = (
                _lived_through(similarity, world == "in_contact", covering) for covering in (True, False)
            )
            name = f"overlay_covering_{world}_similarity_{round(100 * similarity)}"
            yield beside(f"{name}_installs", ours.installs, peer.installs)
            yield beside(f"{name}_install_bytes", ours.octets, peer.octets)
            yield beside(f"{name}_mediator_s", ours.mediator_s, peer.mediator_s)


def _lived_through(similarity: float, is_in_contact: bool, covering: bool) -> Cost:
    table = load_mission_table(["medical"])
    assembly = assembly_of(table, mission_key=b"mission", covering=covering, limits=Limits(ack_delay_ms=20))
    watchdog = Watchdog({number: language.source_filter(table) for number, language in languages().items()})
    engines: dict[int, Engine] = {MEDIATOR: assembly.mediator(MEDIATOR, MemoryStore(), 0)}
    source = engines[SOURCE] = assembly.publisher(SOURCE, MemoryStore(), 0, filter_host=watchdog)
    offered = LocalDataDictionary(table)
    event = table.events[0]
    offered.offer(event.name, [attribute.name for attribute in event.attributes[: WORKLOAD.attributes[2]]])
    source.announce(offered.extract(counter=1), 0)
    subscribers = [
        assembly.subscriber(FIRST_SUBSCRIBER + place, MemoryStore(), 0) for place in range(COUNT // EACH)
    ]
    engines |= {subscriber.node: subscriber for subscriber in subscribers}
    cost = Cost()
    for peer in [*(subscriber.node for subscriber in subscribers), *([SOURCE] if is_in_contact else [])]:
        _meet(engines, peer, 0)
    now_ms = _settle(engines, 0, cost)
    asked = replace(WORKLOAD, similarity=similarity).subscriptions(COUNT, seed=1)
    for number, vector in enumerate(asked):
        subscriber = subscribers[number % len(subscribers)]
        framed = bytes((number // len(subscribers), 0, LIFETIME_Q)) + vector[3:]
        subscriber.subscribe(framed, FUZZY, now_ms)
        now_ms = max(_settle(engines, now_ms, cost), (number + 1) * STEP_MS)
    if not is_in_contact:
        _meet(engines, SOURCE, now_ms)
        _settle(engines, now_ms, cost)
    return cost


def _meet(engines: dict[int, Engine], peer: int, now_ms: int) -> None:
    engines[MEDIATOR].contact_opened(peer, now_ms)
    engines[peer].contact_opened(MEDIATOR, now_ms)


def _settle(engines: dict[int, Engine], now_ms: int, cost: Cost) -> int:
    """Carry datagrams until no node waits for anything; return the time."""
    while True:
        is_busy = False
        for number, engine in engines.items():
            began = process_time()
            engine.timer_due(now_ms)
            out = engine.datagrams_to_send(now_ms)
            while engine.next_event() is not None:
                pass
            cost.mediator_s += process_time() - began if number == MEDIATOR else 0.0
            for datagram in out:
                is_busy = True
                if datagram.peer == SOURCE and read_header(datagram.data).type == INSTALL:
                    cost.installs += 1
                    cost.octets += len(datagram.data)
                began = process_time()
                engines[datagram.peer].receive(datagram.data, number, now_ms)
                cost.mediator_s += process_time() - began if datagram.peer == MEDIATOR else 0.0
        if not is_busy:
            timers = [at_ms for engine in engines.values() if (at_ms := engine.next_timer_ms()) is not None]
            if not timers or min(timers) > now_ms + 60_000:
                return now_ms
            now_ms = max(now_ms + 1, min(timers))
