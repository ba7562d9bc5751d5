"""Canonical form of patterns: variables are numbered by their constraints, not by their order in the
document.

Colours of variables are refined until nothing changes; ties are tried one by one, and the least encoding is
taken. The number of tries is bounded: a pattern with very many symmetries may keep its own form, which only
prevents sharing.
"""

from collections.abc import Iterator
from typing import Final

from knowledge_manager.graphs.terms import Iri, written
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern

MOST_TRIES: Final = 64

Colours = tuple[int, ...]
Form = tuple[tuple[tuple[str, str, str], ...], tuple[tuple[int, int, str], ...]]


def canonical(pattern: Pattern) -> Pattern:
    """Return the representative of all patterns that differ only in variable names and order."""
    if pattern.variables < 2:
        return _renamed(pattern, (0,) * pattern.variables)
    colours = refined(pattern, (0,) * pattern.variables)
    if len(set(colours)) == pattern.variables:
        return _renamed(pattern, colours)
    numberings = _numberings(pattern, colours, [MOST_TRIES])
    return min((_renamed(pattern, numbering) for numbering in numberings), key=_form)


def refined(pattern: Pattern, colours: Colours) -> Colours:
    """Return the coarsest refinement of these colours in which variables of one colour have the same
    neighbourhood.
    """
    while True:
        seen: list[list[tuple[object, ...]]] = [[] for _ in range(pattern.variables)]
        for edge in pattern.edges:
            ends = tuple(_colour(end, colours) for end in (edge.subject, edge.object))
            is_loop = edge.subject == edge.object
            for side, end in enumerate((edge.subject, edge.object)):
                if isinstance(end, int):
                    seen[end].append((edge.property.text, side, is_loop, *ends))
        for one in pattern.constraints:
            operand = _colour(one.operand, colours)
            seen[one.variable].append((str(int(one.code)), 0, False, operand, ""))
            if isinstance(one.operand, int):
                seen[one.operand].append((str(int(one.code)), 0, False, _colour(one.variable, colours), ""))
        signs = [(colours[variable], sorted(seen[variable])) for variable in range(pattern.variables)]
        order = sorted(range(pattern.variables), key=signs.__getitem__)
        finer = [0] * pattern.variables
        for rank, variable in enumerate(order[1:], 1):
            before = order[rank - 1]
            finer[variable] = finer[before] if signs[variable] == signs[before] else rank
        kinds = len(set(finer))
        if kinds == pattern.variables or kinds == len(set(colours)):
            return tuple(finer)
        colours = tuple(finer)


def _numberings(pattern: Pattern, colours: Colours, tries: list[int]) -> Iterator[Colours]:
    """Yield orders of the variables that agree with colours, each tie broken in every way."""
    if len(set(colours)) == pattern.variables:
        tries[0] -= 1
        yield colours
        return
    tied = min(colour for colour in colours if colours.count(colour) > 1)
    for variable in range(pattern.variables):
        if colours[variable] == tied and tries[0] > 0:
            chosen = tuple(
                colour + (colour >= tied and other != variable) for other, colour in enumerate(colours)
            )
            yield from _numberings(pattern, refined(pattern, chosen), tries)


def _renamed(pattern: Pattern, numbering: Colours) -> Pattern:
    ranks = {colour: rank for rank, colour in enumerate(sorted(numbering))}
    number = [ranks[colour] for colour in numbering]

    def end(one: End) -> End:
        return number[one] if isinstance(one, int) else one

    edges = [Edge(end(edge.subject), edge.property, end(edge.object)) for edge in pattern.edges]
    asked = []
    for one in pattern.constraints:
        variable, operand = number[one.variable], end(one.operand)
        if one.code is Code.DIFFERS and isinstance(operand, int):
            variable, operand = min(variable, operand), max(variable, operand)
        asked.append(Constraint(variable, one.code, operand))
    return Pattern(
        pattern.variables,
        tuple(sorted(edges, key=_edge_key)),
        tuple(sorted(asked, key=_asked_key)),
    )


def _form(pattern: Pattern) -> Form:
    return tuple(map(_edge_key, pattern.edges)), tuple(map(_asked_key, pattern.constraints))


def _edge_key(edge: Edge) -> tuple[str, str, str]:
    return edge.property.text, _text(edge.subject), _text(edge.object)


def _asked_key(one: Constraint) -> tuple[int, int, str]:
    return one.variable, int(one.code), _text(one.operand)


def _text(end: End) -> str:
    if isinstance(end, Iri):
        return end.text
    return f"?{end:02}" if isinstance(end, int) else written(end)


def _colour(end: End, colours: Colours) -> str:
    return _text(colours[end] if isinstance(end, int) else end)
