"""`dens compile`: from what a person wrote to what a radio carries."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, OtherThesaurus, Vocabularies
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from plugins.authoring import Compiled


def compile_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Subscriptions in XML or SPARQL (.rq), or folders of them."),
    ],
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    id_: Annotated[int, typer.Option("--id", min=0, max=255, help="Number at its subscriber.")] = 0,
    seq: Annotated[int, typer.Option(min=0, max=255, help="Revision.")] = 0,
    stamp: Annotated[int, typer.Option(min=0, help="Creation time, seconds since the network epoch.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the bytes here: a file, for several subscriptions a folder."
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", metavar="", help="Warnings are errors.")] = False,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Deviation of a curve above which it is an error.")
    ] = 0.25,
    as_json: AsJson = False,
) -> None:
    """Compile subscriptions, and publications, to vectors and print them in hexadecimal.

    The number of a publication is id·256 + seq. The clock is never read: the same file gives the same bytes.
    Several files print FILE<TAB>hex.
    """
    from dens.app.files import gather, write_all, write_whole
    from dens.app.languages import compiled_document, compiled_vector
    from dens.app.tables import chosen_table, other_thesaurus
    from dens.cli import console
    from dens.config.problems import DocumentError, Problem
    from plugins.registry import document_suffixes

    table, words = chosen_table(vocabulary), other_thesaurus(thesaurus)
    sources = gather(files, document_suffixes())
    several = len(sources) != 1 or files[0].is_dir()
    compiled: list[tuple[Path, Compiled, bytes]] = []
    problems: list[Problem] = []
    for path in _with_progress(sources, several):
        try:
            _, result = compiled_document(
                path, table, words, stamp_s=stamp, may_tell=True, strict=strict, tolerance=tolerance
            )
        except DocumentError as error:
            problems.extend(error.problems)
        else:
            compiled.append((path, result, compiled_vector(result, id_, seq)))
            for warning in result.warnings:
                console.say(str(warning), style="yellow")
    if problems:
        raise DocumentError(problems)
    if output is not None and several:
        write_all(output, ".sv", ((path, vector) for path, _, vector in compiled))
    elif output is not None:
        write_whole(output, compiled[0][2])
    if as_json:
        documents = [_as_document(*one) for one in compiled]
        console.print_document(documents if several else documents[0])
    elif output is None:
        for path, _, vector in compiled:
            typer.echo(f"{path}\t{vector.hex()}" if several else vector.hex())
    raise typer.Exit(exits.FINE)


def _with_progress(sources: list[Path], several: bool) -> Any:
    from dens.cli import console

    if not several or not console.err().is_terminal:
        return sources
    from rich.progress import track

    return track(sources, description="compiling", console=console.err(), transient=True)


def _as_document(path: Path, result: "Compiled", vector: bytes) -> dict[str, Any]:
    """Return what was made, and the steps to it in the words of its language."""
    from dens.cli.failures import problem_document

    return {
        "file": str(path),
        "vector": vector.hex(),
        "bytes": len(vector),
        "warnings": [str(warning) for warning in result.warnings],
        "problems": [problem_document(warning) for warning in result.warnings],
        "remarks": list(result.remarks),
        **result.steps,
    }
