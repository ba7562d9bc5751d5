"""Mergers: one pattern that contains several, and is tested first in their place.

The merger of two has their common edges under one renaming of variables, and on each variable the weaker of
both constraints: of two bounds the looser one (the hull); of the lowest common superclasses the one with the
fewest descendants, then the first by name; else none. It is never empty: patterns without a common edge are
not merged. Patterns that often match together are merged.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Iri
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern
from plugins.gtopss.relations.implication import Knowledge
from plugins.gtopss.rings import MOST_CUTS, cut_variables


def merged(one: Pattern, other: Pattern, taxonomy: Taxonomy) -> Pattern | None:
    """Return a pattern that contains both, or None if they have no common edge."""
    pairs = _common(one, other)
    if not pairs:
        return None
    numbers: dict[int, int] = {}
    images: dict[int, int] = {}
    edges = []
    for mine, theirs in pairs:
        for end, image in ((mine.subject, theirs.subject), (mine.object, theirs.object)):
            if isinstance(end, int) and isinstance(image, int):
                images[end] = image
                numbers.setdefault(end, len(numbers))
        edges.append(Edge(_named(mine.subject, numbers), mine.property, _named(mine.object, numbers)))
    asked: list[Constraint] = []
    for variable, image in images.items():
        for weaker in _weaker(one, variable, other, image, taxonomy):
            asked.append(Constraint(numbers[variable], weaker.code, weaker.operand))
    asked += _kept_apart(one, other, images, numbers)
    found = Pattern(len(numbers), tuple(edges), tuple(dict.fromkeys(asked)))
    return found if len(cut_variables(found)) <= MOST_CUTS else None


def _named(end: End, numbers: dict[int, int]) -> End:
    return numbers[end] if isinstance(end, int) else end


def _common(one: Pattern, other: Pattern) -> list[tuple[Edge, Edge]]:
    """Return edges that are equal under one renaming of variables, found greedily."""
    there: dict[int, int] = {}
    back: dict[int, int] = {}
    taken: set[Edge] = set()
    found = []
    for mine in sorted(one.edges, key=lambda edge: len(edge.variables())):
        for theirs in other.edges:
            if theirs in taken or theirs.property != mine.property:
                continue
            renaming = _renaming(mine, theirs, there, back)
            if renaming is not None:
                there.update(renaming)
                back.update({image: variable for variable, image in renaming.items()})
                taken.add(theirs)
                found.append((mine, theirs))
                break
    return found


def _renaming(mine: Edge, theirs: Edge, there: dict[int, int], back: dict[int, int]) -> dict[int, int] | None:
    """Return the renaming of an edge's variables in addition to previous ones; None if impossible."""
    new: dict[int, int] = {}
    for end, image in ((mine.subject, theirs.subject), (mine.object, theirs.object)):
        if isinstance(end, int) != isinstance(image, int):
            return None
        if not isinstance(end, int) or not isinstance(image, int):
            if end != image:
                return None
        elif there.get(end, new.get(end, image)) != image or back.get(image, end) != end:
            return None
        else:
            new[end] = image
    return new if len(set(new.values())) == len(new) else None


def _weaker(
    one: Pattern, variable: int, other: Pattern, image: int, taxonomy: Taxonomy
) -> Iterable[Constraint]:
    """Yield constraints that follow from those on both variables."""
    mine, theirs = Knowledge(one, taxonomy), Knowledge(other, taxonomy)
    for asked, knowledge, node in (
        (one.constraints_on(variable), theirs, image),
        (other.constraints_on(image), mine, variable),
    ):
        for each in asked:
            assert not isinstance(each.operand, int), "differs is kept elsewhere"
            if knowledge.implies(node, each.code, each.operand):
                yield each
    yield from _superclass(one.constraints_on(variable), other.constraints_on(image), taxonomy)


def _superclass(
    mine: Iterable[Constraint], theirs: Iterable[Constraint], taxonomy: Taxonomy
) -> Iterable[Constraint]:
    classes = [
        [each.operand.text for each in some if each.code is Code.IS_A and isinstance(each.operand, Iri)]
        for some in (mine, theirs)
    ]
    for a in classes[0]:
        for b in classes[1]:
            common = taxonomy.ancestors(a) & taxonomy.ancestors(b)
            lowest = [
                each
                for each in common
                if not any(other != each and taxonomy.is_below(other, each) for other in common)
            ]
            if lowest:
                best = min(lowest, key=lambda each: (len(taxonomy.descendants(each)), each))
                yield Constraint(0, Code.IS_A, Iri(best))


def _kept_apart(
    one: Pattern, other: Pattern, images: dict[int, int], numbers: dict[int, int]
) -> Iterable[Constraint]:
    apart = {frozenset(pair) for pair in other.differing}
    for a, b in one.differing:
        if a in images and b in images and frozenset((images[a], images[b])) in apart:
            first, second = sorted((numbers[a], numbers[b]))
            yield Constraint(first, Code.DIFFERS, second)


@dataclass(slots=True)
class Together:
    """How often numbered patterns match together, with decay."""

    counts: dict[tuple[int, int], float] = field(default_factory=dict)

    def saw(self, matched: Iterable[int], most: int = 64) -> None:
        """Count the matches of one publication; of very many only the first."""
        for pair in combinations(sorted(matched)[:most], 2):
            self.counts[pair] = self.counts.get(pair, 0.0) + 1.0

    def decay(self, share: float = 0.5) -> None:
        """Decay the counts, and remove negligible ones."""
        self.counts = {pair: count * share for pair, count in self.counts.items() if count * share >= 0.25}

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that match together, most frequent first."""
        return sorted(self.counts, key=lambda pair: (-self.counts[pair], pair))


@dataclass(slots=True)
class Merger:
    """A pattern in place of its members, by number."""

    pattern: Pattern
    members: tuple[int, ...]


def merge_by_pairs(
    patterns: dict[int, Pattern], pairs: Iterable[tuple[int, int]], wanted: int, taxonomy: Taxonomy
) -> list[Merger]:
    """Return mergers until `wanted` entries are left, or nothing more can be merged: pairs in order, then
    neighbours that share an edge.
    """
    group: dict[int, Merger] = {number: Merger(pattern, (number,)) for number, pattern in patterns.items()}
    entries = len(group)
    for one, other in (*pairs, *_neighbours(patterns)):
        if entries <= wanted:
            break
        if one not in group or other not in group or group[one] is group[other]:
            continue
        found = merged(group[one].pattern, group[other].pattern, taxonomy)
        if found is not None:
            joined = Merger(found, (*group[one].members, *group[other].members))
            group.update(dict.fromkeys(joined.members, joined))
            entries -= 1
    return list({id(merger): merger for merger in group.values()}.values())


def without(merger: Merger, member: int, patterns: dict[int, Pattern], taxonomy: Taxonomy) -> list[Merger]:
    """Return the mergers after a member leaves: the others are merged again; a single one, or those without a
    common edge, are separate.
    """
    rest = [number for number in merger.members if number != member]
    found: Pattern | None = patterns[rest[0]] if rest else None
    for number in rest[1:]:
        found = None if found is None else merged(found, patterns[number], taxonomy)
    if found is None:
        return [Merger(patterns[number], (number,)) for number in rest]
    return [Merger(found, tuple(rest))]


def _neighbours(patterns: dict[int, Pattern]) -> Iterable[tuple[int, int]]:
    """Yield patterns that share an edge, each with the next one."""
    last: dict[object, int] = {}
    for number, pattern in patterns.items():
        for edge in pattern.edges:
            key = tuple(None if isinstance(end, int) else end for end in edge)
            if key in last:
                yield last[key], number
            last[key] = number
