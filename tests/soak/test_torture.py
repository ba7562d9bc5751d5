"""Ten thousand seeds of the tortured overlay; about half an hour of one core."""

from pathlib import Path

from emulation.torture.torture import keep, torture

FAILING_SEEDS = Path(__file__).parents[1] / "dens" / "failing_seeds"


def test_ten_thousand_seeds() -> None:
    broken = [verdict for verdict in torture(range(1, 10_001)) if not verdict.ok]
    for verdict in broken:
        keep(verdict, FAILING_SEEDS)
    assert [f"{verdict.message}; repeat it with: {verdict.command}" for verdict in broken] == []
