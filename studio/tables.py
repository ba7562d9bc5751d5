"""The mission table and the thesaurus that a command works with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus import Thesaurus


def chosen_table(vocabularies: Sequence[str] | None) -> "MissionTable":
    """Load the vocabularies named on the command line, or all that ship when none is named."""
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary import shipped_vocabularies

    return load_mission_table(list(vocabularies) if vocabularies else list(shipped_vocabularies()))


def other_thesaurus(name: str | None) -> "Thesaurus | None":
    """Load the thesaurus named on the command line; None when none is named, which is the one that ships."""
    from knowledge_manager.thesaurus_files import load_thesaurus

    return None if name is None else load_thesaurus(name)


def chosen_thesaurus(name: str, language: str | None) -> "Thesaurus":
    """Load the thesaurus named on the command line; a language that it has no word of is a usage error."""
    from knowledge_manager.thesaurus_concept import speaks
    from knowledge_manager.thesaurus_files import load_thesaurus

    thesaurus = load_thesaurus(name)
    if language is not None and not any(speaks(tag, language) for tag in thesaurus.languages):
        there_are = ", ".join(thesaurus.languages) or "none"
        raise typer.BadParameter(f"{name} has no word in {language!r}; its languages are {there_are}")
    return thesaurus
