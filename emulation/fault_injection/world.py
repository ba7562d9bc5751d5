"""A small deterministic world that drives real engines from one seed, without SimPy.

Time is a heap of things to do. Links lose, repeat, delay (and so reorder) and corrupt; nodes crash at the
named fault points and restart from what was committed; clocks agree on nothing. Everything that happens is
shown to a checker, which compares it with what docs/reference/protocols.md promises.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import islice
from random import Random

from dens.interfaces import BoundLanguage, FilterHost
from dens.overlay.assembly import Assembly
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.mission import Mission
from dens.overlay.policies.registry import POLICIES
from dens.overlay.session.engine import Engine
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.item import ItemId
from emulation.fault_injection.applications import Applications
from emulation.fault_injection.invariant_checker import InvariantChecker
from emulation.fault_injection.plan import (
    CLOCK_JUMP_MS,
    FAULT_POINTS,
    LOOK_UP_EVERY_MS,
    LOOK_UP_MS,
    LOOK_UPS_AT_LAST,
    SLOWEST_MS,
    CrashingStore,
    Faults,
    Plan,
)
from emulation.fault_injection.sequences import (
    SEQUENCE,
    SequenceComposer,
    SequenceMatcher,
    parts_of_sequence,
    results_of,
)
from emulation.fault_injection.topics import (
    EITHER,
    LANGUAGE,
    MATCHERS,
    POISONED,
    TopicCovers,
    TopicDirectory,
    TopicHost,
    parts_of,
)

TABLE_CHECK = 77
Pair = tuple[int, int]


class World:
    """Nodes in a row: subscribers, then mediators, then publishers, then hostile ones."""

    def __init__(
        self,
        seed: int,
        plan: Plan,
        store_of: Callable[[int], CrashingStore] = lambda node: MemoryStore(),
    ) -> None:
        """`store_of` makes the store of a node."""
        self.seed = seed
        self.plan = plan
        self.now_ms = 0
        self.links: tuple[Pair, ...] = ()
        """The links of a world that has some; in others any two nodes may meet."""
        self.chance = Random(seed)
        self.faults = plan.faults
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        numbers = iter(plan.nodes)
        self.subscribers = tuple(islice(numbers, plan.subscribers))
        self.mediators = tuple(islice(numbers, plan.mediators))
        self.publishers = tuple(islice(numbers, plan.publishers))
        self.hostile = tuple(numbers)
        self.skew_ms = {node: plan.clock_ms + self.chance.randrange(10**9) for node in self.all_nodes()}
        self._jumped = dict.fromkeys(self.all_nodes(), 0)
        self.stores = {node: store_of(node) for node in self.all_nodes()}
        self._assembly = self._assembled()
        self.hosts: dict[int, TopicHost] = {}
        self.machines: dict[int, Engine] = {}
        self.down: set[int] = set()
        self.contacts: dict[Pair, int] = {}
        self._begun: dict[Pair, int] = {}
        self._halves: tuple[set[int], int] | None = None
        self.contact_log: list[tuple[int, int, int, int]] = []
        self.frames: list[tuple[int, int, bytes]] = []
        self._frame_contact: list[int] = []
        self.crashes = 0
        self.crashed_at = dict.fromkeys(FAULT_POINTS, 0)
        self.steps = 0
        self.checker = self._checker()
        self.applications = self._applications()
        for node in self.all_nodes():
            if plan.first_number is not None:
                init_counters(self.stores[node], plan.first_number)
            self._start(node)

    def _checker(self) -> InvariantChecker:
        return InvariantChecker(self)

    def _applications(self) -> Applications:
        return Applications(self)

    def _assembled(self) -> Assembly:
        """Return what makes the engines of this world."""
        plan = self.plan
        matchers = POISONED if plan.is_poisoned else MATCHERS
        languages = {LANGUAGE: BoundLanguage(matchers={LANGUAGE: matchers[LANGUAGE]}, covers=TopicCovers)}
        if plan.has_parts:
            languages[EITHER] = BoundLanguage(matchers={LANGUAGE: matchers[EITHER]}, decompose=parts_of)
        if plan.composes:
            languages[SEQUENCE] = BoundLanguage(
                matchers={SEQUENCE: SequenceMatcher},
                decompose=parts_of_sequence,
                composer=SequenceComposer,
                results=results_of,
            )
        return Assembly(
            Mission(TABLE_CHECK, languages, key=plan.mission_key, limits=plan.limits, covering=plan.covering),
            directory=TopicDirectory,
            knowledge=TopicDirectory if plan.looks_up else None,
        )

    def all_nodes(self) -> tuple[int, ...]:
        """Return everybody."""
        return self.plan.nodes

    def local(self, node: int) -> int:
        """Return what the node's own clock shows: no two agree."""
        return self.now_ms + self.skew_ms[node]

    @property
    def delivered(self) -> dict[tuple[int, ItemId], int]:
        """Return when each subscriber saw each notification."""
        return self.checker.delivered

    # ------------------------------------------------------------------ nodes

    def _start(self, node: int) -> None:
        store, now_ms = self.stores[node], self.local(node)
        if node in self.subscribers:
            machine: Engine = self._assembly.subscriber(node, store, now_ms)
        elif node in self.mediators:
            machine = self._mediator(node, now_ms)
        else:
            machine = self._assembly.publisher(node, store, now_ms, filter_host=self._source_host(node))
            self._announce(machine, now_ms)
        self.machines[node] = machine
        self.checker.started(node)
        for a, b in self.contacts:
            if node in (a, b):
                machine.contact_opened(a + b - node, now_ms)
        self.turn(node)

    def _mediator(self, node: int, now_ms: int) -> Engine:
        return self._assembly.mediator(
            node,
            self.stores[node],
            now_ms,
            policy=None if self.plan.policy is None else POLICIES[self.plan.policy](node),
            hosts=frozenset(end for end, home in self.plan.homes.items() if home == node),
        )

    def _announce(self, machine: PublisherEndpoint, now_ms: int) -> None:
        machine.announce(b"\x01\x02", now_ms)

    def _source_host(self, node: int) -> FilterHost:
        """Return what a source filters with: not every source knows every language, or has room for it."""
        kind = (*self.publishers, *self.hostile).index(node) % 3
        self.hosts[node] = (
            TopicHost() if kind == 0 else TopicHost((LANGUAGE, EITHER), most_bytes=2 if kind == 1 else 4)
        )
        return self.hosts[node]

    def crash(self, node: int) -> None:
        """Throw the engine away with everything that was not committed; make a new one, at once or later."""
        if node in self.down:
            return
        self.crashes += 1
        self.checker.crashed(node)
        self.stores[node] = self.stores[node].crash()
        self.down.add(node)
        pause_ms = self.chance.randrange(5_000) if self.chance.random() < 0.3 else 0
        self.at(self.now_ms + pause_ms, lambda: self.restart(node))

    def restart(self, node: int) -> None:
        """Make a new engine from what the crash left."""
        if node in self.down:
            self.down.remove(node)
            self._start(node)
            self.checker.restarted(node)

    def _is_hit(self, node: int, point: str) -> bool:
        """Crash this node at this fault point, if chance wants it."""
        if not self.faults.crash or self.chance.random() >= self.faults.crash:
            return False
        self.crashed_at[point] += 1
        self.crash(node)
        return True

    # ------------------------------------------------------------------ time

    def at(self, at_ms: int, do: Callable[[], None]) -> None:
        """Arrange something."""
        self._order += 1
        heappush(self._agenda, (at_ms, self._order, do))

    def run(self, until_ms: int) -> None:
        """Do what is due until then."""
        while self._agenda and self._agenda[0][0] <= until_ms:
            self.now_ms, _, do = heappop(self._agenda)
            do()
        self.now_ms = until_ms

    def turn(self, node: int, *, is_asked: bool = False) -> None:
        """Let a node speak after any verb, arrange its next timer, and check what it promises.

        The fault points are here. What an application asked (`is_asked`) it asks again until it is durable,
        so a crash before that commit would show nothing and is left out.
        """
        self.steps += 1
        if not is_asked and self._is_hit(node, "before_commit"):
            return
        machine = self.machines[node]
        out = machine.datagrams_to_send(self.local(node))
        if self._is_hit(node, "after_commit"):
            return
        for datagram in out:
            self.checker.sent(node, datagram.peer, datagram.data)
            self._carry(node, datagram.peer, datagram.data)
        if self._is_hit(node, "after_send"):
            return
        while (event := machine.next_event()) is not None:
            self.checker.note(node, event)
            if self._is_hit(node, "between_events"):
                return
        timer = machine.next_timer_ms()
        if timer is not None:
            self.at(max(timer - self.skew_ms[node], self.now_ms + 1), lambda: self._timer(node, machine))
        self.checker.step(node)

    def _timer(self, node: int, machine: Engine) -> None:
        if self.machines[node] is not machine or node in self.down:
            return
        due = machine.next_timer_ms()
        if due is not None and due <= self.local(node):
            machine.timer_due(self.local(node))
            self.turn(node)

    def jump(self, node: int, by_ms: int) -> None:
        """Move a node's clock; all its jumps together stay within ten times the longest."""
        if abs(self._jumped[node] + by_ms) > 10 * CLOCK_JUMP_MS:
            by_ms = -by_ms
        self._jumped[node] += by_ms
        self.skew_ms[node] += by_ms
        if node not in self.down:
            self.turn(node)

    # ------------------------------------------------------------------ links

    def open(self, a: int, b: int, for_ms: int) -> None:
        """Let two nodes meet, unless they are in contact already or cannot be."""
        pair = (min(a, b), max(a, b))
        end_ms = self.now_ms + for_ms
        if pair in self.contacts or self._is_apart(pair):
            return
        self.contacts[pair] = end_ms
        self._begun[pair] = len(self.contact_log)
        self.contact_log.append((*pair, self.now_ms, end_ms))
        for node, peer in (pair, pair[::-1]):
            if node not in self.down:
                self.machines[node].contact_opened(peer, self.local(node))
                self.turn(node)
        self.at(end_ms, lambda: self.close(pair) if self.contacts.get(pair) == end_ms else None)

    def close(self, pair: Pair) -> None:
        """Part two nodes."""
        if self.contacts.pop(pair, None) is not None:
            position = self._begun[pair]
            self.contact_log[position] = (*self.contact_log[position][:3], self.now_ms)
            for node, peer in (pair, pair[::-1]):
                if node not in self.down:
                    self.machines[node].contact_lost(peer, self.local(node))
                    self.turn(node)

    def _is_apart(self, pair: Pair) -> bool:
        if self._halves is None:
            return False
        half, until_ms = self._halves
        return self.now_ms < until_ms and (pair[0] in half) != (pair[1] in half)

    def split(self, for_ms: int) -> None:
        """Let the nodes fall into two halves: what is across the line parts, and cannot meet."""
        nodes = list(self.all_nodes())
        self._halves = (set(self.chance.sample(nodes, len(nodes) // 2)), self.now_ms + for_ms)
        for pair in list(self.contacts):
            if self._is_apart(pair):
                self.close(pair)

    def _carry(self, node: int, peer: int, data: bytes) -> None:
        chance, faults = self.chance, self.faults
        self.frames.append((node, peer, data))
        self._frame_contact.append(self._begun.get((min(node, peer), max(node, peer)), -1))
        copies = 2 if faults.repeat and chance.random() < faults.repeat else 1
        for _ in range(copies):
            if faults.loss and chance.random() < faults.loss:
                continue
            delay_ms = 2 + (
                chance.randrange(SLOWEST_MS) if faults.slow and chance.random() < faults.slow else 0
            )
            arrives, is_false = data, False
            if faults.corrupt and chance.random() < faults.corrupt:
                position = chance.randrange(len(data))
                flipped = data[position] ^ (1 << chance.randrange(8))
                arrives, is_false = data[:position] + bytes((flipped,)) + data[position + 1 :], True
            self._arrange_arrival(delay_ms, node, peer, arrives, is_false)
        if faults.replay and chance.random() < faults.replay:
            self.replay(node, peer)

    def _arrange_arrival(self, delay_ms: int, node: int, peer: int, data: bytes, is_false: bool) -> None:
        self.at(self.now_ms + delay_ms, lambda: self.arrive(node, peer, data, is_false))

    def replay(self, node: int, peer: int) -> None:
        """Send again a frame that was recorded in an earlier contact of these two."""
        contact = self._begun[min(node, peer), max(node, peer)]
        for _ in range(8):
            position = self.chance.randrange(len(self.frames))
            a, b, data = self.frames[position]
            if (a, b) == (node, peer) and self._frame_contact[position] != contact:
                self._arrange_arrival(1, node, peer, data, self.checker.is_bound_to_its_contact(data))
                return

    def arrive(self, node: int, peer: int, data: bytes, is_false: bool = False) -> None:
        """Let bytes come in; what is false must not change anything."""
        if (min(node, peer), max(node, peer)) in self.contacts and peer not in self.down:
            machine = self.machines[peer]
            machine.receive(data, node, self.local(peer))
            if is_false:
                self.checker.received_false(peer)
            self.turn(peer)

    # ------------------------------------------------------------------ whole runs

    def live_through(self) -> None:
        """Plan random contacts, operations and faults for the duration, then run."""
        plan, chance = self.plan, self.chance
        nodes = list(self.all_nodes())

        def meet() -> None:
            a, b = chance.sample(nodes, 2)
            for_ms = chance.randrange(*plan.contact_ms)
            if a not in plan.homes and b not in plan.homes:
                self.open(a, b, for_ms)

        for end, home in plan.homes.items():
            self.open(end, home, plan.duration_ms)
        if plan.subscribes_first:
            for subscriber in self.subscribers:
                for id in plan.ids:
                    self.applications.subscribe(subscriber, id)
        for at_ms in range(0, plan.duration_ms, plan.contact_every_ms):
            self.at(at_ms + chance.randrange(plan.contact_every_ms), meet)
        for at_ms in range(0, plan.duration_ms, plan.operation_every_ms):
            self.at(at_ms + chance.randrange(plan.operation_every_ms), self.applications.operate)
        for at_ms in range(0, plan.duration_ms, 1_000):
            self._arrange_trouble(at_ms)
        if plan.looks_up:
            for at_ms in range(0, plan.duration_ms, LOOK_UP_EVERY_MS):
                self.at(at_ms + chance.randrange(LOOK_UP_EVERY_MS), self.applications.look_up)
        self.run(plan.duration_ms)

    def _arrange_trouble(self, at_ms: int) -> None:
        faults, chance = self.faults, self.chance
        if faults.partition and chance.random() < faults.partition:
            self.at(at_ms, lambda: self.split(chance.randrange(1_000, 8_000)))
        if faults.clock and chance.random() < faults.clock:
            node, by_ms = chance.choice(self.all_nodes()), chance.randint(-CLOCK_JUMP_MS, CLOCK_JUMP_MS)
            self.at(at_ms, lambda: self.jump(node, by_ms))
        if faults.flood and chance.random() < faults.flood:
            self.at(at_ms, self.applications.flood)

    def heal(self, for_ms: int | None = None, faults: Faults | None = None) -> None:
        """Stop the faults (or leave these), connect the nodes, and let what is owed arrive.

        Every end meets every mediator, and the mediators form a ring. It lasts for the plan's time at most
        and ends two seconds after the last thing owed has arrived.
        """
        self._stop_faults(faults)
        lasting_ms = self.plan.heal_ms if for_ms is None else for_ms
        for pair in list(self.contacts):
            self.close(pair)
        ring = list(self.mediators)
        links = set(zip(ring, ring[1:] + ring[:1], strict=True)) if len(ring) > 1 else set()
        links |= {(end, node) for end in self.all_nodes() for node in ring if end not in self.mediators}
        looking_ms = LOOK_UPS_AT_LAST * (LOOK_UP_MS + 1) if self.plan.looks_up else 0
        for a, b in sorted(links):
            self.open(a, b, lasting_ms + looking_ms + 1)
        self._settle(self.now_ms + lasting_ms)
        if self.plan.looks_up and not self.faults.loss:
            self._look_up_at_last()

    def _stop_faults(self, faults: Faults | None) -> None:
        """Stop the faults, or leave these; restart every node that is down."""
        self.faults = faults or Faults(loss=self.plan.heal_loss)
        self._halves = None
        for node in sorted(self.down):
            self.restart(node)

    def _settle(self, end_ms: int) -> None:
        """Run until two seconds after the last thing expected has arrived, and no longer than until then."""
        while self.now_ms < end_ms:
            is_done = self.checker.is_settled()
            self.run(min(end_ms, self.now_ms + 2_000))
            if is_done and self.checker.is_settled():
                break  # an application may have published something last while the faults stopped

    def _look_up_at_last(self) -> None:
        """Let a subscriber ask until everybody has answered; a greeting may still be under way at first."""
        node = self.subscribers[0]
        for _ in range(LOOK_UPS_AT_LAST):
            self.applications.look_up(node)
            self.run(self.now_ms + LOOK_UP_MS + 1)
            if self.checker.lookups.has_heard_everybody(node):
                return
        self.checker.lookups.conclude(node)
