"""What kind of file is this, and what is wrong with it? Behind `dens check`."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowledge_manager.documents import Problem
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus import Thesaurus

THESAURUS_SUFFIXES = (".ttl", ".jsonld", ".rdf")
COMPILED_THESAURUS = ".thesaurus"
CHECKED_SUFFIXES = (".xml", ".toml", ".sv", ".nv", ".hex", *THESAURUS_SUFFIXES, COMPILED_THESAURUS)


def problems_of(path: Path, table: "MissionTable", thesaurus: "Thesaurus | None" = None) -> list["Problem"]:
    """Return all problems of one file; its suffix and its keys say what it is.

    Words of subscriptions are looked up in the thesaurus, the shipped one if none is given.
    """
    if path.suffix == ".toml":
        return _toml_problems(path)
    if path.suffix in (".sv", ".nv", ".hex"):
        from plugins.fuzzy.describe import check_vector_file

        return check_vector_file(path, table)
    if path.suffix == COMPILED_THESAURUS:
        return _compiled_thesaurus_problems(path)
    if path.suffix in THESAURUS_SUFFIXES:
        from knowledge_manager.thesaurus_check import check_thesaurus_file

        return check_thesaurus_file(path, table)
    from plugins.fuzzy.compiler import check_subscription_file

    return check_subscription_file(path, table, thesaurus)


def known_vocabularies(sources: list[Path]) -> list[str]:
    """Return the vocabularies that ship and, after them, those among the files that are sound and fit in."""
    from knowledge_manager.documents import DocumentError
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary import shipped_vocabularies

    known = list(shipped_vocabularies())
    for path in sources:
        if path.suffix == ".toml" and _looks_like_vocabulary(path):
            try:
                load_mission_table([*known, str(path)])
            except DocumentError:
                continue
            known.append(str(path))
    return known


def _compiled_thesaurus_problems(path: Path) -> list["Problem"]:
    from knowledge_manager.documents import DocumentError
    from knowledge_manager.thesaurus_files import load_thesaurus

    try:
        load_thesaurus(path)
    except DocumentError as error:
        return list(error.problems)
    return []


def _toml_problems(path: Path) -> list["Problem"]:
    """A scenario has groups of nodes; a vocabulary has event classes; a node's file has a store."""
    if _looks_like_vocabulary(path):
        from knowledge_manager.vocabulary import check_vocabulary_file
        from plugins.fuzzy.compiler.term_check import term_fault

        return check_vocabulary_file(path, term_fault)
    if _has_key(path, "store"):
        from studio.node.loading import check_node_file

        return check_node_file(path)
    from emulation.scenario import check_scenario_file

    return check_scenario_file(path)


def _looks_like_vocabulary(path: Path) -> bool:
    return _has_key(path, "event")


def _has_key(path: Path, key: str) -> bool:
    """Guess from the keys; where the syntax is broken, from the text, so that the right checker reports."""
    from knowledge_manager.documents import DocumentError, read_text

    try:
        text = read_text(path)
    except DocumentError:
        return False
    try:
        return key in tomllib.loads(text)
    except (ValueError, RecursionError):
        return f"[[{key}" in text or text.startswith(f"{key} =") or f"\n{key} =" in text
