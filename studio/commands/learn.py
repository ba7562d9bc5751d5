"""`dens learn`: terms and transitions from the readings of past runs, computed by Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studio.options import AsJson, SparkMaster

if TYPE_CHECKING:
    from spark_analysis.learning.past_values import Subject
    from spark_analysis.run import Run

app = typer.Typer(no_args_is_help=True, help="Learn from the readings of past runs (--json on each).")

_Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders that `dens run` made.")]
_Event = Annotated[str, typer.Option("--event", metavar="NAME", help="The event class.")]
_Attribute = Annotated[str, typer.Option("--attribute", metavar="NAME", help="Its attribute.")]


@app.command("terms")
def terms(
    runs: _Runs,
    event: _Event,
    attribute: _Attribute,
    names: Annotated[
        str, typer.Option("--terms", metavar="A,B,…", help="What the terms are called, in rising order.")
    ] = "low,normal,high",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the vocabulary with these terms here.", show_default=False
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the terms over the values, as SVG.", show_default=False)
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Propose terms of an attribute from what was measured: split at the largest gaps, shaped by density."""
    from documents.atomic_write import write_whole
    from spark_analysis.learning.past_values import counts_of, past_values
    from spark_analysis.learning.terms import holes, learn_terms
    from spark_analysis.learning.vocabulary import term_lines, with_terms
    from studio import console

    called = [name.strip() for name in names.split(",") if name.strip()]
    _refuse_names(called)
    with _opened(runs, event, attribute, master) as (opened, subject):
        counts = counts_of(past_values(opened, subject))
    learnt = learn_terms(counts, subject.attribute, called)
    written = {term.name: term.written for term in learnt}
    silent = holes(learnt, subject.attribute)
    for low, high in silent:
        where = f"{low:g} to {high:g} {subject.attribute.unit}".rstrip()
        console.say(
            f"warning: no term says anything of {attribute} from {where}; widen one, or ask for others"
        )
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


@app.command("transitions")
def transitions(
    runs: _Runs,
    event: _Event,
    attribute: _Attribute,
    names: Annotated[
        str | None,
        typer.Option("--terms", metavar="A,B,…", help="Which terms are states; all by default."),
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Count which state of an attribute follows which in the readings of each node."""
    from spark_analysis.learning.past_values import past_values
    from spark_analysis.learning.transitions import collect, states_of
    from spark_analysis.learning.transitions import transitions as counted
    from studio import console

    with _opened(runs, event, attribute, master) as (opened, subject):
        chosen = [name.strip() for name in (names or "").split(",") if name.strip()]
        states, of_byte = states_of(subject.attribute, chosen)
        matrix = collect(past_values(opened, subject).transform(counted(of_byte)), states)
    if as_json:
        console.print_document({"event": event, "attribute": attribute, **matrix.as_document()})
        return
    from rich.table import Table

    shown = Table("present", *states, "transitions", title=f"what follows in {event}.{attribute}")
    for state, shares, counts in zip(states, matrix.probabilities(), matrix.counts, strict=True):
        cells = ("–" if share is None else f"{100 * share:.1f} %" for share in shares)
        shown.add_row(state, *cells, f"{sum(counts):,}")
    console.out().print(shown)


def _refuse_names(names: list[str]) -> None:
    from documents.refusal import Refusal

    if not names or len(set(names)) != len(names) or not all(name.isidentifier() for name in names):
        raise Refusal("--terms needs different names of letters, digits and underscores, with commas between")


@contextmanager
def _opened(
    runs: list[Path], event: str, attribute: str, master: str | None
) -> Iterator[tuple[list["Run"], "Subject"]]:
    """Open the runs with a session of Spark that ends afterwards, and find what is learnt about."""
    from spark_analysis.learning.past_values import subject_of
    from spark_analysis.run import open_run
    from spark_analysis.session.session import close_session, open_session
    from studio import console
    from traces.manifest import read_manifest

    for run in runs:
        read_manifest(run)  # a folder that is no run is told before Spark is started
    with console.steps("starting Spark …") as step:
        spark = open_session(master)
        try:
            opened = [open_run(run, spark) for run in runs]
            step("learning …")
            yield opened, subject_of(opened, event, attribute)
        finally:
            close_session(spark)
