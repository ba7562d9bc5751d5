"""The mission table and the thesaurus that a command works with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus.thesaurus import Thesaurus


def chosen_table(vocabularies: Sequence[str] | None) -> "MissionTable":
    """Load the vocabularies named on the command line, or all that ship when none is named."""
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies

    return load_mission_table(list(vocabularies) if vocabularies else list(shipped_vocabularies()))


def other_thesaurus(names: "Sequence[str | Path] | None") -> "Thesaurus | None":
    """Load the thesauri named on the command line, over the one that ships; None when none is named, which is
    the shipped one alone.
    """
    from knowledge_manager.lookup.thesaurus_files import load_layers

    return load_layers(names) if names else None


def chosen_thesaurus(names: "Sequence[str | Path] | None", language: str | None) -> "Thesaurus":
    """Load the thesauri named on the command line, over the one that ships; a language that they have no word
    of is a usage error.
    """
    from knowledge_manager.lookup.thesaurus_files import SHIPPED, load_layers
    from knowledge_manager.thesaurus.concept import language_matches

    thesaurus = load_layers(names or [])
    if language is not None and not any(language_matches(tag, language) for tag in thesaurus.languages):
        there_are = ", ".join(thesaurus.languages) or "none"
        name = ", ".join(map(str, names or [SHIPPED]))
        raise typer.BadParameter(f"{name} has no word in {language!r}; its languages are {there_are}")
    return thesaurus
