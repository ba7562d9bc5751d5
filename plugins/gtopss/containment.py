"""Containment: s contains t where every publication that matches t matches s.

Said is it where s maps into t so that constants stay, variables go to nodes of t, every edge becomes an edge
of t, and every constraint follows at its image. Without constraints that is exact: t, its variables frozen to
names of their own, is a publication. With constraints it is sure, and may miss what holds only by cases.
"""

from typing import Final

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Graph, Iri, Triple
from plugins.gtopss.implication import Knowledge
from plugins.gtopss.pattern import Edge, End, Pattern

MOST_TRIES: Final = 20_000
"""Steps of a search after which containment is not said."""

FROZEN: Final = "urn:dens:frozen:"


def frozen(pattern: Pattern) -> Graph:
    """Return the publication that a pattern is when its variables are names of their own."""

    def end(one: End) -> Iri | End:
        return Iri(f"{FROZEN}{one}") if isinstance(one, int) else one

    return frozenset(
        Triple(end(edge.subject), edge.property, end(edge.object))  # type: ignore[arg-type]
        for edge in pattern.edges
    )


class Contained:
    """A pattern that others may contain."""

    def __init__(self, pattern: Pattern, taxonomy: Taxonomy) -> None:
        self.pattern = pattern
        self.knowledge = Knowledge(pattern, taxonomy)
        self.by_property: dict[Iri, list[Edge]] = {}
        for edge in pattern.edges:
            self.by_property.setdefault(edge.property, []).append(edge)

    def is_in(self, container: Pattern) -> bool:
        """Say whether a pattern contains this one, for sure."""
        if any(edge.property not in self.by_property for edge in container.edges):
            return False
        if len(container.edges) == 1 and not container.constraints:
            return self._has(container.edges[0])
        edges = sorted(
            container.edges, key=lambda edge: (len(edge.variables()), len(self.by_property[edge.property]))
        )
        return _Mapping(container, self).extends({}, _connected(edges))

    def _has(self, edge: Edge) -> bool:
        """Say whether some edge is what one edge, alone and without conditions, can become."""
        is_loop = isinstance(edge.subject, int) and edge.subject == edge.object
        return any(
            (isinstance(edge.subject, int) or edge.subject == one.subject)
            and (isinstance(edge.object, int) or edge.object == one.object)
            and (not is_loop or one.subject == one.object)
            for one in self.by_property[edge.property]
        )


def contains(container: Pattern, contained: Pattern, taxonomy: Taxonomy) -> bool:
    """Say whether a pattern contains another, for sure."""
    return Contained(contained, taxonomy).is_in(container)


def _connected(edges: list[Edge]) -> list[Edge]:
    """Return edges so that each, where that can be, shares a variable with those before."""
    waiting, found, seen = list(edges), list[Edge](), set[int]()
    while waiting:
        chosen = next(
            (edge for edge in waiting if not edge.variables() or seen & set(edge.variables())), waiting[0]
        )
        waiting.remove(chosen)
        found.append(chosen)
        seen.update(chosen.variables())
    return found


class _Mapping:
    """Searches a homomorphism."""

    def __init__(self, container: Pattern, contained: Contained) -> None:
        self._container = container
        self._contained = contained
        self._tries = MOST_TRIES

    def extends(self, images: dict[int, End], edges: list[Edge]) -> bool:
        """Say whether these images can be extended over the edges that are left."""
        if not edges:
            return True
        edge, rest = edges[0], edges[1:]
        for target in self._contained.by_property[edge.property]:
            self._tries -= 1
            if self._tries < 0:
                return False
            more = self._with(images, edge, target)
            if more is not None and self.extends(more, rest):
                return True
        return False

    def _with(self, images: dict[int, End], edge: Edge, target: Edge) -> dict[int, End] | None:
        """Return the images when an edge becomes another one, None where that cannot be."""
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
        """Say whether a variable's constraints surely hold at its image."""
        knowledge = self._contained.knowledge
        for one in self._container.constraints_on(variable):
            assert not isinstance(one.operand, int), "differs is asked below"
            if not knowledge.implies(image, one.code, one.operand):
                return False
        for a, b in self._container.differing:
            other = b if a == variable else a if b == variable else None
            if other is not None and other in images and not knowledge.are_apart(image, images[other]):
                return False
        return True
