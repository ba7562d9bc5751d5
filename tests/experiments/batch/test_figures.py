"""Each figure is measured with tiny options; what of it is counted has the shape that it must have."""

import pytest

from dens_experiments.batch.adaptive import BEST, NOTHING, REPLAY
from dens_experiments.batch.family import FAMILY
from dens_experiments.batch.settings import SIZES, settings_of
from dens_experiments.family import Request, UnknownFigure
from dens_experiments.panel import Panel
from dens_experiments.tables import markdown

TINY = Request(counts=(2_000, 6_000), seeds=(1, 2), small=True)


def measured(name: str, options: Request = TINY) -> Panel:
    return FAMILY.figures[name].measure(options, lambda step: None)


@pytest.mark.parametrize("name", [name for name in FAMILY.figures if name != "where"])
def test_a_figure_has_all_its_values_and_verdicts(name: str) -> None:
    panel = measured(name)
    assert panel.title.startswith(f"{name.removeprefix('fig')})")
    assert "§" in panel.paper
    for line in panel.lines.values():
        assert len(line.samples) == len(panel.points)
        assert all(value >= 0 for samples in line.samples for value in samples)
    assert panel.shapes
    assert markdown(panel).startswith(f"**{panel.title}**")
    if panel.unit.startswith("ms"):
        assert panel.counted() == ("units",), "units stand beside time"


def test_the_same_events_take_the_same_units_whatever_the_clock_says() -> None:
    one, other = measured("fig5a"), measured("fig5a")
    assert {name: line.work for name, line in one.lines.items()} == {
        name: line.work for name, line in other.lines.items()
    }
    for loops in ("1 loop", "4 loops", "16 loops"):
        same = one.lines[f"same events: {loops}"].work["units"]
        assert min(same) < same[0]


def test_more_events_gain_more_and_the_best_level_never_loses() -> None:
    lines = measured("fig7d").lines
    pairs = zip(lines[BEST].work["units"], lines[NOTHING].work["units"], strict=True)
    ratios = [best / without for best, without in pairs]
    assert all(ratio <= 1 for ratio in ratios)
    assert ratios[-1] < ratios[0] - 0.05
    assert measured("fig7d").points == SIZES


def test_replay_is_near_the_best_level_while_the_index_grows() -> None:
    lines = measured("fig7e").lines
    for replay, best in zip(lines[REPLAY].work["units"], lines[BEST].work["units"], strict=True):
        assert replay < 1.1 * best


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Request(workload="paper"), "wide, narrow, clustered"),
        (Request(counts=(10,)), "1000 to"),
        (Request(small=True, full=True), "cannot both be meant"),
    ],
)
def test_values_that_mean_nothing_are_refused(options: Request, message: str) -> None:
    with pytest.raises(UnknownFigure, match=message):
        settings_of(options)


def test_full_is_the_papers() -> None:
    settings = settings_of(Request(full=True))
    assert (settings.counts[0], settings.counts[-1], settings.rounds) == (500_000, 3_000_000, 64)
