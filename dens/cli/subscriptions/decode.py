"""`dens decode`: describes vectors in words."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies

if TYPE_CHECKING:
    from plugins.authoring import VectorKind


class Kind(StrEnum):
    """Kinds of vectors, for bytes that could be either."""

    SV = "sv"
    NV = "nv"


def decode(
    vector: Annotated[
        str,
        typer.Argument(metavar="HEX|FILE", help="A vector in hex, a file of its bytes, or - for stdin."),
    ],
    kind: Annotated[
        Kind | None, typer.Option(help="Require a subscription (sv) or a notification (nv).")
    ] = None,
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    as_sparql: Annotated[
        bool, typer.Option("--sparql", metavar="", help="Print a graph subscription as a SPARQL query.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Describe a subscription or notification vector byte by byte."""
    from dens.app.subscriptions.decode import decode as describe
    from dens.app.subscriptions.decode import to_sparql
    from dens.app.subscriptions.vectors import given_vector
    from dens.cli import console

    raw = given_vector(vector)
    if as_sparql:
        query = to_sparql(raw, vocabulary, language)
        if as_json:
            console.print_document({"vector": raw.hex(), "sparql": query})
        else:
            typer.echo(query)
        return
    wanted: VectorKind | None = "sv" if kind is Kind.SV else "nv" if kind is Kind.NV else None
    description, has_names = describe(raw, vocabulary, kind=wanted, language=language)
    if not has_names:
        console.say("the shipped vocabularies do not fit this vector; name the right one with --vocabulary")
    if as_json:
        console.print_document(description.as_document())
    else:
        for line in description.lines():
            console.out().print(line, markup=False)
