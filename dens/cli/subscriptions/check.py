"""`dens check`: reports every problem of files before anything is run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dens.cli.options import AsJson, OfBytes, OtherThesaurus, Vocabularies
from dens.config import exit_codes as exits


def check(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Subscriptions, scenarios, vocabularies, vectors, or folders."),
    ],
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    language: OfBytes = None,
    board: Annotated[
        str | None,
        typer.Option(
            metavar="microbit|pico|esp32", help="Check also the limits of this board.", show_default=False
        ),
    ] = None,
    rdf_kind: Annotated[
        Literal["thesaurus", "taxonomy", "publication"] | None,
        typer.Option("--as", help="Kind of the RDF files; detected by default.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check files and print all problems as file:line:column.

    Exits with 1 if a file has an error.

    Subscriptions are checked with the vocabularies and thesauri of the scenarios and node files that name
    them or are in the same folder. Without such a file, the shipped vocabularies and those among the files
    are used.

    An RDF file with skos:prefLabel is a thesaurus, one with rdfs:subClassOf a taxonomy, any other a
    publication.
    """
    from dens.app.subscriptions.check import check as check_files
    from dens.cli import console

    result = check_files(
        files, vocabulary, thesauri=thesaurus, language=language, rdf_kind=rdf_kind, board=board
    )
    if as_json:
        from dens.cli.failures import problem_document

        console.print_document(
            {
                "files": [str(path) for path in result.files],
                "failed": list(result.failed),
                "problems": [problem_document(problem) for problem in result.problems],
            }
        )
    else:
        for problem in result.problems:
            typer.echo(str(problem))
        console.say(f"{len(result.files)} checked, {len(result.failed)} with errors")
    raise typer.Exit(exits.FINE if result.ok else exits.FINDING)
