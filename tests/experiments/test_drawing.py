"""Pictures have linear axes, every line by its name, and the paper's numbers with the machine they are of."""

from pathlib import Path

from matplotlib.figure import Figure

from dens_experiments import drawing
from dens_experiments.panel import Line, Panel, PaperFigure

LINES = {
    "fnif: filtering": Line(((1.0, 2.0), (10.0, 12.0)), {"feature tests": (40.0, 100.0)}),
    "fnif: inserting": Line(((0.1, 0.2), (0.3, 0.3))),
    "fnifc: filtering": Line(((1.0, 1.0), (1.0, 1.1)), {"feature tests": (4.0, 4.0)}),
}


def _drawn(panel: Panel, path: Path, monkeypatch) -> Figure:
    kept: list[Figure] = []
    plain = Figure.savefig

    def saved(figure: Figure, *given: object, **named: object) -> None:
        kept.append(figure)
        plain(figure, *given, **named)

    monkeypatch.setattr(Figure, "savefig", saved)
    drawing.draw(panel, path)
    return kept[0]


def test_times_and_counts_stand_side_by_side_on_linear_axes(tmp_path: Path, monkeypatch) -> None:
    theirs = (
        PaperFigure("FNIFC", 20, 20, "ms", "phone emulator", "§5"),
        PaperFigure("FNIF", 10, 10, "ms", "NEMAN", "§5", 100),
    )
    panel = Panel("a) t", "subscriptions", "ms", (40, 100), LINES, "flat", theirs)
    figure = _drawn(panel, tmp_path / "a.svg", monkeypatch)
    times, counts, paper = figure.axes
    assert (
        {axes.get_yscale() for axes in figure.axes}
        == {axes.get_xscale() for axes in figure.axes}
        == {"linear"}
    )
    assert all(axes.get_ylim()[0] == 0 for axes in figure.axes)
    assert [line.get_label() for line in times.get_lines()] == list(LINES)
    assert len(times.collections) == len(LINES), "a band for each line"
    assert [list(line.get_ydata()) for line in counts.get_lines()] == [[40.0, 100.0], [4.0, 4.0]]
    texts = [text.get_text() for text in paper.texts]
    assert texts == ["paper, phone emulator: FNIFC 20 ms", "paper, NEMAN: FNIF 10 ms"]
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")


def test_numbers_on_our_own_scale_are_drawn_or_marked_as_far_above(tmp_path: Path, monkeypatch) -> None:
    theirs = (
        PaperFigure("break-down", 12, 12, "ms", "NEMAN", "§5", 100),
        PaperFigure("phone", 500, 500, "ms", "phone emulator", "§5"),
        PaperFigure("program", 11, 11, "ms", "phone emulator", "§5", is_drawn=False),
    )
    panel = Panel("6", "subscriptions", "ms", (40, 100), LINES, "flat", theirs, same_scale=True)
    times, _ = _drawn(panel, tmp_path / "a.svg", monkeypatch).axes
    assert times.get_ylim()[1] < 40
    assert [text.get_text() for text in times.texts] == [
        "paper, phone emulator: phone 500 ms, far above",
        "paper, NEMAN: break-down 12 ms",
    ]


def test_numbers_that_lie_close_together_have_one_label(tmp_path: Path, monkeypatch) -> None:
    theirs = tuple(
        PaperFigure(what, ms, ms, "ms", "NEMAN", "§5", at)
        for what, ms, at in (("flat", 1, 40), ("broken", 2, 40), ("flat", 1, 100), ("broken", 12, 100))
    )
    panel = Panel("6", "subscriptions", "ms", (40, 100), LINES, "flat", theirs, same_scale=True)
    times, _ = _drawn(panel, tmp_path / "a.svg", monkeypatch).axes
    assert [text.get_text() for text in times.texts] == [
        "paper, NEMAN: flat 1 ms, broken 2 ms",
        "paper, NEMAN: flat 1 ms",
        "paper, NEMAN: broken 12 ms",
    ]


def test_lines_of_one_thing_have_one_colour(tmp_path: Path, monkeypatch) -> None:
    groups = {"flat": ("fnif: filtering", "fnif: inserting"), "covered": ("fnifc: filtering",)}
    panel = Panel("a) t", "subscriptions", "ms", (40, 100), LINES, "flat", groups=groups)
    figure = _drawn(panel, tmp_path / "a.svg", monkeypatch)
    assert [axes.get_title() for axes in figure.axes] == ["flat", "covered", "feature tests, counted"]
    one, other = figure.axes[0].get_lines()
    [covered] = figure.axes[1].get_lines()
    assert one.get_color() == other.get_color() != covered.get_color()
    assert one.get_linestyle() != other.get_linestyle()


def test_bars_are_grouped_by_what_is_compared(tmp_path: Path, monkeypatch) -> None:
    lines = {"product": Line(((1.0, 1.0), (1.0, 1.0))), "root": Line(((4.0, 6.0), (0.5, 0.5)))}
    panel = Panel("e) t", "runtime", "times", ("CPython", "micro:bit"), lines, "", form="bars")
    figure = _drawn(panel, tmp_path / "e.svg", monkeypatch)
    [axes] = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [1.0, 1.0, 5.0, 0.5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["CPython", "micro:bit"]


def test_marks_are_drawn_whole_and_wide_bands_are_cut(tmp_path: Path, monkeypatch) -> None:
    lines = {"flat": Line(((0.9, 1.0), (0.95, 1.0)), {"hits": (100.0, 98.0)}), "none": Line(((0.0,), (0.0,)))}
    panel = Panel("a) t", "subscriptions", "ms", (40, 100), lines, "flat")
    times, counts = _drawn(panel, tmp_path / "a.svg", monkeypatch).axes
    assert counts.get_ylim()[1] >= 105
    assert 1.0 < times.get_ylim()[1] <= 2.5, "the band of two values reaches to 1.6"
    wide = {"line": Line(((1.0, 9.0), (1.0, 9.0)))}
    [alone] = _drawn(Panel("b", "x", "ms", (1, 2), wide, ""), tmp_path / "b.svg", monkeypatch).axes
    assert alone.get_ylim()[1] == 12.5, "the band reaches to 55"


def test_numbers_of_the_paper_stand_beside_their_own_line_and_point(tmp_path: Path, monkeypatch) -> None:
    theirs = (
        PaperFigure("slow", 20, 20, "ms", "a machine", "§5", 100),
        PaperFigure("slow", 900, 900, "ms", "a machine", "§5", 5000),
    )
    lines = {"slow": Line(((1.0,), (2.0,))), "quick": Line(((0.1,), (0.1,)))}
    groups = {"one": ("slow",), "the others": ("quick",)}
    panel = Panel("a", "subscriptions", "ms", (40, 100), lines, "", theirs, groups=groups)
    figure = _drawn(panel, tmp_path / "a.svg", monkeypatch)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == ["paper, a machine: slow 20 ms"]
    assert len(figure.axes) == 3, "one axis of the paper's, beside the line it is about"
