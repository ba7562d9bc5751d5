"""What is finished is written whole, whatever comes later."""

import json
from pathlib import Path

import pytest

from dens_experiments.family import Figure, Place, Request
from dens_experiments.panel import Line, Panel
from dens_experiments.running import measured
from dens_experiments.sampling import Tell

ENDINGS = (".csv", ".json", ".md", ".svg")


def _measured(asked: Request, tell: Tell) -> Panel:
    tell("fnif, 40")
    return Panel("b) t", "subscriptions", "ms", (40, 100), {"fnif": Line(((1.0, 2.0), (3.0, 4.0)))}, "linear")


def _interrupted(asked: Request, tell: Tell) -> Panel:
    raise KeyboardInterrupt


FINE = Figure("fine", "", _measured, frozenset())
STOPPED = Figure("stopped", "", _interrupted, frozenset())


def test_a_finished_figure_stays_when_the_next_one_is_interrupted(tmp_path: Path) -> None:
    told: list[str] = []
    going = measured([FINE, STOPPED], Request(), told.append, tmp_path)
    assert next(going).panel.title == "b) t"
    with pytest.raises(KeyboardInterrupt):
        next(going)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"fine{ending}" for ending in ENDINGS]
    assert json.loads((tmp_path / "fine.json").read_text())["lines"]["fnif"]["mean"] == [1.5, 3.5]
    assert told == ["fine (1 of 2)", "fine (1 of 2): fnif, 40", "stopped (2 of 2)"]


def test_a_figure_of_another_place_has_another_name(tmp_path: Path) -> None:
    figure = Figure("fine", "", _interrupted, frozenset(), {"microbit": Place(_measured, frozenset())})
    list(measured([figure], Request(on=("microbit",)), lambda step: None, tmp_path))
    assert (tmp_path / "fine_on_board.svg").is_file()
    assert not list(tmp_path.glob(".*"))
