"""Ten thousand seeds of the tortured overlay, about half an hour of one core; and three hundred kills."""

from pathlib import Path

from emulation.torture.torture import keep, torture
from tests.dens.test_disk import kill_often

FAILING_SEEDS = Path(__file__).parents[1] / "dens" / "failing_seeds"


def test_ten_thousand_seeds() -> None:
    broken = [verdict for verdict in torture(range(1, 10_001)) if not verdict.ok]
    for verdict in broken:
        keep(verdict, FAILING_SEEDS)
    assert [f"{verdict.message}; repeat it with: {verdict.command}" for verdict in broken] == []


def test_three_hundred_kills(tmp_path: Path) -> None:
    assert kill_often(tmp_path, 300) > 1_000
