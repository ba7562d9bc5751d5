"""The applications of a run: they subscribe, advertise, withdraw, and send plain messages.

An application does nothing while its device is down. It subscribes and withdraws after the restart
(`emulation.workload.resubscription`), but a message that was due meanwhile is never made.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.wire.item import lifetime_code_ms
from emulation.clock import Rank
from emulation.direct_messages import LANGUAGE, notification_for
from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.scenario.scenario import PlannedAdvertisement
from emulation.scenario.settings.settings import TrafficSettings
from emulation.workload.resubscription import Request, Resubscription
from emulation.workload.subscription_requests import Numbering, subscription_requests
from emulation.world.node import Node
from emulation.world.world import World
from watchdog.header import framed


class MessagePlan:
    """The messages of one `[[traffic]]` entry.

    As in The ONE's message event generator: one message per interval, its source uniform among the senders,
    its destination uniform among the other devices.
    """

    def __init__(
        self,
        settings: TrafficSettings,
        sources: Sequence[Node],
        destinations: Sequence[Node],
        rng: np.random.Generator,
    ) -> None:
        self.lifetime_q = lifetime_code_ms(int(settings.lifetime_s * 1000))
        self._settings = settings
        self._sources = sources
        self._destinations = destinations
        self._place = {node.slot.device: place for place, node in enumerate(destinations)}
        """The position of each device among the destinations."""
        self._rng = rng
        self._payload = bytes(settings.size_bytes)

    def at_ms(self, index: int) -> int:
        """Return the time of the message of this index."""
        return int((self._settings.first_s + index * self._settings.every_s) * 1000)

    def draw(self) -> tuple[Node, bytes]:
        """Draw the source of the next message, and its bytes."""
        source = self._sources[int(self._rng.integers(len(self._sources)))]
        own = self._place.get(source.slot.device)
        place = int(self._rng.integers(len(self._destinations) - (own is not None)))
        if own is not None and place >= own:
            place += 1
        return source, notification_for(self._destinations[place].number, self._payload)


class Workload:
    """The applications of a world."""

    def __init__(self, world: World, numbering: Numbering) -> None:
        self._world = world
        self._numbering = numbering
        self._clock = world.clock
        self._resubscription = Resubscription()
        self._advertised: dict[int, dict[int, PlannedAdvertisement]] = {}
        """The current advertisements of every publisher, by id."""
        self._subscribed: dict[tuple[int, int], tuple[int, bytes]] = {}
        """Language and body of the subscriptions that `subscribe` made, by node and id."""

    def begin(self, scenario: Scenario, streams: RandomStreams) -> None:
        """Schedule the subscriptions, advertisements and first messages of a scenario."""
        nodes = self._world.nodes
        for planned in subscription_requests(scenario, streams, self._numbering):
            node = nodes[planned.node]
            request = Request(planned.language, planned.vector, planned.document)
            self._clock.call_at(planned.at_ms, Rank.APPLICATION, self._subscribe, node, request)
            if planned.withdrawn_ms is not None:
                withdraw = partial(self._unsubscribe, node, planned.id)
                self._clock.call_at(planned.withdrawn_ms, Rank.APPLICATION, withdraw)
        for advertised in scenario.advertisements:
            for node in self._players(advertised.group, "publisher"):
                advertise = partial(self._advertise, node, advertised)
                self._clock.call_at(advertised.at_ms, Rank.APPLICATION, advertise)
                if advertised.withdrawn_ms is not None:
                    withdraw = partial(self._unadvertise, node, advertised)
                    self._clock.call_at(advertised.withdrawn_ms, Rank.APPLICATION, withdraw)
        for index, traffic in enumerate(scenario.settings.traffic):
            plan = MessagePlan(
                traffic,
                self._players(traffic.source, "publisher"),
                self._players(traffic.destination, "subscriber"),
                streams.rng("traffic", index),
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
        """Publish a notification, unless the device is down. `event` is the event class of its reading, if it
        has one.
        """
        if node.slot.device in self._world.reachability.down:
            return
        assert isinstance(node.engine, PublisherEndpoint)
        now_ms = self._clock.now_ms
        message = node.engine.publish(language, vector, lifetime_q, now_ms + node.skew_ms)
        self._world.journal.published(now_ms, message, language, vector, lifetime_q, event_number, event)

    def subscribe(self, node: Node, language: int, lifetime_q: int, body: bytes, document: str) -> int:
        """Subscribe now, or when the device is up again; return the id of the subscription."""
        assert isinstance(node.engine, SubscriberEndpoint)
        id = self._numbering.take(node.number, language, body)
        revision = node.engine.next_seq(id, self._numbering.occupied(language, body))
        self._subscribed[node.number, id] = language, body
        self._subscribe(node, Request(language, framed(id, revision, lifetime_q, body), document))
        return id

    def unsubscribe(self, node: Node, id: int) -> None:
        """Withdraw a subscription now, or when the device is up again."""
        self._unsubscribe(node, id)
        if (made := self._subscribed.pop((node.number, id), None)) is not None:
            self._numbering.release(node.number, id, *made)

    def restarted(self, node: Node, has_store: bool) -> None:
        """Repeat postponed and forgotten requests of a node after its restart."""
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
        self._resubscription.requested(node, request)
        assert isinstance(node.engine, SubscriberEndpoint)
        language, vector, document = request
        now_ms = self._clock.now_ms
        node.engine.subscribe(vector, language, now_ms + node.skew_ms)
        self._world.journal.subscribed(now_ms, node.number, language, vector, document)
        self._world.settle(node)

    def _advertise(self, node: Node, advertised: PlannedAdvertisement) -> None:
        """Advertise, unless the publisher already does. If its device is down, it does so after the
        restart.
        """
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
        """Withdraw an advertisement. If the device is down, it is not advertised again after the restart."""
        del self._advertised[node.number][advertised.id]
        engine = node.engine
        assert isinstance(engine, PublisherEndpoint)
        if node.slot.device not in self._world.reachability.down and engine.advertises(advertised.id):
            engine.unadvertise(advertised.id, self._clock.now_ms + node.skew_ms)
            self._world.settle(node)

    def _unsubscribe(self, node: Node, id: int) -> None:
        """Withdraw a subscription unless it has expired. If the device is down, do so after the restart."""
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
