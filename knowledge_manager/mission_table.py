"""The mission table: the vocabularies that are loaded together, which every node must share.

It owns event and attribute indexes, domains, units and value lists. Event indexes and names are unique across
it. Every envelope carries its `check`, so that nodes with different tables detect the mismatch before they
misread each other.
"""

import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_text
from dens.config.toml_positions import Path as KeyPath
from dens.config.toml_positions import locate
from knowledge_manager.graphs.taxonomy import Taxonomy, find_cycle, merge_taxonomies
from knowledge_manager.graphs.taxonomy_files import FindTaxonomy
from knowledge_manager.vocabulary.event_class import Attribute, EventClass, UnknownName, Vocabulary
from knowledge_manager.vocabulary.graph_class import GraphClass
from knowledge_manager.vocabulary.reader import TermFault
from knowledge_manager.vocabulary.vocabulary import load_vocabulary

if TYPE_CHECKING:
    from knowledge_manager.graphs.dictionary import Dictionary

SourceClass = TypeVar("SourceClass", EventClass, GraphClass)


@dataclass(frozen=True)
class MissionTable:
    """Every event class of a mission, by name and by index."""

    vocabularies: tuple[Vocabulary, ...]
    _by_name: dict[str, EventClass] = field(init=False, repr=False, compare=False)
    _by_index: dict[int, EventClass] = field(init=False, repr=False, compare=False)
    _graphs: dict[int, GraphClass] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the event classes and reject vocabularies that claim the same event."""
        found = [_placed(clash, "") for clash in clashes(self.vocabularies)]
        if found:
            raise DocumentError(found)
        events = [event for vocabulary in self.vocabularies for event in vocabulary.events]
        object.__setattr__(self, "_by_name", {event.name: event for event in events})
        object.__setattr__(self, "_by_index", {event.index: event for event in sorted(events, key=_index)})
        graphs = [graph for vocabulary in self.vocabularies for graph in vocabulary.graphs]
        object.__setattr__(self, "_graphs", {graph.index: graph for graph in sorted(graphs, key=_index)})
        ring = find_cycle(self.taxonomy.parents) if len(graphs) > 1 else ()
        if ring:
            message = f"the merged taxonomies have a cycle: {' → '.join((*ring, ring[0]))}; load only one"
            raise DocumentError([Problem(self.taxonomy.name, 0, 0, "error", "D520", message)])

    @property
    def feature_bytes(self) -> int:
        """Return F, the bytes of a feature: the maximum over the vocabularies."""
        return max((vocabulary.feature_bytes for vocabulary in self.vocabularies), default=1)

    @property
    def age_index(self) -> int:
        """Return the attribute index of an event's age: the highest one that a feature can name."""
        return 8 * self.feature_bytes - 1

    @property
    def events(self) -> tuple[EventClass, ...]:
        """Return all event classes, lowest index first."""
        return tuple(self._by_index.values())

    @property
    def graphs(self) -> tuple[GraphClass, ...]:
        """Return all graph classes, lowest index first."""
        return tuple(self._graphs.values())

    @cached_property
    def dictionary(self) -> "Dictionary":
        """Return the terms and namespaces that are encoded as numbers in graphs."""
        from knowledge_manager.graphs.dictionary import Dictionary

        return Dictionary.of((graph.namespaces, graph.terms) for graph in self.graphs)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """Return the taxonomies of all graph classes, merged."""
        return merge_taxonomies({graph.taxonomy.name: graph.taxonomy for graph in self.graphs}.values())

    @cached_property
    def check(self) -> int:
        """Return the byte that identifies the table: the low 8 bits of CRC-32 over `canonical()`."""
        return zlib.crc32(self.canonical()) & 0xFF

    def canonical(self) -> bytes:
        """Return indexes, domains and value lists in one canonical form, whatever files they came from.

        One line each, ended by a line feed, in UTF-8: `features F`; for every event by index `event INDEX`;
        for each of its attributes by index `INDEX number LO HI DECIMALS UNIT` (`time` and `date` likewise),
        LO and HI scaled integers, followed by one line `at X BYTE` for each breakpoint of a scale, or `INDEX
        nominal` followed by one line `= VALUE` for each value in order. Where there are graph classes, for
        each by index `graph INDEX MOST_BYTES` and one line `INDEX facet PROPERTY…` for each facet (`*` is the
        open one); then `namespace IRI` and `term IRI` by number, and `taxonomy DIGEST`.
        Names, terms and descriptions are excluded: another organisation may use other words for the same
        things.
        """
        return "".join(f"{line}\n" for line in self._canonical_lines()).encode()

    def event(self, name: str) -> EventClass:
        """Return the event class of that name, or raise `UnknownName`."""
        if name not in self._by_name:
            raise UnknownName("event class", name, list(self._by_name))
        return self._by_name[name]

    def event_at(self, index: int) -> EventClass:
        """Return the event class of that index, or raise `UnknownName`."""
        if index not in self._by_index:
            raise UnknownName("event index", str(index), [str(known) for known in self._by_index])
        return self._by_index[index]

    def source_class(self, name: str) -> EventClass | GraphClass:
        """Return the event class or graph class of that name, or raise `UnknownName`."""
        found = next((graph for graph in self.graphs if graph.name == name), None)
        if found is None and name not in self._by_name:
            raise UnknownName("event class", name, [*self._by_name, *(graph.name for graph in self.graphs)])
        return self._by_name[name] if found is None else found

    def source_class_at(self, index: int) -> EventClass | GraphClass:
        """Return the event class or graph class of that index, or raise `UnknownName`."""
        return self._graphs[index] if index in self._graphs else self.event_at(index)

    @property
    def source_classes(self) -> "tuple[EventClass | GraphClass, ...]":
        """Return all event classes and graph classes, lowest index first."""
        return tuple(sorted((*self.events, *self.graphs), key=_index))

    def with_notification_lifetimes(self, seconds: Mapping[str, int]) -> "MissionTable":
        """Return the table with these notification lifetimes by event class. The check does not change: a
        lifetime travels with its notification.
        """

        def with_lifetime(source_class: SourceClass) -> SourceClass:
            lifetime_s = seconds.get(source_class.name, source_class.notification_lifetime_s)
            return replace(source_class, notification_lifetime_s=lifetime_s)

        return MissionTable(
            tuple(
                replace(
                    vocabulary,
                    events=tuple(with_lifetime(event) for event in vocabulary.events),
                    graphs=tuple(with_lifetime(graph) for graph in vocabulary.graphs),
                )
                for vocabulary in self.vocabularies
            )
        )

    def _canonical_lines(self) -> Iterator[str]:
        yield f"features {self.feature_bytes}"
        for event in self.events:
            yield f"event {event.index}"
            for attribute in event.attributes:
                yield from _canonical_attribute(attribute)
        for graph in self.graphs:
            yield f"graph {graph.index} {graph.most_bytes}"
            for facet in graph.facets:
                members = " ".join((*sorted(facet.properties), *("*" if facet.is_open else "")))
                yield f"{facet.index} facet {members}"
        if self.graphs:
            yield from (f"namespace {one}" for one in self.dictionary.namespaces)
            yield from (f"term {one.text}" for one in self.dictionary.terms)
            yield f"taxonomy {self.taxonomy.digest}"


def load_mission_table(
    names_or_paths: Iterable[str | Path],
    term_fault: TermFault | None = None,
    taxonomies: Callable[[str | Path], FindTaxonomy] | None = None,
) -> MissionTable:
    """Return the table that these vocabularies form. All problems are raised as one `DocumentError`.

    `term_fault` returns why a language cannot express a term. `taxonomies` returns, for a vocabulary, the
    finder of the taxonomies that it names (`load_vocabulary`).
    """
    vocabularies: list[Vocabulary] = []
    problems: list[Problem] = []
    named = list(names_or_paths)
    for name_or_path in named:
        find = None if taxonomies is None else taxonomies(name_or_path)
        try:
            vocabularies.append(load_vocabulary(name_or_path, term_fault, find))
        except DocumentError as error:
            problems.extend(error.problems)
    if not problems:
        files = [str(name) if _is_file(name) else "" for name in named]
        problems = [_placed(clash, files[clash.position]) for clash in clashes(vocabularies)]
    if problems:
        raise DocumentError(problems)
    return MissionTable(tuple(vocabularies))


def _index(event: EventClass | GraphClass) -> int:
    return event.index


@dataclass(frozen=True, slots=True)
class Clash:
    """A conflict between two vocabularies: the later one, the key in it, and the message."""

    position: int
    vocabulary: str
    key: KeyPath
    other: int
    """Position of the earlier vocabulary."""
    message: str


def clashes(vocabularies: Sequence[Vocabulary]) -> Iterator[Clash]:
    """Yield the conflicts between vocabularies; of two claims the later one is reported."""
    owners: dict[str, tuple[int, str]] = {}
    loaded: dict[str, int] = {}
    for position, vocabulary in enumerate(vocabularies):
        if vocabulary.name in loaded:
            message = f"vocabulary {vocabulary.name} is loaded twice; name it once"
            yield Clash(position, vocabulary.name, ("name",), loaded[vocabulary.name], message)
            continue
        loaded[vocabulary.name] = position
        classes: tuple[EventClass | GraphClass, ...] = (*vocabulary.events, *vocabulary.graphs)
        for event in classes:
            kind = "event" if isinstance(event, EventClass) else "graph"
            owner = f"{vocabulary.name}.{event.name}"
            for key, what in (
                ("index", f"event index {event.index}"),
                ("name", f'event name "{event.name}"'),
            ):
                if what in owners:
                    other, taker = owners[what]
                    taken = f"{what} of {owner} is already taken by {taker}"
                    message = f"{taken}; load only one of them or change it"
                    yield Clash(position, vocabulary.name, (kind, event.name, key), other, message)
                owners.setdefault(what, (position, owner))


def _placed(clash: Clash, file: str) -> Problem:
    """Return the clash as a problem with its position. Shipped vocabularies have a name and no position."""
    if not file:
        return Problem(clash.vocabulary, 0, 0, "error", "D214", clash.message)
    line, column = place_of_clash(clash, read_text(Path(file)))
    return Problem(file, line, column, "error", "D214", clash.message)


def place_of_clash(clash: Clash, text: str) -> tuple[int, int]:
    """Return line and column of the clash in the text of its vocabulary."""
    key = clash.key
    if key[0] in ("event", "graph"):
        named = [one.get("name") for one in tomllib.loads(text)[str(key[0])]]
        key = (key[0], named.index(key[1]), key[2])
    return locate(text).at(key)


def _is_file(name_or_path: str | Path) -> bool:
    return isinstance(name_or_path, Path) or name_or_path.endswith(".toml") or "/" in name_or_path


def _canonical_attribute(attribute: Attribute) -> Iterator[str]:
    if attribute.type == "nominal":
        yield f"{attribute.index} nominal"
        yield from (f"= {value}" for value in attribute.values)
    else:
        scale = f"{attribute.lo_scaled} {attribute.hi_scaled} {attribute.decimals}"
        yield f"{attribute.index} {attribute.type} {scale} {attribute.unit}"
        yield from (f"at {scaled} {byte}" for scaled, byte in attribute.breakpoints)
