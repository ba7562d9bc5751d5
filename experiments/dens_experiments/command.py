"""`dens experiment`: the figures of the papers, measured here."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from dens_experiments.family import Request
    from dens_experiments.running import Finished
    from dens_experiments.session import Session


def experiment(
    family: Annotated[
        str | None,
        typer.Argument(metavar="[FAMILY]", help="Whose figures, as --list shows.", show_default=False),
    ] = None,
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE…]", help="Names as --list shows them, or all.", show_default=False),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="Show which families and figures there are.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Folder for each figure's picture, table and data.",
            show_default=False,
        ),
    ] = None,
    small: Annotated[
        bool, typer.Option("--small", help="Fewer numbers, seeds and repetitions: all in two minutes.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's sizes, where that takes long (batch).")
    ] = False,
    counts: Annotated[
        str | None,
        typer.Option(metavar="N,N…", help="Numbers of subscriptions, ascending.", show_default=False),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N|A..B", help="Which seeds draw the workload.", show_default=False)
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, metavar="N", help="Take the least time of so many.", show_default=False
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="fuzzy: paper, wide or every_attribute; atopss: distinct, concepts or words; "
            "batch: wide, narrow or clustered.",
            show_default=False,
        ),
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option(metavar="A-B/N", help="Each subscription constrains A to B of N.", show_default=False),
    ] = None,
    condition: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="exact (the papers' XOR) or subset.", show_default=False),
    ] = None,
    similarity: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share that equals another, instead of the paper's.", show_default=False
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the workload (graph: overlap=0.5, stars=2, …); repeatable.",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="microbit|COMMAND",
            help="microbit: the emulated board, fig7b, c, e, f, g. Or, beside CPython, a MicroPython that "
            'runs a script: "node micropython.mjs", fig7a, d, e.',
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", metavar="RUN", help="batch where: read this run.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Seed of a session (atopss workload).", show_default=False),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Seconds of a session, which then does not wait.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce figures of the papers.

    Prints times, counted work and the numbers of the paper. With -o every figure is also written as
    FIGURE.svg, .md, .csv and .json. Ctrl-C keeps finished figures.
    """

    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from dens_experiments.family import UnknownFigure
    from dens_experiments.registry import family_named
    from dens_experiments.running import measured
    from dens_experiments.tables import markdown

    if listing or family is None:
        _show_families(family, as_json)
        return
    try:
        request = replace(
            _asked(counts, seeds, attributes, repetitions, workload, condition, similarity, on, small),
            run=tuple(map(str, run or ())),
            full=full,
            set=_parameters(parameters or []),
        )
        chosen = family_named(family)
        if len(figures or []) == 1 and (make := chosen.sessions.get((figures or [""])[0])) is not None:
            if request.given() or output is not None:
                raise UnknownFigure(f"{figures[0]} takes --seed, --steps and --json alone")  # type: ignore[index]
            _live(make(1 if seed is None else seed), steps, as_json)
            return
        if seed is not None or steps is not None:
            raise UnknownFigure("--seed and --steps belong to a session; figures take --seeds")
        wanted = chosen.chosen(figures or [], request)
    except UnknownFigure as error:
        raise typer.BadParameter(str(error)) from None
    if not wanted:
        raise typer.BadParameter(f"name a figure; there are: {', '.join(chosen.figures)}, all")
    announce_compiling()
    finished: list[Finished] = []
    is_interrupted = False
    try:
        with _telling() as tell:
            for one in measured(wanted, request, tell, output):
                finished.append(one)
                if not as_json:
                    typer.echo(markdown(one.panel) + "\n")
                console.say(f"{one.figure.name}: {one.seconds:.1f} s")
    except UnknownFigure as error:
        raise typer.BadParameter(str(error)) from None
    except KeyboardInterrupt:
        is_interrupted = True
    if as_json:
        documents = {one.figure.name: one.panel.document() for one in finished}
        console.print_document({**documents, "interrupted": is_interrupted})
    if is_interrupted:
        done = ", ".join(one.figure.name for one in finished) or "nothing"
        console.say(f"interrupted; finished: {done}")
        raise typer.Exit(exits.INTERRUPTED)


def _live(session: "Session", steps: int | None, as_json: bool) -> None:
    """Print a session line by line until it ends, and read changes from standard input."""
    import json
    import sys
    import time

    from dens_experiments.session import Changes, lived

    changes = Changes()
    if steps is None:
        changes.listen(sys.stdin)
    elif not sys.stdin.isatty():
        for line in sys.stdin:
            changes.write(line)
    try:
        pause_s = 1 if steps is None else 0
        for told in lived(session, changes, steps, lambda: time.sleep(pause_s)):
            typer.echo(json.dumps(told) if as_json else _in_words(told))
            sys.stdout.flush()
    except KeyboardInterrupt:
        raise typer.Exit(exits.INTERRUPTED) from None


def _in_words(told: dict[str, Any]) -> str:
    """Return a line of a session for people."""
    plain = [f"{name} {value}" for name, value in told.items() if not isinstance(value, dict)]
    models = [
        f"{name}: " + ", ".join(f"{what.replace('_', ' ')} {value}" for what, value in values.items())
        for name, values in told.items()
        if isinstance(values, dict) and name != "parameters"
    ]
    return " · ".join([", ".join(plain), *models])


def _telling() -> Any:
    """Return a context that shows each step on a terminal; elsewhere figures are reported when they are
    done.
    """
    from contextlib import nullcontext

    from dens.cli import console

    if not console.err().is_terminal:
        return nullcontext(lambda step: None)
    return console.steps()


def _show_families(family: str | None, as_json: bool) -> None:
    from dens.cli import console
    from dens_experiments.family import UnknownFigure
    from dens_experiments.registry import FAMILIES, family_named

    try:
        shown = [family_named(name) for name in ([family] if family else FAMILIES)]
    except UnknownFigure as error:
        raise typer.BadParameter(str(error)) from None
    if as_json:
        console.print_document(
            {
                one.name: {"title": one.title, "figures": {name: f.title for name, f in one.figures.items()}}
                for one in shown
            }
        )
        return
    for one in shown:
        typer.echo(f"{one.name}: {one.title}")
        for name, figure in one.figures.items():
            typer.echo(f"  {name:<12}{figure.title}")
        for name in one.sessions:
            typer.echo(f"  {name:<12}a session: a line a second, changed by JSON lines on standard input")
        for name, figures in one.other_names.items():
            typer.echo(f"  {name:<12}another name of {', '.join(figures)}")


def _asked(
    counts: str | None,
    seeds: str | None,
    attributes: str | None,
    repetitions: int | None,
    workload: str | None,
    condition: str | None,
    similarity: float | None,
    on: list[str] | None,
    small: bool,
) -> "Request":
    from dens_experiments.family import Request, UnknownFigure
    from emulation.random.seeds import parse_seeds

    try:
        wanted = None if seeds is None else parse_seeds(seeds, 1000)
    except ValueError as error:
        raise UnknownFigure(str(error)) from None
    return Request(
        counts=None if counts is None else _counts(counts),
        seeds=wanted,
        repetitions=repetitions,
        workload=workload,
        attributes=None if attributes is None else _attributes(attributes),
        condition=condition,
        similarity=similarity,
        on=tuple(on or ()),
        small=small,
    )


def _counts(text: str) -> tuple[int, ...]:
    from dens_experiments.family import UnknownFigure

    if not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", text):
        raise UnknownFigure(f"{text!r} are no numbers of subscriptions; write 40,100,1000")
    found = tuple(map(int, text.split(",")))
    if any(b <= a for a, b in pairwise(found)):
        raise UnknownFigure(f"{text} does not ascend; write each number once, the smallest first")
    return found


def _attributes(text: str) -> tuple[int, int, int]:
    from dens_experiments.family import UnknownFigure

    found = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?/([0-9]{1,3})", text)
    if found is None:
        raise UnknownFigure(f"{text!r} says no attributes; write 3-4/4, or 2/7")
    return int(found[1]), int(found[2] or found[1]), int(found[3])


def _parameters(texts: list[str]) -> tuple[tuple[str, str], ...]:
    from dens_experiments.family import UnknownFigure

    found = [text.partition("=") for text in texts]
    for text, (name, sign, value) in zip(texts, found, strict=True):
        if not (name and sign and value):
            raise UnknownFigure(f"{text!r} sets nothing; write NAME=VALUE")
    return tuple((name.strip(), value.strip()) for name, _, value in found)
