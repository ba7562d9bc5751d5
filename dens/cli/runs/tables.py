"""Tables of runs, comparisons and sweeps for the terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from spark_analysis.answers import Analysis
    from spark_analysis.interval import Interval
    from spark_analysis.report.comparison import Comparison
    from spark_analysis.sweep.results import SweepResult


def summary_table(analysis: "Analysis") -> "Table":
    """Return the table of one run."""
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
    table.add_row("notifications", f"{run.notifications}, {total.expected} expected deliveries")
    for metric in metrics():
        found = analysis.metrics[metric.name]
        table.add_row(metric.title, f"{found.text}, {found.note}" if found.note else found.text)
    if (composites := analysis.composites) is not None:
        table.add_row("composites", f"{composites.delivered:,} of {composites.expected:,} expected delivered")
        if composites.predictions is not None:
            table.add_row("predictions", composites.predictions.as_text())
    if analysis.delivery.repeated or analysis.delivery.unexpected:
        wrong = f"{analysis.delivery.repeated} duplicates, {analysis.delivery.unexpected} not expected"
        table.add_row("[bold red]wrong deliveries[/]", wrong)
    return table


def comparison_table(comparison: "Comparison") -> "Table":
    """Return the table of several runs: one row per figure and variant, so that the names of variants fit
    on a narrow terminal.
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
    """Return the table of a sweep: one row per figure and variant, with its difference from the first."""
    from rich.table import Table
    from rich.text import Text

    from spark_analysis.sweep.key_figures import swept_metrics

    table = Table("figure", title_justify="left")
    table.add_column("variant", overflow="fold")
    for name in ("mean", "95 % interval", "difference from the first, per seed"):
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
