"""Loads taxonomies: shipped ones by name, others from compiled or RDF files."""

from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError, did_you_mean, listed
from dens.config.reading import read_document
from knowledge_manager.compact_sections import CompactError
from knowledge_manager.graphs.compact_taxonomy import read_compact_taxonomy
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.rdf_text import FORMATS

LARGEST_TAXONOMY: Final = 64 * 1024 * 1024
COMPILED_SUFFIX: Final = ".taxonomy"

FindTaxonomy = Callable[[str], Taxonomy]
"""Finds the taxonomy that a vocabulary names, or raises `DocumentError`."""


def shipped_taxonomies() -> tuple[str, ...]:
    """Return the names of the compiled taxonomies in the package."""
    folder = resources.files("knowledge_manager") / "taxonomies"
    names = (entry.name for entry in folder.iterdir())
    return tuple(
        sorted(name.removesuffix(COMPILED_SUFFIX) for name in names if name.endswith(COMPILED_SUFFIX))
    )


@cache
def shipped_taxonomy(name: str) -> Taxonomy:
    """Return a shipped taxonomy by name; an unknown name raises `DocumentError`."""
    known = shipped_taxonomies()
    if name not in known:
        message = f"no shipped taxonomy has this name ({listed(known)}){did_you_mean(name, known)}"
        endings = listed([COMPILED_SUFFIX, *FORMATS])
        raise DocumentError.of_file(name, "D521", f"{message}; the name of a file ends in one of {endings}")
    shipped = resources.files("knowledge_manager") / "taxonomies" / f"{name}{COMPILED_SUFFIX}"
    return read_compact_taxonomy(shipped.read_bytes())


def is_file_name(name: str) -> bool:
    """Return whether the name is that of a file, not of a shipped taxonomy."""
    return "/" in name or name.endswith((COMPILED_SUFFIX, *FORMATS))


def taxonomies_in(folder: Path) -> FindTaxonomy:
    """Return a finder for shipped taxonomies by name and for files relative to a folder."""
    return lambda name: load_taxonomy(folder / name) if is_file_name(name) else shipped_taxonomy(name)


def load_taxonomy(path: Path) -> Taxonomy:
    """Return the taxonomy in a file, compiled or in RDF; invalid input raises `DocumentError`."""
    if path.suffix in FORMATS:
        from knowledge_manager.graphs.taxonomy_reader import read_taxonomy_file

        return read_taxonomy_file(path)
    try:
        return read_compact_taxonomy(read_document(path, LARGEST_TAXONOMY))
    except CompactError as error:
        message = f"not a compiled taxonomy: {error}"
        if path.suffix != COMPILED_SUFFIX:
            endings = listed([COMPILED_SUFFIX, *FORMATS])
            message = f'unknown suffix "{path.suffix}"; the name of a taxonomy ends in one of {endings}'
        raise DocumentError.of_file(str(path), "D522", message) from None
