"""A panel's numbers are what its samples say; all of its forms are made of them."""

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens_experiments.panel import Line, Panel, PaperFigure, Shape, verdict, verdict_of_order
from dens_experiments.sampling import Sample, Timed, least_seconds, line_of, timed_in_turns
from dens_experiments.tables import comma_separated, listed, markdown, number

SAMPLES = st.lists(st.floats(0.5, 1000), min_size=2, max_size=12)

T_975 = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    6: 2.447,
    7: 2.365,
    8: 2.306,
    9: 2.262,
    10: 2.228,
    11: 2.201,
}
"""Student's t at 97.5 %, by degrees of freedom, as printed in any table."""  # fmt: skip


def panel_of(lines: dict[str, Line]) -> Panel:
    return Panel(
        "b) filtering",
        "subscriptions",
        "ms",
        (40, 100),
        lines,
        "linear",
        (
            PaperFigure("FNIFC", 20, 20, "ms", "phone emulator", "§5"),
            PaperFigure("FIP", 6, 6.5, "ms", "NEMAN", "§5", 100),
        ),
        (Shape("FNIF grows", "× 2", "holds"), Shape("flat", "× 3", "in part", "blocks")),
        ("a remark",),
        {"seeds": "2"},
    )


@given(SAMPLES)
def test_an_interval_is_students_t_over_the_seeds(samples: list[float]) -> None:
    [found] = Line((tuple(samples),)).intervals
    n = len(samples)
    mean = sum(samples) / n
    variance = sum((one - mean) ** 2 for one in samples) / (n - 1)
    half = T_975[n - 1] * math.sqrt(variance / n)
    assert found.low is not None
    assert found.high is not None
    assert found.mean == pytest.approx(mean)
    assert found.high - found.mean == pytest.approx(half, rel=1e-3, abs=1e-9)
    assert found.low == pytest.approx(max(mean - half, 0.0), abs=1e-3 * half + 1e-9)


def test_one_seed_has_no_interval() -> None:
    [found] = Line(((3.0,),)).intervals
    assert (found.mean, found.low, found.high) == (3.0, None, None)


def test_work_is_the_mean_over_the_seeds_at_each_point() -> None:
    taken = [
        [Sample(1.0, {"feature tests": 10}), Sample(3.0, {"feature tests": 20})],
        [Sample(5.0, {"feature tests": 40}), Sample(7.0, {"feature tests": 40, "pairs": 2})],
    ]
    line = line_of(taken)
    assert line.samples == ((1.0, 3.0), (5.0, 7.0))
    assert line.means == (2.0, 6.0)
    assert line.work == {"feature tests": (15.0, 40.0), "pairs": (0.0, 1.0)}


def test_a_table_says_values_work_the_papers_numbers_and_verdicts() -> None:
    line = Line(((1.0, 3.0), (500.0, 500.0)), {"feature tests": (15.0, 40.0)})
    lines = markdown(panel_of({"fnif": line})).splitlines()
    assert "| fnif | 2.00 ± 12.7 | 500 ± 0 |" in lines
    assert "| fnif: feature tests | 15.0 | 40.0 |" in lines
    assert "| FNIFC | 20 ms | not stated | phone emulator | §5 |" in lines
    assert "| FIP | 6 to 6.5 ms | 100 | NEMAN | §5 |" in lines
    assert "| FNIF grows | × 2 | holds |" in lines
    assert "| flat | × 3 | in part: blocks |" in lines
    assert lines[-1] == "- a remark"


def test_comma_separated_values_are_all_values_unrounded() -> None:
    line = Line(((1.0, 1 / 3), (5.0, 7.0)), {"feature tests": (15.0, 40.0)})
    rows = list(csv.DictReader(io.StringIO(comma_separated(panel_of({"fnif": line})))))
    found = {(row["subscriptions"], row["what"], row["sample"]): float(row["value"]) for row in rows}
    assert found[("40", "ms", "2")] == 1 / 3
    assert found[("100", "feature tests", "")] == 40.0
    assert len(rows) == 6


def test_a_document_has_samples_intervals_work_and_sources() -> None:
    document = panel_of({"fnif": Line(((1.0, 3.0), (5.0, 7.0)))}).document()
    assert document["lines"]["fnif"]["mean"] == [2.0, 6.0]
    assert document["lines"]["fnif"]["samples"] == [[1.0, 3.0], [5.0, 7.0]]
    low, high = document["lines"]["fnif"]["interval_95"][1]
    assert low == 0.0
    assert high == pytest.approx(6 + 12.706, rel=1e-3)
    assert document["paper"]["figures"][0]["place"] == "phone emulator"
    assert document["shapes"][1] == {"paper": "flat", "here": "× 3", "verdict": "in part", "why": "blocks"}


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"), (12345.6, "12,346")]
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    assert number(value) == text
    assert listed({"a": value}, "ms") == f"a {text} ms"


def test_verdicts() -> None:
    assert [verdict(True), verdict(False, True), verdict(False)] == ["holds", "in part", "differs"]


def test_what_is_compared_is_timed_in_turns_and_the_least_counts() -> None:
    calls: list[str] = []

    def prepared(point: int, seed: int) -> dict[str, Timed]:
        calls.append(f"{point} {seed}")
        quick = Timed(lambda: calls.append("quick"), 1, {"steps": 10.0 * seed})
        return {"quick": quick, "slow": Timed(lambda: sum(range(20_000 * point)), 2, {})}

    lines = timed_in_turns((1, 5), (1, 2), 3, prepared, lambda step: None)
    assert calls == [word for at in ("1 1", "1 2", "5 1", "5 2") for word in (at, "quick", "quick", "quick")]
    assert lines["quick"].work == {"steps": (15.0, 15.0)}
    assert lines["slow"].means[0] < lines["slow"].means[1]
    [turn] = least_seconds({"slow": Timed(lambda: sum(range(50_000)), 1, {})}, 2).values()
    assert turn > 0


@given(SAMPLES, st.floats(0.1, 10), st.data())
def test_an_order_holds_where_the_differences_leave_no_doubt(
    upper: list[float], times: float, data: st.DataObject
) -> None:
    lower = data.draw(st.lists(st.floats(0.5, 1000), min_size=len(upper), max_size=len(upper)))
    differences = [low - times * high for low, high in zip(lower, upper, strict=True)]
    count, mean = len(upper), math.fsum(differences) / len(upper)
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in differences) / (count - 1))
    half = T_975[count - 1] * spread / math.sqrt(count)
    told = verdict_of_order(Line((tuple(lower),)), Line((tuple(upper),)), times)
    if abs(mean) > 1e-9 and abs(abs(mean) - half) > 1e-3 * half:  # the printed table has four digits
        assert told == ("differs" if mean > 0 else "holds" if mean + half < 0 else "in part")


def test_an_order_with_one_seed_is_that_of_the_means() -> None:
    low, high = Line(((9.0,), (1.0,))), Line(((1.0,), (2.0,)))
    assert verdict_of_order(low, high) == "holds"
    assert verdict_of_order(high, low) == "differs"
    assert verdict_of_order(high, low, in_part=True) == "in part"
    assert verdict_of_order(high, low, times=3.0) == "holds"
