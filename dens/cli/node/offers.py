"""`dens offers`: what is measured around a node, by whom, and what is missing for a subscription."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, Language, OtherThesaurus

if TYPE_CHECKING:
    from dens.app.partition import Partition
    from knowledge_manager.dictionary.offers import AlternativeOffers, Offer


def offers(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `dens run` made.")],
    node: Annotated[str, typer.Option(metavar="NAME|NUMBER", help="Who asks: medics-1, or its number.")],
    at: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.0, help="Second of the run; its end by default.", show_default=False),
    ] = None,
    subscription: Annotated[
        str | None,
        typer.Option(metavar="FILE|HEX", help="Show who can serve this one, and who nearly can."),
    ] = None,
    subscription_language: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Subscription language of --subscription, where that is bytes.",
            show_default=False,
        ),
    ] = None,
    thesaurus: OtherThesaurus = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Browse what a node's partition offers at one moment of a run.

    A partition is everybody who is reached over the contacts of that moment, with forwarding also beyond
    range. Words are those of the run's own thesauri too.
    """
    from dens.app.languages import given_subscription
    from dens.app.partition import RunOffers
    from dens.app.tables import chosen_thesaurus
    from dens.cli import console
    from knowledge_manager.dictionary.offers import browse_offers, offers_for
    from watchdog.header import body_of

    if at is not None and not isfinite(at):
        raise typer.BadParameter(f"{at} is no second of a run", param_hint="--at")
    recorded = RunOffers(run)
    table = recorded.mission_table()
    at_ms = recorded.end_ms if at is None else round(at * 1000)
    partition = recorded.partition_of(recorded.node_called(node), at_ms)
    known = recorded.dictionary(partition, table)
    words = chosen_thesaurus([*(thesaurus or ()), *recorded.thesauri()], language)
    offered = browse_offers(known, table, words, language)
    serving: tuple[AlternativeOffers, ...] = ()
    if subscription is not None:
        given = given_subscription(subscription, table, words, subscription_language)
        serving = offers_for(known, table, given.language.language_id, body_of(given.vector))
    if as_json:
        console.print_document(
            {
                "node": partition.node,
                "at_ms": at_ms,
                "partition": [
                    {"node": reached, "name": partition.names[reached], "hops": hops}
                    for reached, hops in partition.hops.items()
                ],
                "offers": [offer.as_document() for offer in offered],
                "announcements": known.as_document(),
                "subscription": [alternative.as_document() for alternative in serving],
            }
        )
        return
    _print(partition, offered, serving)


def _print(
    partition: "Partition", offered: "tuple[Offer, ...]", serving: "tuple[AlternativeOffers, ...]"
) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from dens.cli import console
    from dens.config.problems import listed

    def called(nodes: tuple[int, ...]) -> str:
        return listed([partition.names[node] for node in nodes])

    asking = partition.names[partition.node]
    when = f"{partition.at_ms / 1000:g} s"
    if not partition.hops:
        console.say(f"{asking} is down at {when}")
        return
    others = [node for node in partition.hops if node != partition.node]
    console.say(f"{asking} at {when} reaches {called(tuple(others)) if others else 'nobody'}")
    if offered:
        shown = Table(
            "event", Column("attribute", no_wrap=True), "unit", "terms and values", "also called", "nodes"
        )
        for offer in offered:
            said = listed(offer.members)
            words = listed(list(offer.words), 4)
            names = offer.event.name, offer.attribute.name, offer.unit
            shown.add_row(*map(Text, (*names, said, words, called(offer.nodes))))
        console.out().print(shown)
    else:
        console.say("nobody there measures anything")
    for alternative in serving:
        wanted = f"{alternative.event}: {', '.join(alternative.attributes)}"
        typer.echo(f"{wanted} is offered by {called(alternative.publishers) or 'nobody'}")
        for partial in alternative.partial:
            typer.echo(f"  {partition.names[partial.node]} lacks {', '.join(partial.missing)}")
