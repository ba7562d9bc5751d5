"""`dens decode`: what the bytes on the air say, in words."""

from enum import StrEnum
from typing import Annotated

import typer

from studio.options import AsJson, Vocabularies


class Kind(StrEnum):
    """Which kind of vector to expect, where the length alone does not settle it."""

    SV = "sv"
    NV = "nv"


def decode(
    vector: Annotated[
        str,
        typer.Argument(
            metavar="HEX|FILE",
            help="A vector in hex, - for stdin, or a file of its bytes.",
        ),
    ],
    kind: Annotated[Kind | None, typer.Option(help="Insist on a subscription or a notification.")] = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Explain a subscription or notification vector, byte by byte."""
    from plugins.fuzzy.authoring.describe import describe_vector
    from studio import console
    from studio.tables import chosen_table
    from studio.vectors import given_vector
    from watchdog.vector import VectorError

    raw, wanted = given_vector(vector), kind.value if kind else None
    try:
        description = describe_vector(raw, chosen_table(vocabulary), wanted)
    except VectorError:
        if vocabulary:
            raise
        description = describe_vector(raw, None, wanted)
        console.say("not of the vocabularies that ship; name the right one with --vocabulary to see names")
    if as_json:
        console.print_document(description.as_document())
    else:
        for line in description.lines():
            console.out().print(line, markup=False)
