"""A partition in memory: engines joined by links, which may lose, repeat and delay, in made-up time."""

from collections.abc import Iterable
from random import Random

from dens.overlay.assembly import Assembly
from dens.overlay.events import Event, OffersHeard
from dens.overlay.limits import Limits
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, TopicHost

HOUR_Q = 95


class Partition:
    """Mediators are 1 to 99, subscribers from 100 on, publishers from 200 on."""

    def __init__(
        self,
        key: bytes | None = b"mission",
        limits: Limits | None = None,
        seed: int = 0,
        loss: float = 0.0,
        late_ms: int = 1,
    ) -> None:
        self.assembly = Assembly(
            Mission(7, {LANGUAGE: TOPICS}, key=key, limits=limits or Limits()),
            directory=TopicDirectory,
            knowledge=TopicDirectory,
        )
        self.chance = Random(seed)
        self.loss = loss
        self.late_ms = late_ms
        self.now_ms = 0
        self.machines: dict[int, Engine] = {}
        self.links: set[tuple[int, int]] = set()
        self.on_air: list[tuple[int, int, int, bytes]] = []
        self.frames: list[tuple[int, int, bytes]] = []
        self.events: dict[int, list[Event]] = {}

    def add(self, node: int, topics: Iterable[int] = ()) -> Engine:
        """Start a node; a publisher announces its topics."""
        store = MemoryStore()
        if node < 100:
            machine: Engine = self.assembly.mediator(node, store, self.now_ms)
        elif node < 200:
            machine = self.assembly.subscriber(node, store, self.now_ms)
        else:
            publisher = self.assembly.publisher(node, store, self.now_ms, filter_host=TopicHost())
            publisher.announce(bytes(topics), self.now_ms)
            machine = publisher
        self.machines[node] = machine
        self.events[node] = []
        return machine

    def meet(self, *pairs: tuple[int, int]) -> None:
        for a, b in pairs:
            self.links |= {(a, b), (b, a)}
            self.machines[a].contact_opened(b, self.now_ms)
            self.machines[b].contact_opened(a, self.now_ms)

    def part(self, a: int, b: int) -> None:
        self.links -= {(a, b), (b, a)}
        self.machines[a].contact_lost(b, self.now_ms)
        self.machines[b].contact_lost(a, self.now_ms)

    def drive(self, for_ms: int) -> None:
        """Let time pass; what is on the air arrives or does not."""
        end_ms = self.now_ms + for_ms
        while True:
            self._settle()
            times = [one[0] for one in self.on_air]
            times += [at for one in self.machines.values() if (at := one.next_timer_ms()) is not None]
            next_ms = max(self.now_ms + 1, min(times, default=end_ms + 1))
            if next_ms > end_ms:
                break
            self.now_ms = next_ms
            for machine in self.machines.values():
                due_ms = machine.next_timer_ms()
                if due_ms is not None and due_ms <= next_ms:
                    machine.timer_due(next_ms)
        self.now_ms = end_ms

    def _settle(self) -> None:
        is_busy = True
        while is_busy:
            is_busy = False
            for number, machine in self.machines.items():
                for datagram in machine.datagrams_to_send(self.now_ms):
                    is_busy = True
                    self.frames.append((number, datagram.peer, datagram.data))
                    if self.chance.random() >= self.loss:
                        at_ms = self.now_ms + self.chance.randrange(self.late_ms)
                        self.on_air.append((at_ms, number, datagram.peer, datagram.data))
                self.events[number] += iter(machine.next_event, None)
            due = [one for one in self.on_air if one[0] <= self.now_ms]
            self.on_air = [one for one in self.on_air if one[0] > self.now_ms]
            for _, sender, receiver, data in due:
                if (sender, receiver) in self.links:
                    is_busy = True
                    self.machines[receiver].receive(data, sender, self.now_ms)

    def heard(self, node: int) -> list[OffersHeard]:
        """Return what was answered to a node's look-ups, and forget it."""
        found = [event for event in self.events[node] if isinstance(event, OffersHeard)]
        self.events[node] = [event for event in self.events[node] if not isinstance(event, OffersHeard)]
        return found

    def asked(self, node: int, question: bytes = b"", timeout_ms: int = 3_000, **more: int) -> OffersHeard:
        """Let a node look something up, and return what it hears."""
        self.heard(node)
        number = self.machines[node].look_up(question, self.now_ms, timeout_ms=timeout_ms, **more)
        self.drive(timeout_ms + 1)
        [answer] = [one for one in self.heard(node) if one.number == number]
        return answer


def told(heard: OffersHeard) -> dict[int, int]:
    """Return how far away each publisher is."""
    return {offer.item.origin: offer.distance for offer in heard.offers}
