"""The work budget of origins, in units: buckets by their definition, and nodes whose language counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.interfaces import BoundLanguage
from dens.overlay.events import MessageQuarantined, MessageRefused, MessageUndecided, NotificationMatched
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.session.work_budget import WorkBudget
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import HELLO, LINK_NUMBER, SUMMARY, MessageType, Role, Status
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Acknowledgement, Hello
from emulation.fault_injection.topics import LANGUAGE, TopicDirectory, TopicMatch, TopicMatcher
from tests.dens.overlay.test_quarantine import asks, events, give, greet, heard_by, owed, tells
from tests.sizes import examples

UNIT = 100
"""What a pair costs in the language below."""


class Exceeded(Exception):
    """What this language raises where a call reaches its limit."""


class CountingMatcher(TopicMatcher):
    """Counts `UNIT` for each pair that it judges. A subscription with least value 99 costs 50 times as much;
    a call that passes `work_limit` raises.
    """

    def __init__(self) -> None:
        super().__init__()
        self.work = 0
        self.work_limit: int | None = None

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        before = self.work
        for held in self._vectors.values():
            self.work += UNIT * (50 if held[4] == 99 else 1)
            if self.work_limit is not None and self.work - before > self.work_limit:
                raise Exceeded
        return super().match(vector, event_ms, now_ms)


SMALL = Limits(work_per_s=10 * UNIT, work_burst=40 * UNIT, work_step=20 * UNIT)
LARGE = Limits(work_per_s=1 << 40, work_burst=1 << 40, work_step=1 << 40)


@dataclass
class Counted:
    """A DENS node, and the matchers that it made."""

    store: MemoryStore = field(default_factory=MemoryStore)
    limits: Limits = SMALL
    now_ms: int = 0
    made: list[CountingMatcher] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.node = DensNode(
            2,
            Mission(
                7,
                {LANGUAGE: BoundLanguage(matchers={LANGUAGE: self._make})},
                limits=self.limits,
                work_exceeded=(Exceeded,),
            ),
            self.store,
            self.now_ms,
            directory=TopicDirectory(),
        )

    def _make(self) -> CountingMatcher:
        self.made.append(CountingMatcher())
        return self.made[-1]

    @property
    def units(self) -> int:
        return sum(one.work for one in self.made)


def rest(engine: Engine, until_ms: int) -> Iterator[int]:
    """Let timers be due until then; yield the time of each."""
    while (at_ms := engine.next_timer_ms()) is not None and at_ms <= until_ms:
        engine.timer_due(max(at_ms, 0))
        engine.datagrams_to_send(max(at_ms, 0))
        yield max(at_ms, 0)


# ---------------------------------------------------------------------------- buckets


@given(
    per_s=st.integers(1, 5_000),
    burst=st.integers(1, 5_000),
    steps=st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 9_000)), max_size=30),
)
def test_law_a_bucket_is_what_its_definition_says(
    per_s: int, burst: int, steps: list[tuple[int, int]]
) -> None:
    """The oracle keeps the level itself, exactly: refilled by time, at most full, at least minus full."""
    budget, level, now_ms = WorkBudget(per_s, burst), Fraction(burst), 0
    for pause_ms, units in steps:
        now_ms += pause_ms
        level = min(level + Fraction(per_s * pause_ms, 1000), Fraction(burst))
        assert budget.is_spent(1, now_ms) == (level <= 0)
        assert budget.is_overdrawn(1, now_ms) == (level <= -burst)
        ready_ms = budget.ready_ms(1, now_ms)
        assert budget.is_spent(1, ready_ms - 1) or ready_ms == now_ms
        assert not budget.is_spent(1, ready_ms)
        budget.charge(1, units, now_ms)
        level = max(level - units, Fraction(-burst))
    assert not budget.is_spent(2, now_ms)


def test_clock_set_back_does_not_delay_matching() -> None:
    budget = WorkBudget(10, 100)
    budget.charge(1, 10_000, 10**9)
    assert budget.ready_ms(1, 1_000) <= 1_000 + 10_001


def test_buckets_that_are_full_again_are_forgotten() -> None:
    budget = WorkBudget(1_000, 1_000)
    for origin in range(10_000):
        budget.charge(origin, 1, origin)
    assert len(budget) < 200


# ---------------------------------------------------------------------------- one origin and the others


def test_one_origin_waits_and_the_others_do_not() -> None:
    one = Counted()
    node = one.node
    greet(node, 3, Role.MEDIATOR)
    for number in range(10):
        give(node, 3, asks(number))
    for number in range(20):
        give(node, 3, tells(number, origin=4))
    give(node, 3, tells(0, origin=5))
    happened = events(node)
    undecided = [event for event in happened if isinstance(event, MessageUndecided)]
    matched = {event.item.id for event in happened if isinstance(event, NotificationMatched)}
    assert {event.item.origin for event in undecided} == {4}
    assert {event.reason for event in undecided} == {"work"}
    assert tells(0, origin=5).id in matched
    assert {event.item.id for event in undecided} == {tells(number).id for number in range(20)} - matched
    assert not [event for event in happened if isinstance(event, MessageRefused | MessageQuarantined)]
    burst = SMALL.work_burst + 12 * UNIT
    assert one.units <= 2 * burst
    for at_ms in rest(node, 60_000):
        assert one.units <= 2 * burst + SMALL.work_per_s * at_ms // 1000 + 12 * UNIT
    assert owed(node) == {
        (tells(n, origin=o).id, id) for o, n in [(5, 0), *((4, n) for n in range(20))] for id in range(10)
    }
    assert node.next_timer_ms() is None or node.next_timer_ms() > 60_000  # type: ignore[operator]


def test_what_waits_is_not_taken_for_delivered() -> None:
    """Room is needed: matched items without a subscriber are dropped before those waiting to be matched."""
    one = Counted(limits=Limits(work_per_s=1, work_burst=3 * UNIT, work_step=UNIT, notification_items=6))
    greet(one.node, 3, Role.MEDIATOR)
    give(one.node, 3, asks(0))
    for number in range(5):
        give(one.node, 3, tells(number))
    waiting = [held for held in one.node.state.carried.all() if held.is_unmatched]
    assert waiting
    assert all(one.node.state.carried.is_pending(held.item.id) for held in waiting)


def test_a_pair_that_reaches_its_limit_is_undecided_and_the_others_are_found() -> None:
    """No language is quarantined; after a restart the same pairs are undecided."""
    limits = Limits(work_per_s=1 << 20, work_burst=160 * UNIT, work_step=1 << 20)
    store = MemoryStore()
    one = Counted(store, limits)
    greet(one.node, 3, Role.MEDIATOR)
    for number in range(3):
        give(one.node, 3, asks(number, 99 if number == 1 else 0))
    give(one.node, 3, tells(0))
    for _ in range(2):
        happened = events(one.node)
        assert owed(one.node) == {(tells(0).id, 0), (tells(0).id, 2)}
        undecided = [event for event in happened if isinstance(event, MessageUndecided)]
        assert [event.item.id for event in undecided] == [tells(0).id]
        assert str(undecided[0].reason).startswith("matching: Exceeded at test_work_budget.py")
        assert not [event for event in happened if isinstance(event, MessageQuarantined)]
        one.node.datagrams_to_send(10_000)
        store = store.crash()
        one = Counted(store, limits)


def test_a_subscriber_that_renews_without_end_is_refused() -> None:
    one = Counted(limits=Limits(work_per_s=1, work_burst=10, work_step=UNIT))
    greet(one.node, 1, Role.SUBSCRIBER)
    for number in range(60):
        give(one.node, 1, asks(0).replace(number=number, payload=bytes((0, number, *asks(0).payload[2:]))))
    refused = [event for event in events(one.node) if isinstance(event, MessageRefused)]
    assert {event.reason for event in refused} == {"work"}
    answered = [
        status
        for item in heard_by(one.node, 1, 1_000)
        if item.type == MessageType.ACKNOWLEDGEMENT
        for _, _, status in Acknowledgement.decode(item.payload).entries
    ]
    assert Status.WORK in answered
    give_later = asks(1)
    one.node.receive(b"", 1, 0)
    give(one.node, 1, give_later)
    assert one.node.subscription_count <= 1


# ---------------------------------------------------------------------------- the same in the end

message = st.one_of(
    st.builds(asks, st.integers(0, 5), st.sampled_from([0, 100, 201]), st.sampled_from([1, 6, 7])),
    st.builds(tells, st.integers(0, 30), st.sampled_from([50, 200]), st.sampled_from([4, 5, 8])),
)


@given(messages=st.lists(message, max_size=60), restarts=st.sets(st.integers(0, 59), max_size=2))
@settings(max_examples=examples(60))
def test_law_a_budget_changes_when_and_not_what(messages: Sequence[Item], restarts: set[int]) -> None:
    """Whatever waits, the final pending deliveries equal those without a bound, after restarts too."""
    bounded, free = Counted(), Counted(limits=LARGE)
    greet(bounded.node, 3, Role.MEDIATOR)
    greet(free.node, 3, Role.MEDIATOR)
    for at, item in enumerate(messages):
        for one in (bounded, free):
            give(one.node, 3, item)
        if at in restarts:
            bounded.node.datagrams_to_send(1_000)
            bounded = Counted(bounded.store.crash())
            greet(bounded.node, 3, Role.MEDIATOR)
    for _ in rest(bounded.node, 600_000):
        pass
    assert all_owed(bounded.node) == all_owed(free.node)


def all_owed(node: DensNode) -> set[tuple[ItemId, int, int]]:
    return {
        (carried.item.id, subscriber, id)
        for carried in node.state.carried.all()
        for subscriber, ids in carried.pending.items()
        for id in ids
    }


# ---------------------------------------------------------------------------- steps


def held_by(count: int) -> MemoryStore:
    """Return the store of a node that holds a subscription and this many notifications of ten publishers."""
    one = Counted(limits=LARGE)
    greet(one.node, 3, Role.MEDIATOR)
    give(one.node, 3, asks(0))
    for number in range(count):
        give(one.node, 3, tells(number, origin=10 + number % 10))
    one.node.datagrams_to_send(10_000)
    return one.store.crash()


@pytest.mark.parametrize("count", [50, 100, 200, 400])
def test_a_restart_answers_a_hello_before_it_has_matched_what_it_holds(count: int) -> None:
    """What is done before the hello does not grow with what is held; all of it is done in the end."""
    one = Counted(held_by(count), replace_step())
    node = one.node
    assert one.units <= SMALL.work_step + 2 * UNIT
    node.contact_opened(1, 0)
    hello = Hello(Role.SUBSCRIBER, 5, 0).encode()
    give(node, 1, Item(HELLO, 0, 1, LINK_NUMBER + 6, 0, 0, 0, hello))
    assert {item.type for item in heard_by(node, 1, 1)} & {HELLO, SUMMARY}
    assert one.units <= SMALL.work_step + 2 * UNIT
    before = one.units
    for _ in rest(node, 0):
        assert one.units - before <= SMALL.work_step + 2 * UNIT
        before = one.units
    assert len(all_owed(node)) == count
    assert one.units == UNIT * count
    assert {event.from_before for event in events(node) if isinstance(event, NotificationMatched)} == {True}


def replace_step() -> Limits:
    return Limits(work_per_s=1 << 40, work_burst=1 << 40, work_step=SMALL.work_step)


@pytest.mark.parametrize("count", [100, 200, 400])
def test_a_subscription_finds_what_was_held_before_it_in_steps(count: int) -> None:
    one = Counted(limits=replace_step())
    greet(one.node, 3, Role.MEDIATOR)
    for number in range(count):
        give(one.node, 3, tells(number, origin=10 + number % 10))
    give(one.node, 3, asks(0))
    assert one.units <= SMALL.work_step + 2 * UNIT
    for _ in rest(one.node, 0):
        pass
    assert one.units == UNIT * count
    assert len(all_owed(one.node)) == count


def test_connected_subscriber_gets_matches_found_later() -> None:
    one = Counted(held_by(100), replace_step())
    greet(one.node, 1, Role.SUBSCRIBER)
    for _ in rest(one.node, 0):
        pass
    told = set()
    for at_ms in range(0, 400_000, 2_000):
        for item in heard_by(one.node, 1, at_ms):
            if item.type == MessageType.NOTIFY:
                told.add(item.id)
                acknowledge = Acknowledgement(((item.origin, item.number, int(Status.STORED)),))
                answer = Item(
                    MessageType.ACKNOWLEDGEMENT,
                    0,
                    1,
                    (1 << 31) + 100 + len(told),
                    0,
                    0,
                    0,
                    acknowledge.encode(),
                )
                give(one.node, 1, answer)
    assert len(told) == 100
