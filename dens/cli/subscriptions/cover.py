"""`dens cover`: which subscriptions are covered by others, as a forest."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies
from dens.config import exit_codes as exits


def cover(
    subscriptions: Annotated[
        Path, typer.Option("--subscriptions", metavar="FILE", help="One subscription vector in hex a line.")
    ],
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Print the covering forest: a line for each subscription, below and right of the one that covers it.

    Numbers are lines of the file, from 0. A bad line is named on stderr, and the command ends 1. What
    --vocabulary names says how many bytes features have; without it they have those of the vocabularies that
    ship.
    """
    from dataclasses import asdict

    from dens.app.languages import chosen_language
    from dens.app.tables import chosen_table
    from dens.app.vectors import vector_lines
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from plugins.authoring.output.cover_lines import LineForest
    from plugins.registry import offered

    chosen = chosen_language(language)
    relations = offered(chosen.relations, chosen, "covering")
    announce_compiling()
    found = LineForest(relations(chosen_table(vocabulary)).forest())
    with vector_lines(subscriptions) as lines:
        found.insert(lines)
    for line in found.bad:
        console.say(f"{subscriptions}: {line}", style="red")
    if as_json:
        covered = [{"subscription": n, "covered_by": above} for n, above in found.parents().items()]
        console.print_document({**asdict(found.forest.statistics()), "forest": covered})
    else:
        for text in found.text():
            typer.echo(text)
    raise typer.Exit(exits.FINDING if found.bad else exits.FINE)
