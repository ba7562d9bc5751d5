"""Vocabularies: the shipped ones by their name, anybody else's from a file."""

from importlib import resources
from pathlib import Path

from knowledge_manager.documents import DocumentError, Problem, decode_text, did_you_mean, listed, read_text
from knowledge_manager.event_class import Attribute, AttributeType, EventClass, UnknownName, Vocabulary
from knowledge_manager.vocabulary_reader import read_vocabulary

__all__ = [
    "Attribute",
    "AttributeType",
    "EventClass",
    "UnknownName",
    "Vocabulary",
    "check_vocabulary_file",
    "load_vocabulary",
    "shipped_vocabularies",
]


def shipped_vocabularies() -> tuple[str, ...]:
    """Return the names of the vocabularies that come with the package."""
    folder = resources.files("knowledge_manager") / "vocabularies"
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_vocabulary(name_or_path: str | Path) -> Vocabulary:
    """Return a shipped vocabulary by its name, or read one from a file; what is wrong raises
    `DocumentError`.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, str) and not name.endswith(".toml") and "/" not in name:
        known = shipped_vocabularies()
        if name not in known:
            message = f"no vocabulary of this name is shipped ({listed(known)}){did_you_mean(name, known)}"
            raise DocumentError.of_file(name, "D204", f"{message}; a file's name ends in .toml")
        shipped = resources.files("knowledge_manager") / "vocabularies" / f"{name}.toml"
        return read_vocabulary(
            decode_text(shipped.read_bytes(), f"{name}.toml"), f"{name}.toml", with_units=False
        )
    return read_vocabulary(read_text(Path(name_or_path)), name)


def check_vocabulary_file(path: Path) -> list[Problem]:
    """Return everything that is wrong with a vocabulary file; nothing when it can be used."""
    try:
        load_vocabulary(path)
    except DocumentError as error:
        return list(error.problems)
    return []
