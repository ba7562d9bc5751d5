"""`dens schema`: the JSON Schema of a file format, for editors that complete and check."""

from enum import StrEnum
from typing import Annotated

import typer

from dens.cli.options import AsJson


class Format(StrEnum):
    """The file formats that have a JSON Schema."""

    SCENARIO = "scenario"


def schema(
    format_: Annotated[Format, typer.Argument(metavar="FORMAT", help="scenario")],
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of a file format (it is JSON with and without --json)."""
    from dens.cli import console
    from emulation.scenario import scenario_schema

    console.print_document(scenario_schema())
