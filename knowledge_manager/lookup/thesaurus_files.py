"""Loads thesauri: shipped ones by name, others from compiled or SKOS files."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from dens.config.reading import read_document
from knowledge_manager.compact_sections import CompactError
from knowledge_manager.thesaurus.concept import Concept
from knowledge_manager.thesaurus.thesaurus import Thesaurus

LARGEST_THESAURUS: Final = 64 * 1024 * 1024
"""Maximum bytes of a compiled file. Ten thousand concepts need about two million."""

COMPILED_SUFFIX: Final = ".thesaurus"

SKOS_SUFFIXES: Final = (".ttl", ".jsonld", ".rdf")
"""Suffixes that are always SKOS."""


def shipped_thesauri() -> tuple[str, ...]:
    """Return the names of the compiled thesauri in the package."""
    folder = resources.files("knowledge_manager") / "thesauri"
    names = (entry.name for entry in folder.iterdir())
    return tuple(
        sorted(name.removesuffix(COMPILED_SUFFIX) for name in names if name.endswith(COMPILED_SUFFIX))
    )


SHIPPED: Final = "rescue"
"""The thesaurus below all others."""


def load_layers(names_or_paths: Sequence[str | Path]) -> Thesaurus:
    """Return these thesauri over the shipped one, the first on top. All problems are raised as one
    `DocumentError`.
    """
    own = [name for name in names_or_paths if name != SHIPPED]
    if not own:
        return load_thesaurus(SHIPPED)
    layers: list[tuple[Concept, ...]] = []
    problems: list[Problem] = []
    for name in [*own, SHIPPED]:
        try:
            layers.append(concepts_of(name))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    from knowledge_manager.thesaurus.layers import merge_layers

    return merge_layers(layers)


def concepts_of(name_or_path: str | Path) -> tuple[Concept, ...]:
    """Return the concepts of one thesaurus. Those of a SKOS file keep links that leave the file."""
    if str(name_or_path).endswith(SKOS_SUFFIXES):
        from knowledge_manager.thesaurus.skos import read_skos_file

        return read_skos_file(Path(name_or_path))
    return load_thesaurus(name_or_path).concepts()


def load_thesaurus(name_or_path: str | Path) -> Thesaurus:
    """Return a shipped thesaurus by name, or one from a file; invalid input raises `DocumentError`.

    A SKOS file is compiled first, which is slow; a compiled file loads at once.
    """
    name = str(name_or_path)
    if name.endswith(SKOS_SUFFIXES):
        from knowledge_manager.lookup.thesaurus_check import compile_thesaurus_files

        return Thesaurus(compile_thesaurus_files([Path(name_or_path)])[0])
    if isinstance(name_or_path, str) and not name.endswith(COMPILED_SUFFIX) and "/" not in name:
        known = shipped_thesauri()
        if name not in known:
            message = f"no shipped thesaurus has this name ({listed(known)}){did_you_mean(name, known)}"
            endings = listed([COMPILED_SUFFIX, *SKOS_SUFFIXES])
            raise DocumentError.of_file(
                name, "D224", f"{message}; the name of a file ends in one of {endings}"
            )
        content = (
            resources.files("knowledge_manager") / "thesauri" / f"{name}{COMPILED_SUFFIX}"
        ).read_bytes()
    else:
        content = read_document(Path(name_or_path), LARGEST_THESAURUS)
    try:
        return Thesaurus(content)
    except CompactError as error:
        message = f"not a compiled thesaurus: {error}; compile it from its SKOS files again"
        raise DocumentError.of_file(name, "D223", message) from None
