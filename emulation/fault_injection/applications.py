"""What applications do in a world of faults: they subscribe, withdraw, renew, publish; a hostile one
floods.
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
class Asked:
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
    """From when on its notifications are expected, if not from its beginning: brokers tell each other of it
    first.
    """

    def is_in_force(self, event_ms: int, slack_ms: int = 0) -> bool:
        """Return whether an event of that time is in its time, whatever clocks do within the slack."""
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
    """The applications of all nodes, and their own memory of what they asked and published."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.asked: list[Asked] = []
        self.published: dict[ItemId, Published] = {}
        self._open: list[tuple[int, Composite]] = []
        """Predictions that have no outcome yet, with the sources that made them."""

    def operate(self) -> None:
        """Do one thing that an application would do."""
        world = self._world
        chance, withdraws = world.chance, world.plan.withdraws
        if world.plan.composes and chance.random() < 0.2:
            self.predict(chance.choice(world.publishers))
            return
        kind = chance.random()
        if kind < 0.25:
            self.subscribe(chance.choice(world.subscribers), world.plan.ids[chance.randrange(3)])
        elif kind < 0.32 and withdraws:
            self.unsubscribe(chance.choice(world.subscribers))
        elif kind < 0.37 and withdraws:
            self.renew(chance.choice(world.subscribers))
        else:
            self.publish(chance.choice(world.publishers))

    def _subscriber(self, node: int) -> SubscriberEndpoint:
        machine = self._world.machines[node]
        assert isinstance(machine, SubscriberEndpoint)
        return machine

    def _live(self, node: int) -> list[Asked]:
        """Return what the node itself has in force: an unsynced revision is gone after a crash."""
        if node in self._world.down:
            return []
        local_ms = self._world.local(node)
        held = {(one.id, one.seq) for one in self._subscriber(node).in_force if one.until_ms > local_ms}
        return [
            one
            for one in self.asked
            if one.subscriber == node
            and (one.id, one.seq) in held
            and one.over_ms is None
            and self._world.now_ms < one.until_ms
        ]

    def subscribe(self, node: int, id: int) -> None:
        """Ask for something, in place of what this subscription asked before."""
        world = self._world
        chance, plan = world.chance, world.plan
        older = [one for one in self.asked if one.subscriber == node and one.id == id]
        if node in world.down or (older and not plan.withdraws):
            return
        seq = (older[-1].seq + 1 + chance.randrange(3)) % 256 if older else chance.randrange(256)
        q = chance.randrange(*plan.subscription_q)
        vector, language = self._drawn_subscription(node, id, seq, q)
        self._subscriber(node).subscribe(vector, language, world.local(node))
        for one in older:
            one.over_ms = one.over_ms or world.now_ms
        until_ms = world.now_ms + LIFETIME_MS[q]
        new = Asked(node, id, seq, vector, world.now_ms, until_ms, language=language)
        if plan.routing != "carry":
            new.settled_ms = NEVER_MS
        self.asked.append(new)
        world.turn(node, is_asked=True)

    def _drawn_subscription(self, node: int, id: int, seq: int, q: int) -> tuple[bytes, int]:
        """Return the vector and the language of a subscription."""
        chance, plan = self._world.chance, self._world.plan
        pair = (chance.choice((1, 2)), chance.randrange(0, 200, 20))
        siblings = [one for one in self._live(node) if one.id != id] if plan.siblings else []
        if siblings and chance.random() < 0.8:
            pair = self._beside(chance.choice(siblings))
        if plan.composes and chance.random() < 0.6:
            other = (chance.choice((1, 2)), chance.randrange(0, 200, 20))
            return subscription(id, seq, q, *pair, *other, chance.choice((4, 12, 255))), SEQUENCE
        if plan.has_parts and chance.random() < 0.5:
            other = (chance.choice((1, 2)), chance.randrange(0, 200, 20))
            return subscription(id, seq, q, *pair, *other), EITHER
        return subscription(id, seq, q, *pair), LANGUAGE

    def _drawn_notification(self, node: int) -> tuple[bytes, int]:
        """Return the vector and the language of a notification."""
        chance = self._world.chance
        return bytes((chance.choice((1, 2)), chance.randrange(256))), LANGUAGE

    def wants(self, asked: Asked, vector: bytes) -> bool:
        """Return whether a notification satisfies a subscription, by the definition of its language."""
        return asked.language != SEQUENCE and matches(asked.vector, vector)

    def is_owed(self, asked: Asked, published: Published, slack_ms: int = 0) -> bool:
        """Return whether a subscription expects a notification, whatever clocks do within the slack."""
        is_settled = asked.settled_ms <= published.event_ms
        in_force = is_settled and asked.is_in_force(published.event_ms, slack_ms)
        return in_force and self.wants(asked, published.vector)

    def settled(self) -> None:
        """Expect from now on what is in force: all brokers know of it."""
        for one in self.asked:
            one.settled_ms = min(one.settled_ms, self._world.now_ms)

    def _beside(self, sibling: Asked) -> tuple[int, int]:
        """Return a topic and a least value that share notifications with a subscription, and differ from
        it.
        """
        topic, least = sibling.vector[3:5]
        return topic, (least + 20 * self._world.chance.randint(1, 5)) % 200

    def unsubscribe(self, node: int) -> None:
        """Take one subscription back."""
        live = self._live(node)
        if live:
            one = self._world.chance.choice(live)
            self._subscriber(node).unsubscribe(one.id, self._world.local(node))
            one.over_ms = self._world.now_ms
            self._world.turn(node, is_asked=True)

    def renew(self, node: int) -> None:
        """Ask for longer."""
        live = self._live(node)
        if live:
            world = self._world
            one, longest_q = world.chance.choice(live), world.plan.subscription_q[1]
            try:
                self._subscriber(node).renew(one.id, longest_q, world.local(node))
            except LocalProtocolError:
                return  # a clock that was set back would make it shorter, which is refused
            one.until_ms = world.now_ms + LIFETIME_MS[longest_q]
            world.turn(node, is_asked=True)

    def publish(self, node: int, vector: bytes | None = None) -> None:
        """Publish one notification: this one, or any."""
        world = self._world
        if node in world.down:
            return
        machine = world.machines[node]
        assert isinstance(machine, PublisherEndpoint)
        language = LANGUAGE
        if vector is None:
            vector, language = self._drawn_notification(node)
        q = world.chance.randrange(*world.plan.notification_q)
        item_id = machine.publish(language, vector, q, world.local(node))
        demand(
            item_id not in self.published,
            3,
            f"{node} gave the number {item_id & NUMBER_MASK} to two notifications",
        )
        self.published[item_id] = Published(item_id, world.now_ms, world.now_ms + LIFETIME_MS[q], vector)
        world.turn(node, is_asked=True)

    def predict(self, node: int) -> None:
        """Predict a match of somebody's sequence, or say how an earlier prediction of this source ended."""
        world = self._world
        mine = [said for source, said in self._open if source == node]
        wanted = [one for one in self.asked if one.language == SEQUENCE and one.over_ms is None]
        told = [item_id for item_id in self.published if item_id >> NUMBER_BITS == node]
        if node in world.down or not told:
            return
        if mine and world.chance.random() < 0.7:
            said = self._outcome(world.chance.choice(mine))
            self._open.remove((node, replace(said, kind=PREDICTION, last=0)))
        elif wanted:
            one = world.chance.choice(wanted)
            said = Composite(PREDICTION, one.subscriber, one.id, one.seq, 0, world.chance.choice(told))
            if said in mine:
                return
            self._open.append((node, said))
        else:
            return
        machine = world.machines[node]
        assert isinstance(machine, PublisherEndpoint)
        machine.publish(SEQUENCE, said.encode(), KEEP_Q, world.local(node))
        world.turn(node, is_asked=True)

    def _outcome(self, said: Composite) -> Composite:
        """Return how a prediction ends: a match of the same subscription and source, if there is one."""
        [asked] = [
            one
            for one in self.asked
            if (one.subscriber, one.id, one.seq) == (said.subscriber, said.id, said.seq)
        ]
        lasts = [
            last.id
            for last, _ in self._world.checker.composites.ends(asked)
            if last.id >> NUMBER_BITS == said.first >> NUMBER_BITS
        ]
        if lasts and self._world.chance.random() < 0.5:
            return replace(said, kind=CONFIRMED, last=self._world.chance.choice(lasts))
        return replace(said, kind=WITHDRAWN)

    def look_up(self, node: int | None = None) -> None:
        """Ask who offers something, or everything: as this node, or as anybody."""
        world = self._world
        if node is None:
            node = world.chance.choice(world.all_nodes())
            question, hops = world.chance.choice((b"", b"\x01", b"\x02\x07")), world.chance.randint(1, 8)
        else:
            question, hops = b"", 8
        if node not in world.down:
            number = world.machines[node].look_up(
                question, world.local(node), hops=hops, timeout_ms=LOOK_UP_MS
            )
            world.checker.lookups.asked(node, number)
            world.turn(node, is_asked=True)

    def flood(self) -> None:
        """Let the hostile publisher tell of twenty events, all fully matching, and an outsider send junk."""
        world = self._world
        for node in world.hostile:
            machine = world.machines[node]
            if node in world.down or not isinstance(machine, PublisherEndpoint):
                continue
            if world.plan.is_poisoned:
                machine.publish(LANGUAGE, POISON, 90, world.local(node))
            for number in range(20):
                machine.publish(LANGUAGE, bytes((1 + number % 2, 255)), 90, world.local(node))
            world.turn(node, is_asked=True)
        for a, b in list(world.contacts):
            world.arrive(a, b, world.chance.randbytes(world.chance.randrange(80)), is_false=True)
