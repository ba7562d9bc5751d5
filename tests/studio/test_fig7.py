"""The papers' workload has the stated shares, and a panel can be shown and drawn."""

from pathlib import Path

from plugins.fuzzy.match import ALGORITHMS
from studio.experiments import population
from studio.experiments.fig7 import PANELS, Panel


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
