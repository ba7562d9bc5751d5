"""Devices that are down: they have no contacts, and nothing of them is received or written."""

from pathlib import Path

import pytest

from dens.overlay.storage.store import Space
from tests.emulation.faults.camp import HELPERS, WriteScenario, camp, table

CRASH = '[[fault]]\nkind = "crash"\nwho = ["helpers-1"]\nat_s = 10\nfor_s = 20\nstore = "{}"\n'
DOWN = HELPERS[0]


@pytest.mark.parametrize("store", ["kept", "lost"])
def test_device_has_no_contacts_while_it_is_down(write_scenario: WriteScenario, store: str) -> None:
    others = set(range(8)) - {DOWN}
    with camp(write_scenario, CRASH.format(store)) as world:
        world.clock.run_until(10_000)
        assert set(world.air.neighbours(DOWN)) == others
        world.clock.run_until(30_000)
        assert world.air.neighbours(DOWN) == []
        assert all(DOWN not in world.air.neighbours(other) for other in others)
        world.clock.run_until(30_001)
        assert set(world.air.neighbours(DOWN)) == others


def test_what_a_device_was_computing_is_gone_when_it_begins_again(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    slow = ('role = "mediator"', 'role = "mediator"\nboard = "slow"')
    board = "[board.slow]\nmessage_us = 200_000_000\n"
    with camp(write_scenario, CRASH.format("kept") + board, slow) as world:
        world.clock.run_until(31_000)
    said = [
        row["at_ms"] for row in table(tmp_path, "messages") if (row["node"], row["kind"]) == (DOWN, "sent")
    ]
    assert [at_ms for at_ms in said if at_ms >= 30_000], "it greets at once, however busy it was"


@pytest.mark.parametrize("late_ms", [0, 15], ids=["idle", "while boards compute"])
def test_nothing_happens_when_everybody_is_down(
    write_scenario: WriteScenario, tmp_path: Path, late_ms: int
) -> None:
    roles = (
        'role = "mediator"\ncount',
        'role = ["mediator", "publisher", "subscriber"]\nboard = "slow"\ncount',
    )
    asking = ('file = "fever.xml"', 'file = "fever.xml"\nat_s = 0\nwithdrawn_at_s = 700')
    faults = f"""
[board.slow]
message_us = 30000
feature_test_us = 30000
[[traffic]]
source = "helpers"
destination = "helpers"
every_s = 0.5
size_bytes = 100
lifetime_s = 60
[[subscription]]
group = "helpers"
file = "fever.xml"
at_s = 650
[[fault]]
kind = "crash"
at_s = {600 + late_ms / 1000}
[[fault]]
kind = "clock"
every_s = 20
jump_s = 5
"""
    with camp(write_scenario, faults, roles, asking) as world:
        world.clock.run_until(600_001 + late_ms)
        counts = world.journal.counts
        assert counts["delivered"] > 0
        world.clock.run_until(1_800_000)
        assert world.journal.counts == counts
    for name in ("messages", "buffers", "filter_decisions", "matches", "notifications", "node_state"):
        assert max(row["at_ms"] for row in table(tmp_path, name)) <= 600_000 + late_ms, name


@pytest.mark.parametrize("store", ["kept", "lost"])
def test_a_policy_knows_what_it_learnt_if_the_store_is_kept(
    write_scenario: WriteScenario, store: str
) -> None:
    changes = ("[area]", '[overlay]\npolicy = "prophet"\n\n[area]')
    with camp(write_scenario, CRASH.format(store), changes) as world:
        world.clock.run_until(9_999)
        learnt = world.nodes[DOWN].engine.context.durable.policy_state
        assert learnt
        world.clock.run_until(29_999)
        assert world.nodes[DOWN].store.crash().holds(Space.POLICY, 0)
        world.clock.run_until(30_001)
        after = world.nodes[DOWN].engine.context.durable.policy_state
        assert (after == learnt) is (store == "kept")


ADDRESSED = """
[[traffic]]
source = "{source}"
destination = "{destination}"
first_s = 5
every_s = 5
size_bytes = 100
lifetime_s = 600
[[fault]]
kind = "crash"
who = ["{destination}-1"]
at_s = 12
for_s = 20
store = "{store}"
"""


@pytest.mark.parametrize("store", ["kept", "lost"])
@pytest.mark.parametrize("destination", ["medics", "helpers"], ids=["alone", "beside its mediator"])
def test_plain_messages_from_before_a_restart_arrive(
    write_scenario: WriteScenario, tmp_path: Path, store: str, destination: str
) -> None:
    """An address does not change by a reboot: who lost its store receives what was sent before, and again
    what it has forgotten if no other node has its receipt.
    """
    changes = [
        ('role = "subscriber"\ncount = 2', 'role = "subscriber"\ncount = 1'),
        ('role = "mediator"\ncount = 3', 'role = ["mediator", "subscriber"]\ncount = 1'),
    ]
    faults = ADDRESSED.format(source="patients", destination=destination, store=store)
    with camp(write_scenario, faults, *changes) as world:
        world.clock.run_until(60_000)
    made = {(row["origin"], row["number"]) for row in table(tmp_path, "notifications") if not row["language"]}
    delivered = [
        (row["origin"], row["number"])
        for row in table(tmp_path, "messages")
        if row["kind"] == "delivered" and not row["language"]
    ]
    assert len(made) == 11
    assert set(delivered) == made
    has_receipts = store == "kept" or destination == "medics"
    assert (len(delivered) == len(made)) is has_receipts
