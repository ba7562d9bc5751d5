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
        str, typer.Argument(metavar="HEX", help="A vector in hexadecimal; - reads it from stdin.")
    ],
    kind: Annotated[Kind | None, typer.Option(help="Insist on a subscription or a notification.")] = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Explain a subscription or notification vector, byte by byte."""
    import sys

    from plugins.fuzzy.describe import describe_vector

    from studio import console
    from studio.failures import Refusal
    from studio.tables import chosen_table

    text = sys.stdin.read() if vector == "-" else vector
    try:
        raw = bytes.fromhex(text)
    except ValueError as error:
        raise Refusal(f"{text.strip()!r} is not hexadecimal ({error}); give pairs of 0-9 and a-f") from error
    description = describe_vector(raw, chosen_table(vocabulary), kind.value if kind else None)
    if as_json:
        console.print_document(description.as_document())
    else:
        for line in description.lines():
            console.out().print(line, markup=False)
