"""Boxes, at length: two thousand documents against their definition, ten million mutated bodies."""

import subprocess
import sys
from pathlib import Path

from knowledge_manager.mission_table import load_mission_table
from tests.dens.cli.conftest import Ended
from tests.plugins.boxes import oracle
from tests.plugins.boxes.test_language import mutations, read_the_same_way_or_refused


def dens(*arguments: str | Path) -> Ended:
    """Call a command as a person would."""
    command = [str(Path(sys.executable).parent / "dens"), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_two_thousand_documents_and_events(tmp_path: Path) -> None:
    table = load_mission_table(["medical", "weather", "fire", "housing"])
    case = oracle.drawn(2_000, 2_000, 1, table.event("weather"))
    assert oracle.check(case, tmp_path, dens) > 20_000


def test_ten_million_mutations() -> None:
    assert read_the_same_way_or_refused(mutations(3, 10_000_000)) > 1_000_000
