"""The UDP driver under fault injection, from seeds; and bugs of it that this has to find."""

from dataclasses import replace
from typing import Any

import pytest

from dens.node.links.neighbours import Neighbours, Rival
from emulation.fault_injection.campaign import run_driver_seeds
from emulation.fault_injection.driver_world import DriverPlan, DriverWorld, draw_driver
from emulation.fault_injection.invariant import BrokenInvariant

SEEDS = (1, 2, 5, 8, 81)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_everything_honest_arrives_once_and_nothing_forged_changes_anything(seed: int) -> None:
    world = DriverWorld(seed, draw_driver(seed))
    world.live()
    assert len(world.published) > 50
    assert all(len(told) == len(world.published) for told in world.delivered.values())


def test_the_same_seed_is_the_same_world() -> None:
    one, other = (DriverWorld(3, draw_driver(3)) for _ in range(2))
    one.live()
    other.live()
    assert one.frames == other.frames
    assert (one.delivered, one.restarts, one.forged) == (other.delivered, other.restarts, other.forged)


def test_seeds_draw_every_kind_of_world() -> None:
    plans = [draw_driver(seed) for seed in range(1, 101)]
    assert {plan.is_ipv6 for plan in plans} == {True, False}
    assert {plan.replays for plan in plans} == {True, False}
    assert any(plan.crowd and plan.restarts and plan.spoofed for plan in plans)


HARSH = replace(
    draw_driver(1), is_ipv6=False, loss=0.0, repeat=0.0, late_s=0.001, restarts=0.1, jumps=0.0, crowd=0
)


def is_found(seeds: range, plan: DriverPlan) -> bool:
    """Return whether a promise breaks in one of these worlds."""
    for seed in seeds:
        try:
            DriverWorld(seed, plan).live()
        except BrokenInvariant:
            return True
    return False


def test_it_finds_liveness_that_moves_before_a_tag_has_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Neighbours.sender_of

    def hasty(self: Neighbours, data: bytes, address: Any, now_ms: int) -> Any:
        heard = sound(self, data, address, now_ms)
        if heard.node is not None:
            self.was_heard(heard.node, data, address, now_ms)
        return heard

    monkeypatch.setattr(Neighbours, "sender_of", hasty)
    assert is_found(range(1, 6), replace(HARSH, spoofed=60, replays=False))


def test_it_finds_a_rival_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Neighbours.sender_of

    def hasty(self: Neighbours, data: bytes, address: Any, now_ms: int) -> Any:
        heard = sound(self, data, address, now_ms)
        return heard._replace(rival=heard.rival or Rival(9, address)) if heard.node is None else heard

    monkeypatch.setattr(Neighbours, "sender_of", hasty)
    with pytest.raises(BrokenInvariant, match="look like two"):
        DriverWorld(1, replace(HARSH, spoofed=20, replays=False, restarts=0.0)).live()


def test_the_command_runs_worlds_of_the_driver_and_names_how_to_run_one_again() -> None:
    [verdict] = run_driver_seeds([5])
    assert (verdict.ok, verdict.world, verdict.delivered > 50) == (True, "driver", True)
    assert verdict.command == "dens torture --world driver --seeds 5"


def test_a_driver_that_fails_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DriverWorld, "live", lambda world: 1 // 0)
    [verdict] = run_driver_seeds([1])
    assert (verdict.ok, verdict.invariant) == (False, 0)
    assert "ZeroDivisionError" in verdict.message
