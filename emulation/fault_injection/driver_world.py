"""The UDP driver under fault injection: the real link, runtime and neighbour table in simulated time, from
one seed.

An event loop with simulated time replaces sockets; datagrams pass through a network in memory that loses,
repeats and delays them. Endpoints are killed and restart at new ports, mediators at their own; clocks show
any time from 1970 to 2100 and jump. An attacker without the key sees every datagram and sends anything with
any source address: junk, forged HELLOs, recordings, changed or not. One with the key may fill the neighbour
table. In the end, with the attack still going on, every honest notification has been delivered once, nothing
forged was accepted, and every peer is known at its address.
"""

import asyncio
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, cast

from dens.node.links.neighbours import MOST_LEARNT, Address, Neighbours
from dens.node.links.runtime import Runtime
from dens.node.links.udp import UdpLink
from dens.overlay.assembly import Assembly
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, NotificationDelivered, NumberShared
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.item import ENVELOPE_BYTES, NUMBER_MASK, ItemId, format_id
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.plan import QUICK
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, TopicHost, subscription

_CHECK: Final = 77
_KEY: Final = b"mission"
_ASSEMBLY: Final = Assembly(
    Mission(_CHECK, {LANGUAGE: TOPICS}, key=_KEY, limits=QUICK),
    directory=TopicDirectory,
)
_YEAR_MS: Final = 31_557_600_000
_DAY_Q: Final = 131
"""A lifetime of a day, which is long compared with every clock jump."""
_LIVE_S: Final = 60.0
_HEAL_S: Final = 45.0
_FORGET_S: Final = 100.0
"""Silence after which every invented neighbour is forgotten."""
_MOST_FRAMES: Final = 4_000
MEDIATORS: Final = (1, 2)
SUBSCRIBERS: Final = (3, 4)
PUBLISHERS: Final = (5, 6)
HOME: Final = {3: 1, 4: 2, 5: 1, 6: 2}
"""The mediator that each endpoint contacts."""


class _Timeless(selectors.SelectSelector):
    """Does not wait: time advances by the timeout."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "no call is due and no input can arrive"
        self.now_s += max(timeout, 0.0)
        return []


class _Loop(asyncio.SelectorEventLoop):
    """An event loop in simulated time."""

    def __init__(self) -> None:
        self._timeless = _Timeless()
        super().__init__(self._timeless)

    def time(self) -> float:
        return self._timeless.now_s


@dataclass(frozen=True, slots=True)
class DriverPlan:
    """One world: what goes wrong in it, as probabilities per datagram or per second."""

    is_ipv6: bool
    loss: float
    repeat: float
    late_s: float
    restarts: float
    jumps: float
    spoofed: int
    """Datagrams with a false source that the attacker sends per second."""
    replays: bool
    """Whether the attacker also sends what it recorded."""
    crowd: int
    """Neighbours that a holder of the key invents."""


def draw_driver(seed: int) -> DriverPlan:
    """Return the plan of a seed. Every eighth has a crowd of invented neighbours."""
    rng = Random(f"driver {seed}")
    return DriverPlan(
        is_ipv6=rng.random() < 0.3,
        loss=rng.choice((0.0, 0.0, 0.1, 0.3)),
        repeat=rng.choice((0.0, 0.2)),
        late_s=rng.choice((0.001, 0.05, 1.0)),
        restarts=rng.choice((0.0, 0.05, 0.1)),
        jumps=rng.choice((0.0, 0.05)),
        spoofed=rng.choice((0, 20, 60)),
        replays=rng.random() < 0.7,
        crowd=MOST_LEARNT + 100 if seed % 8 == 0 else 0,
    )


@dataclass
class _Host:
    """One participant. Its store and its clock survive a restart, everything else is made again."""

    number: int
    skew_ms: int
    address: Address
    store: MemoryStore
    engine: Engine | None = None
    runtime: Runtime | None = None
    link: UdpLink | None = None
    neighbours: Neighbours | None = None
    run: "asyncio.Task[None] | None" = None
    warnings: int = 0


@dataclass
class _Transport:
    """The link's replacement for a socket."""

    world: "DriverWorld"
    address: Address

    def get_extra_info(self, name: str) -> Address:
        return self.address

    def sendto(self, data: bytes, address: Address) -> None:
        self.world.sent(self.address, address, data)

    def close(self) -> None:
        """Do nothing: no socket is open."""


@dataclass
class DriverWorld:
    """Two mediators, two subscribers, two publishers and an attacker."""

    seed: int
    plan: DriverPlan
    hosts: dict[int, _Host] = field(default_factory=dict)
    places: dict[Address, int] = field(default_factory=dict)
    """The node that listens at each address now."""
    old_places: list[Address] = field(default_factory=list)
    frames: list[tuple[Address, Address, bytes]] = field(default_factory=list)
    published: dict[ItemId, bytes] = field(default_factory=dict)
    delivered: dict[int, list[ItemId]] = field(default_factory=dict)
    shared: int = 0
    restarts: int = 0
    forged: int = 0

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self._port = 7_000

    def live(self) -> None:
        """Run the world and check its invariants."""
        loop = _Loop()
        self._loop = loop
        try:
            loop.run_until_complete(self._lived())
        finally:
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            loop.close()

    # ------------------------------------------------------------------ participants

    def _new_address(self) -> Address:
        self._port += 1
        return ("fd00::1" if self.plan.is_ipv6 else "10.0.0.1"), self._port

    def _clock(self, host: _Host) -> Callable[[], int]:
        return lambda: host.skew_ms + round(1000 * self._loop.time())

    def _engine(self, host: _Host) -> Engine:
        number, now_ms = host.number, self._clock(host)()
        if number in MEDIATORS:
            return _ASSEMBLY.mediator(number, host.store, now_ms)
        if number in SUBSCRIBERS:
            return _ASSEMBLY.subscriber(number, host.store, now_ms)
        return _ASSEMBLY.publisher(number, host.store, now_ms, filter_host=TopicHost())

    def _listed(self, number: int) -> dict[int, Address]:
        """Return the listed neighbours: an endpoint lists its mediator, the second mediator the first."""
        home = HOME.get(number, 1 if number == 2 else None)
        return {} if home is None else {home: self.hosts[home].address}

    def _start(self, host: _Host) -> None:
        clock = self._clock(host)
        host.engine = self._engine(host)
        host.runtime = Runtime(host.engine, clock, lambda event: self._on_event(host, event))
        listed, is_endpoint = self._listed(host.number), host.number in HOME
        host.neighbours = Neighbours(
            _ASSEMBLY.mission.authenticator(host.number),
            listed,
            clock(),
            accepts_others=not is_endpoint,
            silence_ms=3_000 if is_endpoint else 30_000,
        )
        host.link = UdpLink(
            host.runtime, host.neighbours, list(listed), lambda warning: self._on_warning(host)
        )
        self.places[host.address] = host.number
        host.link.connection_made(cast(asyncio.BaseTransport, _Transport(self, host.address)))
        host.run = self._loop.create_task(host.runtime.run())

    def _kill(self, host: _Host) -> None:
        assert host.link is not None
        assert host.run is not None
        host.link.connection_lost(None)
        host.run.cancel()
        del self.places[host.address]
        self.old_places.append(host.address)
        host.store = host.store.crash()
        host.engine = None
        if host.number in HOME:
            host.address = self._new_address()
        self.restarts += 1

    def _on_warning(self, host: _Host) -> None:
        host.warnings += 1

    def _on_event(self, host: _Host, event: Event) -> None:
        if isinstance(event, NotificationDelivered) and host.number in SUBSCRIBERS:
            item = event.item
            demand(
                self.published.get(item.id) == item.payload,
                6,
                f"subscriber {host.number} received a notification that was never published: {item}",
            )
            demand(
                item.id not in self.delivered[host.number],
                2,
                f"subscriber {host.number} received {format_id(item.id)} twice",
            )
            self.delivered[host.number].append(item.id)
        elif isinstance(event, NumberShared):
            self.shared += 1

    # ------------------------------------------------------------------ the network

    def sent(self, source: Address, target: Address, data: bytes) -> None:
        """Carry a datagram of a link; it arrives once, twice, late or never."""
        if len(self.frames) < _MOST_FRAMES:
            self.frames.append((source, target, data))
        else:
            self.frames[self.rng.randrange(_MOST_FRAMES)] = (source, target, data)
        for _ in range(2 if self.rng.random() < self.plan.repeat else 1):
            if self.rng.random() >= self.plan.loss:
                late_s = self.rng.uniform(0.0005, self.plan.late_s)
                self._loop.call_later(late_s, self._arrive, source, target, data)

    def _arrive(self, source: Address, target: Address, data: bytes) -> None:
        number = self.places.get(target)
        if number is None:
            return
        host = self.hosts[number]
        assert host.link is not None
        assert host.neighbours is not None
        host.link.datagram_received(data, source)
        bound = MOST_LEARNT + len(self._listed(number))
        demand(
            len(host.neighbours) <= bound,
            7,
            f"node {number} knows {len(host.neighbours)} neighbours, at most {bound} are allowed",
        )

    # ------------------------------------------------------------------ the attacker

    def _forge(self) -> tuple[Address, Address, bytes]:
        """Return a datagram that no node of the mission sends: source, target and bytes."""
        rng = self.rng
        targets = sorted(self.places)
        sources = [*targets, *self.old_places[-8:], ("10.9.9.9", rng.randrange(1, 65_536))]
        source, target = rng.choice(sources), rng.choice(targets)
        kind = rng.random()
        if kind < 0.2 or not self.frames:
            return source, target, rng.randbytes(rng.randrange(80))
        was_from, was_to, data = rng.choice(self.frames)
        if kind < 0.4:  # An envelope and a byte without a tag, in the name of a node.
            first = bytes((rng.choice((0x10, 0x20, 0x30)), rng.choice((1, 2, 3, 35))))
            return source, target, first + data[2:ENVELOPE_BYTES] + b"\0"
        if kind < 0.5:
            return was_from, was_to, bytes((data[0] & ~0x08,)) + data[1:-8]
        if kind < 0.7 or not self.plan.replays:
            at = rng.randrange(len(data))
            return (
                was_from,
                was_to,
                data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :],
            )
        if kind < 0.85:
            return was_from, was_to, data
        return source, target, data

    async def _attack(self) -> None:
        while self.plan.spoofed:
            await asyncio.sleep(1 / self.plan.spoofed)
            self.forged += 1
            self._arrive(*self._forge())

    def _crowd(self) -> None:
        """Let a holder of the key send HELLOs to the first mediator under many numbers and addresses."""
        for number in range(1_000, 1_000 + self.plan.crowd):
            end = _ASSEMBLY.subscriber(number, MemoryStore(), 0)
            end.contact_opened(1, 0)
            [greeting] = end.datagrams_to_send(0)
            hello = greeting.data
            self._arrive(("10.8.8.8", number), self.hosts[1].address, hello)

    # ------------------------------------------------------------------ a life

    async def _lived(self) -> None:
        rng = self.rng
        for number in (*MEDIATORS, *SUBSCRIBERS, *PUBLISHERS):
            skew_ms = round(rng.uniform(-50, 80) * _YEAR_MS)
            store = MemoryStore()
            init_counters(store, rng.randrange(1, 1 << 30))  # Real nodes use the clock, so numbers differ.
            self.hosts[number] = _Host(number, skew_ms, self._new_address(), store)
        for host in self.hosts.values():
            self._start(host)
        for number in SUBSCRIBERS:
            self.delivered[number] = []
            host = self.hosts[number]
            end, clock = host.engine, self._clock(host)
            assert isinstance(end, SubscriberEndpoint)
            end.subscribe(subscription(0, 0, _DAY_Q, 1, 0), LANGUAGE, clock())
            assert host.runtime is not None
            host.runtime.settle()
        await asyncio.sleep(10)
        attack = self._loop.create_task(self._attack())
        self._crowd()
        end_s = self._loop.time() + _LIVE_S
        while self._loop.time() < end_s:
            await asyncio.sleep(0.5)
            self._check()
            self._publish(self.hosts[rng.choice(PUBLISHERS)])
            await self._mishap()
        await asyncio.sleep(_HEAL_S + (_FORGET_S if self.plan.crowd else 0))
        self._check()
        if attack.done():
            attack.result()  # Raises what ended it.
        attack.cancel()
        self._judge()

    def _publish(self, host: _Host) -> None:
        if isinstance(host.engine, PublisherEndpoint):
            vector = bytes((1, self.rng.randrange(256)))
            made = host.engine.publish(LANGUAGE, vector, _DAY_Q, self._clock(host)())
            demand(
                made not in self.published,
                3,
                f"publisher {host.number} used number {made & NUMBER_MASK} for two notifications",
            )
            self.published[made] = vector
            assert host.runtime is not None
            host.runtime.settle()

    async def _mishap(self) -> None:
        host = self.hosts[self.rng.choice(sorted(self.hosts))]
        if self.rng.random() < self.plan.restarts:
            self._kill(host)
            await asyncio.sleep(self.rng.uniform(0, 3))
            self._start(host)
        if self.rng.random() < self.plan.jumps:
            host.skew_ms += self.rng.randrange(-2_000, 2_001)

    def _check(self) -> None:
        for host in self.hosts.values():
            if host.run is not None and host.run.done() and not host.run.cancelled():
                host.run.result()  # Raises what ended it.
                demand(False, 0, f"the runtime of node {host.number} ended by itself")

    def _judge(self) -> None:
        for number in SUBSCRIBERS:
            missing = sorted(self.published.keys() - set(self.delivered[number]))
            first = ", ".join(format_id(one) for one in missing[:5])
            demand(
                not missing, 1, f"subscriber {number} never received {len(missing)} notifications: {first}"
            )
        for number, home in HOME.items():
            known = self.hosts[home].neighbours
            assert known is not None
            at, is_at = known.address_of(number), self.hosts[number].address
            demand(at == is_at, 6, f"mediator {home} has node {number} at address {at}, but it is at {is_at}")
        if not self.plan.replays and not self.plan.restarts:  # Late frames of an earlier life look foreign.
            demand(self.shared == 0, 6, "a forgery made one node look like two with the same number")
