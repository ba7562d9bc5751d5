"""An oracle for networks of brokers, and the networks that it checks.

The oracle knows who subscribed to what, what was published, and which faults were injected. It decides by
itself what a subscription wants: crisp ranges in the fuzzy and the approximate language, alternatives of
ranges in the language of boxes. Published values lie in the middle of sixteen cells of each domain, bounds
lie between cells, so rounding changes nothing. Every subscription is older than the publications that it
counts for, every outage is shorter than the patience, and in the end all links are up. So every wanted
publication must arrive, once.

    family      what happens while publications are made
    routing     subscriptions come and go; the network comes to rest after each step
    partial     the same; publications have only some of the attributes
    links       links between brokers are cut and come back
    crashes     brokers are down for a while and come back with their stores
    stores      a broker is down for a while and comes back with nothing; some of its links come back later
    lossy       frames are lost and late

A broker that loses its store loses what it alone held, so the family `stores` stops brokers only while
nothing is on its way.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from random import Random

from dens.interfaces import FilterHost
from dens.node.assembly import assembly_of
from dens.node.filter_host import ShortOrigins
from dens.node.processes.publisher import watchdog_for
from dens.overlay.assembly import Assembly
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.endpoints.publisher import ANNOUNCE_LIFETIME_Q
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.wire.item import ItemId
from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.registry import authoring_of, language_named
from plugins.routing import RoutingOptions, routing_of
from tests.dens.overlay.broker.net import QUICK, Air, BrokerNet, Link
from tests.dens.overlay.broker.test_routing_laws import random_graph, random_tree
from watchdog.header import framed
from watchdog.normalise import normal_byte
from watchdog.reading import Reading
from watchdog.watchdog import Watchdog

CELLS = 16
PATIENCE_MS = 120_000
REST_MS = 4_000
MODES = ("broker", "no covering", "flood")
FAMILIES = ("routing", "partial", "links", "crashes", "stores", "lossy")
NAMESPACES = {
    "fuzzy": "urn:dens:subscription:1",
    "atopss": "urn:dens:approximate:1",
    "boxes": "urn:dens:boxes:1",
}

Range = tuple[int, int]
"""The first and the last cell that is wanted."""
Box = dict[str, Range]


@dataclass(frozen=True)
class Wish:
    """What a subscription wants: one of these boxes."""

    language: str
    boxes: tuple[Box, ...]

    def wants(self, cells: dict[str, int]) -> bool:
        """Decide by the definition alone."""
        return any(
            all(name in cells and low <= cells[name] <= high for name, (low, high) in box.items())
            for box in self.boxes
        )

    def document(self) -> str:
        """Write it as a person would."""
        boxes = ["".join(_predicate(name, *cells) for name, cells in box.items()) for box in self.boxes]
        inside = boxes[0]
        if len(boxes) > 1:
            inside = "<or>" + "".join(f"<and>{box}</and>" for box in boxes) + "</or>"
        threshold = ' threshold="1"' if self.language == "fuzzy" else ""
        namespace = NAMESPACES[self.language]
        head = f'xmlns="{namespace}" event="apartment" valid="PT12H"{threshold}'
        return f"<subscription {head}>{inside}</subscription>"


@cache
def table() -> MissionTable:
    return load_mission_table(["housing"])


def _bound(name: str, cell: int) -> float:
    attribute = table().event("apartment").attribute(name)
    return attribute.lo + (attribute.hi - attribute.lo) * cell / CELLS


def _predicate(name: str, low: int, high: int) -> str:
    bounds = f"<min>{_bound(name, low):.0f}</min><max>{_bound(name, high + 1):.0f}</max>"
    return f'<crisp-predicate attribute="{name}" operator="between">{bounds}</crisp-predicate>'


@cache
def body_of_document(language: str, document: str) -> bytes:
    compiled = authoring_of(language_named(language)).compile(document.encode(), "subscription.xml", table())
    return compiled.body


def reading_of(cells: dict[str, int], number: int) -> Reading:
    event = table().event("apartment")
    reading = Reading(table().feature_bytes)
    reading.clear(event.index, number, 0)
    for name, cell in cells.items():
        attribute = event.attribute(name)
        span = attribute.hi_scaled - attribute.lo_scaled
        scaled = attribute.lo_scaled + span * (2 * cell + 1) // (2 * CELLS)
        reading.set(
            attribute.index, normal_byte(scaled, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)
        )
    return reading


def _assembly(mode: str) -> Assembly:
    return assembly_of(table(), limits=QUICK, routing=RoutingOptions(covering=mode != "no covering"))


class Network(BrokerNet):
    """Brokers with real languages and sources; publishers advertise as sensors do, all that they measure."""

    def __init__(self, links: list[Link], mode: str, air: Air) -> None:
        self.watchdogs: dict[int, Watchdog] = {}
        options = BrokerOptions(floods=mode == "flood", patience_ms=PATIENCE_MS)
        super().__init__(links, options=options, air=air, assembly=_assembly(mode))
        self.wishes: dict[tuple[int, int], Wish] = {}
        self.must: set[tuple[int, tuple[int, int]]] = set()
        self.readings: dict[ItemId, tuple[int, int]] = {}
        self._number = 0

    def filter_host(self, node: int) -> FilterHost:
        self.watchdogs[node] = watchdog_for(table(), advertises=True)
        return ShortOrigins(self.watchdogs[node])

    def advertise_all(self, node: int) -> None:
        """Advertise every attribute in every language that notifications of readings are in."""
        event = table().event("apartment")
        for id, name in enumerate(("fuzzy", "atopss")):
            language = language_named(name)
            routing = routing_of(language, table(), RoutingOptions())
            assert routing is not None
            body = routing.advertisement(event, event.attributes)
            assert body is not None
            vector = framed(id, self.publisher(node).next_advertisement(id), ANNOUNCE_LIFETIME_Q, body)
            self.publisher(node).advertise(vector, language.language_id, self.now_ms)

    def wish(self, node: int, id: int, wish: Wish) -> None:
        end = self.engines[node]
        assert isinstance(end, SubscriberEndpoint)
        body = body_of_document(wish.language, wish.document())
        vector = framed(id, end.next_seq(id), ANNOUNCE_LIFETIME_Q, body)
        end.subscribe(vector, language_named(wish.language).language_id, self.now_ms, occupies=0)
        self.wishes[node, id] = wish

    def withdraw(self, node: int, id: int) -> None:
        end = self.engines[node]
        assert isinstance(end, SubscriberEndpoint)
        end.unsubscribe(id, self.now_ms)
        del self.wishes[node, id]

    def measure(self, node: int, cells: dict[str, int]) -> None:
        """Let a source read something, and publish what its filters release."""
        self._number += 1
        name = node, self._number
        for language, release in self.watchdogs[node].feed(reading_of(cells, self._number), self.now_ms):
            item = self.publisher(node).publish(language, release.vector, release.lifetime, self.now_ms)
            self.readings[item] = name
        for (subscriber, _), wish in self.wishes.items():
            if wish.wants(cells):
                self.must.add((subscriber, name))

    def disagreements(self) -> list[str]:
        """Compare with what was delivered."""
        shown = [(node, self.readings[item]) for node, item in self.delivered]
        found = [f"{one} is missing" for one in sorted(self.must - set(shown))]
        found += [f"{one} was not wanted" for one in sorted(set(shown) - self.must)]
        twice = len(self.delivered) - len(set(self.delivered))
        return found + ([f"{twice} deliveries were repeated"] if twice else [])

    # ------------------------------------------------------------------ faults

    def stop(self, node: int) -> None:
        """Let a broker be down: it has no contacts."""
        self.stopped.add(node)
        for a, b in self.links:
            if node in (a, b):
                self.engines[a + b - node].contact_lost(node, self.now_ms)

    def start(self, node: int, *, has_store: bool, without: list[Link]) -> None:
        """Let it begin again, without some of its links."""
        self.stopped.discard(node)
        for link in without:
            self.links.discard(link)
        self.crash(node, has_store=has_store)


@dataclass
class Case:
    """One network of a family, made by a seed."""

    family: str
    seed: int
    mode: str = "broker"
    chance: Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = Random(f"{self.family} {self.seed}")

    def run(self) -> Network:
        chance = self.chance
        brokers = chance.randint(2, 6)
        graph = random_graph(chance, brokers) if chance.random() < 0.6 else random_tree(chance, brokers)
        ends = [(chance.randint(1, brokers), 100 + i) for i in range(3)]
        ends += [(chance.randint(1, brokers), 200 + i) for i in range(2)]
        air = Air(loss=0.2, late_ms=(1, 60), seed=self.seed) if self.family == "lossy" else Air()
        net = Network(graph + ends, self.mode, air)
        for node in (200, 201):
            net.advertise_all(node)
        net.run(20_000 if self.family == "lossy" else REST_MS)
        for node in (100, 101, 102):
            for id in range(chance.randint(1, 2)):
                net.wish(node, id, self.wish())
        net.run(20_000 if self.family == "lossy" else REST_MS)
        if chance.random() < 0.5:
            net.run(PATIENCE_MS)  # otherwise everything is held for a while after the start
        for _ in getattr(self, f"_{self.family}")(net, [(min(one), max(one)) for one in graph]):
            pass
        net.run(PATIENCE_MS // 2)
        return net

    def wish(self) -> Wish:
        language = self.chance.choice(("fuzzy", "atopss", "boxes"))
        count = self.chance.randint(1, 2) if language == "boxes" else 1
        return Wish(language, tuple(self.box() for _ in range(count)))

    def box(self) -> Box:
        names = self.chance.sample(("rent", "size", "age", "distance"), self.chance.randint(1, 2))
        box = {}
        for name in names:
            low = self.chance.randrange(CELLS - 4)
            box[name] = low, self.chance.randint(low + 2, CELLS - 1)
        return box

    def measure(self, net: Network, *, is_partial: bool = False) -> None:
        names = ["rent", "size", "age", "distance"]
        if is_partial:
            names = self.chance.sample(names, self.chance.randint(1, 4))
        net.measure(self.chance.choice((200, 201)), {name: self.chance.randrange(CELLS) for name in names})

    def _routing(self, net: Network, graph: list[Link], *, is_partial: bool = False) -> Iterator[None]:
        for _ in range(12):
            step = self.chance.randrange(6)
            node, id = self.chance.randint(100, 102), self.chance.randint(0, 1)
            if step == 0:
                net.wish(node, id, self.wish())
            elif step == 1 and (node, id) in net.wishes:
                net.withdraw(node, id)
            else:
                self.measure(net, is_partial=is_partial)
            net.run(REST_MS)
            yield
        if not is_partial and self.mode != "flood":
            assert all(count == 1 for count in net.crossings.values())

    def _partial(self, net: Network, graph: list[Link]) -> Iterator[None]:
        yield from self._routing(net, graph, is_partial=True)

    def _lossy(self, net: Network, graph: list[Link]) -> Iterator[None]:
        for _ in range(10):
            self.measure(net)
            net.run(self.chance.randint(1, 2_000))
            yield

    def _links(self, net: Network, graph: list[Link]) -> Iterator[None]:
        for _ in range(20):
            link = self.chance.choice(graph)
            if self.chance.random() < 0.6:
                self.measure(net)
            elif link in net.links:
                net.cut(*link)
            else:
                net.connect(*link)
            net.run(self.chance.randint(1, 1_500))
            yield
        for link in graph:
            if link not in net.links:
                net.connect(*link)

    def _crashes(self, net: Network, graph: list[Link]) -> Iterator[None]:
        brokers = sorted({node for link in net.links for node in link if node < 100})
        down: dict[int, int] = {}
        for step in range(24):
            for node in [one for one, until in down.items() if until <= step]:
                del down[node]
                net.start(node, has_store=True, without=[])
            if self.chance.random() < 0.3 and (free := [one for one in brokers if one not in down]):
                node = self.chance.choice(free)
                down[node] = step + self.chance.randint(1, 4)
                net.stop(node)
            else:
                self.measure(net)
            net.run(self.chance.randint(1, 1_500))
            yield
        for node in down:
            net.start(node, has_store=True, without=[])

    def _stores(self, net: Network, graph: list[Link]) -> Iterator[None]:
        brokers = sorted({node for link in net.links for node in link if node < 100})
        for _ in range(3):
            net.run(REST_MS)
            node = self.chance.choice(brokers)
            net.stop(node)
            for _ in range(self.chance.randint(0, 4)):
                self.measure(net)
                net.run(self.chance.randint(1, 1_000))
            own = [link for link in graph if node in link]
            later = [link for link in own if self.chance.random() < 0.4]
            net.start(node, has_store=False, without=later)
            for _ in range(self.chance.randint(0, 4)):
                net.run(self.chance.choice((1, 5, 20, 300, 1_500)))
                self.measure(net)
            for link in later:
                net.run(self.chance.choice((1, 20, 300, 3_000)))
                net.connect(*link)
            for _ in range(self.chance.randint(0, 4)):
                net.run(self.chance.choice((1, 5, 20, 300, 1_500)))
                self.measure(net)
            net.run(30_000)
            yield


def disagreements(family: str, seed: int, mode: str = "broker") -> list[str]:
    """Run one case; return what the network did otherwise than the oracle."""
    return Case(family, seed, mode).run().disagreements()
