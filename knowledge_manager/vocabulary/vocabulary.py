"""Loads vocabularies: shipped ones by name, others from a file."""

from importlib import resources
from pathlib import Path

from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from dens.config.reading import decode_text, read_text
from knowledge_manager.graphs.taxonomy_files import FindTaxonomy, shipped_taxonomy, taxonomies_in
from knowledge_manager.vocabulary.event_class import (
    Attribute,
    AttributeType,
    EventClass,
    UnknownName,
    Vocabulary,
)
from knowledge_manager.vocabulary.reader import TermFault, read_vocabulary

__all__ = [
    "Attribute",
    "AttributeType",
    "EventClass",
    "UnknownName",
    "Vocabulary",
    "check_vocabulary_file",
    "load_vocabulary",
    "shipped_vocabularies",
    "vocabulary_text",
]


def shipped_vocabularies() -> tuple[str, ...]:
    """Return the names of the vocabularies in the package."""
    folder = resources.files("knowledge_manager") / "vocabularies"
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_vocabulary(
    name_or_path: str | Path, term_fault: TermFault | None = None, taxonomy: FindTaxonomy | None = None
) -> Vocabulary:
    """Return a shipped vocabulary by name, or one from a file; invalid input raises `DocumentError`.

    `term_fault` returns why a language cannot express a term; without it only shape and position of terms are
    checked. `taxonomy` finds the taxonomies of graph classes; by default shipped ones, and files beside the
    vocabulary.
    """
    text = vocabulary_text(name_or_path)
    if _is_name(name_or_path):
        shipped = shipped_taxonomy if taxonomy is None else taxonomy
        file = f"{name_or_path}.toml"
        return read_vocabulary(text, file, with_units=False, term_fault=term_fault, taxonomy=shipped)
    find = taxonomies_in(Path(name_or_path).parent) if taxonomy is None else taxonomy
    return read_vocabulary(text, str(name_or_path), term_fault=term_fault, taxonomy=find)


def vocabulary_text(name_or_path: str | Path) -> str:
    """Return the text of a shipped vocabulary, by name, or of a file. An unknown name or unreadable file
    raises `DocumentError`.
    """
    if not _is_name(name_or_path):
        return read_text(Path(name_or_path))
    name, known = str(name_or_path), shipped_vocabularies()
    if name not in known:
        message = f"no shipped vocabulary has this name ({listed(known)}){did_you_mean(name, known)}"
        raise DocumentError.of_file(name, "D204", f"{message}; the name of a file ends in .toml")
    shipped = resources.files("knowledge_manager") / "vocabularies" / f"{name}.toml"
    return decode_text(shipped.read_bytes(), f"{name}.toml")


def _is_name(name_or_path: str | Path) -> bool:
    return isinstance(name_or_path, str) and not name_or_path.endswith(".toml") and "/" not in name_or_path


def check_vocabulary_file(path: Path, term_fault: TermFault | None = None) -> list[Problem]:
    """Return all problems of a vocabulary file."""
    try:
        load_vocabulary(path, term_fault)
    except DocumentError as error:
        return list(error.problems)
    return []
