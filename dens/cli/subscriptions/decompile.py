"""`dens decompile`: writes a vector as XML."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies


def decompile(
    vector: Annotated[
        str,
        typer.Argument(metavar="HEX|FILE", help="A subscription vector in hex, or a file of its bytes."),
    ],
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File for the XML.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a vector as XML that compiles to the same vector."""
    from dens.app.subscriptions.decode import decompile as to_xml
    from dens.app.subscriptions.vectors import given_vector
    from dens.cli import console
    from dens.config.atomic_write import write_whole

    raw = given_vector(vector)
    document = to_xml(raw, vocabulary, language)
    if output is not None:
        write_whole(output, document.encode())
    if as_json:
        console.print_document({"vector": raw.hex(), "xml": document})
    elif output is None:
        typer.echo(document, nl=not document.endswith("\n"))
