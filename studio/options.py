"""Options that several commands share, so that they read and behave alike."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]

Language = Annotated[
    str | None,
    typer.Option(metavar="TAG", help="Language of the words: en, no, bg; any if absent.", show_default=False),
]

ThesaurusName = Annotated[
    str,
    typer.Option("--thesaurus", metavar="NAME|FILE", help="A thesaurus that ships, or a file of one."),
]

Vocabularies = Annotated[
    list[str] | None,
    typer.Option(
        "--vocabulary",
        help="Vocabulary by name (medical, weather) or file; repeat it for a mission table of several.",
        metavar="NAME|FILE",
        show_default=False,
    ),
]
