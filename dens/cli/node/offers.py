"""`dens offers`: lists what is measured in a partition, of a run or around a running DENS node."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dens.cli.options import AsJson, Language, OtherThesaurus
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dens.app.node.offers import OffersInRun, OffersNow, Word
    from dens.node.processes.directory_query import Offering


def offers(
    source: Annotated[
        Path,
        typer.Argument(metavar="RUN|NODE.toml", help="Folder of a run, or configuration of a DENS node."),
    ],
    word: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", help='Only what this word means: temp, "svært høy".', show_default=False
        ),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|NUMBER",
            help="Run: the node whose partition is listed, such as medics-1.",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="S|ADDRESS",
            help="Run: second of the run (default: its end). Node: its address.",
            show_default=False,
        ),
    ] = None,
    subscription: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|HEX", help="Run: list who can serve this subscription.", show_default=False
        ),
    ] = None,
    subscription_language: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Run: language of --subscription if it is a vector.", show_default=False
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--as",
            metavar="NODE",
            min=0,
            help="Node: number of this endpoint; a free one by default.",
            show_default=False,
        ),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=60, metavar="S", help="Node: seconds to wait; 5 by default.", show_default=False
        ),
    ] = None,
    hops: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=255,
            help="Node: largest distance of the query in hops; 8 by default.",
            show_default=False,
        ),
    ] = None,
    thesaurus: OtherThesaurus = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List what is measured in a partition, and by which nodes.

    RUN: the partition of --node at one moment of a run, over the contacts of that moment, including
    forwarding beyond range. The thesauri of the run are used too.

    NODE.toml: queries the DENS nodes in reach of a running node. Exits with 1 if no DENS node answers.

    With --word, exits with 1 if the word is unknown or nothing that it means is measured.
    """
    from dens.app.node.offers import offers_in_run, offers_now
    from dens.cli import console

    if word is not None and not word.strip():
        raise typer.BadParameter("the word is empty", param_hint="--word")
    of_run = {
        "--node": node,
        "--subscription": subscription,
        "--subscription-language": subscription_language,
    }
    of_node = {"--as": number, "--wait": wait, "--hops": hops}
    is_node = source.suffix == ".toml"
    _refuse_others(of_run if is_node else of_node, "a run" if is_node else "NODE.toml")
    if is_node:
        now = offers_now(
            source,
            word=word,
            at=at,
            number=number,
            wait_s=wait or 5.0,
            hops=hops,
            thesauri=thesaurus or (),
            language=language,
        )
        _print_now_and_exit(now, as_json)

    if node is None:
        raise typer.BadParameter(
            "name the node whose partition to list, such as --node medics-1", param_hint="--node"
        )
    found = offers_in_run(
        source,
        node,
        _second(at),
        word=word,
        subscription=subscription,
        subscription_language=subscription_language,
        thesauri=thesaurus or (),
        language=language,
    )
    if as_json:
        console.print_document(found.as_document())
    else:
        _print_run(found)
    raise typer.Exit(exits.FINDING if found.word is not None and not found.offers else exits.FINE)


def _refuse_others(options: "Mapping[str, object]", owner: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(f"this option is for {owner}", param_hint=name)


def _second(at: str | None) -> float | None:
    try:
        second = None if at is None else float(at)
    except ValueError:
        second = float("nan")
    if second is not None and not (isfinite(second) and second >= 0):
        raise typer.BadParameter(f"{at} is not a second of a run", param_hint="--at")
    return second


def _print_now_and_exit(found: "OffersNow", as_json: bool) -> NoReturn:
    from dens.cli import console

    if found.exit_code not in (exits.FINE, exits.FINDING):
        raise typer.Exit(found.exit_code)
    if as_json:
        console.print_document(found.as_document())
    elif found.word is not None and not _print_word(found.word):
        raise typer.Exit(exits.FINDING)
    elif found.is_answered and found.offers:
        _print_now(found)
    elif found.is_answered:
        console.say(
            "nothing is measured in this partition" if found.word is None else _not_offered(found.word)
        )
    _print_answer(found)
    is_found = bool(found.offers) if found.word is not None else found.is_answered
    raise typer.Exit(exits.FINE if is_found else exits.FINDING)


def _print_word(word: "Word") -> bool:
    """Print what a word means; return whether it means anything that can be measured."""
    from dens.cli import console

    if word.question is None:
        near = ", ".join(f'"{one}"' for one in word.answer.nearest)
        console.say(f'"{word.text}" is unknown' + (f"; did you mean {near}?" if near else ""))
        return False
    for meaning in word.answer.meanings:
        console.say(f'"{word.text}" is {meaning.in_words()}')
    return True


def _not_offered(word: "Word") -> str:
    return f'"{word.text}" is not measured in this partition'


def _print_now(found: "OffersNow") -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from dens.cli import console
    from dens.config.problems import listed

    table = Table("event", Column("attribute", no_wrap=True), "unit", "synonyms", "offered by")
    for offer, by in found.offers:
        words = listed(list(offer.words), 4)
        nodes = "\n".join(_in_words(one) for one in by)
        table.add_row(*map(Text, (offer.event.name, offer.attribute.name, offer.unit, words, nodes)))
    console.out().print(table)


def _in_words(one: "Offering") -> str:
    where = f"{one.distance} hops" if one.distance else "not in reach"
    return f"node {one.node} ({where}, {one.age_s:,} s ago)"


def _print_answer(found: "OffersNow") -> None:
    """Print how many DENS nodes answered, and why others may be missing."""
    from dens.cli import console
    from dens.config.problems import listed
    from dens.node.output.advice import MISSING_WORDS

    if found.query is None:
        return
    if not found.is_answered:
        found.query.report_no_answer()
        return
    count = "1 DENS node" if found.mediators == 1 else f"{found.mediators:,} DENS nodes"
    if found.missing:
        why = listed([MISSING_WORDS[word] for word in found.missing])
        console.say(f"partial: {count} answered, there may be more ({why})")
    else:
        console.say(f"{count} answered: all in reach")


def _print_run(found: "OffersInRun") -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from dens.cli import console
    from dens.config.problems import listed

    partition = found.partition

    def named(nodes: tuple[int, ...]) -> str:
        return listed([partition.names[node] for node in nodes])

    origin = partition.names[partition.node]
    when = f"{partition.at_ms / 1000:g} s"
    if not partition.hops:
        console.say(f"{origin} is down at {when}")
        return
    others = tuple(node for node in partition.hops if node != partition.node)
    console.say(f"{origin} at {when} reaches {named(others) if others else 'no other node'}")
    if found.word is not None and not _print_word(found.word):
        return
    if found.offers:
        table = Table(
            "event", Column("attribute", no_wrap=True), "unit", "terms and values", "synonyms", "nodes"
        )
        for offer in found.offers:
            names = offer.event.name, offer.attribute.name, offer.unit
            members, words = listed(offer.members), listed(list(offer.words), 4)
            table.add_row(*map(Text, (*names, members, words, named(offer.nodes))))
        console.out().print(table)
    else:
        console.say(
            "nothing is measured in this partition" if found.word is None else _not_offered(found.word)
        )
    for alternative in found.serving:
        wanted = f"{alternative.event}: {', '.join(alternative.attributes)}"
        typer.echo(f"{wanted} is offered by {named(alternative.publishers) or 'no node'}")
        for partial in alternative.partial:
            typer.echo(f"  {partition.names[partial.node]} lacks {', '.join(partial.missing)}")
