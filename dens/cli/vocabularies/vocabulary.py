"""`dens vocabulary`: shows, checks and compares vocabularies."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, Language, OtherThesaurus
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from knowledge_manager.vocabulary.graph_class import GraphClass

app = typer.Typer(no_args_is_help=True, help="Show, check and compare vocabularies.")

_Named = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped vocabulary, or a TOML file.")]


@app.command("show")
def show(
    name: _Named, thesaurus: OtherThesaurus = None, language: Language = None, as_json: AsJson = False
) -> None:
    """Print event classes and attributes with domains, terms, features and synonyms.

    Graph classes are printed with their dictionary, facets and taxonomy.
    """
    from dens.app.tables import chosen_thesaurus
    from dens.cli import console
    from knowledge_manager.vocabulary.vocabulary import load_vocabulary
    from knowledge_manager.vocabulary_view import show_vocabulary

    others, vocabulary = chosen_thesaurus(thesaurus, language), load_vocabulary(name)
    document = show_vocabulary(vocabulary, others, language).as_document()
    if as_json:
        console.print_document(document)
        return
    from rich.table import Column, Table
    from rich.text import Text

    from dens.config.problems import listed

    typer.echo(_titled(f"{document['name']}, version {document['version']}", document["about"]))
    for event in document["events"]:
        places = f"index {event['index']}, feature {event['feature']}"
        title = _titled(f"{event['name']} ({places})", event["about"])
        names = Column("attribute", no_wrap=True)
        shown = Table("index", "feature", names, "domain", "terms", "synonyms", title=Text(title))
        shown.title_justify = "left"
        for attribute in event["attributes"]:
            if "values" in attribute:
                domain = listed(attribute["values"])
            else:
                low, high = attribute["domain"]
                domain = f"{low:g}..{high:g} {attribute['unit']}"
                if "scale" in attribute:
                    inner = ", ".join(f"{value:g} at {byte}" for value, byte in attribute["scale"][1:-1])
                    domain = f"{domain} (scale: {inner} of 255)"
            terms, words = listed(attribute["terms"]), listed(attribute["words"], 4)
            numbers = str(attribute["index"]), str(attribute["feature"])
            shown.add_row(*map(Text, (*numbers, attribute["name"], domain, terms, words)))
        console.out().print(shown)
    for kind, described in zip(vocabulary.graphs, document["graphs"], strict=True):
        _show_graph(kind, described, language)


def _show_graph(kind: "GraphClass", described: dict[str, Any], language: str | None) -> None:
    """Print a graph class: terms by number, facets, and the taxonomy as trees."""
    from rich.table import Column, Table
    from rich.text import Text

    from dens.app.graphs.taxonomy_trees import tree_lines
    from dens.cli import console

    places = (
        f"index {described['index']}, feature {described['feature']}, at most {described['most_bytes']} bytes"
    )
    typer.echo(_titled(f"{described['name']} ({places})", described["about"]))
    spaces = Table("prefix", "namespace", title="Namespaces", title_justify="left")
    for prefix, namespace in described["namespaces"].items():
        spaces.add_row(*map(Text, (prefix, namespace)))
    terms = Table("number", "term", title="Dictionary: terms that are sent as numbers", title_justify="left")
    for number, term in enumerate(described["terms"]):
        terms.add_row(*map(Text, (str(number), term)))
    properties_column = Column("properties", overflow="fold")
    facets = Table(
        "index", "feature", "facet", properties_column, "about", title="Facets", title_justify="left"
    )
    for facet in described["facets"]:
        properties = "all others" if facet["is_open"] else ", ".join(facet["properties"])
        numbers = str(facet["index"]), str(facet["feature"])
        facets.add_row(*map(Text, (*numbers, facet["name"], properties, facet["about"])))
    for table in (spaces, terms, facets):
        console.out().print(table)
    taxonomy = described["taxonomy"]
    if taxonomy["classes"]:
        size = f"{taxonomy['classes']} classes, {taxonomy['things']} things"
        typer.echo(f"Taxonomy {taxonomy['name']}: {size}, digest {taxonomy['digest'][:16]}")
        for line in tree_lines(kind.taxonomy, language):
            console.out().print(f"  {line}", markup=False, highlight=False)


def _titled(name: str, about: str) -> str:
    return f"{name}: {about}" if about else name


@app.command("check")
def check(
    names: Annotated[list[str], typer.Argument(metavar="NAME|FILE…", help="Vocabularies of one mission.")],
    as_json: AsJson = False,
) -> None:
    """Check vocabularies one by one and together. Exits with 1 if there is an error."""
    from dens.cli import console
    from dens.cli.failures import problem_document
    from dens.config.problems import DocumentError
    from knowledge_manager.mission_table import load_mission_table
    from plugins.registry import term_fault

    try:
        table = load_mission_table(names, term_fault)
    except DocumentError as error:
        problems, check_byte = list(error.problems), None
    else:
        problems, check_byte = [], table.check
    if as_json:
        found = [problem_document(problem) for problem in problems]
        console.print_document({"vocabularies": names, "table_check": check_byte, "problems": found})
    else:
        for problem in problems:
            typer.echo(str(problem))
        if check_byte is not None:
            console.say(f"{len(names)} checked; table check 0x{check_byte:02x}")
    raise typer.Exit(exits.FINDING if problems else exits.FINE)


@app.command("diff")
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The earlier version: a name or a file.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The later version.")],
    as_json: AsJson = False,
) -> None:
    """Compare two versions. Exits with 1 if nodes with different versions cannot communicate."""
    from dens.cli import console
    from knowledge_manager.vocabulary.diff import diff_vocabularies
    from knowledge_manager.vocabulary.vocabulary import load_vocabulary

    found = diff_vocabularies(load_vocabulary(old), load_vocabulary(new))
    if as_json:
        console.print_document(found.as_document())
    else:
        for change in found.changes:
            typer.echo(str(change))
        if not found.changes:
            console.say("no changes")
    raise typer.Exit(exits.FINE if found.is_compatible else exits.FINDING)
