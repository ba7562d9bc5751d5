"""What applications do in a world of faults: they subscribe, withdraw, renew, publish; a hostile one
floods.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dens.errors import LocalProtocolError
from dens.item import LIFETIME_MS, NUMBER_MASK, ItemId
from dens.publisher import PublisherEnd
from dens.subscriber import SubscriberEnd
from emulation.fault_injection.invariant import demand
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

    def is_owed(self, event_ms: int, vector: bytes, slack_ms: int = 0) -> bool:
        """Say whether an event of that time is owed to it, whatever clocks do within the slack."""
        end_ms = self.until_ms if self.over_ms is None else min(self.until_ms, self.over_ms)
        return self.since_ms + slack_ms <= event_ms < end_ms - slack_ms and matches(self.vector, vector)


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

    def operate(self) -> None:
        """Do one thing that an application would do."""
        world = self._world
        chance, withdraws = world.chance, world.plan.withdraws
        kind = chance.random()
        if kind < 0.25:
            self.subscribe(chance.choice(world.subscribers), world.plan.ids[chance.randrange(3)])
        elif kind < 0.32 and withdraws:
            self.unsubscribe(chance.choice(world.subscribers))
        elif kind < 0.37 and withdraws:
            self.renew(chance.choice(world.subscribers))
        else:
            self.publish(chance.choice(world.publishers))

    def _subscriber(self, node: int) -> SubscriberEnd:
        machine = self._world.machines[node]
        assert isinstance(machine, SubscriberEnd)
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
        pair = (chance.choice((1, 2)), chance.randrange(0, 200, 20))
        if plan.has_parts and chance.random() < 0.5:
            vector = subscription(id, seq, q, *pair, chance.choice((1, 2)), chance.randrange(0, 200, 20))
            self._subscriber(node).subscribe(vector, EITHER, world.local(node))
        else:
            vector = subscription(id, seq, q, *pair)
            self._subscriber(node).subscribe(vector, LANGUAGE, world.local(node))
        for one in older:
            one.over_ms = one.over_ms or world.now_ms
        self.asked.append(Asked(node, id, seq, vector, world.now_ms, world.now_ms + LIFETIME_MS[q]))
        world.turn(node, is_asked=True)

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

    def publish(self, node: int) -> None:
        """Tell of one event."""
        world = self._world
        if node in world.down:
            return
        machine = world.machines[node]
        assert isinstance(machine, PublisherEnd)
        vector = bytes((world.chance.choice((1, 2)), world.chance.randrange(256)))
        q = world.chance.randrange(*world.plan.notification_q)
        item_id = machine.publish(LANGUAGE, vector, q, world.local(node))
        demand(
            item_id not in self.published,
            3,
            f"{node} gave the number {item_id & NUMBER_MASK} to two notifications",
        )
        self.published[item_id] = Published(item_id, world.now_ms, world.now_ms + LIFETIME_MS[q], vector)
        world.turn(node, is_asked=True)

    def flood(self) -> None:
        """Let the hostile publisher tell of twenty events, all fully matching, and an outsider send junk."""
        world = self._world
        for node in world.hostile:
            machine = world.machines[node]
            if node in world.down or not isinstance(machine, PublisherEnd):
                continue
            if world.plan.is_poisoned:
                machine.publish(LANGUAGE, POISON, 90, world.local(node))
            for number in range(20):
                machine.publish(LANGUAGE, bytes((1 + number % 2, 255)), 90, world.local(node))
            world.turn(node, is_asked=True)
        for a, b in list(world.contacts):
            world.arrive(a, b, world.chance.randbytes(world.chance.randrange(80)), is_false=True)
