"""`dens live`: follows a run with Spark Structured Streaming."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from spark_analysis.live.follow import OnFigures
    from spark_analysis.live.state import LiveFigures


def live(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder that `dens run` or a node is writing.")],
    window: Annotated[
        float, typer.Option(min=1, metavar="MINUTES", help="Length of the recent window, in simulated time.")
    ] = 30,
    every: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Polling interval.")] = 1,
    once: Annotated[
        bool, typer.Option("--once", metavar="", help="Process what is there now, and exit.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", metavar="", help="Wait for a run that has not started, or whose writer is gone."
        ),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Spark master: local[2], spark://host:7077; all cores of this machine by default.",
            envvar="DENS_SPARK_MASTER",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show delivery, delay and drops of a run while it is running.

    Exits when the run ends. If the writer was killed, exits with 1 after ten seconds. The state is in
    RUN/live: after an interruption the same command continues where it stopped.
    """
    from math import inf

    from dens.cli import console
    from dens.config import exit_codes as exits
    from dens.trace.folder_lock import is_being_written
    from dens.trace.manifest import read_manifest
    from dens.trace.run_documents import NotARun
    from spark_analysis.live.follow import GONE_AFTER_S, follow, wait_for_run
    from spark_analysis.session.session import spark_session

    if wait:
        wait_for_run(run, console.say)
    try:
        read_manifest(run)  # before Spark starts
    except NotARun as error:
        if (run / "manifest.json").exists():
            raise
        raise NotARun(f"{error}; --wait waits for a run that has not started") from None
    console.say("starting Spark …")
    with spark_session(master) as spark, _screen() as tell:
        figures = follow(
            run,
            spark,
            tell,
            window_ms=round(60_000 * window),
            every_s=every,
            once=once,
            patience_s=inf if wait else GONE_AFTER_S,
        )
    status = read_manifest(run).status
    writer_gone = status == "running" and not once
    if as_json:
        document = {**figures.as_document(), "status": status, "writer_gone": writer_gone, "run": str(run)}
        console.print_document(document)
    else:
        state = "writer gone" if writer_gone else status
        if once and status == "running" and not is_being_written(run):
            state = "not being written"
        console.out().print(figures_table(figures, state))
    if writer_gone:
        console.say(
            f"{run} was not written for {GONE_AFTER_S:g} s: its writer was killed. `dens report` treats it "
            "as a partial run; --wait keeps waiting"
        )
        raise typer.Exit(exits.FINDING)


def _screen() -> Any:
    """Return a context manager that yields the callback for figures."""
    from contextlib import contextmanager

    from dens.cli import console

    @contextmanager
    def table() -> "Iterator[OnFigures]":
        from rich.live import Live

        with Live(console=console.err(), transient=True) as shown:
            yield lambda figures, manifest: shown.update(
                figures_table(figures, manifest.status), refresh=True
            )

    @contextmanager
    def lines() -> "Iterator[OnFigures]":
        yield lambda figures, manifest: console.say(figures_line(figures, manifest.status))

    return table() if console.err().is_terminal else lines()


def figures_line(figures: "LiveFigures", state: str) -> str:
    """Return the figures as one line."""
    from spark_analysis.number_format import delivery_text, time_text

    whole, recent = figures.whole, figures.recent
    copies = sum(n for reason, n in figures.given_up_recently.items() if not reason.startswith("lost"))
    return (
        f"{_moment(figures)}, {state}: {delivery_text(whole, whole.estimate)}; recently "
        f"{delivery_text(recent, recent.estimate)}, median delay "
        f"{time_text(recent.metrics['median_delay_s'])}; "
        f"copies dropped recently: {copies:,}"
    )


def figures_table(figures: "LiveFigures", state: str) -> "Table":
    """Return the figures as a table."""
    from rich.table import Table

    from spark_analysis.catalogue.evidence import FOLLOWED
    from spark_analysis.catalogue.registry import metrics_from

    minutes = figures.window_ms / 60_000
    shown = Table("", "so far", f"last {minutes:g} min", title=f"{_moment(figures)}, {state}")
    whole, recent = figures.whole, figures.recent
    shown.add_row("expected deliveries", f"{whole.expected:,}", f"{recent.expected:,}")
    shown.add_row("delivered", f"{whole.delivered:,}", f"{recent.delivered:,}")
    shown.add_row("pending", f"{whole.open:,}", f"{recent.open:,}")
    for metric in metrics_from(FOLLOWED):
        texts = (metric.unit.text(part.metrics[metric.name]) for part in (whole, recent))
        shown.add_row(metric.meaning, *texts)
    shown.add_section()
    for reason, messages in figures.given_up.items():
        shown.add_row(_named(reason), f"{messages:,}", f"{figures.given_up_recently.get(reason, 0):,}")
    if figures.given_up:
        shown.caption = (
            "Counted per copy, for messages of all types: a delivered notification still expires at every "
            "node that carries it. Lost frames are retransmitted."
        )
        shown.caption_justify = "left"
    return shown


def _moment(figures: "LiveFigures") -> str:
    """Return the time of the figures, and how far they lag behind the writer."""
    if figures.is_behind:
        return f"processed {figures.at_ms / 1000:,.0f} of {figures.written_ms / 1000:,.0f} s"
    return f"{figures.at_ms / 1000:,.0f} s"


def _named(reason: str) -> str:
    """Return the row title of a reason: frames are lost, everything else happens to copies."""
    what = "frames" if reason.startswith("lost") else "copies"
    return f"{what}: {reason.replace(': ', ', ')}"
