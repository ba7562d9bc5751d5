"""A keyed node is flooded for ten minutes, or for DENS_FLOOD_S seconds, from real and spoofed sources."""

import os
from pathlib import Path

from tests.dens.node.node_flood import judge


def test_ten_minutes_of_a_flood(tmp_path: Path) -> None:
    said = judge(tmp_path, float(os.environ.get("DENS_FLOOD_S", "600")))
    print(said)
    assert "honest" in said
