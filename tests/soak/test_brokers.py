"""Thousands of networks of brokers against the oracle of tests/dens/overlay/broker/oracle.py."""

import pytest

from tests.dens.overlay.broker.oracle import FAMILIES, MODES, disagreements

SEEDS = range(1_000, 1_200)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
def test_brokers_deliver_what_the_oracle_expects(family: str, mode: str) -> None:
    found = {seed: disagreements(family, seed, mode) for seed in SEEDS}
    assert {seed: said for seed, said in found.items() if said} == {}
