"""`dens decompile`: from the bytes on the air back to XML."""

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
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the XML here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a vector as XML that compiles to the same vector again."""
    from dens.app.files import write_whole
    from dens.app.languages import chosen_language
    from dens.app.tables import chosen_table
    from dens.app.vectors import given_vector
    from dens.cli import console
    from plugins.registry import authoring_of, offered

    chosen = chosen_language(language)
    to_xml = offered(authoring_of(chosen).decompile, chosen, "way back from bytes to a document")
    raw = given_vector(vector)
    document = to_xml(raw, chosen_table(vocabulary))
    if output is not None:
        write_whole(output, document.encode())
    if as_json:
        console.print_document({"vector": raw.hex(), "xml": document})
    elif output is None:
        typer.echo(document, nl=not document.endswith("\n"))
