"""Each figure is measured with tiny options; what of it is counted has the shape that the paper claims."""

import sys

import pytest

from dens_experiments.family import Request
from dens_experiments.fuzzy import interpreter
from dens_experiments.fuzzy.family import FAMILY
from dens_experiments.fuzzy.paper import NEMAN, PHONE
from dens_experiments.panel import Panel
from dens_experiments.tables import markdown
from tests.dens.boards.install import NODE, wasm_folder

TINY = Request(counts=(20, 60), seeds=(1, 2), repetitions=1)


def measured(name: str, asked: Request = TINY) -> Panel:
    place = FAMILY.figures[name].place(asked.on)
    assert place is not None
    return place.measure(asked, lambda step: None)


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"fig7{letter}" for letter in "abcdfghi"])
def test_a_figure_has_all_its_values_with_intervals_and_verdicts(name: str) -> None:
    panel = measured(name)
    assert panel.points == (20, 60)
    assert panel.title.startswith(f"{name[-1]})")
    for line in panel.lines.values():
        assert [len(samples) for samples in line.samples] == [2, 2]
        assert all(value >= 0 for samples in line.samples for value in samples)
        assert all(one.low is not None for one in line.intervals)
    assert panel.shapes
    assert all(one.place in (PHONE, NEMAN) and one.sentence.startswith("§5") for one in panel.paper_figures)
    assert panel.counted(), "work stands beside time"
    assert markdown(panel).startswith(f"**{panel.title}**")


@pytest.mark.parametrize("workload", ["paper", "wide"])
@pytest.mark.parametrize("name", ["fig7b", "fig7h"])
def test_features_order_the_algorithms_as_the_paper_says(name: str, workload: str) -> None:
    """With features on FNIFS tests fewer than FNIF, and FNIFC judges fewer; none of them by time."""
    lines = measured(name, Request(counts=(100, 500), seeds=(1,), repetitions=1, workload=workload)).lines
    tests = {algorithm: lines[algorithm].work["feature tests"] for algorithm in ("fnif", "fnifs", "fnifc")}
    judged = "subscriptions judged" if name == "fig7b" else "aggregations"
    for place in range(2):
        assert tests["fnifs"][place] < tests["fnif"][place]
        assert lines["fnifs"].work[judged][place] == lines["fnif"].work[judged][place]
        assert lines["fnifc"].work[judged][place] < lines["fnif"].work[judged][place]


def test_features_decide_nothing_in_the_workload_before() -> None:
    asked = Request(counts=(100,), seeds=(1,), repetitions=1, workload="every_attribute")
    lines = measured("fig7h", asked).lines
    assert lines["fnifs"].work == lines["fnif"].work


def test_fnif_is_linear_and_fnifc_flat_in_counted_work() -> None:
    asked = Request(counts=(500, 1000), seeds=(1, 2), repetitions=1)
    lines = measured("fig7h", asked).lines
    assert lines["fnif"].work["feature tests"] == (500, 1000)
    few, many = lines["fnifc"].work["feature tests"]
    assert few == many == 40, "8 % of 500 and 4 % of 1000 differ from each other"


def test_break_down_judges_the_same_subscriptions_as_flat() -> None:
    lines = measured("fig7d").lines
    flat = lines["flat, min (FNIF)"].work["subscriptions judged"]
    rules = lines["rules of order 1 over pairs (BFCPA1)"].work["subscriptions judged"]
    assert rules == pytest.approx(flat, rel=0.2)


@pytest.mark.slow
def test_memory_of_a_publisher_is_that_of_its_records() -> None:
    lines = measured("fig7g", Request(counts=(500,), seeds=(1,), repetitions=1)).lines
    [bytes_each] = lines["publisher, fnifs"].work["bytes a subscription"]
    assert 22 <= bytes_each < 32, "records of 22 and 26 bytes, and what their blocks have left"


def test_figures_of_a_board_run_in_the_interpreter_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "ENOUGH_S", 0.05)
    asked = Request(counts=(20,), seeds=(1,), repetitions=1, on=(sys.executable,))
    panel = measured("fig7a", asked)
    assert {name.split(", ")[1] for name in panel.lines} == {"CPython", "MicroPython"}
    assert all(value > 0 for line in panel.lines.values() for value in line.means)


def test_aggregators_are_compared_with_the_product_of_their_runtime() -> None:
    panel = measured("fig7e", Request(seeds=(1,), repetitions=1, small=True, on=(sys.executable,)))
    assert panel.points == ("CPython, µs", "MicroPython, µs")
    assert panel.lines["product"].means == (1.0, 1.0)
    assert panel.lines["library root, math.sqrt"].means[0] < panel.lines["approximated, order 1"].means[0]
    assert any("micro:bit" in remark for remark in panel.remarks), "missing measurements are remarked"


@pytest.mark.board
def test_the_boards_library_root_is_cheaper_than_bytecode() -> None:
    command = f"{NODE} {wasm_folder('1.27.0') / 'micropython.mjs'}"
    panel = measured("fig7e", Request(seeds=(1,), repetitions=1, small=True, on=("microbit", command)))
    assert panel.points == ("CPython, µs", "MicroPython, µs", "micro:bit, instructions")
    instructions = {name: line.work["absolute"][2] for name, line in panel.lines.items()}
    assert 2000 < instructions["library root, math.sqrt"] < 3500
    assert instructions["fixed point, exact"] > 5 * instructions["library root, math.sqrt"]
    assert instructions["approximated, order 0"] > 10 * instructions["library root, math.sqrt"]


@pytest.mark.board
def test_micropython_scores_what_the_paper_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "ENOUGH_S", 0.05)
    command = f"{NODE} {wasm_folder('1.23.0') / 'micropython.mjs'}"
    panel = measured("fig7d", Request(counts=(20,), seeds=(1,), repetitions=1, on=(command,)))
    assert all(value > 0 for line in panel.lines.values() for value in line.means)


@pytest.mark.board
@pytest.mark.parametrize("name", ["fig7b", "fig7c", "fig7f", "fig7g"])
def test_the_micro_bit_shows_the_flat_algorithms(name: str) -> None:
    panel = measured(name, Request(on=("microbit",)))
    assert "on a micro:bit" in panel.title
    assert all(value >= 0 for line in panel.lines.values() for value in line.means)
    assert all(shape.verdict != "differs" for shape in panel.shapes)
