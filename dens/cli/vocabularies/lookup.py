"""`dens lookup`: what a word means in the mission table, how it got there, and how close it is."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, Language, OtherThesaurus, Vocabularies
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from collections.abc import Iterator


def lookup(
    term: Annotated[str, typer.Argument(metavar="TERM", help='A word of anybody: temp, "svært høy".')],
    language: Language = None,
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    as_json: AsJson = False,
) -> None:
    """List every meaning of a word, closest first. Ends 1 when it is unknown, with the nearest words."""
    from dens.app.tables import chosen_table, chosen_thesaurus
    from dens.cli import console
    from dens.config.streams import printable
    from knowledge_manager.lookup.lookup import look_up

    if not term.strip():
        raise typer.BadParameter("a word is needed", param_hint="TERM")
    words = chosen_thesaurus(thesaurus, language)
    answer = look_up(term, chosen_table(vocabulary), words, language)
    if as_json:
        console.print_document(answer.as_document())
    elif answer.meanings:
        for meaning in answer.meanings:
            for line in _lines(meaning.as_document()):
                console.out().print(printable(line), markup=False)
    elif elsewhere := sorted({finding.target.name for finding in words.find(term, language)}):
        console.say(f'"{term}" is {", ".join(elsewhere)}, which these vocabularies lack')
    else:
        near = ", ".join(f'"{word}"' for word in answer.nearest)
        console.say(f'"{term}" is unknown' + (f"; did you mean {near}?" if near else ""))
    raise typer.Exit(exits.FINE if answer.meanings else exits.FINDING)


def _lines(meaning: "dict[str, Any]") -> "Iterator[str]":
    """Yield one meaning as a person reads it: what, where in a vector, counted how, found how."""
    yield f"{meaning['closeness']:.2f}  {meaning['kind']} {meaning['name']}"
    if "event_index" in meaning:
        places = [f"event index {meaning['event_index']}"]
        if "attribute_index" in meaning:
            places.append(f"attribute index {meaning['attribute_index']}")
        yield f"      {', '.join(places)}, feature {meaning['feature']}"
    if "misfit" in meaning:
        yield f"      not to be taken: {meaning['misfit']}"
    elif "word_unit" in meaning:
        low, high = meaning["domain_in_word_unit"]
        here = f"the table in {meaning['unit']}"
        yield f"      counted in {meaning['word_unit']}, {low:g}..{high:g}; {here}"
    yield f"      {meaning['how']}"
