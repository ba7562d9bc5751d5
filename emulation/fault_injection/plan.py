"""How large a world is, and what goes wrong in it: all of it drawn from one seed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import Final, Protocol

from dens.overlay.limits import Limits
from dens.overlay.storage.store import Key, Space, Store
from dens.overlay.wire.codes import LAST_NODE

FAULTS: Final = {
    "loss": "up to half of all datagrams are lost",
    "repeat": "datagrams arrive twice",
    "reorder": "datagrams are up to three seconds late, and so overtake each other",
    "corrupt": "bits flip on the air",
    "replay": "frames of earlier contacts are sent again",
    "crash": "nodes crash at the fault points and restart from what was committed, at once or seconds later",
    "partition": "the nodes fall into two halves for some seconds",
    "clock": "clocks jump by up to two seconds, forwards and backwards",
    "flood": "a publisher of the mission floods, and an outsider sends junk",
}
"""Every fault with what it means. Clocks that agree on nothing are no fault: they are always so."""

FAULT_POINTS: Final = ("before_commit", "after_commit", "after_send", "between_events")
"""Where a crash may come: a message was taken and is not durable; it is durable and its acknowledgement has
not left; what left is not noted yet; the application has seen only a part of what happened."""

CLOCK_JUMP_MS: Final = 2_000
SLOWEST_MS: Final = 3_000
"""How late a reordered datagram may be."""
LOOK_UP_EVERY_MS: Final = 700
LOOK_UP_MS: Final = 2_000
"""How long an answer to a look-up is waited for."""
LOOK_UPS_AT_LAST: Final = 10
"""So often it is asked at the end until everybody has answered: a greeting may still be under way."""
QUICK: Final = Limits(hello_ms=300, retry_ms=150, retry_most_ms=600, number_step=4)
"""Impatient engines, so that a short heal phase is enough, and small steps of numbers, so that steps
matter.
"""


@dataclass(frozen=True)
class Faults:
    """What may go wrong, as probabilities per datagram, per step or per second."""

    loss: float = 0.0
    repeat: float = 0.0
    slow: float = 0.0
    corrupt: float = 0.0
    replay: float = 0.0
    crash: float = 0.0
    partition: float = 0.0
    clock: float = 0.0
    flood: float = 0.0


class CrashingStore(Store, Protocol):
    """A store that can be asked what a crash would leave of it."""

    def holds(self, space: Space, key: Key) -> bool:
        """Return whether this row is committed."""
        ...

    def crash(self) -> "CrashingStore":
        """Return what a restart finds."""
        ...


@dataclass(frozen=True)
class Plan:
    """One world: who takes part, how it behaves, and what is demanded of it."""

    subscribers: int = 2
    mediators: int = 4
    publishers: int = 2
    duration_ms: int = 50_000
    heal_ms: int = 8_000
    heal_loss: float = 0.0
    """What is still lost in the heal phase, so that only sending again brings it."""
    contact_every_ms: int = 1_500
    contact_ms: tuple[int, int] = (200, 9_000)
    operation_every_ms: int = 1_500
    faults: Faults = field(default_factory=Faults)
    mission_key: bytes | None = b"mission"
    limits: Limits = field(default_factory=Limits)
    policy: str | None = None
    """Its name in the registry, if every mediator is given one."""
    notification_q: tuple[int, int] = (40, 90)
    subscription_q: tuple[int, int] = (48, 90)
    withdraws: bool = True
    subscribes_first: bool = False
    """Whether every subscriber asks for three things before anything else happens."""
    everything_arrives: bool = True
    """Whether what is owed must have arrived after the heal phase, unless its drop was recorded."""
    never_late: bool = False
    """Whether the trimmed oracle binds: a fault-free run with room, and every notification to every
    mediator.
    """
    homes: Mapping[int, int] = field(default_factory=dict)
    """Which subscribers are on the device of which mediator, and meet nobody else before the heal phase."""
    first_node: int = 1
    """The number of the first node; the others follow."""
    numbers: tuple[int, ...] = ()
    """The numbers of all nodes in their order, if they do not follow each other. Who floods is the last."""
    first_number: int | None = None
    """Where numbers of messages and sessions begin, if not where they do in an empty store."""
    ids: tuple[int, int, int] = (0, 1, 2)
    """The numbers that subscriptions have at their subscriber."""
    clock_ms: int = 0
    """Where all clocks begin, before each is set wrong on its own account."""
    is_poisoned: bool = False
    """Whether matchers fail with what a flooding publisher says."""
    has_parts: bool = False
    """Whether some subscriptions are in a language that only one source in three knows, one has no room for,
    and one has never heard of: these are offered their parts.
    """
    covering: bool = False
    """Whether mediators spare installs of what is covered."""
    looks_up: bool = False
    """Whether ends keep what they hear of others' offers, and everybody looks something up now and then."""
    routing: str = "carry"
    """What mediators do: *carry* notifications to whom they meet, or hand them on as brokers that route
    (*broker*) or *flood*.
    """
    advertises: bool = True
    """Whether brokers ask along the trees of advertisements."""
    empty_stores: bool = False
    """Whether a broker that crashes may lose its store. What was acknowledged may then be lost."""
    languages: bool = False
    """Whether nodes use the languages that ship, and not the language of topics."""
    siblings: bool = False
    """Whether most subscriptions of a subscriber have the topic of another one and a different least value,
    so that a notification satisfies several.
    """
    composes: bool = False
    """Whether many subscriptions are to sequences, of which mediators make composites, and sources predict
    them (fault_injection/sequences.py).
    """

    @property
    def nodes(self) -> tuple[int, ...]:
        """Return the numbers of all nodes: subscribers, mediators, publishers, and one that floods."""
        if self.numbers:
            return self.numbers
        count = self.subscribers + self.mediators + self.publishers + (self.faults.flood > 0)
        return tuple(range(self.first_node, self.first_node + count))

    @property
    def slack_ms(self) -> int:
        """Return by how much event times may be off.

        Ages grow at holders, not in the air, so each hop adds what its link took; and clocks jump.
        """
        in_the_air_ms = (self.mediators + 1) * SLOWEST_MS if self.faults.slow else 0
        return 100 + in_the_air_ms + (20 * CLOCK_JUMP_MS if self.faults.clock else 0)


FAULT_FREE: Final = Plan(
    mediators=5,
    contact_ms=(5, 4_000),
    contact_every_ms=700,
    subscription_q=(100, 101),
    notification_q=(80, 81),
    withdraws=False,
    subscribes_first=True,
    never_late=True,
)


DRAWN_POLICIES: Final = ("dens", "direct", "epidemic", "prophet", "spray_and_wait")
"""What a seed may draw. A policy that is added elsewhere is not added here: every seed would mean another
world, and each policy is put through worlds of its own (tests/dens/overlay/policies/test_policies.py).
"""
EDGE_NUMBERS: Final = tuple(
    sorted(
        number
        for edge in (0, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 24, LAST_NODE + 1)
        for number in (edge - 2, edge - 1, edge, edge + 1)
        if 0 <= number <= LAST_NODE
    )
)
"""The node numbers around the edges of one, two, three and four bytes, with and without a sign."""
CENTURY_MS: Final = 100 * 365 * 86_400_000


def draw(seed: int, allowed: Collection[str]) -> Plan:
    """Return the plan of a seed with some of these faults, which are named as in `FAULTS`.

    Without faults, and for every tenth seed, it is a fault-free world on which both oracles bind. Where all
    faults are allowed a seed has about two thirds of them; of fewer it has all. Every eighth seed is at the
    edges as well, in every third some subscriptions have parts, in every fifth summaries have, and in every
    seventh mediators spare installs, in every eleventh nodes look up who offers what. In every fourth (1, 5,
    9 …) subscribers have sibling subscriptions, and in every sixth (1, 7, 13 …) node numbers are scattered
    over the edges of their encodings.
    """
    plan = _drawn(seed, allowed)
    if seed % 8 == 0:
        plan = _at_the_edges(seed, plan)
    if seed % 5 == 0:
        plan = _with_small_summaries(seed, plan)
    if seed % 7 == 0:
        plan = replace(plan, covering=True)
    if seed % 11 == 0:
        plan = replace(plan, looks_up=True)
    if seed % 4 == 1:
        plan = replace(plan, siblings=True)
    if seed % 6 == 1:
        plan = replace(plan, numbers=edge_numbers(seed, len(plan.nodes)))
    return _with_parts(plan) if seed % 3 == 0 else plan


BROKER_FAULTS: Final = ("loss", "repeat", "reorder", "corrupt", "replay", "crash")
"""What is injected between brokers. Links break in every world of theirs, which stands for partitions."""
ROUTINGS: Final = ("carry", "broker", "flood")
DRAWN_ROUTINGS: Final = ("broker", "broker", "flood")
"""What a seed may draw."""


def draw_brokers(seed: int, allowed: Collection[str]) -> Plan:
    """Return the plan of a seed for a world of brokers, with some of these faults. In every fifth brokers may
    lose their stores, in every fourth node numbers are scattered.
    """
    chance = Random(f"brokers {seed}")
    plan = _drawn(seed, tuple(name for name in BROKER_FAULTS if name in allowed))
    plan = replace(
        plan,
        subscribers=chance.randint(1, 3),
        mediators=chance.randint(2, 6),
        publishers=chance.randint(1, 2),
        faults=_some(plan.faults, chance),
        limits=QUICK,
        policy=None,
        duration_ms=chance.choice((10_000, 20_000)),
        heal_ms=max(plan.heal_ms, 20_000),
        notification_q=(80, 100),
        subscription_q=(100, 110),
        everything_arrives=True,
        never_late=False,
        subscribes_first=False,
        withdraws=chance.random() < 0.7,
        siblings=chance.random() < 0.5,
        operation_every_ms=600,
        routing=Random(f"routing {seed}").choice(DRAWN_ROUTINGS),
        advertises=chance.random() < 0.8,
        empty_stores=seed % 5 == 0,
    )
    if seed % 4 == 0:
        plan = replace(plan, numbers=edge_numbers(seed, len(plan.nodes)))
    return plan


LANGUAGE_FAULTS: Final = (*BROKER_FAULTS, "partition")


def draw_languages(seed: int, allowed: Collection[str]) -> Plan:
    """Return the plan of a seed for a world of the languages that ship, with some of these faults."""
    chance = Random(f"languages {seed}")
    plan = _drawn(seed, tuple(name for name in LANGUAGE_FAULTS if name in allowed))
    plan = replace(
        plan,
        mediators=chance.randint(2, 3),
        publishers=chance.randint(1, 2),
        faults=_some(plan.faults, chance),
        limits=QUICK,
        heal_ms=max(plan.heal_ms, 20_000),
        notification_q=(80, 100),
        subscription_q=(100, 110),
        subscribes_first=True,
        withdraws=chance.random() < 0.4,
        operation_every_ms=500,
        everything_arrives=True,
        never_late=False,
        ids=(0, 3, 6),
        languages=True,
    )
    if seed % 2 == 0:
        plan = replace(plan, numbers=edge_numbers(seed, len(plan.nodes)))
    return plan


def _some(faults: Faults, chance: Random) -> Faults:
    """Return about two thirds of these faults."""
    left = {one.name: getattr(faults, one.name) for one in fields(faults) if chance.random() < 0.67}
    return Faults(**left)


def composing(plan: Plan) -> Plan:
    """Return the same world with subscriptions to sequences, twice as busy, so that there are some."""
    busy_ms = max(1, plan.operation_every_ms // 2)
    return replace(_with_parts(plan), has_parts=plan.has_parts, composes=True, operation_every_ms=busy_ms)


def edge_numbers(seed: int, count: int) -> tuple[int, ...]:
    """Return different node numbers, drawn from both sides of every edge of their encodings."""
    return tuple(Random(f"numbers {seed}").sample(EDGE_NUMBERS, count))


def _with_small_summaries(seed: int, plan: Plan) -> Plan:
    """Return the same world with summaries that have to go in parts, for one origin or some."""
    few_bytes = Random(f"summaries {seed}").choice((0, 4, 12, 30))
    return replace(plan, limits=replace(plan.limits, summary_bytes=few_bytes))


def _with_parts(plan: Plan) -> Plan:
    """Return the same world with room between the ids of subscriptions for those of their parts."""
    ids = (0, 128, 253) if plan.first_number is not None else (0, 3, 6)
    return replace(plan, has_parts=True, ids=ids)


def _at_the_edges(seed: int, plan: Plan) -> Plan:
    """Return the same world with everything that is written into envelopes and rows at one of its ends.

    Chance is drawn apart, so that the world is otherwise what it would be, and so are all other seeds.
    """
    chance = Random(f"edges {seed}")
    nodes = plan.subscribers + plan.mediators + plan.publishers + 1
    limits = plan.limits
    if chance.random() < 0.8 and not plan.never_late:  # What is not kept has to be found, which takes time.
        limits = replace(
            limits, owed=chance.choice((0, 1, 3, 50)), contact_items=chance.choice((8, 64)), session_ms=50
        )
    return replace(
        plan,
        limits=limits,
        first_node=chance.choice((0, 255 - nodes // 2, 65_536 - nodes // 2, LAST_NODE + 1 - nodes)),
        first_number=chance.choice((1, 127, 2**16 - 50, 2**31 - 20_000)),
        ids=(0, 128, 255),
        clock_ms=chance.choice((-CENTURY_MS, -(10**9), 2**31 - 20_000, 2**32 - 20_000, CENTURY_MS)),
        is_poisoned=True,
    )


def _drawn(seed: int, allowed: Collection[str]) -> Plan:
    chance = Random(f"plan {seed}")
    if not allowed or (seed % 10 == 0 and len(allowed) == len(FAULTS)):
        return replace(FAULT_FREE, mediators=chance.randint(3, 6), publishers=chance.randint(1, 3))
    names = [
        name for name in FAULTS if name in allowed and (len(allowed) < len(FAULTS) or chance.random() < 0.67)
    ]
    most = {
        "loss": 0.5,
        "repeat": 0.4,
        "reorder": 0.4,
        "corrupt": 0.05,
        "replay": 0.1,
        "crash": 0.04,
        "partition": 0.2,
        "clock": 0.2,
        "flood": 0.1,
    }
    drawn = {name: most[name] * chance.uniform(0.2, 1.0) for name in names}
    if "reorder" in drawn:
        drawn["slow"] = drawn.pop("reorder")
    # Without a key nobody can tell a true frame from a changed or an old one.
    needs_key = not {"corrupt", "replay"}.isdisjoint(names)
    plan = Plan(
        subscribers=chance.randint(1, 3),
        mediators=chance.randint(2, 5),
        publishers=chance.randint(1, 3),
        faults=Faults(**drawn),
        limits=QUICK,
        duration_ms=40_000,
        mission_key=None if chance.random() < 0.1 and not needs_key else b"mission",
        policy=chance.choice(DRAWN_POLICIES) if chance.random() < 0.5 else None,
    )
    if plan.faults.loss and chance.random() < 0.3:
        plan = replace(plan, heal_loss=plan.faults.loss, heal_ms=30_000)
    kind = chance.random()
    if kind < 0.15:
        return replace(plan, notification_q=(0, 30), subscription_q=(20, 60), everything_arrives=False)
    if "flood" in names or kind < 0.35:
        tight = replace(QUICK, notification_items=40, notification_bytes=720, receipts=60, known_items=1_000)
        return replace(plan, limits=tight)
    if kind < 0.45:
        crowded = replace(
            QUICK, notification_items=4, notification_bytes=64, subscriptions=3, receipts=3, known_items=1_000
        )
        return replace(plan, limits=crowded, operation_every_ms=400, everything_arrives=False)
    return plan
