"""Patterns and graphs at random, in quantity: what hypothesis makes too slowly for large populations."""

import random

from knowledge_manager.graphs.terms import Blank, Graph, Term, Triple
from knowledge_manager.graphs.values import value_of
from plugins.gtopss.pattern import KINSHIPS, ORDERS, Code, Constraint, Edge, End, Pattern
from plugins.gtopss.rings import MOST_CUTS, cut_variables
from tests.plugins.gtopss.graphs import CLASSES, NAMES, PROPERTIES, VALUES

ORDERED = [one for one in VALUES if value_of(one) is not None]


def random_graph(chance: random.Random, most: int = 14) -> Graph:
    names: list[Term] = [*NAMES, Blank(0), Blank(1)]

    def triple() -> Triple:
        object_ = chance.choice(names) if chance.random() < 0.6 else chance.choice(VALUES)
        return Triple(chance.choice(names), chance.choice(PROPERTIES), object_)

    return frozenset(triple() for _ in range(chance.randint(1, most)))


def random_pattern(chance: random.Random) -> Pattern:
    while True:
        found = _pattern(chance)
        if len(cut_variables(found)) <= MOST_CUTS:
            return found


def _pattern(chance: random.Random) -> Pattern:
    v = chance.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])

    def end(*, is_object: bool) -> End:
        if v and chance.random() < 0.75:
            return chance.randrange(v)
        return chance.choice(VALUES) if is_object and chance.random() < 0.3 else chance.choice(NAMES)

    edges = [
        Edge(end(is_object=False), chance.choice(PROPERTIES), end(is_object=True))
        for _ in range(chance.randint(1, 5))
    ]
    number = {
        old: new for new, old in enumerate(dict.fromkeys(one for edge in edges for one in edge.variables()))
    }
    renamed = [Edge(*(number[one] if isinstance(one, int) else one for one in edge)) for edge in edges]
    asked = [
        _constraint(chance, len(number)) for _ in range(chance.choice([0, 0, 1, 1, 2, 3]) if number else 0)
    ]
    return Pattern(len(number), tuple(dict.fromkeys(renamed)), tuple(dict.fromkeys(asked)))


def _constraint(chance: random.Random, variables: int) -> Constraint:
    variable = chance.randrange(variables)
    kind = chance.randrange(4 if variables > 1 else 3)
    if kind == 0:
        return Constraint(variable, chance.choice([Code.EQ, Code.NE]), chance.choice([*VALUES, *NAMES]))
    if kind == 1:
        return Constraint(variable, chance.choice(sorted(ORDERS)), chance.choice(ORDERED))
    if kind == 2:
        return Constraint(variable, chance.choice(sorted(KINSHIPS)), chance.choice(CLASSES))
    one, other = sorted(chance.sample(range(variables), 2))
    return Constraint(one, Code.DIFFERS, other)
