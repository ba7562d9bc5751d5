"""Finds which subscriptions cover which."""

from pathlib import Path
from typing import TYPE_CHECKING

from dens.app.subscriptions.languages import chosen_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugins.authoring.output.vector_lines import LineForest


def cover(
    subscriptions: Path, vocabularies: "Sequence[str] | None" = None, language: str | None = None
) -> "LineForest":
    """Return the covering forest of the vectors in a file, one per line in hexadecimal.

    Vocabularies decide how many bytes a feature has.
    """
    from dens.app.subscriptions.vectors import vector_lines
    from dens.app.tables import chosen_table
    from plugins.authoring.output.vector_lines import LineForest
    from plugins.registry import offered

    chosen = chosen_language(language)
    relations = offered(chosen.relations, chosen, "covering")
    forest = LineForest(relations(chosen_table(vocabularies)).forest())
    with vector_lines(subscriptions) as lines:
        forest.insert(lines)
    return forest
