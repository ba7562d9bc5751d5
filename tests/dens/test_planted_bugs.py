"""The worlds of test_promises.py are worth something: each planted bug is caught within the first seeds."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dens.engine import Engine
from dens.machine import Datagram
from dens.node import DensNode
from dens.numbers import Status
from dens.peer_session import PeerSession
from dens.store import Operation, Put, Space
from dens.stores.memory import MemoryStore
from dens.subscription_table import Subscription, SubscriptionTable
from tests.dens.test_promises import QUICK, ROUGH
from tests.dens.world import Faults, Plan, World

HARSH = replace(ROUGH, crash=0.06)


def seen_set_is_not_durable(monkeypatch: pytest.MonkeyPatch) -> Plan:
    stage = MemoryStore.stage

    def forgetful(store: MemoryStore, operation: Operation) -> None:
        if not (isinstance(operation, Put) and operation.space is Space.KNOWN):
            stage(store, operation)

    monkeypatch.setattr(MemoryStore, "stage", forgetful)
    return Plan(faults=HARSH, limits=QUICK)


def acknowledged_before_committed(monkeypatch: pytest.MonkeyPatch) -> Plan:
    def hasty(engine: Engine, now_ms: int) -> list[Datagram]:
        out: list[Datagram] = []
        for session in engine._sessions.values():
            engine._speak(session, now_ms, out)
        return out

    monkeypatch.setattr(DensNode, "datagrams_to_send", hasty)
    return Plan(faults=HARSH, limits=QUICK)


def tombstones_do_not_count(monkeypatch: pytest.MonkeyPatch) -> Plan:
    judge = SubscriptionTable.judge

    def trusting(table: SubscriptionTable, new: Subscription) -> Status:
        tombstones, table._tombstones = table._tombstones, {}
        try:
            return judge(table, new)
        finally:
            table._tombstones = tombstones

    monkeypatch.setattr(SubscriptionTable, "judge", trusting)
    return Plan(faults=ROUGH, limits=QUICK)


def late_repetitions_are_news(monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setattr(PeerSession, "has_taken", lambda session, item_id: False)
    faults = Faults(repeat=0.5, slow=0.5)
    return Plan(
        faults=faults, limits=replace(QUICK, remember_ms=0), notification_q=(0, 30), subscription_q=(40, 60)
    )


def lost_messages_are_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setattr(PeerSession, "_retry_due_ms", lambda session: None)
    return Plan(faults=Faults(loss=0.3), limits=QUICK)


@pytest.mark.parametrize(
    "plant",
    [
        seen_set_is_not_durable,
        acknowledged_before_committed,
        tombstones_do_not_count,
        late_repetitions_are_news,
        lost_messages_are_not_sent_again,
    ],
)
def test_a_planted_bug_is_caught(
    plant: Callable[[pytest.MonkeyPatch], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plant(monkeypatch)
    caught = None
    for seed in range(100):
        try:
            world = World(seed, plan)
            world.live_through()
            world.heal(6_000, plan.faults if plan.faults == Faults(loss=0.3) else None)
            assert world.owed_and_missing(world.now_ms) == []
        except AssertionError:
            caught = seed
            break
    assert caught is not None
