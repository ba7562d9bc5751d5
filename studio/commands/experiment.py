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
        typer.Option("-o", "--output", help="Folder for a picture of each figure.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure figures of the papers and print them as tables, with what the paper says beside."""
    from dataclasses import asdict

    from studio import console
    from studio.experiments.fig7 import PANELS
    from studio.waiting import announce_compiling

    announce_compiling()
    if family != "fuzzy":
        raise typer.BadParameter(f"family {family!r} is unknown; there is: fuzzy")
    unknown = [name for name in figures if name != "all" and name not in PANELS]
    if unknown:
        raise typer.BadParameter(f"figure {unknown[0]!r} is unknown; there are: {', '.join(PANELS)}, all")
    wanted = list(PANELS) if "all" in figures else figures
    documents = {}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        with console.err().status(f"measuring {name} …"):
            panel = PANELS[name]()
        if output is not None:
            panel.draw(output / f"{name}.svg")
        if as_json:
            documents[name] = {**asdict(panel), "lines": dict(panel.lines)}
        else:
            typer.echo(panel.markdown() + "\n")
    if as_json:
        console.print_document(documents)
