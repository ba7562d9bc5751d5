"""A routing table with covering and merging: covered subscriptions are not forwarded, similar ones are merged
(Liu's thesis, section 4.3).

An entry is one subscription, or the merger of several. A new subscription that no entry covers joins the most
similar entry, if one is similar enough. A merger is always the fold of `merge` over its members, in the order
of their keys; with fewer than two it dissolves, and they are inserted as new ones.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

from plugins.atopss.relations.merging import Names, Similarity
from plugins.atopss.shapes.scale import TOP
from plugins.language import SubscriptionKey
from plugins.routing import Changes


class Mergeable(Protocol):
    """The relations that a table needs (`plugins.atopss.relations.relations`)."""

    def names(self, body: bytes) -> Names | None:
        """Return the event and attributes of a body that can be merged with others that have the same, and
        covers only bodies with at least those; None if unknown.
        """
        ...

    def covers(self, one: bytes, other: bytes) -> bool:
        """Return whether `one` certainly matches whatever `other` matches."""
        ...

    def merge(self, one: bytes, other: bytes) -> bytes | None: ...

    def similarity(self, one: bytes, other: bytes, least: Similarity) -> Similarity | None:
        """Return the similarity of two bodies, or None below the minimum."""
        ...


@dataclass(slots=True)
class Entry:
    """A forwarded body, its members, and what else it covers."""

    body: bytes
    members: dict[SubscriptionKey, bytes]
    covered: dict[SubscriptionKey, bytes] = field(default_factory=dict)


class _Entries:
    """Entries by event and attributes, so that few are compared with a body."""

    def __init__(self) -> None:
        self._groups: dict[Names | None, dict[int, Entry]] = {}
        self._with: dict[tuple[int, int], set[Names]] = {}
        """The names with an attribute, by event and attribute."""

    def __iter__(self) -> Iterator[Entry]:
        for group in self._groups.values():
            yield from group.values()

    def enter(self, names: Names | None, entry: Entry) -> None:
        self._groups.setdefault(names, {})[id(entry)] = entry
        for place in _places(names):
            self._with.setdefault(place, set()).add(names)  # type: ignore[arg-type]

    def leave(self, names: Names | None, entry: Entry) -> None:
        del self._groups[names][id(entry)]
        if not self._groups[names]:
            del self._groups[names]
            for place in _places(names):
                self._with[place].remove(names)  # type: ignore[arg-type]

    def alike(self, names: Names | None) -> list[Entry]:
        """Return the entries with the same names."""
        return [] if names is None else list(self._groups.get(names, {}).values())

    def above(self, names: Names | None) -> Iterator[Entry]:
        """Return the entries that may cover a body with these names."""
        if names is None:
            yield from self
            return
        yield from self._groups.get(None, {}).values()
        event, attributes = names
        if 1 << len(attributes) <= len(self._groups):
            subsets = (
                (event, frozenset(some))
                for size in range(len(attributes), 0, -1)
                for some in combinations(sorted(attributes), size)
            )
        else:
            subsets = (one for one in self._groups if one and one[0] == event and one[1] <= attributes)
        for subset in subsets:
            yield from self._groups.get(subset, {}).values()

    def below(self, names: Names | None) -> list[Entry]:
        """Return the entries that a body with these names may cover."""
        if names is None:
            return list(self)
        rarest = min((self._with.get(place, set()) for place in _places(names)), key=len)
        found = list(self._groups.get(None, {}).values())
        for one in rarest:
            if names[1] <= one[1]:
                found += self._groups[one].values()
        return found


def _places(names: Names | None) -> list[tuple[int, int]]:
    return [] if names is None else [(names[0], attribute) for attribute in names[1]]


class MergingTable:
    """Entries that together cover everything held; none of them covers another."""

    def __init__(
        self, relations: Mergeable, overlap: float = 0.5, possibility: int = TOP, necessity: int = 0
    ) -> None:
        self._relations = relations
        self._least = (overlap, possibility, necessity)
        self._entries = _Entries()
        self._of: dict[SubscriptionKey, Entry] = {}
        self._come: list[bytes] = []
        self._gone: list[bytes] = []

    @property
    def entries(self) -> list[Entry]:
        return list(self._entries)

    def insert(self, key: SubscriptionKey, body: bytes) -> Changes:
        """Add a subscription; a known key is replaced."""
        self._relations.names(body)  # refuses an invalid body before anything changes
        self._take_out(key)
        self._bring_in(key, body)
        return self._changes()

    def remove(self, key: SubscriptionKey) -> Changes:
        self._take_out(key)
        return self._changes()

    def bodies(self) -> list[bytes]:
        """Return the forwarded bodies."""
        return [entry.body for entry in self._entries]

    @property
    def covered(self) -> int:
        """Return the number of bodies that an entry covers without being made of them."""
        return sum(len(entry.covered) for entry in self._entries)

    @property
    def mergers(self) -> int:
        """Return the number of merged entries."""
        return sum(len(entry.members) > 1 for entry in self._entries)

    def _bring_in(self, key: SubscriptionKey, body: bytes) -> None:
        names = self._relations.names(body)
        for entry in self._entries.above(names):
            if self._relations.covers(entry.body, body):
                entry.covered[key] = body
                self._of[key] = entry
                return
        alike = [
            (found, entry)
            for entry in self._entries.alike(names)
            if (found := self._relations.similarity(entry.body, body, self._least)) is not None
        ]
        if alike:
            _, entry = max(alike, key=lambda one: one[0])
            members = dict(sorted({**entry.members, key: body}.items()))
            whole = self._fold(members.values())
            if whole is not None:
                self._leave(entry)
                entry.members, entry.body = members, whole
                self._enter(entry)
                return
        self._enter(Entry(body, {key: body}))

    def _fold(self, bodies: Iterable[bytes]) -> bytes | None:
        whole: bytes | None = None
        for body in bodies:
            whole = body if whole is None else self._relations.merge(whole, body)
            if whole is None:
                return None
        return whole

    def _enter(self, entry: Entry) -> None:
        """Add an entry; those that it covers move below it."""
        names = self._relations.names(entry.body)
        for other in self._entries.below(names):
            if self._relations.covers(entry.body, other.body):
                self._leave(other)
                entry.covered |= {**other.members, **other.covered}
        self._entries.enter(names, entry)
        self._of |= dict.fromkeys((*entry.members, *entry.covered), entry)
        self._come.append(entry.body)

    def _leave(self, entry: Entry) -> None:
        self._entries.leave(self._relations.names(entry.body), entry)
        self._gone.append(entry.body)

    def _take_out(self, key: SubscriptionKey) -> None:
        entry = self._of.pop(key, None)
        if entry is None or entry.covered.pop(key, None) is not None:
            return
        self._leave(entry)
        del entry.members[key]
        whole = self._fold(entry.members.values()) if len(entry.members) > 1 else None
        if whole is None:
            orphans = {**entry.members, **entry.covered}
        else:
            entry.body = whole
            orphans = {
                one: body for one, body in entry.covered.items() if not self._relations.covers(whole, body)
            }
            entry.covered = {one: body for one, body in entry.covered.items() if one not in orphans}
            self._enter(entry)
        for one, body in sorted(orphans.items()):
            self._bring_in(one, body)

    def _changes(self) -> Changes:
        """Return the changes since the last call. A body may have come and gone several times; the count
        decides whether it is new.
        """
        steps = Counter(self._come)
        steps.subtract(self._gone)
        self._come, self._gone = [], []
        return Changes(
            tuple(body for body, step in steps.items() if step > 0),
            tuple(body for body, step in steps.items() if step < 0),
        )
