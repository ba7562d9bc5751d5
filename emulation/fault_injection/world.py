"""A small deterministic world that drives real engines from one seed, without SimPy.

Time is a heap of actions. Links lose, repeat, delay (and so reorder) and corrupt; nodes crash at the named
fault points and restart from what was committed; no two clocks agree. A checker sees everything that happens
and compares it with the promises of docs/reference/protocols.md.
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
    """Node numbers are given in this order: subscribers, mediators, publishers, hostile nodes."""

    def __init__(
        self,
        seed: int,
        plan: Plan,
        store_of: Callable[[int], CrashingStore] = lambda node: MemoryStore(),
    ) -> None:
        """Make the nodes; `store_of` makes the store of each."""
        self.seed = seed
        self.plan = plan
        self.now_ms = 0
        self.links: tuple[Pair, ...] = ()
        """Permanent links; empty in worlds where any two nodes may meet."""
        self.rng = Random(seed)
        self.faults = plan.faults
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        numbers = iter(plan.nodes)
        self.subscribers = tuple(islice(numbers, plan.subscribers))
        self.mediators = tuple(islice(numbers, plan.mediators))
        self.publishers = tuple(islice(numbers, plan.publishers))
        self.hostile = tuple(numbers)
        self.skew_ms = {node: plan.clock_ms + self.rng.randrange(10**9) for node in self.all_nodes()}
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
        """Return the factory of the engines of this world."""
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
        return self.plan.nodes

    def local(self, node: int) -> int:
        """Return the time of the node's own clock."""
        return self.now_ms + self.skew_ms[node]

    @property
    def delivered(self) -> dict[tuple[int, ItemId], int]:
        """Return the time of each delivery, by subscriber and notification."""
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
            hosts=frozenset(subscriber for subscriber, home in self.plan.homes.items() if home == node),
        )

    def _announce(self, machine: PublisherEndpoint, now_ms: int) -> None:
        machine.announce(b"\x01\x02", now_ms)

    def _source_host(self, node: int) -> FilterHost:
        """Return the filter host of a source. Sources differ in the languages and sizes that they accept."""
        kind = (*self.publishers, *self.hostile).index(node) % 3
        self.hosts[node] = (
            TopicHost() if kind == 0 else TopicHost((LANGUAGE, EITHER), most_bytes=2 if kind == 1 else 4)
        )
        return self.hosts[node]

    def crash(self, node: int) -> None:
        """Drop the engine and everything that was not committed, and restart it at once or later."""
        if node in self.down:
            return
        self.crashes += 1
        self.checker.crashed(node)
        self.stores[node] = self.stores[node].crash()
        self.down.add(node)
        pause_ms = self.rng.randrange(5_000) if self.rng.random() < 0.3 else 0
        self.at(self.now_ms + pause_ms, lambda: self.restart(node))

    def restart(self, node: int) -> None:
        """Make a new engine from the store that the crash left."""
        if node in self.down:
            self.down.remove(node)
            self._start(node)
            self.checker.restarted(node)

    def _is_hit(self, node: int, point: str) -> bool:
        """Crash this node at this fault point with the probability of the plan."""
        if not self.faults.crash or self.rng.random() >= self.faults.crash:
            return False
        self.crashed_at[point] += 1
        self.crash(node)
        return True

    # ------------------------------------------------------------------ time

    def at(self, at_ms: int, do: Callable[[], None]) -> None:
        """Schedule an action."""
        self._order += 1
        heappush(self._agenda, (at_ms, self._order, do))

    def run(self, until_ms: int) -> None:
        """Run the actions that are due until then."""
        while self._agenda and self._agenda[0][0] <= until_ms:
            self.now_ms, _, do = heappop(self._agenda)
            do()
        self.now_ms = until_ms

    def turn(self, node: int, *, by_application: bool = False) -> None:
        """After any call of an engine: carry its datagrams, schedule its timer, and check the invariants.

        The fault points are here. An application repeats its request (`by_application`) until it is durable,
        so a crash before that commit would show nothing and is left out.
        """
        self.steps += 1
        if not by_application and self._is_hit(node, "before_commit"):
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
        """Move a node's clock; the sum of its jumps stays within ten times the longest jump."""
        if abs(self._jumped[node] + by_ms) > 10 * CLOCK_JUMP_MS:
            by_ms = -by_ms
        self._jumped[node] += by_ms
        self.skew_ms[node] += by_ms
        if node not in self.down:
            self.turn(node)

    # ------------------------------------------------------------------ links

    def open(self, a: int, b: int, for_ms: int) -> None:
        """Open a contact, unless there is one already or a partition prevents it."""
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
        """Close a contact, if it is open."""
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
        """Partition the nodes into two random halves; contacts between them are closed."""
        nodes = list(self.all_nodes())
        self._halves = (set(self.rng.sample(nodes, len(nodes) // 2)), self.now_ms + for_ms)
        for pair in list(self.contacts):
            if self._is_apart(pair):
                self.close(pair)

    def _carry(self, node: int, peer: int, data: bytes) -> None:
        rng, faults = self.rng, self.faults
        self.frames.append((node, peer, data))
        self._frame_contact.append(self._begun.get((min(node, peer), max(node, peer)), -1))
        copies = 2 if faults.repeat and rng.random() < faults.repeat else 1
        for _ in range(copies):
            if faults.loss and rng.random() < faults.loss:
                continue
            delay_ms = 2 + (rng.randrange(SLOWEST_MS) if faults.slow and rng.random() < faults.slow else 0)
            arrives, is_false = data, False
            if faults.corrupt and rng.random() < faults.corrupt:
                position = rng.randrange(len(data))
                flipped = data[position] ^ (1 << rng.randrange(8))
                arrives, is_false = data[:position] + bytes((flipped,)) + data[position + 1 :], True
            self._arrange_arrival(delay_ms, node, peer, arrives, is_false)
        if faults.replay and rng.random() < faults.replay:
            self.replay(node, peer)

    def _arrange_arrival(self, delay_ms: int, node: int, peer: int, data: bytes, is_false: bool) -> None:
        self.at(self.now_ms + delay_ms, lambda: self.arrive(node, peer, data, is_false))

    def replay(self, node: int, peer: int) -> None:
        """Replay a frame of an earlier contact of these two nodes, if one is found."""
        contact = self._begun[min(node, peer), max(node, peer)]
        for _ in range(8):
            position = self.rng.randrange(len(self.frames))
            a, b, data = self.frames[position]
            if (a, b) == (node, peer) and self._frame_contact[position] != contact:
                self._arrange_arrival(1, node, peer, data, self.checker.is_bound_to_its_contact(data))
                return

    def arrive(self, node: int, peer: int, data: bytes, is_false: bool = False) -> None:
        """Deliver bytes to an engine. False ones must not change anything."""
        if (min(node, peer), max(node, peer)) in self.contacts and peer not in self.down:
            machine = self.machines[peer]
            machine.receive(data, node, self.local(peer))
            if is_false:
                self.checker.received_false(peer)
            self.turn(peer)

    # ------------------------------------------------------------------ whole runs

    def live_through(self) -> None:
        """Schedule random contacts, operations and faults for the duration, then run."""
        plan, rng = self.plan, self.rng
        nodes = list(self.all_nodes())

        def meet() -> None:
            a, b = rng.sample(nodes, 2)
            for_ms = rng.randrange(*plan.contact_ms)
            if a not in plan.homes and b not in plan.homes:
                self.open(a, b, for_ms)

        for subscriber, home in plan.homes.items():
            self.open(subscriber, home, plan.duration_ms)
        if plan.subscribes_first:
            for subscriber in self.subscribers:
                for id in plan.ids:
                    self.applications.subscribe(subscriber, id)
        for at_ms in range(0, plan.duration_ms, plan.contact_every_ms):
            self.at(at_ms + rng.randrange(plan.contact_every_ms), meet)
        for at_ms in range(0, plan.duration_ms, plan.operation_every_ms):
            self.at(at_ms + rng.randrange(plan.operation_every_ms), self.applications.operate)
        for at_ms in range(0, plan.duration_ms, 1_000):
            self._arrange_trouble(at_ms)
        if plan.looks_up:
            for at_ms in range(0, plan.duration_ms, LOOK_UP_EVERY_MS):
                self.at(at_ms + rng.randrange(LOOK_UP_EVERY_MS), self.applications.look_up)
        self.run(plan.duration_ms)

    def _arrange_trouble(self, at_ms: int) -> None:
        faults, rng = self.faults, self.rng
        if faults.partition and rng.random() < faults.partition:
            self.at(at_ms, lambda: self.split(rng.randrange(1_000, 8_000)))
        if faults.clock and rng.random() < faults.clock:
            node, by_ms = rng.choice(self.all_nodes()), rng.randint(-CLOCK_JUMP_MS, CLOCK_JUMP_MS)
            self.at(at_ms, lambda: self.jump(node, by_ms))
        if faults.flood and rng.random() < faults.flood:
            self.at(at_ms, self.applications.flood)

    def heal(self, for_ms: int | None = None, faults: Faults | None = None) -> None:
        """Stop the faults (or keep only these), connect the nodes, and let expected deliveries arrive.

        Every endpoint meets every mediator, and the mediators form a ring. It lasts at most for the heal time
        of the plan, and ends two seconds after the last expected delivery.
        """
        self._stop_faults(faults)
        lasting_ms = self.plan.heal_ms if for_ms is None else for_ms
        for pair in list(self.contacts):
            self.close(pair)
        ring = list(self.mediators)
        links = set(zip(ring, ring[1:] + ring[:1], strict=True)) if len(ring) > 1 else set()
        endpoints = [node for node in self.all_nodes() if node not in self.mediators]
        links |= {(endpoint, mediator) for endpoint in endpoints for mediator in ring}
        looking_ms = LOOK_UPS_AT_LAST * (LOOK_UP_MS + 1) if self.plan.looks_up else 0
        for a, b in sorted(links):
            self.open(a, b, lasting_ms + looking_ms + 1)
        self._settle(self.now_ms + lasting_ms)
        if self.plan.looks_up and not self.faults.loss:
            self._look_up_at_last()

    def _stop_faults(self, faults: Faults | None) -> None:
        """Stop the faults, or keep only these; restart every node that is down."""
        self.faults = faults or Faults(loss=self.plan.heal_loss)
        self._halves = None
        for node in sorted(self.down):
            self.restart(node)

    def _settle(self, end_ms: int) -> None:
        """Run until two seconds after the last expected delivery, at most until `end_ms`."""
        while self.now_ms < end_ms:
            is_done = self.checker.is_settled()
            self.run(min(end_ms, self.now_ms + 2_000))
            if is_done and self.checker.is_settled():
                break  # An application may have published while the faults stopped.

    def _look_up_at_last(self) -> None:
        """Let a subscriber look up offers until the answer is complete; a handshake may still be under
        way.
        """
        node = self.subscribers[0]
        for _ in range(LOOK_UPS_AT_LAST):
            self.applications.look_up(node)
            self.run(self.now_ms + LOOK_UP_MS + 1)
            if self.checker.lookups.is_complete(node):
                return
        self.checker.lookups.conclude(node)
