"""`dens init`: creates a sample project."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    as_json: AsJson = False,
) -> None:
    """Create a sample project that runs.

    It has a scenario, two subscriptions, a vocabulary and a recording.
    """
    from dens.app.sample_project import write_sample
    from dens.cli import console

    written = [str(path) for path in write_sample(folder)]
    scenario = folder / "scenario.toml"
    if as_json:
        console.print_document({"folder": str(folder), "files": written, "scenario": str(scenario)})
        return
    for name in written:
        typer.echo(name)
    console.say(f"\nnext: dens run {scenario} --out {folder / 'run'}\n      dens report {folder / 'run'}")
