"""Each figure is measured with tiny options; what the papers' definitions imply holds exactly."""

from collections.abc import Mapping

import numpy as np
import pytest

from dens_experiments.atopss import (
    aggregations,
    crisp_figures,
    imprecision,
    merged_thresholds,
    merging_overlap,
    paper,
    precision,
    routing,
)
from dens_experiments.atopss.columns import Numbers
from dens_experiments.atopss.family import FAMILY
from dens_experiments.atopss.settings import Settings
from dens_experiments.family import Request, UnknownFigure
from dens_experiments.panel import Panel
from dens_experiments.tables import markdown

TINY = Request(counts=(60, 120), seeds=(1, 2), repetitions=1, small=True)
WEIGHED = Request(counts=(60,), seeds=(1,))
"""Weighing looks through all that a process holds, each time."""
TOGETHER = {"network"}
"""Runs of the emulator, which have a test of their own."""


def measured(name: str, asked: Request = TINY) -> Panel:
    figure = FAMILY.figures[name]
    given = {field: getattr(asked, field) for field in figure.takes if field in asked.given()}
    return figure.measure(Request(small=True, **given), lambda step: None)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAMILY.figures.keys() - TOGETHER))
def test_a_figure_has_all_its_values_and_verdicts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, amount in ((crisp_figures, 20), (precision, 20), (aggregations, 20), (merged_thresholds, 40)):
        monkeypatch.setattr(module, "PUBLICATIONS", amount)
    monkeypatch.setattr(imprecision, "SMALL_READINGS", imprecision.PER_PATIENT)
    monkeypatch.setattr(merged_thresholds, "APART", (1, 2))
    monkeypatch.setattr(merging_overlap, "OVERLAPS", (30, 50))
    panel = measured(name, WEIGHED if name == "fig4.20" else TINY)
    for line in panel.lines.values():
        assert len(line.samples) == len(panel.points)
        assert all(value >= 0 for samples in line.samples for value in samples)
    assert panel.shapes
    assert all(one.place in (paper.ICDE, paper.THESIS) for one in panel.paper_figures)
    assert markdown(panel).startswith(f"**{panel.title}**")


def verdicts(panel: Panel) -> Mapping[str, str]:
    return {shape.paper: shape.verdict for shape in panel.shapes}


def test_table_1_has_its_three_equalities_at_every_seed() -> None:
    """They are the same cuts; exact fractions decide them, and the paper has them too."""
    for seed in range(1, 6):
        counts = crisp_figures.matches(Settings("distinct", (1500,), (seed,), 1), seed)
        for name, place in crisp_figures.EQUAL:
            assert counts["appro"][place] == counts[name][place]
            assert paper.TABLE["appro"][place] == paper.TABLE[name][place]
        assert counts["pessi"][1] > counts["middle"][1] > counts["optim"][1]
        assert counts["appro"][0] > 0


def test_a_wrong_cut_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A middle that is a third of the way up is refused: the verdict can fail."""

    def third(m1: Numbers, m2: Numbers, m3: Numbers, m4: Numbers) -> Numbers:
        low, high = (4 * m1 + 2 * m2) // 3, (2 * m3 + 4 * m4) // 3
        return np.stack([low, low, high, high], axis=-1)

    monkeypatch.setitem(crisp_figures.SETS, "middle", third)
    panel = crisp_figures.table1(Request(counts=(4000,), seeds=(1,)), lambda step: None)
    assert [word for claim, word in verdicts(panel).items() if "appro equals middle" in claim] == ["differs"]


def test_fifteenths_lose_nothing_and_ten_values_lose_most() -> None:
    panel = precision.fig13(Request(counts=(3000,), seeds=(1,)), lambda step: None)
    plain, exact, _ = precision.THRESHOLDS
    assert panel.lines[f"256: {exact}"].means == panel.lines[f"4 bits: {exact}"].means == (100.0,)
    loss = [panel.lines[f"{name}: {plain}"].means[0] for name in ("256", "4 bits", "ten")]
    assert loss == sorted(loss, reverse=True)


def test_covering_and_merging_make_tables_smaller_and_lose_nothing() -> None:
    found = routing.measured("words", 300, 0.5, 1, 1)["table"]
    assert found["none"].value == 300 > found["covering"].value > found["merging"].value
    entries, false = merging_overlap.merged_at("distinct", 200, 0.3, 1)
    assert entries < 200
    assert 0 <= false < 100


def test_mergers_with_the_lower_thresholds_recall_everything() -> None:
    settings = Settings("words", (250,), (1,), 1)
    recall = {
        choice: merged_thresholds.scored(settings, 1, choice, 6).work["recall"]
        for choice in merged_thresholds.CHOICES
    }
    assert recall["min"] == 1.0
    assert recall["max"] < recall["average"] < 1.0


def test_what_may_be_true_misses_nothing_and_what_must_be_is_never_false() -> None:
    for error in imprecision.ERRORS:
        assert imprecision.wrong("interval, Π", error, 400, 3)[0] == 0
        assert imprecision.wrong("interval, N", error, 400, 3)[1] == 0
    missed, false = imprecision.wrong("point", 80, 2000, 3)
    assert min(missed, false) > 0


def test_names_of_both_papers_are_figures() -> None:
    for name, figures in FAMILY.other_names.items():
        assert name not in FAMILY.figures
        assert [one.name for one in FAMILY.chosen([name], Request())] == list(figures)
    for number in (*range(10, 14), *range(15, 32)):
        assert FAMILY.chosen([f"fig4.{number}"], Request())
    with pytest.raises(
        UnknownFigure, match="workload 'paper' is unknown; there are: distinct, concepts, words"
    ):
        FAMILY.chosen(["table1"], Request(workload="paper"))
    with pytest.raises(UnknownFigure, match="0 subscriptions cannot be measured"):
        FAMILY.chosen(["table1"], Request(counts=(0,)))
