"""`dens graph feed`: filters feeds into one feed per subscription."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, Vocabularies
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from dens.app.graphs.feed_connector import Looked


def feed(
    incoming: Annotated[Path, typer.Argument(metavar="IN", help="Folder of feeds: RSS, Atom.")],
    outgoing: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for one feed per subscription.")],
    subscriptions: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of subscriptions (.xml, .rq), in addition to GQL items.",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", metavar="", help="Continue until Ctrl-C.")] = False,
    every: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="With --follow: polling interval.")
    ] = 5,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Filter feeds: write one feed of matching items per subscription.

    Output is RSS 1.0. An item whose title starts with GQL is a subscription: its description is a SPARQL
    query. OUT keeps the state, so that each item counts once, also after a restart. Invalid feeds and items
    are reported and skipped, and the exit code is 1.
    """
    from dens.app.graphs.feed_connector import Connector, looks
    from dens.app.graphs.feed_state import load_state
    from dens.app.graphs.subscriptions import LANGUAGE
    from dens.app.tables import chosen_table
    from dens.config.refusal import Refusal
    from plugins.registry import language_named

    for folder in (incoming, subscriptions):
        if folder is not None and not folder.is_dir():
            raise Refusal(f"{folder} is not a folder; check the path")
    outgoing.mkdir(parents=True, exist_ok=True)
    if outgoing.resolve() == incoming.resolve():
        raise Refusal(f"{outgoing} is the input folder; choose another one for output")
    connector = Connector(
        incoming,
        outgoing,
        subscriptions,
        chosen_table(vocabulary),
        language_named(LANGUAGE),
        load_state(outgoing),
    )
    last = None
    for last in looks(connector, every if follow else None):
        _print(last, as_json)
    if last is not None and last.problems:
        raise typer.Exit(exits.FINDING)


def _print(looked: "Looked", as_json: bool) -> None:
    """Print the problems of one pass, then one line or one document."""
    from dens.cli import console
    from dens.cli.failures import problem_document

    for problem in looked.problems:
        console.say(str(problem), style="red")
    change = looked.change
    if as_json:
        console.print_document(
            {
                "new": change.new,
                "changed": change.changed,
                "taken_back": change.taken_back,
                "subscriptions": looked.subscriptions,
                "matches": looked.matches,
                "problems": [problem_document(one) for one in looked.problems],
            }
        )
        return
    typer.echo(
        f"{change.new} new, {change.changed} changed, {change.taken_back} withdrawn; "
        f"{looked.subscriptions} subscriptions, {looked.matches} matches"
    )
