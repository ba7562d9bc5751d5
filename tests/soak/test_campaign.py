"""Ten thousand seeds of fault injection, about half an hour of one core, and some thousands of brokers and of
the languages that ship; and three hundred kills of mediators and of subscribers, a minute or two each.
"""

from pathlib import Path

from emulation.fault_injection.campaign import Verdict, keep, run_plans, run_seeds
from emulation.fault_injection.driver_world import DriverWorld, draw_driver
from emulation.fault_injection.invariant import BrokenInvariant
from emulation.fault_injection.plan import draw_brokers, draw_languages
from tests.dens.overlay.test_kills import kill_mediators, kill_subscribers
from tests.paths import ROOT

FAILING_PLANS = ROOT / "tests" / "emulation" / "fault_injection" / "failing_plans"


def test_ten_thousand_seeds() -> None:
    _assert_holds(run_seeds(range(1, 10_001)))


def _assert_holds(verdicts: list[Verdict]) -> None:
    """Keep the plans of the worlds that broke a promise, and demand that there are none."""
    broken = [verdict for verdict in verdicts if not verdict.ok]
    for verdict in broken:
        keep(verdict, FAILING_PLANS)
    assert [f"{verdict.message}; repeat it with: {verdict.command}" for verdict in broken] == []


def test_three_thousand_seeds_of_brokers() -> None:
    _assert_holds(run_plans(range(1, 3_001), draw_brokers))


def test_a_thousand_seeds_of_the_languages_that_ship() -> None:
    _assert_holds(run_plans(range(1, 1_001), draw_languages))


def test_three_hundred_kills_of_mediators(tmp_path: Path) -> None:
    assert kill_mediators(tmp_path, 300) >= 150


def test_three_hundred_kills_of_subscribers(tmp_path: Path) -> None:
    assert kill_subscribers(tmp_path, 300)[0] >= 150


def test_a_thousand_seeds_of_the_udp_driver() -> None:
    broken = []
    for seed in range(1, 1_001):
        try:
            DriverWorld(seed, draw_driver(seed)).live()
        except BrokenInvariant as error:
            broken.append(f"seed {seed}: {error}")
    assert broken == []
