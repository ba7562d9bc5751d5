"""A keyed node is flooded for some seconds; `make soak` does it for ten minutes."""

from pathlib import Path

import pytest

from tests.dens.node.node_flood import judge


@pytest.mark.slow
def test_a_flood_costs_no_honest_message_no_memory_and_a_bounded_time(tmp_path: Path) -> None:
    assert "honest" in judge(tmp_path, 9)
