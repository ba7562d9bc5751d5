"""A source that cannot name everything it knows still gets the withdrawals that concern it."""

from dataclasses import replace

import pytest

from tests.dens.overlay.covered_net import DRIVER, FIRST, MEDIC, QUICK, SOURCE, CoveredNet, covered_net


@pytest.mark.parametrize("covering", [True, False])
@pytest.mark.parametrize("summary_bytes", [0, 4, 12, 48_000])
def test_a_withdrawal_reaches_a_source_in_the_next_contact(summary_bytes: int, covering: bool) -> None:
    limits = replace(QUICK, summary_bytes=summary_bytes)
    net = covered_net(limits=limits) if covering else CoveredNet(None, limits=limits)
    for node in (MEDIC, DRIVER):
        net.ask(node, 0, topic=1, least=50 + node)
        net.meet(node, FIRST)
    net.meet(FIRST, SOURCE)
    assert net.filters()
    for node in (MEDIC, DRIVER):
        net.withdraw(node, 0)
        net.meet(node, FIRST)
    net.meet(FIRST, SOURCE)
    net.meet(FIRST, SOURCE)
    assert net.filters() == {}


@pytest.mark.parametrize(("summary_bytes", "is_offered"), [(0, True), (48_000, False)])
def test_a_source_that_names_everything_is_spared_withdrawals_of_others(
    summary_bytes: int, is_offered: bool
) -> None:
    net = CoveredNet(None, limits=replace(QUICK, summary_bytes=summary_bytes))
    net.ask(MEDIC, 0, topic=1, least=50)
    net.meet(MEDIC, FIRST)
    net.withdraw(MEDIC, 0)
    net.meet(MEDIC, FIRST)
    net.meet(FIRST, SOURCE)
    assert net.installs() == []
    assert net.removals() == ([(MEDIC, 0)] if is_offered else [])
