"""The plan of a world: its size and its faults, drawn from one seed."""

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
    "reorder": "datagrams are up to three seconds late and overtake each other",
    "corrupt": "bits flip on the air",
    "replay": "frames of earlier contacts are sent again",
    "crash": "nodes crash at the fault points and restart from what was committed, at once or seconds later",
    "partition": "the nodes are split into two halves for some seconds",
    "clock": "clocks jump by up to two seconds, forwards and backwards",
    "flood": "a publisher of the mission floods, and an outsider sends junk",
}
"""Every fault with its meaning. Clocks always differ; that does not count as a fault."""

FAULT_POINTS: Final = ("before_commit", "after_commit", "after_send", "between_events")
"""Where a crash may happen: a received message is not durable yet; it is durable but not acknowledged; what
was sent is not recorded yet; the application has seen only some of the events.
"""

CLOCK_JUMP_MS: Final = 2_000
SLOWEST_MS: Final = 3_000
"""The longest delay of a reordered datagram."""
LOOK_UP_EVERY_MS: Final = 700
LOOK_UP_MS: Final = 2_000
"""The patience of a look-up."""
LOOK_UPS_AT_LAST: Final = 10
"""Attempts at a complete look-up in the end: a handshake may still be under way."""
QUICK: Final = Limits(hello_ms=300, retry_ms=150, retry_most_ms=600, number_step=4)
"""Short timeouts, so that a short heal phase is enough, and small reservations of numbers, so that they
occur.
"""


@dataclass(frozen=True)
class Faults:
    """Probabilities of faults, per datagram, per step or per second."""

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
    """A store that can simulate a crash."""

    def holds(self, space: Space, key: Key) -> bool:
        """Return whether this row is committed."""
        ...

    def crash(self) -> "CrashingStore":
        """Return the store that a restart finds."""
        ...


@dataclass(frozen=True)
class Plan:
    """One world: its nodes, their behaviour, the faults, and what is expected of it."""

    subscribers: int = 2
    mediators: int = 4
    publishers: int = 2
    duration_ms: int = 50_000
    heal_ms: int = 8_000
    heal_loss: float = 0.0
    """Loss in the heal phase, which only retransmission overcomes."""
    contact_every_ms: int = 1_500
    contact_ms: tuple[int, int] = (200, 9_000)
    operation_every_ms: int = 1_500
    faults: Faults = field(default_factory=Faults)
    mission_key: bytes | None = b"mission"
    limits: Limits = field(default_factory=Limits)
    policy: str | None = None
    """The replication policy of all mediators, by its name in the registry; None for the default."""
    notification_q: tuple[int, int] = (40, 90)
    subscription_q: tuple[int, int] = (48, 90)
    withdraws: bool = True
    subscribes_first: bool = False
    """Whether every subscriber makes three subscriptions before anything else happens."""
    everything_arrives: bool = True
    """Whether expected deliveries must have arrived after the heal phase, unless a drop was recorded."""
    never_late: bool = False
    """Whether the trimmed oracle applies: no faults, enough room, and every notification to every mediator.
    """
    homes: Mapping[int, int] = field(default_factory=dict)
    """Subscribers on the device of a mediator, with that mediator. They meet no other node before the heal
    phase."""
    first_node: int = 1
    """The number of the first node; the others follow."""
    numbers: tuple[int, ...] = ()
    """The numbers of all nodes in their order, if they are not consecutive. The flooding one is the last."""
    first_number: int | None = None
    """The first number of messages and sessions, if not that of an empty store."""
    ids: tuple[int, int, int] = (0, 1, 2)
    """The ids of subscriptions at their subscriber."""
    clock_ms: int = 0
    """The start of all clocks, before each gets its own error."""
    is_poisoned: bool = False
    """Whether matchers raise on notifications of the flooding publisher."""
    has_parts: bool = False
    """Whether some subscriptions are in a language of which one source in three knows everything, one has too
    little room, and one knows nothing: the latter two are offered the parts.
    """
    covering: bool = False
    """Whether mediators suppress installs of covered subscriptions."""
    looks_up: bool = False
    """Whether endpoints keep the offers that they receive, and all nodes start look-ups at random."""
    routing: str = "carry"
    """Whether mediators *carry* notifications, or are brokers that route (*broker*) or *flood*."""
    advertises: bool = True
    """Whether brokers forward subscriptions along the trees of advertisements only."""
    empty_stores: bool = False
    """Whether a broker that crashes may lose its store, and with it what it acknowledged."""
    languages: bool = False
    """Whether nodes use the shipped languages instead of the topic language."""
    siblings: bool = False
    """Whether most subscriptions of a subscriber share the topic of another one, with a different least
    value, so that a notification satisfies several.
    """
    composes: bool = False
    """Whether many subscriptions are to sequences, which mediators compose and sources predict
    (fault_injection/sequences.py).
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
        """Return the largest error of event times: ages do not grow in the air, and clocks jump."""
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
"""Policies that a seed may draw. New policies are not added, because every seed would then mean another
world; each policy has worlds of its own (tests/dens/overlay/policies/test_policies.py).
"""
EDGE_NUMBERS: Final = tuple(
    sorted(
        number
        for edge in (0, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 24, LAST_NODE + 1)
        for number in (edge - 2, edge - 1, edge, edge + 1)
        if 0 <= number <= LAST_NODE
    )
)
"""Node numbers around the limits of one to four bytes, signed and unsigned."""
CENTURY_MS: Final = 100 * 365 * 86_400_000


def draw(seed: int, allowed: Collection[str]) -> Plan:
    """Return the plan of a seed with some of these faults, named as in `FAULTS`.

    Without allowed faults, and for every tenth seed, the world is fault-free and both oracles apply. If all
    faults are allowed, a seed has about two thirds of them; otherwise it has all that are allowed. Further
    variations depend on the seed:

    - every third: some subscriptions have parts
    - every fourth (1, 5, 9 …): subscribers have overlapping subscriptions (`siblings`)
    - every fifth: summaries are sent in parts
    - every sixth (1, 7, 13 …): node numbers at the limits of their encodings
    - every seventh: mediators suppress covered installs
    - every eighth: other values at the limits of their encodings
    - every eleventh: nodes look up offers
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
"""Faults between brokers. Links break in all broker worlds, so there are no partitions besides."""
ROUTINGS: Final = ("carry", "broker", "flood")
DRAWN_ROUTINGS: Final = ("broker", "broker", "flood")
"""Routings that a seed may draw; brokers twice as often as flooding."""


def draw_brokers(seed: int, allowed: Collection[str]) -> Plan:
    """Return the plan of a broker world with some of these faults. In every fifth seed brokers may lose their
    stores, in every fourth node numbers lie at the limits of their encodings.
    """
    rng = Random(f"brokers {seed}")
    plan = _drawn(seed, tuple(name for name in BROKER_FAULTS if name in allowed))
    plan = replace(
        plan,
        subscribers=rng.randint(1, 3),
        mediators=rng.randint(2, 6),
        publishers=rng.randint(1, 2),
        faults=_some(plan.faults, rng),
        limits=QUICK,
        policy=None,
        duration_ms=rng.choice((10_000, 20_000)),
        heal_ms=max(plan.heal_ms, 20_000),
        notification_q=(80, 100),
        subscription_q=(100, 110),
        everything_arrives=True,
        never_late=False,
        subscribes_first=False,
        withdraws=rng.random() < 0.7,
        siblings=rng.random() < 0.5,
        operation_every_ms=600,
        routing=Random(f"routing {seed}").choice(DRAWN_ROUTINGS),
        advertises=rng.random() < 0.8,
        empty_stores=seed % 5 == 0,
    )
    if seed % 4 == 0:
        plan = replace(plan, numbers=edge_numbers(seed, len(plan.nodes)))
    return plan


LANGUAGE_FAULTS: Final = (*BROKER_FAULTS, "partition")


def draw_languages(seed: int, allowed: Collection[str]) -> Plan:
    """Return the plan of a world with the shipped languages and some of these faults."""
    rng = Random(f"languages {seed}")
    plan = _drawn(seed, tuple(name for name in LANGUAGE_FAULTS if name in allowed))
    plan = replace(
        plan,
        mediators=rng.randint(2, 3),
        publishers=rng.randint(1, 2),
        faults=_some(plan.faults, rng),
        limits=QUICK,
        heal_ms=max(plan.heal_ms, 20_000),
        notification_q=(80, 100),
        subscription_q=(100, 110),
        subscribes_first=True,
        withdraws=rng.random() < 0.4,
        operation_every_ms=500,
        everything_arrives=True,
        never_late=False,
        ids=(0, 3, 6),
        languages=True,
    )
    if seed % 2 == 0:
        plan = replace(plan, numbers=edge_numbers(seed, len(plan.nodes)))
    return plan


def _some(faults: Faults, rng: Random) -> Faults:
    """Return about two thirds of these faults."""
    left = {one.name: getattr(faults, one.name) for one in fields(faults) if rng.random() < 0.67}
    return Faults(**left)


def composing(plan: Plan) -> Plan:
    """Return the plan with subscriptions to sequences, and twice as many operations, so that some match."""
    busy_ms = max(1, plan.operation_every_ms // 2)
    return replace(_with_parts(plan), has_parts=plan.has_parts, composes=True, operation_every_ms=busy_ms)


def edge_numbers(seed: int, count: int) -> tuple[int, ...]:
    """Return distinct node numbers around the limits of their encodings."""
    return tuple(Random(f"numbers {seed}").sample(EDGE_NUMBERS, count))


def _with_small_summaries(seed: int, plan: Plan) -> Plan:
    """Return the plan with summaries that have to be split, per origin or per few origins."""
    few_bytes = Random(f"summaries {seed}").choice((0, 4, 12, 30))
    return replace(plan, limits=replace(plan.limits, summary_bytes=few_bytes))


def _with_parts(plan: Plan) -> Plan:
    """Return the plan with gaps between the ids of subscriptions for those of their parts."""
    ids = (0, 128, 253) if plan.first_number is not None else (0, 3, 6)
    return replace(plan, has_parts=True, ids=ids)


def _at_the_edges(seed: int, plan: Plan) -> Plan:
    """Return the plan with the values of envelopes and rows at the limits of their encodings.

    It draws from a random stream of its own, so that everything else in the plan stays the same.
    """
    rng = Random(f"edges {seed}")
    nodes = plan.subscribers + plan.mediators + plan.publishers + 1
    limits = plan.limits
    if rng.random() < 0.8 and not plan.never_late:  # Recomputing what is not kept takes time.
        limits = replace(
            limits, owed=rng.choice((0, 1, 3, 50)), contact_items=rng.choice((8, 64)), session_ms=50
        )
    return replace(
        plan,
        limits=limits,
        first_node=rng.choice((0, 255 - nodes // 2, 65_536 - nodes // 2, LAST_NODE + 1 - nodes)),
        first_number=rng.choice((1, 127, 2**16 - 50, 2**31 - 20_000)),
        ids=(0, 128, 255),
        clock_ms=rng.choice((-CENTURY_MS, -(10**9), 2**31 - 20_000, 2**32 - 20_000, CENTURY_MS)),
        is_poisoned=True,
    )


def _drawn(seed: int, allowed: Collection[str]) -> Plan:
    rng = Random(f"plan {seed}")
    if not allowed or (seed % 10 == 0 and len(allowed) == len(FAULTS)):
        return replace(FAULT_FREE, mediators=rng.randint(3, 6), publishers=rng.randint(1, 3))
    names = [
        name for name in FAULTS if name in allowed and (len(allowed) < len(FAULTS) or rng.random() < 0.67)
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
    drawn = {name: most[name] * rng.uniform(0.2, 1.0) for name in names}
    if "reorder" in drawn:
        drawn["slow"] = drawn.pop("reorder")
    # Without a key, changed and replayed frames cannot be detected.
    needs_key = not {"corrupt", "replay"}.isdisjoint(names)
    plan = Plan(
        subscribers=rng.randint(1, 3),
        mediators=rng.randint(2, 5),
        publishers=rng.randint(1, 3),
        faults=Faults(**drawn),
        limits=QUICK,
        duration_ms=40_000,
        mission_key=None if rng.random() < 0.1 and not needs_key else b"mission",
        policy=rng.choice(DRAWN_POLICIES) if rng.random() < 0.5 else None,
    )
    if plan.faults.loss and rng.random() < 0.3:
        plan = replace(plan, heal_loss=plan.faults.loss, heal_ms=30_000)
    kind = rng.random()
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
