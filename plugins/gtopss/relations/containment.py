"""Containment: s contains t if every publication that matches t matches s.

The test is a homomorphism from s into t: constants map to themselves, variables to nodes of t, every edge to
an edge of t, and every constraint is implied at its image. Without constraints that is exact: t with its
variables frozen to unique names is a publication. With constraints it is sound, but may miss containment that
needs a case distinction.
"""

from functools import cached_property
from typing import Final

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Graph, Iri, Triple
from plugins.gtopss.pattern import Constraint, Edge, End, Pattern
from plugins.gtopss.relations.edge_keys import Key, own_keys, wider_keys
from plugins.gtopss.relations.implication import Knowledge

MOST_TRIES: Final = 20_000
"""Steps of a search after which containment is not claimed."""

FROZEN: Final = "urn:dens:frozen:"


def frozen(pattern: Pattern) -> Graph:
    """Return a pattern as a publication, with unique names for its variables."""

    def end(one: End) -> Iri | End:
        return Iri(f"{FROZEN}{one}") if isinstance(one, int) else one

    return frozenset(
        Triple(end(edge.subject), edge.property, end(edge.object))  # type: ignore[arg-type]
        for edge in pattern.edges
    )


class Container:
    """A pattern that may contain others, with lazily computed search data."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    @cached_property
    def own(self) -> frozenset[Key]:
        """Return the keys of its edges and joins."""
        return own_keys(self._pattern)

    @cached_property
    def asked(self) -> list[list[Constraint]]:
        """Return the constraints on each variable alone."""
        return [list(self._pattern.constraints_on(one)) for one in range(self._pattern.variables)]

    @cached_property
    def apart(self) -> list[list[int]]:
        """Return from which others each variable must differ."""
        found: list[list[int]] = [[] for _ in range(self._pattern.variables)]
        for one, other in self._pattern.differing:
            found[one].append(other)
            found[other].append(one)
        return found

    @cached_property
    def joined(self) -> list[Edge]:
        """Return the edges that must be mapped together. An edge whose variables occur nowhere else and are
        unconstrained is mapped if its key exists.
        """
        uses = [0] * self._pattern.variables
        for edge in self._pattern.edges:
            for variable in edge.variables():
                uses[variable] += 1
        for one in self._pattern.constraints:
            uses[one.variable] += 1
            if isinstance(one.operand, int):
                uses[one.operand] += 1
        return _connected(
            [edge for edge in self._pattern.edges if any(uses[variable] > 1 for variable in edge.variables())]
        )


class Contained:
    """A pattern that others may contain; `wider` are the keys that they can have."""

    def __init__(self, pattern: Pattern, taxonomy: Taxonomy) -> None:
        self.wider = wider_keys(pattern)
        self._pattern = pattern
        self._taxonomy = taxonomy

    def is_in(self, container: Container) -> bool:
        """Return whether a pattern certainly contains this one."""
        if not container.own <= self.wider:
            return False
        return not container.joined or _Mapping(container, self).extends({}, 0)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return the known constraints on its nodes."""
        return Knowledge(self._pattern, self._taxonomy)

    @cached_property
    def by_property(self) -> dict[Iri, list[Edge]]:
        """Return its edges by property."""
        found: dict[Iri, list[Edge]] = {}
        for edge in self._pattern.edges:
            found.setdefault(edge.property, []).append(edge)
        return found


def contains(container: Pattern, contained: Pattern, taxonomy: Taxonomy) -> bool:
    """Return whether a pattern certainly contains another."""
    return Contained(contained, taxonomy).is_in(Container(container))


def _connected(edges: list[Edge]) -> list[Edge]:
    """Return edges, fewest variables first, each connected to a previous one if possible."""
    waiting = sorted(edges, key=lambda edge: len(edge.variables()))
    found, seen = list[Edge](), set[int]()
    while waiting:
        chosen = next((edge for edge in waiting if seen.intersection(edge.variables())), waiting[0])
        waiting.remove(chosen)
        found.append(chosen)
        seen.update(chosen.variables())
    return found


class _Mapping:
    """Searches for a homomorphism."""

    def __init__(self, container: Container, contained: Contained) -> None:
        self._container = container
        self._contained = contained
        self._tries = MOST_TRIES

    def extends(self, images: dict[int, End], at: int) -> bool:
        """Return whether these images can be extended over the joined edges from a position on."""
        if at == len(self._container.joined):
            return True
        edge = self._container.joined[at]
        for target in self._contained.by_property[edge.property]:
            self._tries -= 1
            if self._tries < 0:
                return False
            more = self._with(images, edge, target)
            if more is not None and self.extends(more, at + 1):
                return True
        return False

    def _with(self, images: dict[int, End], edge: Edge, target: Edge) -> dict[int, End] | None:
        """Return the images after mapping an edge to another one, or None if impossible."""
        found = dict(images)
        for end, image in ((edge.subject, target.subject), (edge.object, target.object)):
            if not isinstance(end, int):
                if end != image:
                    return None
            elif end in found:
                if found[end] != image:
                    return None
            elif not self._is_allowed(end, image, found):
                return None
            else:
                found[end] = image
        return found

    def _is_allowed(self, variable: int, image: End, images: dict[int, End]) -> bool:
        """Return whether a variable's constraints certainly hold at its image."""
        for one in self._container.asked[variable]:
            assert not isinstance(one.operand, int), "differs is tested below"
            if not self._contained.knowledge.implies(image, one.code, one.operand):
                return False
        return all(
            self._contained.knowledge.are_apart(image, images[other])
            for other in self._container.apart[variable]
            if other in images
        )
