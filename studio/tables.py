"""The mission table that a command works with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable


def chosen_table(vocabularies: Sequence[str] | None) -> "MissionTable":
    """Load the vocabularies named on the command line, or all that ship when none is named."""
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary import shipped_vocabularies

    return load_mission_table(list(vocabularies) if vocabularies else list(shipped_vocabularies()))
