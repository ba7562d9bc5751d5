"""Tests that share what is dear to set up are given to one worker."""

import os

import pytest


@pytest.mark.xdist_group("groups")
def test_a_worker_knows_the_group_of_a_test(request: pytest.FixtureRequest) -> None:
    """Its id is all that the one who deals tests out sees of it."""
    is_dealt_out = "PYTEST_XDIST_WORKER" in os.environ and request.config.getoption("loadgroup", False)
    assert request.node.nodeid.endswith("@groups") == bool(is_dealt_out)
