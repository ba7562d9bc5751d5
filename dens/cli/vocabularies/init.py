"""`dens init`: a folder to start from, in which everything runs."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    as_json: AsJson = False,
) -> None:
    """Make a sample scenario, two subscriptions, a vocabulary and a recording, all of which run."""
    from importlib.resources import as_file, files

    from dens.app.files import write_whole
    from dens.cli import console
    from dens.config.refusal import Refusal

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refusal(f"{folder} exists already and is not an empty folder; name another one")
    made: list[str] = []
    with as_file(files("dens.app") / "sample") as sample:
        for source in sorted(path for path in sample.rglob("*") if path.is_file()):
            target = folder / source.relative_to(sample)
            write_whole(target, source.read_bytes())
            made.append(str(target))
    scenario = folder / "scenario.toml"
    if as_json:
        console.print_document({"folder": str(folder), "files": made, "scenario": str(scenario)})
    else:
        for name in made:
            typer.echo(name)
        console.say(f"\nnow: dens run {scenario} --out {folder / 'run'}\n     dens report {folder / 'run'}")
