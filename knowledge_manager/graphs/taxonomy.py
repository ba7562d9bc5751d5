"""A taxonomy: a hierarchy of classes, things with their classes, and labels.

A class may have several parents; cycles are not allowed. A taxonomy is never transmitted: every node of a
mission has the same one, and its digest is part of the mission table.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

Fact = TypeVar("Fact")


@dataclass(frozen=True, slots=True)
class TaxonomyLabel:
    """A word for a class or a thing; the language may be empty."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Taxonomy:
    """Facts by IRI. `parents` has every class, with an empty tuple for top classes; `types` has the classes
    of things.
    """

    name: str = ""
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, tuple[TaxonomyLabel, ...]] = field(default_factory=dict)

    @cached_property
    def _ancestors(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one, above in self.parents.items():
            for parent in above:
                found.setdefault(parent, []).append(one)
        return found

    def __contains__(self, iri: str) -> bool:
        """Return whether the IRI is a class."""
        return iri in self.parents

    def ancestors(self, iri: str) -> frozenset[str]:
        """Return the superclasses of a class, itself included; an unknown IRI has only itself."""
        known = self._ancestors
        waiting = [iri]
        while waiting:
            one = waiting[-1]
            if one in known:
                waiting.pop()
                continue
            missing = [parent for parent in self.parents.get(one, ()) if parent not in known]
            if missing:
                waiting += missing
            elif one not in self.parents:
                waiting.pop()
                if one == iri:
                    return frozenset({iri})  # not cached, so that unknown IRIs cannot grow the cache
            else:
                above = (known[parent] for parent in self.parents[one])
                known[one] = frozenset({one}).union(*above)
        return known[iri]

    def is_below(self, iri: str, other: str) -> bool:
        """Return whether a class equals the other one or is a subclass of it."""
        return iri == other or other in self.ancestors(iri)

    def types_of(self, iri: str) -> tuple[str, ...]:
        """Return the stated classes of a thing."""
        return self.types.get(iri, ())

    def descendants(self, iri: str) -> frozenset[str]:
        """Return the subclasses of a class, itself included."""
        found, waiting = {iri}, [iri]
        while waiting:
            for child in self._children.get(waiting.pop(), ()):
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return frozenset(found)

    @cached_property
    def digest(self) -> str:
        """Return a digest of the hierarchy; labels do not count."""
        lines = [f"c {one} {' '.join(sorted(above))}" for one, above in sorted(self.parents.items())]
        lines += [f"t {one} {' '.join(sorted(of))}" for one, of in sorted(self.types.items())]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else ""


NO_TAXONOMY = Taxonomy()


def merge_taxonomies(taxonomies: Iterable[Taxonomy]) -> Taxonomy:
    """Merge taxonomies; use `find_cycle` to detect a cycle in the result."""
    some = [one for one in taxonomies if one.parents or one.types]
    if len(some) < 2:
        return some[0] if some else NO_TAXONOMY
    return Taxonomy(
        "+".join(one.name for one in some),
        _united([one.parents for one in some]),
        _united([one.types for one in some]),
        {iri: tuple(dict.fromkeys(words)) for iri, words in _gathered([one.labels for one in some]).items()},
    )


def _gathered(maps: Iterable[Mapping[str, tuple[Fact, ...]]]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for one in maps:
        for iri, values in one.items():
            found.setdefault(iri, []).extend(values)
    return found


def _united(maps: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    return {iri: tuple(sorted(set(values))) for iri, values in _gathered(maps).items()}


def find_cycle(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the classes of a cycle in order, the least first; empty if there is none."""
    done: set[str] = set()
    for start in sorted(parents):
        path: dict[str, None] = {}
        waiting: list[tuple[str, bool]] = [(start, False)]
        while waiting:
            one, leaving = waiting.pop()
            if leaving:
                del path[one]
                done.add(one)
            elif one in path:
                ring = list(path)[list(path).index(one) :]
                at = ring.index(min(ring))
                return tuple(ring[at:] + ring[:at])
            elif one not in done:
                path[one] = None
                waiting.append((one, True))
                waiting += [(parent, False) for parent in parents.get(one, ())]
    return ()
