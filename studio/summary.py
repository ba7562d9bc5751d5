"""The few figures of a run that belong on a terminal; the report shows the rest."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from spark_analysis.answers import Analysis


def summary_table(analysis: "Analysis") -> "Table":
    """Return the table that `dens report` prints."""
    from rich.table import Table

    from spark_analysis.wording import bytes_text, share_text, time_text

    run, total, delay = analysis.run, analysis.delivery.total, analysis.delay
    partial = " — partial run" if run.partial else ""
    table = Table("", "", title=f"{run.title or run.name}, seed {run.seed}{partial}", show_header=False)
    table.title_justify = "left"
    roles = ", ".join(f"{n} {role}{'' if n == 1 else 's'}" for role, n in run.nodes_by_role.items())
    table.add_row("nodes", f"{roles}; {time_text(run.end_s)} simulated")
    table.add_row("pairs of nodes that met", f"{analysis.contacts.pairs_met} of {analysis.contacts.pairs}")
    table.add_row(
        "readings kept at the source",
        f"{share_text(analysis.filtering.share_kept)} of {analysis.filtering.judged}",
    )
    table.add_row("notifications", f"{run.notifications}, owed {total.owed} times")
    table.add_row("delivered", f"{total.delivered} ({share_text(total.ratio)}); still under way {total.open}")
    table.add_row(
        "delay: median, 90 %, 99 %",
        f"{time_text(delay.p50_s)}, {time_text(delay.p90_s)}, {time_text(delay.p99_s)}",
    )
    table.add_row("on the air per delivery", bytes_text(analysis.overhead.bytes_per_delivery))
    if analysis.delivery.repeated or analysis.delivery.not_owed:
        wrong = f"{analysis.delivery.repeated} shown twice, {analysis.delivery.not_owed} not owed"
        table.add_row("[bold red]wrong deliveries[/]", wrong)
    return table
