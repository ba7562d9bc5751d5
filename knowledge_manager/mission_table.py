"""The mission table: the vocabularies loaded together, and what every node must agree on.

It owns event and attribute indexes, domains, units and value lists. Event indexes and names are unique
across it. Every envelope on the air carries its `check`, so that nodes with different tables notice before
they misread each other.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from knowledge_manager.documents import DocumentError, Problem
from knowledge_manager.event_class import Attribute, EventClass, UnknownName, Vocabulary
from knowledge_manager.vocabulary import load_vocabulary
from knowledge_manager.vocabulary_reader import TermFault


@dataclass(frozen=True)
class MissionTable:
    """Every event class of a mission, by name and by index."""

    vocabularies: tuple[Vocabulary, ...]
    _by_name: dict[str, EventClass] = field(init=False, repr=False, compare=False)
    _by_index: dict[int, EventClass] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the event classes, and refuse vocabularies that claim the same event."""
        clashes = list(_clashes(self.vocabularies))
        if clashes:
            raise DocumentError(clashes)
        events = [event for vocabulary in self.vocabularies for event in vocabulary.events]
        object.__setattr__(self, "_by_name", {event.name: event for event in events})
        object.__setattr__(self, "_by_index", {event.index: event for event in sorted(events, key=_index)})

    @property
    def feature_bytes(self) -> int:
        """Return F, the bytes of a feature: the most that any of the vocabularies asks for."""
        return max((vocabulary.feature_bytes for vocabulary in self.vocabularies), default=1)

    @property
    def age_index(self) -> int:
        """Return the attribute index that stands for an event's age: the highest one a feature can name."""
        return 8 * self.feature_bytes - 1

    @property
    def events(self) -> tuple[EventClass, ...]:
        """Return all event classes, lowest index first."""
        return tuple(self._by_index.values())

    @cached_property
    def check(self) -> int:
        """Return the byte that tells mission tables apart: the low 8 bits of CRC-32 over `canonical()`."""
        return zlib.crc32(self.canonical()) & 0xFF

    def canonical(self) -> bytes:
        """Return indexes, domains and value lists in one agreed form, whatever files they came from.

        One line each, ended by a line feed, in UTF-8: `features F`; for every event by index `event INDEX`;
        for each of its attributes by index `INDEX number LO HI DECIMALS UNIT` (`time` and `date` likewise),
        LO and HI scaled integers, followed by one line `at X BYTE` for each breakpoint of a scale, or `INDEX
        nominal` followed by one line `= VALUE` for each value in order.
        Names, terms and texts take no part: another organisation may call the same things differently.
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

    def _canonical_lines(self) -> Iterator[str]:
        yield f"features {self.feature_bytes}"
        for event in self.events:
            yield f"event {event.index}"
            for attribute in event.attributes:
                yield from _canonical_attribute(attribute)


def load_mission_table(
    names_or_paths: Iterable[str | Path], term_fault: TermFault | None = None
) -> MissionTable:
    """Return the table that these vocabularies form together; what is wrong raises one `DocumentError`.

    `term_fault` says of every term whether a language can express it.
    """
    vocabularies: list[Vocabulary] = []
    problems: list[Problem] = []
    for name_or_path in names_or_paths:
        try:
            vocabularies.append(load_vocabulary(name_or_path, term_fault))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    return MissionTable(tuple(vocabularies))


def _index(event: EventClass) -> int:
    return event.index


def _clashes(vocabularies: tuple[Vocabulary, ...]) -> Iterator[Problem]:
    indexes: dict[str, str] = {}
    names: dict[str, str] = {}
    loaded: set[str] = set()
    for vocabulary in vocabularies:
        if vocabulary.name in loaded:
            message = f"vocabulary {vocabulary.name} is loaded twice; name it once"
            yield Problem(vocabulary.name, 0, 0, "error", "D214", message)
            continue
        loaded.add(vocabulary.name)
        for event in vocabulary.events:
            owner = f"{vocabulary.name}.{event.name}"
            for what, owners in (
                (f"event index {event.index}", indexes),
                (f'event name "{event.name}"', names),
            ):
                if what in owners:
                    taken = f"{what} of {owner} is already taken by {owners[what]}"
                    message = f"{taken}; load only one of them or change it"
                    yield Problem(vocabulary.name, 0, 0, "error", "D214", message)
                owners.setdefault(what, owner)


def _canonical_attribute(attribute: Attribute) -> Iterator[str]:
    if attribute.type == "nominal":
        yield f"{attribute.index} nominal"
        yield from (f"= {value}" for value in attribute.values)
    else:
        scale = f"{attribute.lo_scaled} {attribute.hi_scaled} {attribute.decimals}"
        yield f"{attribute.index} {attribute.type} {scale} {attribute.unit}"
        yield from (f"at {scaled} {byte}" for scaled, byte in attribute.breakpoints)
