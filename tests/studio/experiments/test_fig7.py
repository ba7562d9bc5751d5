"""The papers' workload has the stated shares, and a panel can be shown and drawn."""

import sys
from pathlib import Path

import pytest

from plugins.fuzzy.matching.algorithms import ALGORITHMS
from studio.experiments import on_board, population
from studio.experiments.fig7 import PANELS, Panel
from tests.boards.install import NODE, wasm_folder


def test_as_many_subscriptions_are_equal_as_the_paper_says() -> None:
    for count, share in population.SIMILARITY.items():
        bodies = {vector[5:] for vector in population.subscriptions(count)}
        assert len(bodies) == round(count * (1 - share))


def test_every_form_of_the_workload_is_well_formed() -> None:
    matcher = ALGORITHMS["fnif"](None, "subset", 1)
    forms = [
        (0, population.PLAIN),
        (14, population.PATTERN),
        (7, population.GEOMETRIC),
        (8, population.GEOMETRIC),
    ]
    for origin, form in enumerate(forms):
        for number, vector in enumerate(population.subscriptions(40, *form)):
            matcher.add((origin, number), vector)
    assert any(matcher.match(told, 0, 0) for told in population.notifications(20))


def test_a_panel_is_a_table_and_a_picture(tmp_path: Path) -> None:
    assert list(PANELS) == [f"fig7{letter}" for letter in "abcdefghi"]
    panel = Panel("b) t", "subscriptions", "ms", (40, 100), {"fnif": (0.5, 1.25)}, "linear")
    assert panel.markdown().splitlines()[2:] == [
        "| subscriptions | 40 | 100 |",
        "| --- | ---: | ---: |",
        "| fnif | 0.5 | 1.25 |",
    ]
    panel.draw(tmp_path / "panel.svg")
    assert "fnif" in (tmp_path / "panel.svg").read_text() or (tmp_path / "panel.svg").stat().st_size > 1000


def test_a_boards_interpreter_runs_the_same_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_board, "COUNTS", (40,))
    panel = on_board.fig7a(sys.executable)
    assert list(panel.lines) == [
        "inserting all, CPython",
        "inserting all, MicroPython",
        "filtering a reading, CPython",
        "filtering a reading, MicroPython",
    ]
    assert all(len(values) == 1 and values[0] > 0 for values in panel.lines.values())


@pytest.mark.parametrize(("command", "says"), [("false", "printed nothing"), ("no-such-command", "no-such")])
def test_an_interpreter_that_does_not_work_is_named(command: str, says: str) -> None:
    with pytest.raises(on_board.RuntimeFailed, match=says):
        on_board._measured([command], on_board._SCORING, population.subscriptions(40))


@pytest.mark.board
@pytest.mark.parametrize("version", ["1.23.0", "1.27.0"])
def test_micropython_scores_what_the_paper_measured(version: str) -> None:
    command = [str(NODE), str(wasm_folder(version) / "micropython.mjs")]
    patterns = population.subscriptions(40, 14, population.PATTERN)
    assert on_board._measured(command, on_board._SCORING, patterns) > 0
