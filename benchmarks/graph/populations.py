"""Populations of patterns and publications of graphs that the benchmarks of graphs share, by seed."""

import random
import time
from collections.abc import Callable, Sequence

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import INTEGER, Graph, Iri, Triple, literal
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Vocabulary
from knowledge_manager.vocabulary.graph_class import Facet, GraphClass
from plugins.gtopss.canonical import canonical
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern
from plugins.gtopss.vectors import GraphPublication, encode_publication

NODES, EDGES = 35, 90
"""Of a publication, as the chapter's table 5.1 has them."""
NAMES, PROPERTIES = 400, 40


def table_with(taxonomy: Taxonomy | None = None) -> MissionTable:
    """Return a mission table with one open graph class, no dictionary, and perhaps a taxonomy."""
    terms = tuple(f"urn:p{number}" for number in range(PROPERTIES))
    facets = (Facet("any", 0, (), is_open=True),)
    kind = GraphClass("any", 0, {"u": "urn:"}, terms, facets, taxonomy or Taxonomy())
    return MissionTable((Vocabulary("bench", 1, 1, (), graphs=(kind,)),))


def name(number: int) -> Iri:
    """Return a node."""
    return Iri(f"urn:n{number}")


def property_(number: int) -> Iri:
    """Return a property."""
    return Iri(f"urn:p{number}")


def publication(rng: random.Random) -> Graph:
    """Return a publication of the chapter's size."""
    nodes = rng.sample(range(NAMES), NODES)
    found: set[Triple] = set()
    while len(found) < EDGES:
        ends = name(rng.choice(nodes)), name(rng.choice(nodes))
        found.add(Triple(ends[0], property_(rng.randrange(PROPERTIES)), ends[1]))
    return frozenset(found)


def part_of(rng: random.Random, graph: Sequence[Triple], edges: int, stars: int = 2) -> Pattern:
    """Return a connected part of a publication in which some nodes are variables."""
    taken = [rng.choice(graph)]
    while len(taken) < edges:
        nodes = {end for triple in taken for end in (triple.subject, triple.object)}
        near = [one for one in graph if (one.subject in nodes or one.object in nodes) and one not in taken]
        if not near:
            break
        taken.append(rng.choice(near))
    nodes_ = list(dict.fromkeys(end for triple in taken for end in (triple.subject, triple.object)))
    chosen = rng.sample(nodes_, min(stars, len(nodes_)))

    def end(one: object) -> End:
        return chosen.index(one) if one in chosen else one  # type: ignore[arg-type,return-value]

    drawn = [Edge(end(one.subject), one.property, end(one.object)) for one in taken]  # type: ignore[arg-type]
    return Pattern(len(chosen), tuple(dict.fromkeys(drawn)))


def mixed(count: int, publications: Sequence[Graph], seed: int) -> list[Pattern]:
    """Return distinct patterns of 2 to 8 edges with two stars, each a part of some publication."""
    rng = random.Random(seed)
    lists = [sorted(graph, key=str) for graph in publications]
    found: dict[Pattern, None] = {}
    while len(found) < count:
        found[canonical(part_of(rng, rng.choice(lists), rng.randint(2, 8)))] = None
    return list(found)


def compared(count: int, seed: int, wanted: int = 20) -> tuple[list[Pattern], list[Graph]]:
    """Return patterns of one structure that differ in a comparison alone (figure 5.24), and publications that
    match about so many of them.
    """
    rng = random.Random(seed)
    whole = 1_000_000
    patterns = []
    for bound in rng.sample(range(2 * whole), count):
        edges = (Edge(name(0), property_(0), 0), Edge(0, property_(1), 1))
        patterns.append(Pattern(2, edges, (Constraint(1, Code.GE, literal(str(bound), INTEGER)),)))
    low = sorted(int(one.constraints[0].operand.text) for one in patterns)[wanted]  # type: ignore[union-attr]
    graphs = []
    for _ in range(64):
        noise = {one for one in publication(rng) if one.property not in (property_(0), property_(1))}
        told = {
            Triple(name(0), property_(0), name(1)),
            Triple(name(1), property_(1), literal(str(rng.randrange(low // 2, low)), INTEGER)),
        }
        graphs.append(frozenset(noise | told))
    return patterns, graphs


def classed(count: int, seed: int) -> tuple[list[Pattern], list[Graph], Taxonomy]:
    """Return patterns that ask for different classes of a taxonomy that grows with them."""
    rng = random.Random(seed)
    classes = [f"urn:c{number}" for number in range(count)]
    parents: dict[str, tuple[str, ...]] = {classes[0]: ()}
    for number in range(1, count):
        parents[classes[number]] = (classes[(number - 1) // 3],)
    patterns = [
        Pattern(2, (Edge(0, property_(0), 1),), (Constraint(1, Code.IS_A, Iri(one)),)) for one in classes
    ]
    graphs = []
    for _ in range(64):
        noise = {one for one in publication(rng) if one.property != property_(0)}
        told = {Triple(name(number), property_(0), Iri(rng.choice(classes))) for number in range(4)}
        graphs.append(frozenset(noise | told))
    return patterns, graphs, Taxonomy("grown", parents)


def bare(count: int, seed: int) -> tuple[list[Pattern], list[Graph]]:
    """Return patterns of properties alone, without any constant."""
    rng = random.Random(seed)
    found: dict[Pattern, None] = {}
    while len(found) < count:
        numbers = [min(int(rng.paretovariate(1.0)) - 1, 199) for _ in range(rng.randint(2, 4))]
        edges = tuple(Edge(at, property_(number), at + 1) for at, number in enumerate(numbers))
        found[canonical(Pattern(len(numbers) + 1, edges))] = None
    return list(found), [publication(rng) for _ in range(64)]


def vectors_of(graphs: Sequence[Graph], table: MissionTable) -> list[bytes]:
    """Return publications as they travel."""
    return [encode_publication(GraphPublication(graph), table.dictionary) for graph in graphs]


def seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the processor seconds of some work, the best of several rounds."""
    work()
    return min(_once(work) for _ in range(rounds))


def _once(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin
