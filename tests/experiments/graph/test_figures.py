"""Each figure is measured with tiny options; what of it is counted has the shape that the chapter claims."""

import pytest

from dens_experiments.family import Request
from dens_experiments.graph.family import FAMILY
from dens_experiments.graph.indexing import fig5_25, fig5_27, shape_of_27, shapes_of_25
from dens_experiments.graph.matching import shapes_of_24
from dens_experiments.graph.paper import CLUSTER, MACHINE
from dens_experiments.panel import Line, Panel
from dens_experiments.tables import markdown

TINY = Request(counts=(40, 80), seeds=(1, 2), repetitions=1, small=True)


def measured(name: str, asked: Request = TINY) -> Panel:
    return FAMILY.figures[name].measure(asked, lambda step: None)


def test_all_figures_of_the_chapter_are_there() -> None:
    assert list(FAMILY.figures) == [f"fig5.{number}" for number in range(16, 34)]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAMILY.figures))
def test_a_figure_has_all_its_values_and_verdicts(name: str) -> None:
    panel = measured(name)
    assert panel.title.startswith(name.removeprefix("fig"))
    drawn = [line for called, line in panel.lines.items() if "N · (1" not in called]
    for line in drawn:
        assert [len(samples) for samples in line.samples] == [2] * len(panel.points)
        assert all(value >= 0 for samples in line.samples for value in samples)
    assert panel.shapes
    assert all(
        one.place in (MACHINE, CLUSTER) and one.sentence.startswith("§5.4") for one in panel.paper_figures
    )
    assert "graph_workload" in panel.setting["workload"], "every figure names its generator"
    assert panel.setting["seeds"] == "2 (1 … 2)"
    assert markdown(panel).startswith(f"**{panel.title}**")


@pytest.mark.slow
def test_algorithms_find_the_same_number_of_matches() -> None:
    for name in ("fig5.17", "fig5.20", "fig5.24"):
        found = {line.work["matches"] for line in measured(name).lines.values()}
        assert len(found) == 1, name


def test_covering_leaves_one_less_overlap() -> None:
    """Figure 5.25 and 5.27 by counts alone, at overlaps of our choice."""
    asked = Request(counts=(200, 600), seeds=(1,), repetitions=1, small=True, set=(("overlap", "0.4"),))
    assert [one.verdict for one in fig5_25(asked, lambda step: None).shapes][:2] == ["holds", "holds"]
    assert [one.verdict for one in fig5_27(TINY, lambda step: None).shapes] == ["holds"]


def line(*values: float) -> Line:
    return Line(tuple((value,) for value in values))


def test_figure_24_can_be_refused() -> None:
    counts = (100, 1000, 10_000)
    good = {"original": line(10, 100, 1000), "improved": line(5, 6, 7), "fast": line(0.1, 0.1, 0.1)}
    assert {one.verdict for one in shapes_of_24(good, counts)} == {"holds"}
    grown = {**good, "improved": line(5, 50, 500)}
    assert [one.verdict for one in shapes_of_24(grown, counts)] == ["holds", "differs", "holds", "in part"]
    flat = {**good, "original": line(10, 10, 10)}
    assert shapes_of_24(flat, counts)[0].verdict == "differs"


def test_figures_25_and_27_can_be_refused() -> None:
    lines = {"covering": line(80, 400), "merging": line(70, 450)}
    assert [one.verdict for one in shapes_of_25(lines, (100, 500), 0.5)] == ["differs", "holds", "differs"]
    assert shape_of_27(line(100, 50), line(100, 10), 100).verdict == "differs"
    assert shape_of_27(line(100, 12), line(100, 10), 100).verdict == "holds"
