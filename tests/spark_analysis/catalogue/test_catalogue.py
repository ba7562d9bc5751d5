"""The catalogue of metrics: laws that hold for every member, unasked, and a member from elsewhere."""

import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from dens.cli.runs.tables import comparison_table, summary_table, sweep_table
from dens.config.entry_points import OutsidePackageError
from spark_analysis.answers import Analysis, analyse
from spark_analysis.catalogue import members, registry
from spark_analysis.catalogue.evidence import FOLLOWED, REPORTED, SWEPT, Evidence
from spark_analysis.catalogue.metric import Metric, MetricFailed, Unit, measured, value_of, values_of
from spark_analysis.catalogue.recorded import evidence_of, pairs_of
from spark_analysis.catalogue.registry import built_in, compared, metrics, metrics_from
from spark_analysis.number_format import NO_BREAK
from spark_analysis.report.comparison import compare
from spark_analysis.report.comparison_page import comparison_page
from spark_analysis.report.page import page
from spark_analysis.run import Run, open_run
from spark_analysis.sweep.key_figures import key_figures
from spark_analysis.sweep.plan import SweepPlan
from spark_analysis.sweep.results import SweepResult, Timing, summarise, write_results
from tests.paths import ROOT
from tests.spark_analysis import oracle
from tests.spark_analysis.conftest import write_tables
from tests.spark_analysis.synthetic import END_MS, EVENT, SyntheticRun, mask, synthetic_run

GUIDE = ROOT / "docs" / "how-to" / "analysis.md"

each = pytest.mark.parametrize("metric", metrics(), ids=lambda metric: metric.name)


@pytest.fixture(scope="module")
def synthetic() -> SyntheticRun:
    """A made-up run in which the reading behind every notification was judged too."""
    made = synthetic_run(seed=5)
    judged = [
        {
            **made.tables["filter_decisions"][0],
            "at_ms": told.at_ms,
            "node": told.origin,
            "event_number": told.number,
            "event": EVENT,
            "attributes": bytes((mask(told.values),)),
            "values": bytes(told.values[attribute] for attribute in sorted(told.values)),
            "installed": 1,
            "released": 1,
            "suppressed": None,
        }
        for told in made.told
    ]
    readings = [*made.tables["filter_decisions"], *judged]
    first = made.tables["messages"][0]
    messages = [*made.tables["messages"], *_installs(first), *_words(first)]
    return replace(
        made, tables={**made.tables, "filter_decisions": readings, "messages": messages, "hops": HOPS}
    )


def _installs(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return installs at sources 3 and 4: some sent, some spared by one mediator or by two, one both."""
    step = {**row, "type": "install", "language": 1, "origin": 7, "reason": None, "bytes": 43}
    sent = [{**step, "kind": "received", "node": 3 + n % 2, "peer": 1, "number": n // 2} for n in range(6)]
    spared = [
        {**step, "kind": "spared", "node": mediator, "peer": 4, "number": n, "bytes": 40 + n}
        for mediator, n in ((1, 2), (1, 3), (2, 3), (2, 8))
    ]
    return [*sent, *({**one, "kind": "sent"} for one in sent[:2]), *spared]


def _words(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a broker heard of routes: seven words, and what it sent itself, which does not count."""
    step = {**row, "language": 0, "origin": 9, "reason": None, "node": 3, "peer": 4, "bytes": 40}
    heard = ("advertise", "advertise", "join", "join", "join", "prune", "unadvertise")
    kinds = ("replicated",) * 5 + ("refused", "duplicate")
    found = [
        {**step, "kind": kind, "type": type, "number": number}
        for number, (kind, type) in enumerate(zip(kinds, heard, strict=True))
    ]
    return [*found, {**step, "kind": "dropped", "type": "join", "number": 9}]


HOPS: list[dict[str, Any]] = [
    {
        "at_ms": 1_000 * frame + 100 * hop,
        "sent_ms": None if lost == "no_route" else 1_000 * frame + 100 * hop - 7,
        "node": hop - 1,
        "peer": None if lost == "no_route" else hop,
        "source": 0,
        "destination": destination,
        "frame": frame,
        "hop": hop,
        "bytes": 20 + frame,
        "lost": lost if hop == hops else None,
    }
    for frame, (destination, hops, lost) in enumerate(
        [(3, 3, None), (2, 2, None), (4, 2, "radio"), (3, 2, "no_route"), (9, 1, "no_route")], start=1
    )
    for hop in range(1, hops + 1)
]
"""Frames that went beyond range, hop by hop: two arrived, three did not."""


@pytest.fixture(scope="module")
def run(synthetic: SyntheticRun, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("synthetic") / "run"
    return open_run(write_tables(folder, synthetic.tables, rows_per_part=100), spark)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


# ---------------------------------------------------------------------- what each says of itself


STEPS = ("feature_tests", "memberships", "aggregations", "pairs", "rows")


def test_every_file_among_the_members_is_one_metric() -> None:
    assert sorted(metric.name for metric in built_in()) == sorted(
        one.name for one in iter_modules(members.__path__)
    )


@each
def test_its_words_are_its_own(metric: Metric) -> None:
    others = [other for other in metrics() if other is not metric]
    assert not [other for other in others if metric.title == other.title or metric.meaning == other.meaning]
    assert not metric.meaning.endswith(".")
    assert isinstance(metric.unit, Unit)
    assert metric.name.endswith("_s") == (metric.unit is Unit.SECONDS)
    assert metric.of.__doc__


@each
def test_it_has_its_line_in_the_guide(metric: Metric) -> None:
    [line] = [
        line for line in GUIDE.read_text("utf-8").splitlines() if line.startswith(f"| `{metric.name}` |")
    ]
    _, _, title, unit, better, *_ = (cell.strip() for cell in line.split("|"))
    assert title == metric.title
    assert unit == metric.unit.name.lower()
    assert better == {"up": "more", "down": "less", None: "neither"}[metric.better]


# ---------------------------------------------------------------------- what each comes to


def expected(run: SyntheticRun) -> dict[str, float]:
    """Return every metric by plain loops, from the definitions and nothing else."""
    pairs = oracle.pending_pairs(run)
    events = {(told.origin, told.number): told.at_ms for told in run.told}
    arrived = {pair: at_ms for pair, at_ms in oracle.delivered_at(run).items() if pair in pairs}
    owed, delivered, missed, still_open = oracle.served(run, pairs)
    over = [pair for pair in pairs if oracle.is_whole(run, pair)]
    delays = oracle.delays(run)
    became = {pair: oracle.outcome(run, pair) for pair in pairs}
    assert set(became.values()) == {"delivered", "withdrawn", "missed", "lost", "open"}
    times = [
        (arrived[pair] - events[pair[:2]], False)
        if pair in arrived
        else (math.inf, True)
        if became[pair] in ("missed", "lost")
        else ((oracle.withdrawn_at(run, pair) or END_MS) - events[pair[:2]], True)
        if became[pair] == "withdrawn"
        else (END_MS - events[pair[:2]], True)
        for pair in pairs
    ]
    half = min(time for time, _ in times if oracle.survival_at(times, time) <= 0.5 + 1e-12)
    messages, readings = run.tables["messages"], run.tables["filter_decisions"]
    work = [row for row in run.tables["matching_work"] if row["number"] is not None]
    unheard = {  # readings of zeros, which no subscriber received
        (row["node"], row["event_number"], row["at_ms"], wish.subscriber)
        for row in readings[: -len(run.told)]
        for wish in run.wishes
        if all(row["attributes"][0] >> a & 1 and low == 0 for a, (low, _) in wish.intervals.items())
        and oracle.in_force(wish, row["at_ms"])
    }
    seen = [row for row in messages if row["kind"] == "delivered"]
    sent = [row for row in messages if row["kind"] == "sent"]
    relayed = [row for row in run.tables["hops"] if row["hop"] > 1 and row["sent_ms"] is not None]
    came = [row for row in messages if row["kind"] in ("replicated", "delivered") and "notif" in row["type"]]
    again = [row for row in messages if row["kind"] == "duplicate" and "notif" in row["type"]]
    assert (len(over) - missed, owed) == (sum(pair in arrived for pair in over), len(pairs))
    return {
        "delivery_ratio": delivered / owed,
        "open_ratio": still_open / owed,
        "whole_lifetime_ratio": sum(pair in arrived for pair in over) / len(over),
        "delivery_estimate": 1 - oracle.survival_at(times, max(delays)),
        "recall": len(arrived) / (len(pairs) + len(unheard)),
        "mean_delay_s": sum(delays) / len(delays) / 1000,
        "median_delay_s": oracle.nearest_rank(delays, 50) / 1000,
        "p95_delay_s": oracle.nearest_rank(delays, 95) / 1000,
        "median_owed_delay_s": half / 1000,
        "overhead_ratio": (len(came) - len(seen)) / len(seen),
        "duplicate_share": len(again) / (len(came) + len(again)),
        "bytes_per_delivery": sum(row["bytes"] for row in [*sent, *relayed]) / len(seen),
        "forwarded_share": len(relayed) / (len(sent) + len(relayed)),
        "mean_hops": (3 + 2) / 2,
        "routing_words": 7 / delivered,
        "share_kept": sum(row["released"] == 0 for row in readings) / len(readings),
        "matching_steps": sum(row[name] for row in work for name in STEPS) / len(work),
        "matching_s": sum(row["cost_us"] for row in work) / 1e6 / len(work),
        "installs_spared": 2 / 8,  # at source 4 the third and the eighth; six were sent
    }


@each
def test_spark_gives_what_plain_loops_give(
    metric: Metric, analysis: Analysis, synthetic: SyntheticRun
) -> None:
    assert analysis.metrics[metric.name].value == pytest.approx(expected(synthetic)[metric.name])


def test_without_spark_it_is_the_same_number(run: Run, analysis: Analysis) -> None:
    swept = values_of(metrics_from(SWEPT), evidence_of(run.recorded))
    assert swept == {name: analysis.metrics[name].value for name in swept}
    assert swept.keys() == analysis.metrics.keys()
    live = values_of(metrics_from(FOLLOWED), Evidence(pairs=pairs_of(run.recorded)))
    assert live == {name: analysis.metrics[name].value for name in live}
    assert len(live) > 6


def test_of_a_run_in_which_nothing_happened_nothing_is_known(tmp_path: Path, spark: SparkSession) -> None:
    nodes = [{"node": 0, "name": "alone-0", "group": "alone", "role": "subscriber"}]
    found = analyse(open_run(write_tables(tmp_path / "run", {"nodes": nodes}), spark))
    assert {one.value for one in found.metrics.values()} == {None}


# ---------------------------------------------------------------------- where each is shown


def shown(table: Table) -> str:
    output = io.StringIO()
    Console(file=output, width=300).print(table)
    return output.getvalue().replace(NO_BREAK, " ")


def everywhere(run: Run, analysis: Analysis, tmp_path: Path) -> dict[str, str]:
    """Return what people and programs are shown, by where."""
    comparison = compare([(run.manifest, analysis), (replace(run.manifest, seed=2), analysis)])
    plan = SweepPlan("x", ((),), (1,))
    swept = {(0, 1): key_figures(run.path)}
    result = SweepResult(summarise(plan, swept), Timing(1, 0, 1.0, 1.0))
    write_results(plan, swept, tmp_path / "results.parquet")
    return {
        "report": page(analysis),
        "report on a terminal": shown(summary_table(analysis)),
        "report for programs": json.dumps(analysis.as_document()["metrics"]),
        "comparison": comparison_page(comparison),
        "comparison on a terminal": shown(comparison_table(comparison)),
        "comparison for programs": json.dumps(comparison.as_document()),
        "sweep": shown(sweep_table(result)),
        "sweep for programs": json.dumps(result.as_document()),
    }


def test_every_metric_is_shown_wherever_it_can_be(run: Run, analysis: Analysis, tmp_path: Path) -> None:
    places = everywhere(run, analysis, tmp_path)
    for metric in metrics():
        words = {metric.name, metric.title, metric.label}
        where = {place for place, text in places.items() if any(word in text for word in words)}
        assert {"report", "report on a terminal", "report for programs"} <= where
        if metric in compared(REPORTED):
            assert {"comparison", "comparison on a terminal", "comparison for programs"} <= where
        if metric in compared(SWEPT):
            assert {"sweep", "sweep for programs"} <= where


# ---------------------------------------------------------------------- metrics from elsewhere


def entry(what: str, name: str = "outside") -> EntryPoint:
    return EntryPoint(name, f"tests.spark_analysis.outside_metric:{what}", registry.ENTRY_POINT_GROUP)


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Metric]:
    """A package with one more metric is installed; nothing else is configured."""
    monkeypatch.setattr(
        "dens.config.entry_points.entry_points",
        lambda group: [entry("METRIC")] * (group == registry.ENTRY_POINT_GROUP),
    )
    registry._installed.cache_clear()
    yield metrics()[-1]
    monkeypatch.undo()
    registry._installed.cache_clear()


def test_a_metric_of_another_package_is_shown_everywhere(
    outside: Metric, run: Run, synthetic: SyntheticRun, tmp_path: Path
) -> None:
    assert outside.name == "lost_share"
    kinds = [row["kind"] for row in synthetic.tables["messages"]]
    share = kinds.count("lost") / kinds.count("sent")
    analysis = analyse(run)
    assert analysis.metrics["lost_share"].value == pytest.approx(share)
    assert key_figures(run.path)["lost_share"] == pytest.approx(share)
    places = everywhere(run, analysis, tmp_path)
    for place, text in places.items():
        words = outside.label if place == "sweep" else outside.name if "programs" in place else outside.title
        assert words in text, place
    assert "lost_share" not in {metric.name for metric in metrics_from(FOLLOWED)}


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("NAMESAKE", r"its name 'delivery_ratio' or its title 'something else' is taken by delivery_ratio"),
        (
            "NOTHING",
            r"metric outside \(tests\.spark_analysis\.\w+:NOTHING\) cannot be loaded: .*NOTHING",
        ),
        ("lost_share", r"is a function; name a Metric of spark_analysis.catalogue.metric"),
    ],
)
def test_unloadable_metric_is_reported_in_words(what: str, message: str) -> None:
    with pytest.raises(OutsidePackageError, match=message):
        metrics([entry(what)])


def test_two_packages_with_one_metric_are_refused() -> None:
    assert [one.name for one in metrics([entry("METRIC")])][-1] == "lost_share"
    with pytest.raises(OutsidePackageError, match="'lost_share' or its title 'lost frames' is taken"):
        metrics([entry("METRIC"), entry("METRIC", "again")])


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Lost Share"},
        {"name": ""},
        {"title": ""},
        {"meaning": ""},
        {"unit": "share"},
        {"better": "more"},
        {"needs": frozenset()},
        {"needs": frozenset({"luck"})},
    ],
)
def test_undisplayable_metric_is_refused(wrong: dict[str, Any]) -> None:
    [fine] = [metric for metric in built_in() if metric.name == "share_kept"]
    with pytest.raises(ValueError, match="metric"):
        replace(fine, **wrong)


@pytest.mark.parametrize("value", [math.nan, math.inf, "a word", 1 / 3])
def test_a_metric_that_fails_is_named(value: Any) -> None:
    [fine] = [metric for metric in built_in() if metric.name == "share_kept"]
    odd = replace(fine, name="odd", of=lambda evidence: value)
    if isinstance(value, float) and math.isfinite(value):
        assert value_of(odd, Evidence()) == value
    else:
        with pytest.raises(MetricFailed, match=re.escape("metric odd ")):
            value_of(odd, Evidence())


def test_failing_foreign_metric_does_not_affect_others() -> None:
    [fine] = [metric for metric in built_in() if metric.name == "share_kept"]
    assert fine.is_built_in
    odd = replace(fine, name="odd", of=lambda evidence: 1 / 0)
    assert not odd.is_built_in
    assert values_of([odd], Evidence()) == {"odd": None}
    metric = measured([odd], Evidence())["odd"]
    assert (metric.value, metric.text) == (None, "–")
    assert metric.note == "metric odd cannot be computed: ZeroDivisionError: division by zero"
