"""The workload of chapter 5, §5.4.1: publications that are random graphs, subscriptions that ask for parts of
graphs, as plain data. Nodes and properties of graphs are names; a variable of a subscription is a number.

A publication of (nodes, edges) is a path through all nodes and random edges between them. Subscriptions are
drawn in groups:

- for each of some *bases* (graphs that publications repeat) the share `matched` of all subscriptions are
  connected parts of it, so that its publications satisfy them;
- the rest are graphs of their own over the same names, which hardly any publication satisfies;
- in both groups the share `overlap` *specialises* an earlier one of the group: a variable becomes a constant,
  or an edge is added. So each of these is contained in another, and about count · (1 − overlap) are in none.

The chapter draws overlapping subscriptions as parts of one graph, which hardly contain each other, and calls
a size of (5, 35) a part of (35, 90): docs/papers/experiments-gtopss.md.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

End = int | str
Edge = tuple[End, str, End]
"""(subject, property, object)."""
Statement = tuple[str, str, str | int]
"""(subject, property, object); an object that is a number is an integer, everything else a name."""

NAMESPACE: Final = "https://example.org/"
_TRIES: Final = 20


class Limit(NamedTuple):
    """A constraint of a variable: an operator, and a name or a number."""

    variable: int
    operator: str
    operand: str | int


@dataclass(frozen=True, slots=True)
class DrawnPattern:
    """A subscription. Variables count from 0, as they first appear in the edges."""

    edges: tuple[Edge, ...]
    limits: tuple[Limit, ...] = ()

    @property
    def variables(self) -> int:
        """Return how many variables there are."""
        return len({end for edge in self.edges for end in (edge[0], edge[2]) if isinstance(end, int)})


@dataclass(frozen=True, slots=True)
class Drawn:
    """Subscriptions, and publications in the order in which they are published."""

    subscriptions: tuple[DrawnPattern, ...]
    publications: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class GraphWorkload:
    """Table 5.1, with its defaults where they can be meant (the size of subscriptions cannot)."""

    nodes: int = 35
    edges: int = 90
    least_edges: int = 2
    most_edges: int = 8
    matched: float = 0.001
    """Share of all subscriptions that a publication satisfies."""
    stars: int = 2
    """Variables of a subscription that has any; 0 or more."""
    constants: int = 1
    """Nodes of a subscription that stay constants at least."""
    starred: float = 0.9
    """Share of subscriptions that have variables."""
    overlap: float = 0.5
    limited: float = 0.0
    """Share of subscriptions with variables that limit the first of them (to be another than some node)."""
    subscription_nodes: int | None = None
    """Nodes of each subscription, where they are fixed; otherwise about as many as edges."""
    names: int = 1000
    properties: int = 100
    bases: int = 10

    def words(self) -> str:
        """Return what it is, for people."""
        return (
            f"publications ({self.nodes}, {self.edges}), {self.least_edges} to {self.most_edges} edges, "
            f"{self.stars} stars in {self.starred:.0%}, overlap {self.overlap:.0%}, "
            f"{self.matched:.2%} matched, {self.bases} bases"
        )

    def drawn(self, count: int, publications: int, seed: int) -> Drawn:
        """Return so many subscriptions and publications. The same seed gives the same."""
        rng = random.Random(f"{seed} {count}")
        each = round(self.matched * count)
        bases = [_graph(rng, self.nodes, self.edges, self) for _ in range(self._bases(count))]
        groups = [self._group(rng, each, base) for base in bases]
        groups.append(self._group(rng, count - each * len(bases), None))
        everybody = [pattern for group in groups for pattern in group]
        rng.shuffle(everybody)
        return Drawn(tuple(everybody), tuple(self._published(rng, bases, publications)))

    def _bases(self, count: int) -> int:
        """Return how many bases there is room for: at most nine tenths of all are parts of some."""
        each = max(1, round(self.matched * count))
        return max(1, min(self.bases, int(0.9 * count / each)))

    def _published(
        self, rng: random.Random, bases: Sequence[list[Statement]], count: int
    ) -> Iterator[tuple[Statement, ...]]:
        """Yield the bases in turn, each time with another order of its statements."""
        for place in range(count):
            told = list(bases[place % len(bases)])
            rng.shuffle(told)
            yield tuple(told)

    def _group(self, rng: random.Random, count: int, base: list[Statement] | None) -> list[DrawnPattern]:
        ground: list[_Ground] = []
        fresh = round(count * (1 - self.overlap))
        for place in range(count):
            special = self._specialised(rng, ground, base) if place >= fresh else None
            ground.append(special or self._fresh(rng, base))
        return [one.pattern(self, rng) for one in ground]

    def _fresh(self, rng: random.Random, base: list[Statement] | None) -> "_Ground":
        size = rng.randint(self.least_edges, self.most_edges)
        if base is None:
            nodes = self.subscription_nodes or size + 1 - rng.randint(0, size // 3)
            edges = _graph(rng, min(nodes, size + 1), size, self)
        else:
            edges = _part(rng, base, size)
        nodes_of = list(dict.fromkeys(str(end) for edge in edges for end in (edge[0], edge[2])))
        most = max(0, min(self.stars, len(nodes_of) - self.constants))
        open_ = frozenset(rng.sample(nodes_of, most)) if rng.random() < self.starred else frozenset[str]()
        return _Ground(tuple(edges), open_)

    def _specialised(
        self, rng: random.Random, ground: Sequence["_Ground"], base: list[Statement] | None
    ) -> "_Ground | None":
        for _ in range(_TRIES):
            if not ground:
                return None
            above = rng.choice(ground)
            if above.open and (len(above.edges) >= self.most_edges or rng.random() < 0.5):
                return _Ground(above.edges, above.open - {rng.choice(sorted(above.open))})
            if len(above.edges) < self.most_edges:
                further = _further(rng, above, base, self)
                if further is not None:
                    return _Ground((*above.edges, further), above.open)
        return None


@dataclass(frozen=True, slots=True)
class _Ground:
    """A subscription before its variables are: the graph, and which of its nodes stay open."""

    edges: tuple[Statement, ...]
    open: frozenset[str]

    def pattern(self, workload: GraphWorkload, rng: random.Random) -> DrawnPattern:
        numbers: dict[str, int] = {}
        edges: list[Edge] = []
        for subject, property_, object_ in self.edges:
            ends = [
                numbers.setdefault(str(end), len(numbers)) if end in self.open else str(end)
                for end in (subject, object_)
            ]
            edges.append((ends[0], property_, ends[1]))
        is_limited = bool(numbers) and workload.limited > 0 and rng.random() < workload.limited
        other = f"n{workload.names + rng.randrange(workload.names)}"
        return DrawnPattern(tuple(edges), (Limit(0, "ne", other),) if is_limited else ())


def _graph(rng: random.Random, nodes: int, edges: int, workload: GraphWorkload) -> list[Statement]:
    """Return a path through as many nodes, and edges between random pairs of them up to the number."""
    names = [f"n{number}" for number in rng.sample(range(workload.names), nodes)]
    found: dict[Statement, None] = {}
    for one, other in pairwise(names):
        found[one, _property(rng, workload), other] = None
    while len(found) < edges:
        one, other = rng.choice(names), rng.choice(names)
        if one != other or nodes == 1:
            found[one, _property(rng, workload), other] = None
    return list(found)


def _property(rng: random.Random, workload: GraphWorkload) -> str:
    return f"p{rng.randrange(workload.properties)}"


def _part(rng: random.Random, base: Sequence[Statement], size: int) -> list[Statement]:
    """Return so many edges of a graph that hang together."""
    found = [rng.choice(base)]
    while len(found) < min(size, len(base)):
        found.append(rng.choice(_around(base, found)))
    return found


def _around(base: Sequence[Statement], edges: Sequence[Statement]) -> list[Statement]:
    ends = {end for edge in edges for end in (edge[0], edge[2])}
    return [one for one in base if one not in edges and (one[0] in ends or one[2] in ends)]


def _further(
    rng: random.Random, above: _Ground, base: list[Statement] | None, workload: GraphWorkload
) -> Statement | None:
    """Return one more edge at a subscription's nodes: of its base, or to another node."""
    if base is not None:
        around = _around(base, above.edges)
        return rng.choice(around) if around else None
    ends = [str(end) for edge in above.edges for end in (edge[0], edge[2])]
    edge = (rng.choice(ends), _property(rng, workload), f"n{rng.randrange(workload.names)}")
    return None if edge in above.edges or edge[0] == edge[2] else edge


def same_structure(count: int, matched: int, seed: int) -> Drawn:
    """Return figure 5.24's workload: all subscriptions ask the same of one node and differ in their limits.

    Every edge has a limit, and all limits of one that is not satisfied fail: so constraint tables in front
    of the join spare all of it. One publication satisfies `matched` of them.
    """
    rng = random.Random(f"{seed} {count} same")
    heights = [("p1", 500_000), ("p2", 600_000)]
    told: list[Statement] = [("n0", property_, height) for property_, height in heights]
    others = GraphWorkload()
    told += _graph(rng, others.nodes, others.edges - len(told), others)
    patterns = []
    for place in range(count):
        above = place >= matched
        edges = tuple((0, property_, number) for number, (property_, _) in enumerate(heights, 1))
        limits = tuple(
            Limit(number, "gt", height + rng.randrange(1, 400_000) if above else rng.randrange(height))
            for number, (_, height) in enumerate(heights, 1)
        )
        patterns.append(DrawnPattern(edges, limits))
    rng.shuffle(patterns)
    return Drawn(tuple(patterns), (tuple(told),))
