"""A copy budget of L means that at most L mediators ever carry a notification
(dens/overlay/storage/reservations.py)."""

from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.dens.overlay.policies.budget_world import PUBLISHER, SUBSCRIBER, BudgetWorld, Faults
from tests.dens.overlay.policies.copy_oracle import CopyOracle
from tests.sizes import examples

MEDIATORS, PUBLISHERS, SUBSCRIBERS = 6, 2, 1
NODES = [
    *range(1, MEDIATORS + 1),
    *range(PUBLISHER, PUBLISHER + PUBLISHERS),
    *range(SUBSCRIBER, SUBSCRIBER + SUBSCRIBERS),
]
pairs = st.sampled_from([(a, b) for a, b in combinations(NODES, 2) if a <= MEDIATORS])
crowds = st.lists(st.sampled_from(NODES), min_size=3, max_size=8, unique=True)
Step = tuple[str, object, int]
"""What happens, to whom, and how many milliseconds pass afterwards."""
pauses = st.sampled_from([5, 15, 25, 35, 45, 55, 65, 400, 1_500])
"""A datagram takes up to 10 ms: many contacts end, and crashes come, while a copy or its answer crosses."""
steps = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), pairs, pauses),
        st.tuples(st.just("end"), pairs, pauses),
        st.tuples(st.just("crowd"), crowds, pauses),
        st.tuples(st.just("part"), st.sampled_from(NODES), pauses),
        st.tuples(st.just("publish"), st.integers(PUBLISHER, PUBLISHER + PUBLISHERS - 1), pauses),
        st.tuples(st.just("crash"), st.sampled_from(NODES), pauses),
    ),
    min_size=4,
    max_size=20,
)
faults = st.builds(
    Faults,
    latency_ms=st.sampled_from([1, 10]),
    loss=st.sampled_from([0.0, 0.2, 0.5]),
    repeat=st.sampled_from([0.0, 0.2]),
    late=st.sampled_from([0.0, 0.3]),
)


def live(world: BudgetWorld, history: list[Step]) -> None:
    """Publish, let a world go through a history, then let everybody meet everybody without faults."""
    for publisher in range(PUBLISHER, PUBLISHER + PUBLISHERS):
        world.publish(publisher)
        world.begin(1, publisher)
    for kind, who, pause_ms in history:
        if kind == "begin":
            world.begin(*who)  # type: ignore[misc]
        elif kind == "end":
            world.end(*who)  # type: ignore[misc]
        elif kind == "crowd":
            for a, b in combinations(sorted(who), 2):  # type: ignore[call-overload]
                if a <= MEDIATORS:
                    world.begin(a, b)
        elif kind == "part":
            for pair in [pair for pair in world.open if who in pair]:
                world.end(*pair)
        elif kind == "publish":
            world.publish(who)  # type: ignore[arg-type]
        else:
            world.crash(who)  # type: ignore[arg-type]
        world.run(pause_ms)
    world.faults = Faults()
    for pair in list(world.open):
        world.end(*pair)
    for pair in combinations(NODES, 2):
        if pair[0] <= MEDIATORS:
            world.begin(*pair)
    world.run(4_000)


def check_budget(
    policy: str, copies: int, history: list[Step], faults: Faults, key: bytes | None, seed: int
) -> None:
    """Check that a history makes no more carriers than there are copies."""
    world = BudgetWorld(policy, copies, MEDIATORS, PUBLISHERS, SUBSCRIBERS, key, faults, seed)
    live(world, history)
    assert all(len(carriers) <= copies for carriers in world.carriers.values()), world.carriers


worlds = {
    "copies": st.sampled_from([2, 4, 1]),
    "history": steps,
    "faults": faults,
    "key": st.sampled_from([None, b"mission"]),
    "seed": st.integers(0, 99),
}


@pytest.mark.parametrize("policy", ["spray_and_wait", "dens"])
@given(**worlds)
@settings(max_examples=examples(60))
def test_never_more_carriers_than_copies(
    policy: str, copies: int, history: list[Step], faults: Faults, key: bytes | None, seed: int
) -> None:
    """Contacts overlap, publishers are devices of their own, datagrams are lost, engines crash."""
    check_budget(policy, copies, history, faults, key, seed)


@pytest.mark.parametrize("copies", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("first", [1, 6, 12])
def test_a_clique_uses_the_whole_budget(copies: int, first: int) -> None:
    """Carriers in range of each other offer copies to each other unnecessarily; these go to others."""
    world = BudgetWorld("spray_and_wait", copies, 12)
    for a, b in combinations(range(1, 13), 2):
        world.begin(a, b)
    world.begin(first, PUBLISHER)
    world.run(1_000)
    message = world.publish(PUBLISHER)
    world.run(3_000)
    assert len(world.carriers[message]) == min(copies, 12)


def test_a_publisher_in_range_of_many_gives_its_budget_away_once() -> None:
    world = BudgetWorld("spray_and_wait", 2, 6)
    for mediator in range(1, 7):
        world.begin(mediator, PUBLISHER)
    world.run(1_000)
    message = world.publish(PUBLISHER)
    world.run(2_000)
    assert len(world.carriers[message]) == 1
    world.crash(PUBLISHER)
    world.run(2_000)
    assert len(world.carriers[message]) == 1


@pytest.mark.parametrize("policy", ["epidemic", "direct", "prophet"])
def test_a_publisher_gives_to_everybody_where_copies_are_not_counted(policy: str) -> None:
    world = BudgetWorld(policy, 0, 4)
    for mediator in range(1, 5):
        world.begin(mediator, PUBLISHER)
    world.run(1_000)
    message = world.publish(PUBLISHER)
    world.run(2_000)
    assert world.carriers[message] == {1, 2, 3, 4}


Change = tuple[str, tuple[int, int]]
"""What changes in a loss-free world: a contact begins or ends, or begins and is cut."""
changes = st.lists(
    st.tuples(
        st.sampled_from(["begin", "end", "after", "before"]),
        st.one_of(
            st.sampled_from([(1, other) for other in range(2, 6)]),
            st.sampled_from(
                [(a, b) for a, b in combinations([*range(1, 6), PUBLISHER, SUBSCRIBER], 2) if a < PUBLISHER]
            ),
        ),
    ),
    min_size=3,
    max_size=24,
)


def check_definition(copies: int, changes: list[Change], met: int, made: int) -> None:
    """Check that a loss-free world has the carriers and deliveries of the oracle. The publisher meets
    mediator 1 at one place of the history, and makes the message at another.
    """
    world = BudgetWorld("spray_and_wait", copies, 5)
    oracle = CopyOracle(copies, 5, PUBLISHER, SUBSCRIBER)
    message = None
    changes = [*changes[:met], ("begin", (1, PUBLISHER)), *changes[met:]]
    for position, (kind, pair) in enumerate(changes):
        if position == min(made, len(changes) - 1):
            message = world.publish(PUBLISHER)
            oracle.publish()
            world.run(1_500)
        if kind == "end":
            if pair in world.open:
                oracle.end(*pair)
            world.end(*pair)
        elif pair not in world.open:
            world.begin(*pair)
            if kind != "begin":
                world.cut = (pair, kind)
            world.run(1_500)
            if world.cut is not None:
                world.cut = None
                world.end(*pair)
            oracle.begin(*pair, cut=None if kind == "begin" else kind)
    assert message is not None
    assert world.carriers.get(message, set()) == oracle.carriers
    assert bool(world.delivered) == oracle.is_delivered


@given(copies=st.sampled_from([2, 4, 8, 1]), changes=changes, met=st.integers(0, 8), made=st.integers(0, 8))
@example(
    copies=4,
    changes=[("after", (1, 2)), ("begin", (1, 2)), ("before", (1, 5)), ("begin", (1, 5))],
    met=0,
    made=0,
)
@settings(max_examples=examples(300))
def test_without_loss_copies_go_where_the_definition_says(
    copies: int, changes: list[Change], met: int, made: int
) -> None:
    """Contacts overlap and may be cut while the message crosses; the oracle knows only when they begin and
    end."""
    check_definition(copies, changes, met, made)
