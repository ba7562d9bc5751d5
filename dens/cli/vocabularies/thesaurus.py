"""`dens thesaurus`: compiles SKOS files to the compact form that nodes load."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson

app = typer.Typer(no_args_is_help=True, help="Compile thesauri from SKOS files.")


@app.callback()
def _thesaurus() -> None:
    pass


@app.command("compile")
def compile_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="SKOS files (.ttl, .jsonld, .rdf), or folders.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="File to write; ends in .thesaurus.")
    ],
    as_json: AsJson = False,
) -> None:
    """Compile SKOS files into one thesaurus that nodes load without parsing SKOS.

    The same concepts give the same bytes. A link to an unknown concept is a warning.
    """
    from dens.app.files import gather
    from dens.cli import console
    from dens.config.atomic_write import write_whole
    from dens.config.refusal import Refusal
    from knowledge_manager.lookup.thesaurus_check import compile_thesaurus_files
    from knowledge_manager.lookup.thesaurus_files import COMPILED_SUFFIX, SKOS_SUFFIXES
    from knowledge_manager.thesaurus.thesaurus import Thesaurus

    if output.suffix != COMPILED_SUFFIX:
        raise typer.BadParameter(
            f"-o {output}: the name of a compiled thesaurus must end in {COMPILED_SUFFIX}"
        )
    sources = gather(files, SKOS_SUFFIXES)
    if not sources:
        raise Refusal("no SKOS files in these folders; names end in " + ", ".join(SKOS_SUFFIXES))
    content, warnings = compile_thesaurus_files(sources)
    write_whole(output, content)
    made = Thesaurus(content)
    for warning in warnings:
        console.say(str(warning), style="yellow")
    if as_json:
        console.print_document(
            {
                "files": [str(path) for path in sources],
                "output": str(output),
                "bytes": len(content),
                "concepts": made.concept_count,
                "labels": made.label_count,
                "warnings": [str(warning) for warning in warnings],
            }
        )
    else:
        typer.echo(
            f"{output}: {made.concept_count} concepts, {made.label_count} labels, {len(content)} bytes"
        )
