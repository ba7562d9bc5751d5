"""`dens experiment`: reproduces the figures of the papers (distribution dens-experiments).

DENS never imports that distribution. Its command is found through the entry-point group
`dens.experiments`.
"""

from importlib.metadata import entry_points
from typing import Any, Final

import typer

ENTRY_POINT_GROUP: Final = "dens.experiments"


def installed() -> Any:
    """Return the command of the installed distribution, or None."""
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        app = typer.Typer(add_completion=False)
        app.command("experiment")(entry.load())
        return typer.main.get_command(app)
    return None


def experiment() -> None:
    """Reproduce the figures of the papers (needs the package dens-experiments)."""
    from dens.config.refusal import Refusal

    raise Refusal(
        "dens experiment needs the distribution dens-experiments: from a checkout of DENS, "
        'run "pip install ./experiments"'
    )
