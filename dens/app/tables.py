"""Loads the mission table and the thesauri that a use case works with."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dens.app.errors import BadArgument

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus.thesaurus import Thesaurus


def load_vocabularies(*names: str | Path) -> "MissionTable":
    """Load vocabularies into one mission table.

    Each name is a shipped vocabulary or a TOML file; without names all shipped vocabularies are loaded.
    Raises `DocumentError` if a file is invalid or if two vocabularies use the same event index.
    """
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies

    return load_mission_table(list(names) or list(shipped_vocabularies()))


def chosen_table(vocabularies: Sequence[str | Path] | None) -> "MissionTable":
    """Load the vocabularies of an option that may be absent."""
    return load_vocabularies(*(vocabularies or ()))


def other_thesaurus(names: Sequence[str | Path] | None) -> "Thesaurus | None":
    """Load thesauri on top of the shipped one. Without names return None: languages then use the shipped
    one.
    """
    if not names:
        return None
    from knowledge_manager.lookup.thesaurus_files import load_layers

    return load_layers(names)


def chosen_thesaurus(names: Sequence[str | Path] | None, language: str | None) -> "Thesaurus":
    """Load thesauri on top of the shipped one. Raises `BadArgument` if none has words in `language`."""
    from knowledge_manager.lookup.thesaurus_files import SHIPPED, load_layers
    from knowledge_manager.thesaurus.concept import language_matches

    thesaurus = load_layers(names or [])
    if language is not None and not any(language_matches(tag, language) for tag in thesaurus.languages):
        available = ", ".join(thesaurus.languages) or "none"
        name = ", ".join(map(str, names or [SHIPPED]))
        raise BadArgument(f"{name} has no words in {language!r}; available languages: {available}")
    return thesaurus
