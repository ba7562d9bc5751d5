"""`dens run`: one scenario, from its file to its trace."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studio import exits
from studio.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulation.run import Progress


def _scenarios(incomplete: str) -> list[str]:
    from emulation.scenario import shipped_scenarios

    return [name for name in shipped_scenarios() if name.startswith(incomplete)]


def run(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A scenario that ships (rescue), or a TOML file.",
            autocompletion=_scenarios,
        ),
    ],
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, help="Another seed than the scenario's.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; runs/NAME-SEED by default.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace an earlier run there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario on the real code and write its trace.

    The same file and seed give the same trace, byte for byte. Ctrl-C leaves a valid partial run.
    """
    from emulation.run import run_scenario
    from emulation.scenario import load_scenario
    from studio import console

    loaded = load_scenario(scenario)
    chosen_seed = loaded.seed if seed is None else seed
    folder = out or Path("runs") / f"{loaded.name}-{chosen_seed}"
    with _progress(loaded.name) as progress:
        summary = run_scenario(loaded, chosen_seed, folder, progress=progress, force=force)
    if as_json:
        console.print_document({**summary.as_document(), "run": str(folder)})
    else:
        typer.echo(f"run: {folder}")
        for line in summary.lines():
            typer.echo(f"  {line}")
    raise typer.Exit(exits.INTERRUPTED if summary.status == "partial" else exits.FINE)


def _progress(name: str) -> Any:
    """Return a context that gives the emulator something to tell its progress to."""
    from contextlib import contextmanager

    from studio import console

    @contextmanager
    def silent() -> "Iterator[None]":
        yield None

    @contextmanager
    def live() -> "Iterator[Callable[[Progress], None]]":
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counts]}"),
        )
        with Bar(*columns, console=console.err(), transient=True) as bar:
            task = bar.add_task(f"running {name}", total=1.0, counts="")

            def show(step: "Progress") -> None:
                bar.update(task, completed=step.simulated_s / step.duration_s, counts=step.line())

            yield show

    return live() if console.err().is_terminal else silent()
