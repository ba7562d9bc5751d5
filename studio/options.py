"""Options that several commands share, so that they read and behave alike."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]

Vocabularies = Annotated[
    list[str] | None,
    typer.Option(
        "--vocabulary",
        help="Vocabulary by name (medical, weather) or file; repeat it for a mission table of several.",
        metavar="NAME|FILE",
        show_default=False,
    ),
]
