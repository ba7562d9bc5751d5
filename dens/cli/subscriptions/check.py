"""`dens check`: every error of every file, before anything is run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, OfBytes, OtherThesaurus, Vocabularies
from dens.config import exit_codes as exits


class RdfChoice(StrEnum):
    """What a file of RDF can be."""

    THESAURUS = "thesaurus"
    TAXONOMY = "taxonomy"
    PUBLICATION = "publication"


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
            metavar="microbit|pico|esp32", help="Tell what such a board cannot take.", show_default=False
        ),
    ] = None,
    rdf_kind: Annotated[
        RdfChoice | None,
        typer.Option("--as", help="What files of RDF are, if not what they look like.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check files and print all problems as file:line:column. Ends 1 when any file has an error.

    Subscriptions are checked with the vocabularies and thesauri of those scenarios and nodes among the files
    that name them or stand in their folder; else with the vocabularies that ship and those among the files.
    A file of RDF is a thesaurus where it has skos:prefLabel, a taxonomy where it has rdfs:subClassOf, else a
    publication.
    """
    from dens.app.check import CHECKED_SUFFIXES, Checker
    from dens.app.files import gather
    from dens.cli import console
    from knowledge_manager.graphs.rdf_kind import KINDS

    sources = gather(files, CHECKED_SUFFIXES)
    chosen = next((kind for kind in KINDS if kind == rdf_kind), None)
    checker = Checker(sources, vocabulary, thesaurus, language, chosen)
    problems = checker.problems()
    if board is not None:
        from dens.app.board_check import BoardChecker, limits_of

        problems += BoardChecker(limits_of(board), checker).problems(sources)
    failed = {problem.file for problem in problems if problem.severity == "error"}
    if as_json:
        from dens.cli.failures import problem_document

        console.print_document(
            {
                "files": [str(path) for path in sources],
                "failed": sorted(failed),
                "problems": [problem_document(problem) for problem in problems],
            }
        )
    else:
        for problem in problems:
            typer.echo(str(problem))
        console.say(f"{len(sources)} checked, {len(failed)} with errors")
    raise typer.Exit(exits.FINDING if failed else exits.FINE)
