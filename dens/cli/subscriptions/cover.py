"""`dens cover`: prints which subscriptions cover which."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies
from dens.config import exit_codes as exits


def cover(
    subscriptions: Annotated[
        Path,
        typer.Option("--subscriptions", metavar="FILE", help="Subscription vectors in hex, one per line."),
    ],
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Print which subscriptions cover which, as a forest.

    Each subscription is indented below the one that covers it. Numbers are lines of the file, from 0. An
    invalid line is reported on stderr, and the exit code is 1. The vocabularies decide how many bytes a
    feature has.
    """
    from dataclasses import asdict

    from dens.app.subscriptions.cover import cover as find_cover
    from dens.cli import console
    from dens.cli.waiting import announce_compiling

    announce_compiling()
    found = find_cover(subscriptions, vocabulary, language)
    for line in found.bad:
        console.say(f"{subscriptions}: {line}", style="red")
    if as_json:
        covered = [{"subscription": n, "covered_by": above} for n, above in found.parents().items()]
        console.print_document({**asdict(found.forest.statistics()), "forest": covered})
    else:
        for text in found.text():
            typer.echo(text)
    raise typer.Exit(exits.FINDING if found.bad else exits.FINE)
