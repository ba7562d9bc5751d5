"""Describes vectors in words, and writes them as documents again."""

from typing import TYPE_CHECKING

from dens.app.subscriptions.languages import chosen_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugins.authoring import Description, VectorKind


def decode(
    vector: bytes,
    vocabularies: "Sequence[str] | None" = None,
    *,
    kind: "VectorKind | None" = None,
    language: str | None = None,
) -> "tuple[Description, bool]":
    """Describe a vector field by field; return also whether names are known.

    Without vocabularies the shipped ones are tried. A vector that does not fit them is described by numbers.
    """
    from dens.app.tables import chosen_table
    from plugins.registry import authoring_of
    from watchdog.vector import VectorError

    describe = authoring_of(chosen_language(language)).describe
    try:
        return describe(vector, chosen_table(vocabularies), kind), True
    except VectorError:
        if vocabularies:
            raise
        return describe(vector, None, kind), False


def to_sparql(vector: bytes, vocabularies: "Sequence[str] | None" = None, language: str | None = None) -> str:
    """Return a graph subscription as a SPARQL query."""
    from dens.app.tables import chosen_table
    from plugins.registry import authoring_of, offered

    chosen = chosen_language(language)
    return offered(authoring_of(chosen).query, chosen, "queries")(vector, chosen_table(vocabularies))


def decompile(vector: bytes, vocabularies: "Sequence[str] | None" = None, language: str | None = None) -> str:
    """Return an XML document that compiles to this vector."""
    from dens.app.tables import chosen_table
    from plugins.registry import authoring_of, offered

    chosen = chosen_language(language)
    to_xml = offered(authoring_of(chosen).decompile, chosen, "decompiler")
    return to_xml(vector, chosen_table(vocabularies))
