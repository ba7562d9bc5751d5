"""`dens cover`: which subscriptions are covered by others, as a forest."""

from pathlib import Path
from typing import Annotated

import typer

from documents import exit_codes as exits
from studio.options import AsJson, Vocabularies


def cover(
    subscriptions: Annotated[
        Path, typer.Option("--subscriptions", metavar="FILE", help="One subscription vector in hex a line.")
    ],
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Print the covering forest: a line for each subscription, below and right of the one that covers it.

    Numbers are lines of the file, from 0. A bad line is named on stderr, and the command ends 1. What
    --vocabulary names says how many bytes features have; without it they have one.
    """
    from dataclasses import asdict

    from plugins.fuzzy.relations.cover_lines import LineForest
    from studio import console
    from studio.tables import chosen_table
    from studio.vectors import vector_lines
    from studio.waiting import announce_compiling

    announce_compiling()
    width = chosen_table(vocabulary).feature_bytes if vocabulary else 1
    with vector_lines(subscriptions) as lines:
        found = LineForest.of_lines(lines, feature_bytes=width)
    for line in found.bad:
        console.say(f"{subscriptions}: {line}", style="red")
    if as_json:
        forest = found.forest
        parents: dict[int, int | None] = {n: None for n, _ in forest.roots()}
        pending = list(parents)
        while pending:
            above = pending.pop()
            for n, _ in forest.children((above, 0)):
                parents[n] = above
                pending.append(n)
        covered = [{"subscription": n, "covered_by": parents[n]} for n in sorted(parents)]
        console.print_document({**asdict(forest.statistics()), "forest": covered})
    else:
        for text in found.text():
            typer.echo(text)
    raise typer.Exit(exits.FINDING if found.bad else exits.FINE)
