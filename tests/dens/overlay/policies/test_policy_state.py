"""What a policy learnt survives a crash with a kept store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.policies.encounters import ONE, PARAMETERS, Encounters
from dens.overlay.policies.registry import POLICIES
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import LAST_NODE, Role
from tests.dens.overlay.test_engines import ScriptedPeer
from tests.dens.overlay.test_hosted_ends import mediator

nodes = st.one_of(st.integers(0, 9), st.integers(LAST_NODE - 2, LAST_NODE))
notes = st.lists(st.tuples(nodes, st.integers(0, ONE - 1)), max_size=6).map(
    lambda told: b"".join(node.to_bytes(4, "big") + value.to_bytes(2, "big") for node, value in told)
)
times = st.integers(-(10**12), 10**13)


def learning() -> Encounters:
    return Encounters(**{parameter.name: parameter.default for parameter in PARAMETERS})


@given(st.lists(st.tuples(nodes, notes, times), max_size=20), times)
def test_encounters_are_the_same_after_a_restart(meetings: list[tuple[int, bytes, int]], now_ms: int) -> None:
    before, after = learning(), learning()
    for node, note, at_ms in meetings:
        before.met(node, at_ms)
        before.on_note(node, note, 99, at_ms)
    after.restore(before.state())
    assert after.state() == before.state()
    assert after.encode_note(now_ms) == before.encode_note(now_ms)
    for node in range(10):
        assert after.likelihood(node, now_ms) == before.likelihood(node, now_ms)


@given(st.binary(max_size=80) | st.binary(min_size=16 * 1_025, max_size=16 * 1_025))
def test_bytes_of_something_else_are_taken_up_by_no_policy_as_nonsense(state: bytes) -> None:
    for kind in POLICIES.values():
        policy = kind(1)
        policy.restore(state)
        assert len(policy.note(0)) % 6 == 0
    encounters = learning()
    encounters.restore(state)
    assert len(encounters.state()) <= 16 * 1_024
    assert all(0 <= encounters.likelihood(node, 0) <= ONE for node in range(10))


@pytest.mark.parametrize("name", ["prophet", "dens"])
def test_a_mediator_that_crashed_knows_whom_it_meets(name: str) -> None:
    store, before, after = MemoryStore(), POLICIES[name](2), POLICIES[name](2)
    node = mediator(before, store=store)
    for meeting, peer in enumerate((11, 12, 11)):
        ScriptedPeer(node, peer, Role.MEDIATOR, 1_000 * meeting).hear()
        node.contact_lost(peer, 1_000 * meeting + 500)
    assert before.note(5_000)
    mediator(after, store=store.crash())
    assert after.note(5_000) == before.note(5_000)


@pytest.mark.parametrize("name", ["epidemic", "direct", "spray_and_wait"])
def test_a_policy_that_learns_nothing_keeps_nothing(name: str) -> None:
    store = MemoryStore()
    node = mediator(POLICIES[name](2), store=store)
    ScriptedPeer(node, 11, Role.MEDIATOR).hear()
    assert node.context.durable.policy_state == b""
