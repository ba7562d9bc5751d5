"""Runs side by side: what is one variant, what it is called, and the page."""

import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from dens.cli.runs.tables import comparison_table, sweep_table
from dens.config.problems import DocumentError
from dens.trace.manifest import Manifest
from spark_analysis.answers import Analysis
from spark_analysis.catalogue.members.mean_delay_s import METRIC as DELAY
from spark_analysis.catalogue.metric import Measured
from spark_analysis.errors import TraceError
from spark_analysis.interval import Interval
from spark_analysis.number_format import NO_BREAK
from spark_analysis.pair_figures import DeliveryCounts
from spark_analysis.report.build import write_comparison
from spark_analysis.report.comparison import (
    Comparison,
    compare,
    compared_metrics,
    refuse_other_vocabularies,
    refuse_repeated_runs,
)
from spark_analysis.report.comparison_page import comparison_page, figure_text
from spark_analysis.sweep.key_figures import swept_metrics
from spark_analysis.sweep.results import SweepResult, Timing, VariantResult
from tests.spark_analysis.report.test_build import Page
from tests.spark_analysis.sample import changed, sample_analysis

NAMES = [metric.name for metric in compared_metrics()]
SWEPT = [metric.name for metric in swept_metrics()]


def manifest(seed: int, status: str = "complete", **settings: Any) -> Manifest:
    scenario = {
        "name": "rescue",
        "seed": seed,
        "overlay": {"policy": "epidemic"},
        "group": [{"name": "helpers", "count": 8}],
        **settings,
    }
    return Manifest(1, status, 7_200_000, seed, scenario)


def with_ratio(delivered: int) -> Analysis:
    fine = sample_analysis()
    within = tuple(20 * math.exp(i / 20) if i <= delivered else None for i in range(101))
    return changed(
        fine,
        delivery=replace(fine.delivery, total=DeliveryCounts(100, delivered, 0, 100 - delivered, 0)),
        delay=replace(fine.delay, within_s=within, estimate=None),
        metrics={**fine.metrics, "delivery_ratio": Measured(delivered / 100, "made up")},
    )


@pytest.fixture
def comparison() -> Comparison:
    direct = {"overlay": {"policy": "direct"}, "group": [{"name": "helpers", "count": 4}]}
    return compare(
        [
            (manifest(1), with_ratio(80)),
            (manifest(1, **direct), with_ratio(50)),
            (manifest(2), with_ratio(90)),
            (manifest(3), with_ratio(100)),
        ]
    )


def test_runs_that_differ_in_their_seed_are_one_variant(comparison: Comparison) -> None:
    assert [(one.label, one.seeds) for one in comparison.variants] == [
        ('group.helpers.count = 8, overlay.policy = "epidemic"', (1, 2, 3)),
        ('group.helpers.count = 4, overlay.policy = "direct"', (1,)),
    ]
    ratio = comparison.variants[0].figures["delivery_ratio"]
    assert ratio is not None
    assert ratio.mean == pytest.approx(0.9)
    assert ratio.low == pytest.approx(0.9 - 4.302653 * 0.1 / 3**0.5)
    assert comparison.variants[1].figures["delivery_ratio"] == Interval(0.5, None, None, 1)
    assert all(list(one.figures) == NAMES for one in comparison.variants)
    assert json.loads(json.dumps(comparison.as_document()))["variants"][1]["seeds"] == [1]


def test_one_variant_is_called_by_its_name() -> None:
    found = compare([(manifest(1), with_ratio(1)), (manifest(2, "partial"), with_ratio(2))])
    assert [(one.label, one.partial) for one in found.variants] == [("rescue", True)]
    assert "contains a partial run" in comparison_page(found)


def test_the_page_shows_every_figure_of_every_variant(comparison: Comparison, tmp_path: Path) -> None:
    write_comparison(comparison, tmp_path / "compared.html")
    text = (tmp_path / "compared.html").read_text()
    parsed = Page(text)
    assert parsed.tags.count("svg") == 1 + len(NAMES)
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert all(reference.startswith("#") for reference in parsed.references)
    assert "script" not in parsed.tags
    words = " ".join(parsed.text).replace(NO_BREAK, " ")
    assert "90.0 % (65.2 % … 100.0 %)" in words
    assert "50.0 %" in words
    assert "count 4, policy direct" in words
    assert "differ in group.helpers.count, overlay.policy" in words
    assert text == comparison_page(comparison)


def test_a_figure_that_no_run_has_is_a_dash() -> None:
    assert figure_text(None, DELAY) == "–"
    assert figure_text(Interval(2.0, 1.0, 5.0, 3), DELAY).replace(NO_BREAK, " ") == "2 s (1 s … 5 s)"


def test_intervals_end_where_figures_do_for_programs_too(comparison: Comparison) -> None:
    """Student's t of 0.8, 0.9 and 1 reaches beyond 1."""
    share = comparison.as_document()["variants"][0]["figures"]["delivery_ratio"]
    assert (share["high"], share["count"]) == (1.0, 3)
    few = compare([(manifest(1), with_ratio(0)), (manifest(2), with_ratio(1))])
    share = few.as_document()["variants"][0]["figures"]["delivery_ratio"]
    assert (share["low"], share["mean"]) == (0.0, pytest.approx(0.005))


def test_curves_of_delays_are_means_over_runs(comparison: Comparison) -> None:
    first, second = comparison.variants
    assert first.arrived[-1][1] == pytest.approx(0.9)
    assert second.arrived[-1][1] == pytest.approx(0.5)
    assert [at for at, _ in first.arrived] == [at for at, _ in second.arrived]
    shares = [share for _, share in first.arrived]
    assert shares == sorted(shares)
    half_s = with_ratio(100).delay.within_s[50]
    assert half_s is not None
    within = [share for at, share in first.arrived if at <= half_s]
    assert within[-1] == pytest.approx(0.5, abs=0.02)


def test_runs_without_expected_deliveries_have_no_curve() -> None:
    nothing = changed(
        sample_analysis(), delivery=replace(sample_analysis().delivery, total=DeliveryCounts(0, 0, 0, 0, 0))
    )
    found = compare([(manifest(1), nothing), (manifest(2), nothing)])
    assert found.variants[0].arrived == ()
    assert comparison_page(found).count("<svg") == 1 + len(NAMES)


@pytest.mark.parametrize("texts", [({"a": "x"}, {"a": "y"}), ({"a": "x"}, {"b": "x"}), ({}, {"a": "x"})])
def test_runs_with_other_words_are_strangers(texts: tuple[dict[str, str], dict[str, str]]) -> None:
    one, other = (replace(manifest(1), vocabularies=words) for words in texts)
    refuse_other_vocabularies([(Path("one"), one), (Path("same"), one)])
    with pytest.raises(TraceError, match="other: its vocabularies differ from those of one"):
        refuse_other_vocabularies([(Path("one"), one), (Path("other"), other)])


def test_a_run_counts_once(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    same.symlink_to(one)
    refuse_repeated_runs([(one, manifest(1)), (other, manifest(2))])
    refuse_repeated_runs([(one, manifest(1)), (other, manifest(1, overlay={"policy": "direct"}))])
    node = replace(manifest(1), seed=None)
    refuse_repeated_runs([(one, node), (other, node)])
    for runs, message in (
        ([(one, node), (same, node)], "same: error D387: this run is given twice"),
        ([(one, manifest(1)), (one, manifest(1))], "one: error D387: this run is given twice"),
        (
            [(one, manifest(1)), (other, manifest(1, title="Another title"))],
            "other: error D387: same settings and seed \\(1\\) as .*one; name each run once",
        ),
    ):
        with pytest.raises(DocumentError, match=message):
            refuse_repeated_runs(runs)


def test_every_axis_label_is_complete_and_names_its_variant(tmp_path: Path) -> None:
    """With two settings the labels ran out of the picture on the left, so that buffers looked alike."""
    variants = [
        {"overlay": {"policy": policy, "limits": {"notification_items": items}}}
        for policy in ("epidemic", "spray_and_wait", "prophet")
        for items in (25, 400)
    ]
    found = compare([(manifest(1, **one), with_ratio(50)) for one in variants])
    shown = [variant.short for variant in found.variants]
    assert shown[0] == "notification_items 25, policy epidemic"
    assert len(set(shown)) == 6
    text = comparison_page(found)
    picture = re.search(r'<svg[^>]*aria-labelledby="compared-delivery_ratio-title.*?</svg>', text, re.DOTALL)
    assert picture is not None
    ticks = re.findall(r'translate\(([\d.-]+) [\d.-]+\)">([^<]+)</text>', picture[0])
    assert [text for _, text in ticks[:2]] == ["notification_items 25,", "policy epidemic"]
    assert len(ticks) == 12
    assert all(float(x) > 0 for x, _ in ticks), "nothing begins left of the picture"


def narrow(table: Table) -> str:
    shown = io.StringIO()
    Console(file=shown, width=80).print(table)
    return shown.getvalue()


def test_a_narrow_terminal_shows_every_name_whole(comparison: Comparison) -> None:
    said = narrow(comparison_table(comparison))
    assert all(metric.title in said for metric in compared_metrics())
    assert not re.search(r"\w…", said)
    long = {"radio": {"handheld": {"a_setting_with_a_name_that_nobody_could_read_aloud": 1}}}
    found = compare([(manifest(1), with_ratio(1)), (manifest(1, **long), with_ratio(2))])
    said = narrow(comparison_table(found))
    assert "2 variants side by side" in said
    assert "variant" in said.splitlines()[2]
    assert not re.search(r"\w…", said)


def test_one_variant_is_one() -> None:
    found = compare([(manifest(1), with_ratio(1)), (manifest(2), with_ratio(2))])
    assert "1 variant side by side" not in narrow(comparison_table(found))
    assert "1 variant, 2 runs" in narrow(comparison_table(found))


def test_a_difference_has_its_interval_in_brackets() -> None:
    value, single = Interval(-1.893, -6.885, 3.1, 5), Interval(2.0, None, None, 1)
    label = "radio.handheld.a_setting_with_a_name_that_nobody_could_read_aloud = 1"
    first = VariantResult(label, label, dict.fromkeys(SWEPT, value), dict.fromkeys(SWEPT))
    for difference, text in ((value, "-1.893 (-6.885 … +3.1)"), (single, "+2")):
        second = VariantResult(label, label, first.figures, dict.fromkeys(SWEPT, difference))
        result = SweepResult((first, second), Timing(2, 0, 1.0, 1.0))
        cells = [str(cell) for cell in sweep_table(result).columns[4].cells]
        assert cells == ["", text] * len(SWEPT)
        assert not re.search(r"\w…", narrow(sweep_table(result)))
