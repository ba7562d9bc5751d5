"""`dens compile`: compiles documents to vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, OtherThesaurus, Vocabularies

if TYPE_CHECKING:
    from dens.app.subscriptions.subscription import Subscription
    from dens.config.problems import Problem


def compile_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Subscriptions in XML or SPARQL (.rq), or folders of them."),
    ],
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    id_: Annotated[int, typer.Option("--id", min=0, max=255, help="Number at the subscriber.")] = 0,
    seq: Annotated[int, typer.Option(min=0, max=255, help="Revision.")] = 0,
    stamp: Annotated[int, typer.Option(min=0, help="Creation time in seconds since the network epoch.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File for the bytes; a folder for several subscriptions."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", metavar="", help="Treat warnings as errors.")] = False,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Largest deviation of an encoded curve.")
    ] = 0.25,
    as_json: AsJson = False,
) -> None:
    """Compile subscriptions and publications to vectors.

    Prints hexadecimal; FILE<TAB>hex for several files. The number of a publication is id·256 + seq. The
    clock is not read: the same file gives the same bytes.
    """
    from dens.app.files import gather, write_all
    from dens.app.subscriptions.subscription import compile_files
    from dens.app.tables import chosen_table, other_thesaurus
    from dens.cli import console
    from dens.config.problems import DocumentError
    from plugins.registry import document_suffixes

    table, words = chosen_table(vocabulary), other_thesaurus(thesaurus)
    sources = gather(files, document_suffixes())
    several = len(sources) != 1 or files[0].is_dir()
    compiled: list[Subscription] = []
    problems: list[Problem] = []
    for result in compile_files(
        _with_progress(sources, several),
        table,
        words,
        id=id_,
        revision=seq,
        stamp_s=stamp,
        strict=strict,
        tolerance=tolerance,
    ):
        if isinstance(result, DocumentError):
            problems.extend(result.problems)
            continue
        compiled.append(result)
        for warning in result.warnings:
            console.say(str(warning), style="yellow")
    if problems:
        raise DocumentError(problems)
    if output is not None and several:
        write_all(output, ".sv", ((Path(one.file or ""), one.vector) for one in compiled))
    elif output is not None:
        from dens.config.atomic_write import write_whole

        write_whole(output, compiled[0].vector)
    if as_json:
        documents = [_as_document(one) for one in compiled]
        console.print_document(documents if several else documents[0])
    elif output is None:
        for one in compiled:
            typer.echo(f"{one.file}\t{one.vector.hex()}" if several else one.vector.hex())


def _with_progress(sources: list[Path], several: bool) -> Any:
    from dens.cli import console

    if not several or not console.err().is_terminal:
        return sources
    from rich.progress import track

    return track(sources, description="compiling", console=console.err(), transient=True)


def _as_document(compiled: "Subscription") -> dict[str, Any]:
    from dens.cli.failures import problem_document

    return {
        "file": compiled.file,
        "vector": compiled.vector.hex(),
        "bytes": len(compiled.vector),
        "warnings": [str(warning) for warning in compiled.warnings],
        "problems": [problem_document(warning) for warning in compiled.warnings],
        "remarks": list(compiled.remarks),
        **compiled.steps,
    }
