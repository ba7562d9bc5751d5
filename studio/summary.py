"""The few figures of a run that belong on a terminal; the report shows the rest."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from spark_analysis.answers import Analysis


def summary_table(analysis: "Analysis") -> "Table":
    """Return the table that `dens report` prints."""
    from rich.table import Table

    run, total, delay = analysis.run, analysis.delivery.total, analysis.delay
    partial = " — partial run" if run.partial else ""
    table = Table("", "", title=f"{run.title or run.name}, seed {run.seed}{partial}", show_header=False)
    table.title_justify = "left"
    roles = ", ".join(f"{count} {role}s" for role, count in run.nodes_by_role.items())
    table.add_row("nodes", f"{roles}; {_time(run.end_s)} simulated")
    table.add_row("pairs of nodes that met", f"{analysis.contacts.pairs_met} of {analysis.contacts.pairs}")
    table.add_row(
        "readings kept at the source",
        f"{_share(analysis.filtering.share_kept)} of {analysis.filtering.judged}",
    )
    table.add_row("notifications", f"{run.notifications}, owed {total.owed} times")
    table.add_row("delivered", f"{total.delivered} ({_share(total.ratio)}); still under way {total.open}")
    table.add_row(
        "delay: median, 90 %, 99 %",
        f"{_time(delay.p50_s)}, {_time(delay.p90_s)}, {_time(delay.p99_s)}",
    )
    per_delivery = analysis.overhead.bytes_per_delivery
    table.add_row("bytes on the air per delivery", "–" if per_delivery is None else f"{per_delivery:.0f}")
    if analysis.delivery.repeated or analysis.delivery.not_owed:
        wrong = f"{analysis.delivery.repeated} shown twice, {analysis.delivery.not_owed} not owed"
        table.add_row("[bold red]wrong deliveries[/]", wrong)
    return table


def _share(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"
