"""Worlds of brokers and of the languages that ship, sibling subscriptions, and numbers at their edges."""

from collections.abc import Callable
from random import Random

import pytest

from dens.overlay.broker.entries import Entries
from dens.overlay.broker.forwarding import Forwarding
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.wire.codes import LAST_NODE
from emulation.fault_injection.campaign import Verdict, run_plans, run_seeds, world_of
from emulation.fault_injection.language_pool import language_pool
from emulation.fault_injection.language_world import LanguageApplications
from emulation.fault_injection.plan import (
    EDGE_NUMBERS,
    FAULTS,
    Plan,
    draw,
    draw_brokers,
    draw_languages,
)
from tests.emulation.fault_injection.campaign_seeds import SEEDS, portions
from tests.sizes import full_in_soak

ALL = tuple(FAULTS)


def broken(verdicts: list[Verdict]) -> list[str]:
    return [f"{one.message}; repeat it with: {one.command}" for one in verdicts if not one.ok]


@pytest.mark.parametrize("seeds", portions([*SEEDS], quick=1))
def test_the_promises_hold_among_brokers(seeds: list[int]) -> None:
    verdicts = run_plans(seeds, draw_brokers)
    assert broken(verdicts) == []
    assert sum(one.delivered for one in verdicts) > 100
    assert sum(one.crashes for one in verdicts) > 50
    assert verdicts[0].command == f"dens torture --world brokers --seeds {seeds[0]} --faults all"


def test_brokers_route_flood_and_lose_stores() -> None:
    plans = [draw_brokers(seed, ALL) for seed in range(1, 41)]
    assert {plan.routing for plan in plans} == {"broker", "flood"}
    assert {plan.empty_stores for plan in plans} == {True, False}
    assert any(plan.empty_stores and plan.routing == "flood" and plan.faults.crash for plan in plans)


@pytest.mark.parametrize(
    "first_seed",
    [
        first if first <= 10 else pytest.param(first, marks=pytest.mark.slow)
        for first in range(1, full_in_soak(40, 100), 10)
    ],
)
def test_the_promises_hold_in_the_languages_that_ship(first_seed: int) -> None:
    verdicts = run_plans(range(first_seed, first_seed + 10), draw_languages)
    assert broken(verdicts) == []
    assert sum(one.delivered for one in verdicts) > 50
    assert sum(one.crashes for one in verdicts) > 50
    assert verdicts[0].command == f"dens torture --world languages --seeds {first_seed} --faults all"


def test_every_language_is_delivered_and_composites_are() -> None:
    about: set[str] = set()
    for seed in range(1, 8):
        world = world_of(seed, draw_languages(seed, ALL))
        world.live_through()
        world.heal()
        world.checker.conclude()
        applications = world.applications
        assert isinstance(applications, LanguageApplications)
        for _, item_id in world.delivered:
            published = applications.published.get(item_id)
            about.add("composite" if published is None else applications.facts[published.vector][0])
    assert about == {"composite", "pulse", "rent", "topic"}


def test_the_oracle_of_the_languages_agrees_with_every_matcher() -> None:
    pool, rng, satisfied = language_pool(), Random(4), set()
    for number in range(60):
        language, vector, facts = pool.draw(rng, number, number)
        for one in pool.subscriptions:
            matchers = pool.languages[one.language].matchers
            if one.language == pool.composite or language not in matchers:
                assert one.language == pool.composite or not one.wants(facts)
                continue
            matcher = matchers[language](pool.table)
            matcher.add((7, 1), one.body)
            assert bool(matcher.match(vector, 0, 0)) == one.wants(facts), (one, facts)
            if one.wants(facts):
                satisfied.add(one.language)
    assert satisfied == {one.language for one in pool.subscriptions} - {pool.composite}


def test_numbers_are_drawn_from_every_edge() -> None:
    edges = {0, 65_535, 65_536, (1 << 24) - 1, 1 << 24, LAST_NODE}
    assert edges <= set(EDGE_NUMBERS)
    plans = [draw(seed, ALL) for seed in range(1, 301)]
    plans += [draw_brokers(seed, ALL) for seed in range(1, 101)]
    drawn = [plan.numbers for plan in plans if plan.numbers]
    assert len(drawn) > 60
    assert all(len(set(numbers)) == len(numbers) for numbers in drawn)
    assert edges <= {number for numbers in drawn for number in numbers}


def test_siblings_are_satisfied_together() -> None:
    """In seeds with sibling subscriptions many deliveries are for several subscriptions."""
    together = 0
    for seed in (13, 21, 37, 49):
        plan = draw(seed, ALL)
        assert plan.siblings
        world = world_of(seed, plan)
        world.live_through()
        world.heal()
        lists = [one for listed in world.checker.notified.values() for one in listed]
        together += sum(len(one) > 1 for one in lists)
    assert together > 10


def brokers_do_not_look_for_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Entries, "joined", lambda *_: set())


def brokers_restore_for_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Forwarding, "_receivers_again", lambda *_: set())


@pytest.mark.parametrize("plant", [brokers_do_not_look_for_joins, brokers_restore_for_no_neighbour])
def test_a_bug_of_brokers_is_caught(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert any(run_plans([seed], draw_brokers)[0].invariant == 2 for seed in range(1, 41))


def test_a_matcher_that_misses_every_third_match_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    match, count = LanguageMatchers.match, 0

    def forgetful(matchers: LanguageMatchers, *arguments: object) -> object:
        nonlocal count
        count += 1
        found = match(matchers, *arguments)  # type: ignore[arg-type]
        return ((), ()) if found is not None and count % 3 == 0 else found

    monkeypatch.setattr(LanguageMatchers, "match", forgetful)
    assert any(run_plans([seed], draw_languages)[0].invariant == 2 for seed in range(1, 11))


def test_plans_of_earlier_versions_mean_what_they_meant() -> None:
    """What a file does not say is off, so what was kept before there was any of it is the same world."""
    plan = Plan()
    assert (plan.numbers, plan.siblings, plan.languages, plan.routing) == ((), False, False, "carry")
    assert plan.nodes == tuple(range(1, 1 + plan.subscribers + plan.mediators + plan.publishers))
    assert broken(run_seeds([3])) == []
