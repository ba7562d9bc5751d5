"""`dens schema`: prints the JSON Schema of a file format, for editors."""

from enum import StrEnum
from typing import Annotated

import typer

from dens.cli.options import AsJson


class Format(StrEnum):
    """File formats that have a JSON Schema."""

    SCENARIO = "scenario"


def schema(
    format_: Annotated[Format, typer.Argument(metavar="FORMAT", help="File format: scenario.")],
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of a file format, for editors."""
    from dens.cli import console
    from emulation.scenario import scenario_schema

    console.print_document(scenario_schema())
