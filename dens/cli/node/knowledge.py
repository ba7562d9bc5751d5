"""`dens node offers`, `dens node lookup`: what the partition of a running DENS node measures, asked now."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, Language, NodeAt, NodeFile, OtherThesaurus
from dens.config import exit_codes as exits
from dens.overlay.wire.codes import LAST_NODE

if TYPE_CHECKING:
    from dens.node.processes.enquiry import Enquiry, Offering
    from dens.node.settings.node_file import NodePlan
    from knowledge_manager.dictionary.offers import Offer
    from knowledge_manager.thesaurus.thesaurus import Thesaurus

Number = Annotated[
    int | None,
    typer.Option(
        "--as",
        metavar="NODE",
        min=0,
        max=LAST_NODE,
        help="The number to ask under; one that nobody has, by default.",
        show_default=False,
    ),
]
Wait = Annotated[
    float, typer.Option(min=0.1, max=60, metavar="S", help="How long to wait for the partition's answer.")
]
Hops = Annotated[
    int | None,
    typer.Option(
        min=1, max=255, help="Over how many DENS nodes it is asked; 8 by default.", show_default=False
    ),
]

FIRST_VISITOR = 1 << 30
"""From here on numbers are drawn for those who only ask: a number that was heard just now is not believed at
another address for a while (docs/security.md), and whoever asks twice is at two."""


def offers(
    node: NodeFile,
    at: NodeAt = None,
    number: Number = None,
    wait: Wait = 5.0,
    hops: Hops = None,
    thesaurus: OtherThesaurus = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Ask the partition of a DENS node what is measured in it, and by whom.

    Ends 1 when no DENS node answers.
    """
    from dens.cli import console
    from dens.node.settings.node_file import load_node
    from knowledge_manager.dictionary.question import EVERYTHING

    plan = load_node(node)
    words = _words(plan, thesaurus, language)
    enquiry = _asked(plan, EVERYTHING, at, number, wait, hops)
    found = enquiry.offers(plan.table, words, language)
    if as_json:
        console.print_document(_document(enquiry, found))
    elif enquiry.is_answered:
        if found:
            _print_offers(found)
        else:
            console.say("nobody there measures anything")
    _say_how(enquiry)
    raise typer.Exit(exits.FINE if enquiry.is_answered else exits.FINDING)


def lookup(
    node: NodeFile,
    word: Annotated[str, typer.Argument(metavar="WORD", help='A word of anybody: temp, "svært høy".')],
    at: NodeAt = None,
    number: Number = None,
    wait: Wait = 5.0,
    hops: Hops = None,
    thesaurus: OtherThesaurus = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Ask the partition of a DENS node who measures what a word means, in anybody's words.

    Ends 1 when the word is unknown (nothing is asked then), when nobody measures it, and when no DENS node
    answers.
    """
    from dens.cli import console
    from dens.node.settings.node_file import load_node
    from knowledge_manager.dictionary.offers import interests_of
    from knowledge_manager.dictionary.question import concerns_attribute, encode_question
    from knowledge_manager.lookup.lookup import look_up

    if not word.strip():
        raise typer.BadParameter("a word is needed", param_hint="WORD")
    plan = load_node(node)
    words = _words(plan, thesaurus, language)
    meant = look_up(word, plan.table, words, language)
    wishes = interests_of(meant.meanings, plan.table)
    if not wishes:
        if as_json:
            console.print_document({**meant.as_document(), "mediators": 0, "missing": [], "offers": []})
        else:
            near = ", ".join(f'"{one}"' for one in meant.nearest)
            console.say(f'"{word}" is unknown' + (f"; did you mean {near}?" if near else ""))
        raise typer.Exit(exits.FINDING)
    question = encode_question(wishes, plan.table.feature_bytes)
    enquiry = _asked(plan, question, at, number, wait, hops)
    found = [
        (offer, by)
        for offer, by in enquiry.offers(plan.table, words, language)
        if concerns_attribute(question, offer.event.index, offer.attribute.index)
    ]
    if as_json:
        console.print_document({**meant.as_document(), **_document(enquiry, found)})
    elif enquiry.is_answered:
        for meaning in meant.meanings:
            console.say(f'"{word}" is {meaning.in_words()}')
        if found:
            _print_offers(found)
        else:
            console.say("nobody in this partition has offered it")
    _say_how(enquiry)
    raise typer.Exit(exits.FINE if found else exits.FINDING)


def _words(plan: "NodePlan", thesaurus: list[str] | None, language: str | None) -> "Thesaurus":
    from dens.app.tables import chosen_thesaurus

    return chosen_thesaurus([*(thesaurus or ()), *plan.thesauri], language)


def _asked(
    plan: "NodePlan", question: bytes, at: str | None, number: int | None, wait: float, hops: int | None
) -> "Enquiry":
    """Ask as an end of this mission that keeps nothing, and return what was answered."""
    import secrets
    from tempfile import TemporaryDirectory

    from dens.cli.node_links import end_links
    from dens.node.assembly import subscriber
    from dens.node.clock import real_clock
    from dens.node.output.event_output import warn_of_key
    from dens.node.output.stdout import say
    from dens.node.processes.enquiry import Enquiry
    from dens.node.processes.finding import finding_of
    from dens.node.processes.probe import Answer
    from dens.node.processes.process import NodeProcess, live
    from dens.node.storage.opening import SUBSCRIBER, open_store
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator

    clock = real_clock()
    asking = FIRST_VISITOR + secrets.randbelow(FIRST_VISITOR) if number is None else number
    links = end_links(plan, asking, at)
    warn_of_key(plan)
    with TemporaryDirectory() as folder:
        store = open_store(
            Path(folder) / "asks.sqlite", Owner(SUBSCRIBER, asking), clock(), say, recover=False
        )
        end = subscriber(plan, asking, store, clock(), None)
        enquiry = Enquiry(end, question, Answer.of(end, plan, links, say))
        code = live(
            NodeProcess(
                end,
                store,
                Authenticator(asking, plan.secret),
                links,
                clock,
                enquiry.hear,
                work=lambda runtime: enquiry.ask(runtime, wait, hops),
                finding=finding_of(plan, end, links, clock()),
            )
        )
    if code not in (exits.FINE, exits.FINDING) or enquiry.heard is None:
        raise typer.Exit(code)
    return enquiry


def _document(enquiry: "Enquiry", found: "list[tuple[Offer, tuple[Offering, ...]]]") -> dict[str, Any]:
    heard = enquiry.heard
    return {
        "mediators": 0 if heard is None else heard.mediators,
        "missing": [] if heard is None else list(heard.missing),
        "offers": [{**offer.as_document(), "by": [one.as_document() for one in by]} for offer, by in found],
    }


def _print_offers(found: "list[tuple[Offer, tuple[Offering, ...]]]") -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from dens.cli import console
    from dens.config.problems import listed

    shown = Table("event", Column("attribute", no_wrap=True), "unit", "also called", "offered by")
    for offer, by in found:
        words = listed(list(offer.words), 4)
        who = "\n".join(_in_words(one) for one in by)
        shown.add_row(*map(Text, (offer.event.name, offer.attribute.name, offer.unit, words, who)))
    console.out().print(shown)


def _in_words(one: "Offering") -> str:
    where = f"{one.distance} hops" if one.distance else "not in reach"
    return f"node {one.node} ({where}, {one.age_s:,} s ago)"


def _say_how(enquiry: "Enquiry") -> None:
    """Tell who answered, and what is missing in the answer."""
    from dens.cli import console
    from dens.config.problems import listed
    from dens.node.output.advice import MISSING_WORDS

    heard = enquiry.heard
    if not enquiry.is_answered or heard is None:
        enquiry.say_nobody()
        return
    many = "1 DENS node" if heard.mediators == 1 else f"{heard.mediators:,} DENS nodes"
    if heard.missing:
        why = listed([MISSING_WORDS[word] for word in heard.missing])
        console.say(f"partial: {many} answered, and there may be more ({why})")
    else:
        console.say(f"{many} answered, all that are in reach")
