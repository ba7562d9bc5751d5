"""Rings of a pattern, and the variables that cut them.

Points are variables; lines are edges between different variables and pairs that must differ; parallel lines
count. Once the nodes of a few *cut variables* are fixed no ring is left, and a tree is decided by arc
consistency alone.
"""

from collections import Counter
from itertools import combinations
from typing import Final

from plugins.gtopss.pattern import Pattern

MOST_CUTS: Final = 2

Line = tuple[int, int]


def lines_of(pattern: Pattern) -> list[Line]:
    """Return the lines between variables, the lower number first."""
    lines = [edge.variables() for edge in pattern.edges if len(set(edge.variables())) == 2]
    return [(min(a, b), max(a, b)) for a, b in (*lines, *pattern.differing)]


def core_of(lines: list[Line]) -> list[Line]:
    """Return the lines that are left after removing loose ends repeatedly."""
    while True:
        degree = Counter(end for line in lines for end in line)
        left = [line for line in lines if degree[line[0]] > 1 and degree[line[1]] > 1]
        if len(left) == len(lines):
            return left
        lines = left


def cut_variables(pattern: Pattern) -> tuple[int, ...]:
    """Return the cut variables in the order in which they are fixed: of the remaining core, the variable with
    the most lines, then the lowest. If that takes more than two, all pairs are tried, the lowest first; more
    than two are returned only if no pair cuts every ring.
    """
    lines = lines_of(pattern)
    chosen = _most_lines_first(core_of(lines))
    if len(chosen) <= MOST_CUTS:
        return chosen
    pairs = combinations(range(pattern.variables), MOST_CUTS)
    return next((pair for pair in pairs if not core_of(_without(lines, pair))), chosen)


def _most_lines_first(core: list[Line]) -> tuple[int, ...]:
    cuts = list[int]()
    while core:
        degree = Counter(end for line in core for end in line)
        chosen = min(degree, key=lambda one: (-degree[one], one))
        cuts.append(chosen)
        core = core_of(_without(core, (chosen,)))
    return tuple(cuts)


def _without(lines: list[Line], variables: tuple[int, ...]) -> list[Line]:
    return [line for line in lines if line[0] not in variables and line[1] not in variables]


def ring_in(pattern: Pattern) -> tuple[int, ...]:
    """Return the variables of a ring that the cut variables leave uncut, in order."""
    cuts = cut_variables(pattern)[:MOST_CUTS]
    core = core_of(_without(lines_of(pattern), cuts))
    if not core:
        return ()
    path = [min(core)[0]]
    lines = list(core)
    while True:
        line = next(one for one in lines if path[-1] in one)
        lines.remove(line)
        path.append(line[0] + line[1] - path[-1])
        if path[-1] in path[:-1]:
            return tuple(path[path.index(path[-1]) : -1])
