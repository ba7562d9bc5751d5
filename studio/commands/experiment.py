"""`dens experiment`: the figures of the papers, measured here."""

from pathlib import Path
from typing import Annotated

import typer

from studio.options import AsJson


def experiment(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="fuzzy")],
    figures: Annotated[list[str], typer.Argument(metavar="FIGURE…", help="fig7a … fig7i, or all.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for a picture and a table of each figure.", show_default=False
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="microbit|COMMAND",
            help="microbit: the emulated board, fig7b, c, f, g. Or, beside CPython, a MicroPython that runs "
            'a script: "node micropython.mjs", fig7a, d, e.',
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure figures of the papers and print them as tables, with what the paper says beside.

    With -o every figure is also written as FIGURE.svg and FIGURE.md.
    """
    from collections.abc import Callable
    from dataclasses import asdict
    from functools import partial

    from studio import console
    from studio.experiments.fig7 import PANELS, Panel
    from studio.experiments.on_board import BOARD_PANELS
    from studio.experiments.on_microbit import MICROBIT, MICROBIT_PANELS
    from studio.files import write_whole
    from studio.waiting import announce_compiling

    announce_compiling()
    if family != "fuzzy":
        raise typer.BadParameter(f"family {family!r} is unknown; there is: fuzzy")
    measures: dict[str, Callable[[], Panel]] = dict(PANELS)
    if on is not None:
        measures = {name: partial(measure, on) for name, measure in BOARD_PANELS.items()}
    if on == MICROBIT:
        measures = dict(MICROBIT_PANELS)
    unknown = [name for name in figures if name != "all" and name not in measures]
    if unknown:
        there_are = ", ".join(measures)
        raise typer.BadParameter(f"figure {unknown[0]!r} is unknown here; there are: {there_are}, all")
    wanted = list(measures) if "all" in figures else figures
    documents = {}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        with console.err().status(f"measuring {name} …"):
            panel = measures[name]()
        if output is not None:
            stem = name if on is None else f"{name}_on_board"
            panel.draw(output / f"{stem}.svg")
            write_whole(output / f"{stem}.md", (panel.markdown() + "\n").encode())
        if as_json:
            documents[name] = {**asdict(panel), "lines": dict(panel.lines)}
        else:
            typer.echo(panel.markdown() + "\n")
    if as_json:
        console.print_document(documents)
