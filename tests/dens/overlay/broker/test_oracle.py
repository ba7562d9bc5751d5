"""Networks of brokers deliver what an independent oracle expects (tests/dens/overlay/broker/oracle.py)."""

import pytest

from tests.dens.overlay.broker.oracle import FAMILIES, disagreements


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_brokers_deliver_what_the_oracle_expects(family: str, seed: int) -> None:
    assert disagreements(family, seed) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_flooding_brokers_deliver_what_the_oracle_expects(family: str) -> None:
    assert disagreements(family, 100, "flood") == []


def test_brokers_without_covering_deliver_what_the_oracle_expects() -> None:
    assert disagreements("routing", 200, "no covering") == []
