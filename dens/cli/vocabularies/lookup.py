"""`dens lookup`: finds the meanings of a word in the mission table."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, Language, OtherThesaurus, Vocabularies
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from collections.abc import Iterator


def lookup(
    term: Annotated[str, typer.Argument(metavar="TERM", help='A word in any language: temp, "svært høy".')],
    language: Language = None,
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    as_json: AsJson = False,
) -> None:
    """List the meanings of a word, closest first.

    Exits with 1 if it is unknown, and prints similar words.
    """
    from dens.app.tables import chosen_table, chosen_thesaurus
    from dens.cli import console
    from dens.config.streams import printable
    from knowledge_manager.lookup.lookup import look_up

    if not term.strip():
        raise typer.BadParameter("the word is empty", param_hint="TERM")
    words = chosen_thesaurus(thesaurus, language)
    answer = look_up(term, chosen_table(vocabulary), words, language)
    if as_json:
        console.print_document(answer.as_document())
    elif answer.meanings:
        for meaning in answer.meanings:
            for line in _lines(meaning.as_document()):
                console.out().print(printable(line), markup=False)
    elif elsewhere := sorted({finding.target.name for finding in words.find(term, language)}):
        console.say(f'"{term}" means {", ".join(elsewhere)}, which is not in these vocabularies')
    else:
        near = ", ".join(f'"{word}"' for word in answer.nearest)
        console.say(f'"{term}" is unknown' + (f"; did you mean {near}?" if near else ""))
    raise typer.Exit(exits.FINE if answer.meanings else exits.FINDING)


def _lines(meaning: "dict[str, Any]") -> "Iterator[str]":
    """Yield one meaning: name, position in a vector, unit, and how it was found."""
    yield f"{meaning['closeness']:.2f}  {meaning['kind']} {meaning['name']}"
    if "event_index" in meaning:
        places = [f"event index {meaning['event_index']}"]
        if "attribute_index" in meaning:
            places.append(f"attribute index {meaning['attribute_index']}")
        yield f"      {', '.join(places)}, feature {meaning['feature']}"
    if "misfit" in meaning:
        yield f"      not usable: {meaning['misfit']}"
    elif "word_unit" in meaning:
        low, high = meaning["domain_in_word_unit"]
        here = f"mission table: {meaning['unit']}"
        yield f"      unit {meaning['word_unit']}, {low:g}..{high:g}; {here}"
    yield f"      {meaning['how']}"
