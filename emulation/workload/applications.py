"""What applications do: they subscribe, advertise, take that back, and send plain messages.

An application whose device is down does nothing; what it wanted of the overlay it does afterwards
(`emulation.workload.resubscription`), but a message that was due then is never made.
"""

from functools import partial

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from emulation.clock import Rank
from emulation.direct_messages import LANGUAGE
from emulation.random.streams import Streams
from emulation.scenario import Scenario
from emulation.scenario.scenario import PlannedAdvertisement
from emulation.workload.resubscription import Request, Resubscription
from emulation.workload.subscription_requests import Numbering, subscription_requests
from emulation.workload.traffic import MessagePlan
from emulation.world.node import Node
from emulation.world.world import World
from watchdog.header import framed


class Workload:
    """The applications of a world."""

    def __init__(self, world: World, numbering: Numbering) -> None:
        self._world = world
        self._numbering = numbering
        self._clock = world.clock
        self._resubscription = Resubscription()
        self._advertised: dict[int, dict[int, PlannedAdvertisement]] = {}
        """What every publisher wants to advertise now, by id."""
        self._subscribed: dict[tuple[int, int], tuple[int, bytes]] = {}
        """Language and body of the subscriptions that `subscribe` made, by node and id."""

    def begin(self, scenario: Scenario, streams: Streams) -> None:
        """Put on the clock what applications of this scenario do first."""
        nodes = self._world.nodes
        for asked in subscription_requests(scenario, streams, self._numbering):
            node = nodes[asked.node]
            request = Request(asked.language, asked.vector, asked.document)
            self._clock.call_at(asked.at_ms, Rank.APPLICATION, self._subscribe, node, request)
            if asked.withdrawn_ms is not None:
                take_back = partial(self._unsubscribe, node, asked.id)
                self._clock.call_at(asked.withdrawn_ms, Rank.APPLICATION, take_back)
        for advertised in scenario.advertisements:
            for node in self._players(advertised.group, "publisher"):
                advertise = partial(self._advertise, node, advertised)
                self._clock.call_at(advertised.at_ms, Rank.APPLICATION, advertise)
                if advertised.withdrawn_ms is not None:
                    take_back = partial(self._unadvertise, node, advertised)
                    self._clock.call_at(advertised.withdrawn_ms, Rank.APPLICATION, take_back)
        for index, traffic in enumerate(scenario.settings.traffic):
            plan = MessagePlan(
                traffic,
                self._players(traffic.source, "publisher"),
                self._players(traffic.destination, "subscriber"),
                streams.stream("traffic", index),
            )
            send = partial(self._send_message, plan, 0)
            self._clock.call_at(plan.at_ms(0), Rank.APPLICATION, send)

    def publish(
        self,
        node: Node,
        language: int,
        vector: bytes,
        lifetime_q: int,
        event_number: int,
        event: int | None = None,
    ) -> None:
        """Let a node publish a notification, unless its device is down: of a reading of that event class, or
        as it is.
        """
        if node.slot.device in self._world.reachability.down:
            return
        assert isinstance(node.engine, PublisherEndpoint)
        now_ms = self._clock.now_ms
        message = node.engine.publish(language, vector, lifetime_q, now_ms + node.skew_ms)
        self._world.journal.published(now_ms, message, language, vector, lifetime_q, event_number, event)

    def subscribe(self, node: Node, language: int, lifetime_q: int, body: bytes, document: str) -> int:
        """Let a node subscribe now, or when its device is up again; return the id of the subscription."""
        assert isinstance(node.engine, SubscriberEndpoint)
        id = self._numbering.take(node.number, language, body)
        revision = node.engine.next_seq(id, self._numbering.occupied(language, body))
        self._subscribed[node.number, id] = language, body
        self._subscribe(node, Request(language, framed(id, revision, lifetime_q, body), document))
        return id

    def unsubscribe(self, node: Node, id: int) -> None:
        """Let a node withdraw a subscription now, or when its device is up again."""
        self._unsubscribe(node, id)
        if (made := self._subscribed.pop((node.number, id), None)) is not None:
            self._numbering.release(node.number, id, *made)

    def restarted(self, node: Node, has_store: bool) -> None:
        """A node began again: let its application say what it could not say, and what was forgotten."""
        for request in self._resubscription.requests(node, has_store):
            self._subscribe(node, request)
        for id in self._resubscription.withdrawals(node):
            self._unsubscribe(node, id)
        for advertised in self._advertised.get(node.number, {}).values():
            self._advertise(node, advertised)

    def _players(self, group: str, role: str) -> list[Node]:
        return [node for node in self._world.nodes if (node.slot.group, node.slot.role) == (group, role)]

    def _subscribe(self, node: Node, request: Request) -> None:
        if node.slot.device in self._world.reachability.down:
            self._resubscription.postpone(node, request)
            return
        self._resubscription.asked(node, request)
        assert isinstance(node.engine, SubscriberEndpoint)
        language, vector, document = request
        now_ms = self._clock.now_ms
        node.engine.subscribe(vector, language, now_ms + node.skew_ms)
        self._world.journal.subscribed(now_ms, node.number, language, vector, document)
        self._world.settle(node)

    def _advertise(self, node: Node, advertised: PlannedAdvertisement) -> None:
        """Let a publisher advertise something, unless it does; where its device is down, when it is up
        again."""
        self._advertised.setdefault(node.number, {})[advertised.id] = advertised
        engine = node.engine
        assert isinstance(engine, PublisherEndpoint)
        if node.slot.device in self._world.reachability.down or engine.advertises(advertised.id):
            return
        revision = engine.next_advertisement(advertised.id)
        vector = framed(advertised.id, revision, advertised.lifetime_q, advertised.body)
        engine.advertise(vector, advertised.language, self._clock.now_ms + node.skew_ms)
        self._world.settle(node)

    def _unadvertise(self, node: Node, advertised: PlannedAdvertisement) -> None:
        """Let a publisher take an advertisement back; where its device is down, that is when it ends."""
        del self._advertised[node.number][advertised.id]
        engine = node.engine
        assert isinstance(engine, PublisherEndpoint)
        if node.slot.device not in self._world.reachability.down and engine.advertises(advertised.id):
            engine.unadvertise(advertised.id, self._clock.now_ms + node.skew_ms)
            self._world.settle(node)

    def _unsubscribe(self, node: Node, id: int) -> None:
        """Take back what was asked for under this number, unless its time is over already; where the device
        is down, when it is up again."""
        self._resubscription.forget(node, id)
        if node.slot.device in self._world.reachability.down:
            self._resubscription.postpone_withdrawal(node, id)
            return
        assert isinstance(node.engine, SubscriberEndpoint)
        now_ms = self._clock.now_ms
        for held in node.engine.in_force:
            if held.id == id and held.until_ms > now_ms + node.skew_ms:
                node.engine.unsubscribe(id, now_ms + node.skew_ms)
                created_ms = held.item.created_ms - node.skew_ms
                self._world.journal.withdrawn(
                    now_ms, node.number, held.item.language, held.vector, created_ms
                )
        self._world.settle(node)

    def _send_message(self, plan: MessagePlan, index: int) -> None:
        source, vector = plan.draw()
        self.publish(source, LANGUAGE, vector, plan.lifetime_q, 0)
        self._world.settle(source)
        send_next = partial(self._send_message, plan, index + 1)
        self._clock.call_at(plan.at_ms(index + 1), Rank.APPLICATION, send_next)
