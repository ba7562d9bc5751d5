"""`dens learn`: learns terms, transitions and prediction models from runs (with Spark) and files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, SparkMaster, Vocabularies

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pyspark.sql import SparkSession

    from spark_analysis.learning.past_values import Subject
    from spark_analysis.run import Run

app = typer.Typer(no_args_is_help=True, help="Learn terms, transitions and models from runs and files.")

_Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")]
_Event = Annotated[str, typer.Option("--event", metavar="NAME", help="Event class.")]
_Attribute = Annotated[str, typer.Option("--attribute", metavar="NAME", help="Attribute.")]


@app.command("terms")
def terms(
    event: _Event,
    attribute: _Attribute,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN…]", help="Folders of runs.", show_default=False),
    ] = None,
    names: Annotated[
        str, typer.Option("--terms", metavar="A,B,…", help="Names of the terms, in rising order.")
    ] = "low,normal,high",
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Learn from a column of a CSV file, in the unit of the vocabulary.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --csv: column.", show_default=False)
    ] = None,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="With --csv: vocabulary of the attribute.", show_default=False
        ),
    ] = None,
    source: Annotated[
        str,
        typer.Option("--from", metavar="readings|subscriptions|both", help="Source of the values in a run."),
    ] = "readings",
    form: Annotated[
        str,
        typer.Option(metavar="fitted|lr", help="Shape of the terms: fitted, or lr (two different slopes)."),
    ] = "fitted",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File for the vocabulary with these terms.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="File for a plot of terms and values, as SVG.", show_default=False)
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Propose terms of an attribute from recorded values.

    Values are split at the largest gaps; curves follow the density. An uncertain value, and the range of a
    subscription, counts as the middle of its core.
    """
    from dens.cli import console
    from dens.config.atomic_write import write_whole
    from spark_analysis.learning.terms import holes, learn_terms
    from spark_analysis.learning.vocabulary import term_lines, with_terms

    called = [name.strip() for name in names.split(",") if name.strip()]
    _refuse_names(called)
    _refuse_sources(runs, csv, column, vocabulary, source)
    if form not in ("fitted", "lr"):
        raise typer.BadParameter(f"{form!r}: use fitted or lr", param_hint="--form")
    if csv is None:
        with _opened(runs or [], event, attribute, master) as (opened, subject):
            counts = _counted(opened, subject, source)
    else:
        subject, counts = _of_column(csv, column or "", vocabulary or "", event, attribute)
    learnt = learn_terms(counts, subject.attribute, called, "lr" if form == "lr" else "fitted")
    written = {term.name: term.written for term in learnt}
    silent = holes(learnt, subject.attribute)
    for low, high in silent:
        where = f"{low:g} to {high:g} {subject.attribute.unit}".rstrip()
        console.say(f"warning: no term covers {attribute} from {where}; widen one, or choose other terms")
    text = with_terms(subject.text, subject.vocabulary, event, attribute, written)
    if output is not None:
        write_whole(output, text.encode())
    if plot is not None:
        from spark_analysis.learning.figure import terms_svg

        write_whole(plot, terms_svg(counts, subject.attribute, learnt).encode())
    if as_json:
        found = [
            {"name": term.name, **term.written, "values": term.values, "deviation": round(term.deviation, 4)}
            for term in learnt
        ]
        document: dict[str, Any] = {"event": event, "attribute": attribute, "values": int(counts.sum())}
        document |= {"terms": found, "holes": silent, "vocabulary": str(output) if output else None}
        console.print_document(document)
        return
    typer.echo(f"# {int(counts.sum()):,} values of {event}.{attribute}")
    for term, line in zip(learnt, term_lines(written), strict=True):
        typer.echo(f"{line}  # {term.values:,} values, within {term.deviation:.2f} of their density")
    for path in (output, plot):
        if path is not None:
            console.say(f"written: {path}")


def _counted(runs: list["Run"], subject: "Subject", source: str) -> "npt.NDArray[np.int64]":
    """Count the values of an attribute in runs."""
    from spark_analysis.learning.past_values import counts_of, past_values, subscription_counts

    if source == "subscriptions":
        return subscription_counts(runs, subject)
    read = counts_of(past_values(runs, subject))
    return read if source == "readings" else read + subscription_counts(runs, subject)


def _of_column(
    csv: Path, column: str, vocabulary: str, event: str, attribute: str
) -> tuple["Subject", "npt.NDArray[np.int64]"]:
    """Count the values of a column."""
    from dens.app.subscriptions.csv_column import counted_column
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary.vocabulary import vocabulary_text
    from spark_analysis.learning.past_values import Subject

    of_event = load_mission_table([vocabulary]).event(event)
    here = of_event.attribute(attribute)
    return Subject(of_event, here, vocabulary, vocabulary_text(vocabulary)), counted_column(csv, column, here)


def _refuse_sources(
    runs: list[Path] | None, csv: Path | None, column: str | None, vocabulary: str | None, source: str
) -> None:
    """Reject options that name no source of values, or two."""
    if (csv is None) == (not runs):
        raise typer.BadParameter("give runs, or --csv FILE --column NAME --vocabulary NAME|FILE")
    if csv is not None and (column is None or vocabulary is None):
        raise typer.BadParameter("--csv needs --column NAME and --vocabulary NAME|FILE")
    if csv is None and (column is not None or vocabulary is not None):
        raise typer.BadParameter("--column and --vocabulary are for --csv; runs have their vocabulary")
    if source not in ("readings", "subscriptions", "both"):
        raise typer.BadParameter(f"{source!r}: use readings, subscriptions or both", param_hint="--from")
    if csv is not None and source != "readings":
        raise typer.BadParameter("a CSV file has no subscriptions", param_hint="--from")


@app.command("transitions")
def transitions(
    runs: _Runs,
    event: _Event,
    attribute: _Attribute,
    names: Annotated[
        str | None,
        typer.Option("--terms", metavar="A,B,…", help="Terms that are states; all by default."),
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Count the transitions between states of an attribute."""
    from dens.cli import console
    from spark_analysis.learning.past_values import past_values
    from spark_analysis.learning.transitions import collect, states_of
    from spark_analysis.learning.transitions import transitions as counted

    with _opened(runs, event, attribute, master) as (opened, subject):
        chosen = [name.strip() for name in (names or "").split(",") if name.strip()]
        states, of_byte = states_of(subject.attribute, chosen)
        matrix = collect(past_values(opened, subject).transform(counted(of_byte)), states)
    if as_json:
        console.print_document({"event": event, "attribute": attribute, **matrix.as_document()})
        return
    from rich.table import Table

    shown = Table("present", *states, "transitions", title=f"transitions of {event}.{attribute}")
    for state, shares, counts in zip(states, matrix.probabilities(), matrix.counts, strict=True):
        cells = ("–" if share is None else f"{100 * share:.1f} %" for share in shares)
        shown.add_row(state, *cells, f"{sum(counts):,}")
    console.out().print(shown)


@app.command("composite")
def composite(
    document: Annotated[
        Path, typer.Argument(metavar="PATTERN.xml", help="Subscription with a <predict> element.")
    ],
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RUN|CSV…", help="Folders of runs, or CSV files of readings."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.model", help="File for the model.")],
    vocabulary: Vocabularies = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Learn the prediction model of a composite subscription.

    Counts how often each state of the pattern was followed by a match in time.
    """
    from dens.app.subscriptions.reading_tables import read_readings
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.config.atomic_write import write_whole
    from dens.config.reading import read_document
    from dens.trace.manifest import read_manifest
    from plugins.registry import authoring_of, language_of_document, offered
    from spark_analysis.learning.streams import learnt_counts, readings_of_runs, readings_of_tables
    from spark_analysis.run import open_run

    table = chosen_table(vocabulary)
    source = read_document(document)
    language = language_of_document(source, str(document))
    make = offered(authoring_of(language).learner, language, "predictions")
    learner = make(source, str(document), table, None)
    folders = [path for path in sources if path.is_dir()]
    for run in folders:
        read_manifest(run)  # before Spark starts
    events = [event for event in table.events if event.index in learner.events]
    read = {path: read_readings(path, table, events) for path in sources if not path.is_dir()}
    for warning in (warning for found in read.values() for warning in found.warnings):
        console.say(str(warning), style="yellow")
    tables = {str(path): found.readings for path, found in read.items()}
    with _spark(master) as (step, spark):
        frames = readings_of_runs([open_run(run, spark) for run in folders], table.check)
        frames += readings_of_tables(spark, tables, table.feature_bytes)
        step("learning …")
        counts = learnt_counts(frames, learner)
    write_whole(output, learner.written(counts))
    summary = dict(learner.summary(counts))
    if as_json:
        console.print_document({**summary, "model": str(output)})
        return
    horizon = summary.pop("horizon")
    for name, figure in {**horizon, **summary}.items():
        typer.echo(f"{name.replace('_', ' '):<24}{figure:>12,}")
    console.say(f"written: {output}")


def _refuse_names(names: list[str]) -> None:
    from dens.config.refusal import Refusal

    if not names or len(set(names)) != len(names) or not all(name.isidentifier() for name in names):
        raise Refusal("--terms needs distinct names of letters, digits and underscores, separated by commas")


@contextmanager
def _spark(master: str | None) -> "Iterator[tuple[Callable[[str], None], SparkSession]]":
    from dens.cli import console
    from spark_analysis.session.session import spark_session

    with console.steps() as step:
        step("starting Spark …")
        with spark_session(master) as spark:
            yield step, spark


@contextmanager
def _opened(
    runs: list[Path], event: str, attribute: str, master: str | None
) -> Iterator[tuple[list["Run"], "Subject"]]:
    """Open the runs in a Spark session, and find the attribute."""
    from dens.trace.manifest import read_manifest
    from spark_analysis.learning.past_values import subject_of
    from spark_analysis.run import open_run

    for run in runs:
        read_manifest(run)  # before Spark starts
    with _spark(master) as (step, spark):
        opened = [open_run(run, spark) for run in runs]
        step("learning …")
        yield opened, subject_of(opened, event, attribute)
