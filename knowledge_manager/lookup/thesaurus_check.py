"""Checks a SKOS file, alone and against a mission table, for `dens check`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.compiled import compile_thesaurus
from knowledge_manager.thesaurus.concept import Concept, Relation, Target
from knowledge_manager.thesaurus.skos import dangling_links, joined_concepts, read_skos_file, read_skos_files
from knowledge_manager.units import UnitError, convert
from knowledge_manager.vocabulary.event_class import UnknownName


def check_thesaurus_file(
    path: Path, table: MissionTable | None = None, beside: Iterable[Concept] = ()
) -> list[Problem]:
    """Return all problems of one SKOS file; with a table also what the table lacks.

    `beside` are the concepts that the file is used with and may link to.
    """
    try:
        concepts = read_skos_file(path)
    except DocumentError as error:
        return list(error.problems)
    own = {concept.uri for concept in concepts}
    everything = joined_concepts([*concepts, *beside])
    found = [
        Problem(str(path), 0, 0, "warning", "D226", message)
        for uris, message in _confusions(everything)
        if own & uris
    ]
    found += problems_with_table(concepts, table, str(path)) if table is not None else []
    return sorted(found)


def compile_thesaurus_files(paths: Iterable[Path]) -> tuple[bytes, list[Problem]]:
    """Return the compiled form of all files together, and a warning for every dangling link.

    Invalid files raise `DocumentError`.
    """
    listed_paths = list(paths)
    concepts = read_skos_files(listed_paths)
    file = ", ".join(path.name for path in listed_paths)
    warnings = [
        Problem(file, 0, 0, "warning", "D222", f"{concept} links to {missing}, which no file describes")
        for concept, missing in dangling_links(concepts)
    ]
    warnings += [Problem(file, 0, 0, "warning", "D226", message) for _, message in _confusions(concepts)]
    return compile_thesaurus(concepts), warnings


def _confusions(concepts: Sequence[Concept]) -> Iterator[tuple[set[str], str]]:
    """Yield where exact links join concepts with different targets, which makes their words ambiguous.

    Each comes with the URIs of all joined concepts.
    """
    joined = _joined_exactly(concepts)
    members: dict[str, set[str]] = {}
    for uri, first in joined.items():
        members.setdefault(first, set()).add(uri)
    groups: dict[tuple[str, str, str], dict[str, str]] = {}
    for concept in concepts:
        for target in concept.targets:
            rivals = (joined[concept.uri], target.kind, target.name.partition("=")[0] if target.value else "")
            groups.setdefault(rivals, {}).setdefault(target.name, concept.uri)
    for (first, _, _), standing in groups.items():
        if len(standing) > 1:
            places = ", ".join(f"{name} ({uri})" for name, uri in standing.items())
            message = f"skos:exactMatch joins different targets: {places}; use closeMatch, or remove a link"
            yield members[first], message


def _joined_exactly(concepts: Sequence[Concept]) -> dict[str, str]:
    """Return, for each concept, the representative URI of its group of exact links."""
    first = {concept.uri: concept.uri for concept in concepts}

    def root(uri: str) -> str:
        while first[uri] != uri:
            first[uri] = first[first[uri]]
            uri = first[uri]
        return uri

    for concept in concepts:
        for relation, end in concept.links:
            if relation is Relation.EXACT and end in first:
                one, other = sorted((root(concept.uri), root(end)))
                first[other] = one
    return {uri: root(uri) for uri in first}


def problems_with_table(concepts: Sequence[Concept], table: MissionTable, file: str) -> Iterator[Problem]:
    """Yield targets that the table lacks, and units of another dimension.

    These are warnings: a mission may load fewer vocabularies than a thesaurus covers.
    """
    for concept in concepts:
        for target in concept.targets:
            reason = _misfit(concept, target, table)
            if reason:
                yield Problem(file, 0, 0, "warning", "D222", f"{concept.uri}: {reason}")


def _misfit(concept: Concept, target: Target, table: MissionTable) -> str:
    if target.kind == "term":
        known = {term for event in table.events for attribute in event.attributes for term in attribute.terms}
        return "" if target.name in known else f'no attribute has a term "{target.name}"'
    try:
        event = table.event(target.event)
        attribute = event.attribute(target.attribute) if target.attribute else None
        if attribute is not None and target.value and target.value not in attribute.values:
            return f'{target.event}.{target.attribute} has no value "{target.value}"'
        if attribute is not None and concept.unit:
            convert(0.0, concept.unit, attribute.unit)
    except (UnknownName, UnitError) as error:
        return str(error)
    return ""
