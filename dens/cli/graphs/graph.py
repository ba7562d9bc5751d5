"""`dens graph`: graph publications and taxonomies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.graphs import cluster as graph_cluster
from dens.cli.graphs import feed as graph_feed
from dens.cli.options import AsJson, Vocabularies

if TYPE_CHECKING:
    from dens.config.problems import Problem
    from knowledge_manager.graphs.taxonomy import Taxonomy

app = typer.Typer(no_args_is_help=True, help="Read, filter and index graph publications; compile taxonomies.")

app.command("feed")(graph_feed.feed)
app.command("index")(graph_cluster.index)
app.command("filter")(graph_cluster.filter_)


@app.command("read")
def read(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Publications in RDF (.ttl, .nt, .jsonld, .rdf), feeds (.rss, .atom), folders.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for the bytes, one .nv file each."),
    ] = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Read publications and print their bytes, with the size of each term.

    Number and time of a publication are 0: the same file gives the same bytes.
    """
    from dens.app.files import write_all
    from dens.app.graphs.publications import read_publications
    from dens.app.tables import chosen_table
    from dens.cli import console

    read_, problems = read_publications(files, chosen_table(vocabulary))
    if output is not None:
        write_all(output, ".nv", ((path, description.vector) for path, description in read_))
    if as_json:
        found = [{"file": str(path), **description.as_document()} for path, description in read_]
        console.print_document(found if len(found) != 1 else found[0])
        _end_with(problems)
        return
    for path, description in read_:
        typer.echo(f"{path}\t{len(description.vector)} bytes\t{description.vector.hex()}")
        for field in description.fields:
            if field.name.startswith("term "):
                console.out().print(f"{len(field.content):>5}  {field.meaning}", markup=False)
    _end_with(problems)


def _end_with(warnings: "list[Problem]") -> None:
    """Print the items of feeds that were skipped."""
    from dens.cli import console
    from dens.config import exit_codes as exits

    for one in warnings:
        console.say(str(one))
    if warnings:
        raise typer.Exit(exits.FINDING)


@app.command("taxonomy")
def taxonomy(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|NAME",
            help="A taxonomy: RDFS or SKOS, compiled (.taxonomy), or the name of a shipped one.",
        ),
    ],
    system: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="wordpress|drupal",
            help="FILE is a JSON export of terms from this system.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Compiled file; ends in .taxonomy.")
    ] = None,
    draw: Annotated[bool, typer.Option("--draw", metavar="", help="Draw the taxonomy as trees.")] = False,
    language: Annotated[
        str | None, typer.Option(metavar="TAG", help="Show labels of this language.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check, draw and compile a taxonomy."""
    from dens.cli import console
    from dens.config.atomic_write import write_whole
    from knowledge_manager.graphs.compact_taxonomy import compile_taxonomy
    from knowledge_manager.graphs.taxonomy_files import COMPILED_SUFFIX

    if output is not None and output.suffix != COMPILED_SUFFIX:
        raise typer.BadParameter(
            f"-o {output}: the name of a compiled taxonomy must end in {COMPILED_SUFFIX}"
        )
    found = _named(file) if system is None else _of_system(file, system)
    if output is not None:
        write_whole(output, compile_taxonomy(found))
    if as_json:
        console.print_document(_as_document(found))
        return
    if draw:
        from dens.app.graphs.taxonomy_trees import tree_lines

        for line in tree_lines(found, language):
            console.out().print(line, markup=False, highlight=False)
    console.say(
        f"{found.name}: {len(found.parents)} classes, {len(found.types)} things, digest {found.digest[:16]}"
    )


def _named(file: Path) -> "Taxonomy":
    """Return the taxonomy in a file, or the shipped one of this name."""
    from knowledge_manager.graphs.taxonomy_files import load_taxonomy, shipped_taxonomies, shipped_taxonomy

    is_shipped = str(file) in shipped_taxonomies() and not file.exists()
    return shipped_taxonomy(str(file)) if is_shipped else load_taxonomy(file)


def _of_system(file: Path, system: str) -> "Taxonomy":
    """Return the taxonomy in an export of a content management system."""
    from dens.config.reading import read_document
    from knowledge_manager.feeds.cms_terms import LARGEST_EXPORT, SYSTEMS, cms_taxonomy

    if system not in SYSTEMS:
        raise typer.BadParameter(
            f'"{system}" is unknown; use one of {", ".join(SYSTEMS)}', param_hint="--from"
        )
    return cms_taxonomy(read_document(file, LARGEST_EXPORT), str(file), system, file.stem)


def _as_document(found: "Taxonomy") -> dict[str, Any]:
    return {
        "name": found.name,
        "digest": found.digest,
        "classes": {one: list(above) for one, above in found.parents.items()},
        "things": {one: list(of) for one, of in found.types.items()},
        "labels": {
            one: [{"text": label.text, "language": label.language} for label in labels]
            for one, labels in found.labels.items()
        },
    }
