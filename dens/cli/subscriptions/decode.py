"""`dens decode`: what the bytes on the air say, in words."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies

if TYPE_CHECKING:
    from plugins.authoring import VectorKind


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
    language: OfBytes = None,
    as_sparql: Annotated[
        bool, typer.Option("--sparql", metavar="", help="Write a pattern of graphs as a SPARQL query.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Explain a subscription or notification vector, byte by byte."""
    from dens.app.languages import chosen_language
    from dens.app.tables import chosen_table
    from dens.app.vectors import given_vector
    from dens.cli import console
    from plugins.registry import authoring_of, offered
    from watchdog.vector import VectorError

    raw = given_vector(vector)
    wanted: VectorKind | None = "sv" if kind is Kind.SV else "nv" if kind is Kind.NV else None
    chosen = chosen_language(language)
    authoring = authoring_of(chosen)
    if as_sparql:
        query = offered(authoring.query, chosen, "queries")(raw, chosen_table(vocabulary))
        if as_json:
            console.print_document({"vector": raw.hex(), "sparql": query})
        else:
            typer.echo(query)
        return
    describe = authoring.describe
    try:
        description = describe(raw, chosen_table(vocabulary), wanted)
    except VectorError:
        if vocabulary:
            raise
        description = describe(raw, None, wanted)
        console.say("not of the vocabularies that ship; name the right one with --vocabulary to see names")
    if as_json:
        console.print_document(description.as_document())
    else:
        for line in description.lines():
            console.out().print(line, markup=False)
