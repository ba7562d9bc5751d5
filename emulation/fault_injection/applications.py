"""The applications of a fault-injection world: they subscribe, withdraw, renew and publish; a hostile one
floods.

They keep their own record of what they requested and published, with which the checkers compare.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError
from dens.overlay.wire.item import AT_ONCE_MS, LIFETIME_MS, NEVER_MS, NUMBER_BITS, NUMBER_MASK, ItemId
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.plan import LOOK_UP_MS
from emulation.fault_injection.sequences import (
    CONFIRMED,
    KEEP_Q,
    PREDICTION,
    SEQUENCE,
    WITHDRAWN,
    Composite,
)
from emulation.fault_injection.topics import EITHER, LANGUAGE, POISON, matches, subscription

if TYPE_CHECKING:
    from emulation.fault_injection.world import World


@dataclass
class SubscriptionRevision:
    """One subscription revision as its application knows it."""

    subscriber: int
    id: int
    seq: int
    vector: bytes
    since_ms: int
    until_ms: int
    over_ms: int | None = None
    """When it was withdrawn or replaced."""
    language: int = LANGUAGE
    settled_ms: int = AT_ONCE_MS
    """From when on its notifications are expected, if later than its beginning: brokers have to propagate it
    first.
    """

    def is_in_force(self, event_ms: int, slack_ms: int = 0) -> bool:
        """Return whether an event of that time lies within its lifetime, for any clock error up to the
        slack.
        """
        end_ms = self.until_ms if self.over_ms is None else min(self.until_ms, self.over_ms)
        return self.since_ms + slack_ms <= event_ms < end_ms - slack_ms


@dataclass(frozen=True)
class Published:
    """One notification as its publisher knows it."""

    id: ItemId
    event_ms: int
    until_ms: int
    vector: bytes


class Applications:
    """The applications of all nodes."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.revisions: list[SubscriptionRevision] = []
        self.published: dict[ItemId, Published] = {}
        self._open: list[tuple[int, Composite]] = []
        """Predictions that have no outcome yet, with the sources that made them."""

    def operate(self) -> None:
        """Perform one random operation."""
        world = self._world
        rng, withdraws = world.rng, world.plan.withdraws
        if world.plan.composes and rng.random() < 0.2:
            self.predict(rng.choice(world.publishers))
            return
        kind = rng.random()
        if kind < 0.25:
            self.subscribe(rng.choice(world.subscribers), world.plan.ids[rng.randrange(3)])
        elif kind < 0.32 and withdraws:
            self.unsubscribe(rng.choice(world.subscribers))
        elif kind < 0.37 and withdraws:
            self.renew(rng.choice(world.subscribers))
        else:
            self.publish(rng.choice(world.publishers))

    def _subscriber(self, node: int) -> SubscriberEndpoint:
        machine = self._world.machines[node]
        assert isinstance(machine, SubscriberEndpoint)
        return machine

    def _live(self, node: int) -> list[SubscriptionRevision]:
        """Return the revisions that the node itself has in force. A crash loses those that were not
        committed.
        """
        if node in self._world.down:
            return []
        local_ms = self._world.local(node)
        held = {(one.id, one.seq) for one in self._subscriber(node).in_force if one.until_ms > local_ms}
        return [
            one
            for one in self.revisions
            if one.subscriber == node
            and (one.id, one.seq) in held
            and one.over_ms is None
            and self._world.now_ms < one.until_ms
        ]

    def subscribe(self, node: int, id: int) -> None:
        """Subscribe; an earlier revision of the same id is replaced."""
        world = self._world
        rng, plan = world.rng, world.plan
        older = [one for one in self.revisions if one.subscriber == node and one.id == id]
        if node in world.down or (older and not plan.withdraws):
            return
        seq = (older[-1].seq + 1 + rng.randrange(3)) % 256 if older else rng.randrange(256)
        q = rng.randrange(*plan.subscription_q)
        vector, language = self._drawn_subscription(node, id, seq, q)
        self._subscriber(node).subscribe(vector, language, world.local(node))
        for one in older:
            one.over_ms = one.over_ms or world.now_ms
        until_ms = world.now_ms + LIFETIME_MS[q]
        new = SubscriptionRevision(node, id, seq, vector, world.now_ms, until_ms, language=language)
        if plan.routing != "carry":
            new.settled_ms = NEVER_MS
        self.revisions.append(new)
        world.turn(node, by_application=True)

    def _drawn_subscription(self, node: int, id: int, seq: int, q: int) -> tuple[bytes, int]:
        """Draw a subscription: its vector and language."""
        rng, plan = self._world.rng, self._world.plan
        pair = (rng.choice((1, 2)), rng.randrange(0, 200, 20))
        siblings = [one for one in self._live(node) if one.id != id] if plan.siblings else []
        if siblings and rng.random() < 0.8:
            pair = self._beside(rng.choice(siblings))
        if plan.composes and rng.random() < 0.6:
            other = (rng.choice((1, 2)), rng.randrange(0, 200, 20))
            return subscription(id, seq, q, *pair, *other, rng.choice((4, 12, 255))), SEQUENCE
        if plan.has_parts and rng.random() < 0.5:
            other = (rng.choice((1, 2)), rng.randrange(0, 200, 20))
            return subscription(id, seq, q, *pair, *other), EITHER
        return subscription(id, seq, q, *pair), LANGUAGE

    def _drawn_notification(self, node: int) -> tuple[bytes, int]:
        """Draw a notification: its vector and language."""
        rng = self._world.rng
        return bytes((rng.choice((1, 2)), rng.randrange(256))), LANGUAGE

    def wants(self, revision: SubscriptionRevision, vector: bytes) -> bool:
        """Return whether a notification satisfies a subscription, by the definition of its language."""
        return revision.language != SEQUENCE and matches(revision.vector, vector)

    def is_expected(self, revision: SubscriptionRevision, published: Published, slack_ms: int = 0) -> bool:
        """Return whether a subscription expects a notification, for any clock error up to the slack."""
        is_settled = revision.settled_ms <= published.event_ms
        in_force = is_settled and revision.is_in_force(published.event_ms, slack_ms)
        return in_force and self.wants(revision, published.vector)

    def settled(self) -> None:
        """Expect deliveries for everything in force from now on, because all brokers know it."""
        for one in self.revisions:
            one.settled_ms = min(one.settled_ms, self._world.now_ms)

    def _beside(self, sibling: SubscriptionRevision) -> tuple[int, int]:
        """Return a topic and a least value that overlap with those of a subscription without being equal."""
        topic, least = sibling.vector[3:5]
        return topic, (least + 20 * self._world.rng.randint(1, 5)) % 200

    def unsubscribe(self, node: int) -> None:
        """Withdraw a random subscription."""
        live = self._live(node)
        if live:
            one = self._world.rng.choice(live)
            self._subscriber(node).unsubscribe(one.id, self._world.local(node))
            one.over_ms = self._world.now_ms
            self._world.turn(node, by_application=True)

    def renew(self, node: int) -> None:
        """Renew a random subscription."""
        live = self._live(node)
        if live:
            world = self._world
            one, longest_q = world.rng.choice(live), world.plan.subscription_q[1]
            try:
                self._subscriber(node).renew(one.id, longest_q, world.local(node))
            except LocalProtocolError:
                return  # A clock that was set back would make it shorter, which engines refuse.
            one.until_ms = world.now_ms + LIFETIME_MS[longest_q]
            world.turn(node, by_application=True)

    def publish(self, node: int, vector: bytes | None = None) -> None:
        """Publish this notification, or a random one."""
        world = self._world
        if node in world.down:
            return
        machine = world.machines[node]
        assert isinstance(machine, PublisherEndpoint)
        language = LANGUAGE
        if vector is None:
            vector, language = self._drawn_notification(node)
        q = world.rng.randrange(*world.plan.notification_q)
        item_id = machine.publish(language, vector, q, world.local(node))
        demand(
            item_id not in self.published,
            3,
            f"publisher {node} used number {item_id & NUMBER_MASK} for two notifications",
        )
        self.published[item_id] = Published(item_id, world.now_ms, world.now_ms + LIFETIME_MS[q], vector)
        world.turn(node, by_application=True)

    def predict(self, node: int) -> None:
        """Predict a match of a sequence, or publish the outcome of an earlier prediction of this source."""
        world = self._world
        predictions = [prediction for source, prediction in self._open if source == node]
        sequences = [one for one in self.revisions if one.language == SEQUENCE and one.over_ms is None]
        notifications = [item_id for item_id in self.published if item_id >> NUMBER_BITS == node]
        if node in world.down or not notifications:
            return
        if predictions and world.rng.random() < 0.7:
            composite = self._outcome(world.rng.choice(predictions))
            self._open.remove((node, replace(composite, kind=PREDICTION, last=0)))
        elif sequences:
            sequence = world.rng.choice(sequences)
            opening = world.rng.choice(notifications)
            composite = Composite(PREDICTION, sequence.subscriber, sequence.id, sequence.seq, 0, opening)
            if composite in predictions:
                return
            self._open.append((node, composite))
        else:
            return
        machine = world.machines[node]
        assert isinstance(machine, PublisherEndpoint)
        machine.publish(SEQUENCE, composite.encode(), KEEP_Q, world.local(node))
        world.turn(node, by_application=True)

    def _outcome(self, prediction: Composite) -> Composite:
        """Return the outcome of a prediction: confirmed by a match of the same subscription and source, or
        withdrawn.
        """
        [revision] = [
            one
            for one in self.revisions
            if (one.subscriber, one.id, one.seq) == (prediction.subscriber, prediction.id, prediction.seq)
        ]
        lasts = [
            last.id
            for last, _ in self._world.checker.composites.matches_of(revision)
            if last.id >> NUMBER_BITS == prediction.first >> NUMBER_BITS
        ]
        if lasts and self._world.rng.random() < 0.5:
            return replace(prediction, kind=CONFIRMED, last=self._world.rng.choice(lasts))
        return replace(prediction, kind=WITHDRAWN)

    def look_up(self, node: int | None = None) -> None:
        """Look up offers as a random node with a random question, or as this node for all offers."""
        world = self._world
        if node is None:
            node = world.rng.choice(world.all_nodes())
            question, hops = world.rng.choice((b"", b"\x01", b"\x02\x07")), world.rng.randint(1, 8)
        else:
            question, hops = b"", 8
        if node not in world.down:
            number = world.machines[node].look_up(
                question, world.local(node), hops=hops, timeout_ms=LOOK_UP_MS
            )
            world.checker.lookups.requested(node, number)
            world.turn(node, by_application=True)

    def flood(self) -> None:
        """Let the hostile publisher publish twenty notifications of full degree, and an outsider send
        junk.
        """
        world = self._world
        for node in world.hostile:
            machine = world.machines[node]
            if node in world.down or not isinstance(machine, PublisherEndpoint):
                continue
            if world.plan.is_poisoned:
                machine.publish(LANGUAGE, POISON, 90, world.local(node))
            for number in range(20):
                machine.publish(LANGUAGE, bytes((1 + number % 2, 255)), 90, world.local(node))
            world.turn(node, by_application=True)
        for a, b in list(world.contacts):
            world.arrive(a, b, world.rng.randbytes(world.rng.randrange(80)), is_false=True)
