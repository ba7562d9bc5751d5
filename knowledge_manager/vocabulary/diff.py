"""Compares two versions of a vocabulary, and whether nodes with different versions can still communicate.

Messages carry only indexes and scaled values. A change of the meaning of an index or byte is an error:
indexes, types, domains, decimals, units, the order of values. Removals and appended values are warnings,
because nodes must be updated together. Additions are notes, as are terms: they are compiled by the subscriber
and never transmitted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from dens.config.problems import Problem
from knowledge_manager.durations import written_duration
from knowledge_manager.vocabulary.event_class import Attribute, EventClass, Vocabulary
from knowledge_manager.vocabulary.graph_class import GraphClass

Weight = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `path` is `patient.heart_rate`, `patient`, or empty for the vocabulary itself."""

    weight: Weight
    path: str
    message: str

    def __str__(self) -> str:
        """Return the change in one line; errors and warnings have the code D225."""
        weight = self.weight if self.weight == "note" else f"{self.weight} D225"
        return f"{weight}: {self.path}: {self.message}" if self.path else f"{weight}: {self.message}"


@dataclass(frozen=True, slots=True)
class VocabularyDiff:
    """All differences, in the order of the newer vocabulary's indexes."""

    old: Vocabulary
    new: Vocabulary
    changes: tuple[Change, ...]

    @property
    def is_compatible(self) -> bool:
        """Return whether no index or byte changed its meaning."""
        return all(change.weight != "error" for change in self.changes)

    def problems(self, file: str) -> list[Problem]:
        """Return errors and warnings as problems of a file."""
        return [
            Problem(file, 0, 0, change.weight, "D225", f"{change.path}: {change.message}".removeprefix(": "))
            for change in self.changes
            if change.weight != "note"
        ]

    def as_document(self) -> dict[str, Any]:
        return {
            "name": self.new.name,
            "old_version": self.old.version,
            "new_version": self.new.version,
            "compatible": self.is_compatible,
            "changes": [
                {"weight": change.weight, "path": change.path, "message": change.message}
                for change in self.changes
            ],
        }


def diff_vocabularies(old: Vocabulary, new: Vocabulary) -> VocabularyDiff:
    """Return the changes from the old vocabulary to the new one."""
    changes = [*_diff_events(old, new), *_diff_graphs(old, new)]
    if old.feature_bytes != new.feature_bytes:
        message = f"feature_bytes was {old.feature_bytes} and is {new.feature_bytes}; every vector changes"
        changes.insert(0, Change("error", "", message))
    if old.name != new.name:
        changes.insert(0, Change("warning", "", f'the name was "{old.name}" and is "{new.name}"'))
    if changes and new.version <= old.version:
        message = f"the version was {old.version} and is {new.version}; raise it with every change"
        changes.insert(0, Change("error", "", message))
    return VocabularyDiff(old, new, tuple(changes))


def _diff_events(old: Vocabulary, new: Vocabulary) -> Iterator[Change]:
    before = {event.name: event for event in old.events}
    name_at = {event.index: event.name for event in old.events}
    for event in new.events:
        known = before.pop(event.name, None)
        taken = name_at.get(event.index)
        if known is None and taken is not None:
            yield Change("error", event.name, f'takes index {event.index}, which was "{taken}"')
        elif known is None:
            yield Change("note", event.name, f"is new, at index {event.index}")
        else:
            if known.index != event.index:
                yield _moved(event.name, known.index, event.index)
            yield from _diff_attributes(known, event)
    for name in before:
        yield Change("warning", name, "was removed; its subscriptions are no longer valid")


def _diff_graphs(old: Vocabulary, new: Vocabulary) -> Iterator[Change]:
    before = {graph.name: graph for graph in old.graphs}
    for graph in new.graphs:
        known = before.pop(graph.name, None)
        if known is None:
            yield Change("note", graph.name, f"is new, at index {graph.index}")
        else:
            if known.index != graph.index:
                yield _moved(graph.name, known.index, graph.index)
            yield from _diff_graph(known, graph)
    for name in before:
        yield Change("warning", name, "was removed; its subscriptions are no longer valid")


def _diff_graph(old: GraphClass, new: GraphClass) -> Iterator[Change]:
    for what, was, now in (
        ("namespaces", tuple(old.namespaces.values()), tuple(new.namespaces.values())),
        ("terms", old.terms, new.terms),
    ):
        if now[: len(was)] != was:
            yield Change("error", new.name, f"its {what} were reordered or removed; append new ones")
        elif now != was:
            yield Change("warning", new.name, f"{what} were added: {', '.join(now[len(was) :])}")
    facets = {facet.name: facet for facet in old.facets}
    for facet in new.facets:
        known = facets.pop(facet.name, None)
        path = f"{new.name}.{facet.name}"
        if known is None:
            yield Change("note", path, f"is new, at index {facet.index}")
        elif known.index != facet.index:
            yield _moved(path, known.index, facet.index)
        elif (set(known.properties), known.is_open) != (set(facet.properties), facet.is_open):
            yield Change("warning", path, "has different properties; it finds other publishers")
    for name in facets:
        yield Change("warning", f"{new.name}.{name}", "was removed; publishers can no longer be found by it")
    if old.taxonomy.digest != new.taxonomy.digest:
        yield Change("warning", new.name, "the taxonomy changed; update all nodes together")
    if old.most_bytes != new.most_bytes:
        yield Change("note", new.name, f"most_bytes was {old.most_bytes} and is {new.most_bytes}")


def _diff_attributes(old: EventClass, new: EventClass) -> Iterator[Change]:
    before = {attribute.name: attribute for attribute in old.attributes}
    name_at = {attribute.index: attribute.name for attribute in old.attributes}
    for attribute in new.attributes:
        path = f"{new.name}.{attribute.name}"
        known = before.pop(attribute.name, None)
        taken = name_at.get(attribute.index)
        if known is None and taken is not None:
            yield Change("error", path, f'takes index {attribute.index}, which was "{taken}"')
        elif known is None:
            yield Change("note", path, f"is new, at index {attribute.index}")
        else:
            if known.index != attribute.index:
                yield _moved(path, known.index, attribute.index)
            yield from _diff_attribute(path, known, attribute)
    for name in before:
        yield Change("warning", f"{new.name}.{name}", "was removed; its subscriptions are no longer valid")
    if old.location != new.location:
        yield Change("note", new.name, "the location attributes changed")
    if old.places != new.places:
        yield Change("note", new.name, "the places changed")
    if old.notification_lifetime_s != new.notification_lifetime_s:
        was, now = (written_duration(one.notification_lifetime_s) for one in (old, new))
        yield Change("note", new.name, f"the notification lifetime was {was} and is {now}")


def _diff_attribute(path: str, old: Attribute, new: Attribute) -> Iterator[Change]:
    if old.type != new.type:
        yield Change("error", path, f"was a {old.type} and is a {new.type}")
        return
    if new.type == "nominal":
        yield from _diff_values(path, old.values, new.values)
    elif _domain(old) != _domain(new):
        yield Change(
            "error", path, f"the domain was {_domain(old)} and is {_domain(new)}; bytes change meaning"
        )
    elif old.breakpoints != new.breakpoints:
        yield Change("error", path, f"the scale was {_scale(old)} and is {_scale(new)}; bytes change meaning")
    for term in sorted(old.terms.keys() | new.terms.keys()):
        if term not in new.terms:
            yield Change("warning", path, f'term "{term}" was removed; its subscriptions no longer compile')
        elif term not in old.terms:
            yield Change("note", path, f'term "{term}" is new')
        elif old.terms[term] != new.terms[term]:
            yield Change("note", path, f'term "{term}" has another curve')


def _diff_values(path: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Change]:
    if old == new:
        return
    if new[: len(old)] == old:
        yield Change("warning", path, f"values were added: {', '.join(new[len(old) :])}")
    else:
        yield Change("error", path, "the values were reordered or removed; append new ones instead")


def _scale(attribute: Attribute) -> str:
    if not attribute.breakpoints:
        return "linear"
    return ", ".join(
        f"[{scaled / 10**attribute.decimals:.12g}, {byte}]" for scaled, byte in attribute.breakpoints
    )


def _domain(attribute: Attribute) -> str:
    unit = f" {attribute.unit}" if attribute.unit else ""
    return f"{attribute.lo:.12g}..{attribute.hi:.12g}{unit} with {attribute.decimals} decimals"


def _moved(path: str, old: int, new: int) -> Change:
    return Change("error", path, f"the index was {old} and is {new}; an index never changes")
