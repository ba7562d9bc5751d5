"""The few figures of runs that belong on a terminal; the report shows the rest."""

import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.table import Table

    from emulation.contacts.statistics import ContactStatistics
    from spark_analysis.answers import Analysis
    from spark_analysis.interval import Interval
    from spark_analysis.pair_figures import PairFigures
    from spark_analysis.report.comparison import Comparison
    from spark_analysis.sweep.results import SweepResult


MOST_ASKED: Final = 10_000
"""So many notifications of a run are matched anew for the summary at most; of more the report tells."""


def delivery_of_run(folder: Path, notifications: int) -> "PairFigures | None":
    """Return what became of all that was owed in a run that has so many notifications; None where finding out
    would take longer than people wait for a summary.
    """
    from dens.trace.recorded_run import recorded_run
    from plugins.guard.guard import LanguageDefect
    from spark_analysis.catalogue.recorded import pairs_of
    from spark_analysis.pair_figures import pair_figures

    if not notifications:  # A run that was interrupted at once has no trace that could be read.
        return pair_figures((), 0)
    if notifications > MOST_ASKED:
        return None
    try:
        return pairs_of(recorded_run(folder))
    except LanguageDefect as defect:  # The run is whole; only its language cannot say what was owed.
        logging.getLogger("dens").warning("%s", defect)
        return None


def delivery_document(found: "PairFigures | None") -> dict[str, Any] | None:
    """Return it for programs: counts, both ratios and the estimate."""
    return None if found is None else {**asdict(found.counts), "estimate": found.estimate}


def delivery_line(found: "PairFigures | None") -> str:
    """Return it for people."""
    from spark_analysis.number_format import delivery_text

    if found is None:
        return "how much of what was owed arrived: `dens report`"
    return delivery_text(found.counts, found.estimate)


def foretold_line(folder: Path) -> str | None:
    """Return what came of predictions in a run, for people; None where none has ended."""
    from dens.trace.recorded_run import recorded_run
    from spark_analysis.predictions import prediction_stats_of

    found = prediction_stats_of(recorded_run(folder))
    return None if found is None else found.as_text()


def contact_document(found: "ContactStatistics") -> dict[str, Any]:
    """Return what `dens contacts` prints: counts, means of the known times, and medians by the estimate that
    reports use. A median that is not reached is None: it is more than the longest time that was watched.
    """
    from spark_analysis.survival import estimate

    document: dict[str, Any] = {
        "nodes": found.nodes,
        "pairs": found.pairs,
        "contacts": found.contacts,
        "contact_total_s": found.contact_total_s,
    }
    for name, times in (("contact", found.contact), ("inter_contact", found.inter_contact)):
        whole = estimate(
            (time_ms, not cut, cut, 0)
            for time_ms, cut in zip(times.times_ms.tolist(), times.censored.tolist(), strict=True)
        )
        document |= {
            f"{name}_known": whole.known,
            f"{name}_censored": whole.censored,
            f"{name}_mean_s": _seconds(whole.mean),
            f"{name}_median_s": _seconds(whole.median),
            f"{name}_watched_s": _seconds(whole.longest),
        }
    return document


def _seconds(time_ms: float | None) -> float | None:
    return None if time_ms is None else time_ms / 1000


def summary_table(analysis: "Analysis") -> "Table":
    """Return the table that `dens report` prints."""
    from rich.table import Table

    from spark_analysis.catalogue.registry import metrics
    from spark_analysis.number_format import time_text

    run, total = analysis.run, analysis.delivery.total
    partial = " — partial run" if run.partial else ""
    seed = "" if run.seed is None else f", seed {run.seed}"
    table = Table("", "", title=f"{run.title or run.name}{seed}{partial}", show_header=False)
    table.title_justify = "left"
    roles = ", ".join(f"{n} {role}{'' if n == 1 else 's'}" for role, n in run.nodes_by_role.items())
    table.add_row("nodes", f"{roles} in {run.devices} devices; {time_text(run.end_s)}")
    table.add_row("pairs of devices that met", f"{analysis.contacts.pairs_met} of {analysis.contacts.pairs}")
    table.add_row("notifications", f"{run.notifications}, owed {total.owed} times")
    for metric in metrics():
        found = analysis.metrics[metric.name]
        table.add_row(metric.title, f"{found.text}, {found.note}" if found.note else found.text)
    if (composites := analysis.composites) is not None:
        table.add_row("composites", f"{composites.delivered:,} of {composites.owed:,} owed delivered")
        if composites.foretold is not None:
            table.add_row("predictions", composites.foretold.as_text())
    if analysis.delivery.repeated or analysis.delivery.not_owed:
        wrong = f"{analysis.delivery.repeated} shown twice, {analysis.delivery.not_owed} not owed"
        table.add_row("[bold red]wrong deliveries[/]", wrong)
    return table


def comparison_table(comparison: "Comparison") -> "Table":
    """Return the table that `dens report` prints of several runs: one row a figure and variant, so that the
    names of variants have room on a narrow terminal.
    """
    from rich.table import Table
    from rich.text import Text

    from spark_analysis.report.comparison import compared_metrics
    from spark_analysis.report.comparison_page import comparison_title, figure_text

    table = Table("figure", title=comparison_title(comparison), title_justify="left")
    table.add_column("variant", overflow="fold")
    table.add_column("runs")
    table.add_column("mean and 95 % interval")
    for metric in compared_metrics():
        for position, variant in enumerate(comparison.variants):
            partial = " (partial)" if variant.partial else ""
            table.add_row(
                "" if position else metric.title,
                Text(variant.short + partial),
                str(len(variant.seeds)),
                figure_text(variant.figures[metric.name], metric),
                end_section=variant is comparison.variants[-1],
            )
    return table


def sweep_table(result: "SweepResult") -> "Table":
    """Return the table that `dens sweep` prints: one row a figure and variant, with its difference from the
    first.
    """
    from rich.table import Table
    from rich.text import Text

    from spark_analysis.sweep.key_figures import swept_metrics

    table = Table("figure", title_justify="left")
    table.add_column("variant", overflow="fold")
    for name in ("mean", "95 % interval", "against the first, seed by seed"):
        table.add_column(name)
    for metric in swept_metrics():
        for position, variant in enumerate(result.variants):
            value, difference = variant.figures[metric.name], variant.differences[metric.name]
            table.add_row(
                "" if position else metric.label,
                Text(variant.short),
                "–" if value is None else f"{value.mean:.4g}",
                _between(value),
                _difference(difference),
                end_section=variant is result.variants[-1],
            )
    return table


def _difference(value: "Interval | None") -> str:
    if value is None:
        return ""
    between = _between(value, "+")
    return f"{value.mean:+.4g}" + ("" if between == "–" else f" ({between})")


def _between(value: "Interval | None", sign: str = "") -> str:
    if value is None or value.low is None or value.high is None:
        return "–"
    return f"{value.low:{sign}.4g} … {value.high:{sign}.4g}"
