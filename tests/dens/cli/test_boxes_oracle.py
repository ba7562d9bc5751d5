"""Documents of boxes at random through `dens compile` and `dens match`, against a definition that knows
nothing of either; `make soak` does two thousand.
"""

from pathlib import Path

import pytest

from knowledge_manager.mission_table import load_mission_table
from tests.plugins.boxes import oracle


@pytest.mark.slow
@pytest.mark.parametrize("event", ["weather", "patient"])
def test_documents_mean_what_they_say(dens, tmp_path: Path, event: str) -> None:
    table = load_mission_table(["medical", "weather", "fire", "housing"])
    assert oracle.check(oracle.drawn(60, 60, 7, table.event(event)), tmp_path, dens) > 200
