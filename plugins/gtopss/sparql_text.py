"""A pattern as a SPARQL query, for evaluation by independent software.

Everything is expressed so that standard SPARQL has the meaning of our constraints: order is tested within one
kind of value only, equality is the same term or the same value, and an error never decides. The taxonomy is
in the named graph `TAXONOMY`, the publication in the default graph.
"""

from typing import Final

from knowledge_manager.graphs.terms import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    LANGUAGE_STRING,
    RDF,
    Literal,
    written,
)
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern, in_order_of_appearance

TAXONOMY: Final = "urn:dens:taxonomy"
_BELOW: Final = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>*"
_TYPE: Final = f"<{RDF}type>"
_SIGNS: Final = {Code.LT: "<", Code.LE: "<=", Code.GT: ">", Code.GE: ">="}
_EXAMPLES: Final = {BOOLEAN: "true", DATE: "2000-01-01", INSTANT: "2000-01-01T00:00:00Z"}
"""Values with which everything of their datatype compares, and nothing that does not fit it."""
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, DOUBLE})


def sparql_of(pattern: Pattern, names: tuple[str, ...] | None = None) -> str:
    """Return the query for a pattern's bindings; `names` are those of the variables."""
    called = names or tuple(f"v{number}" for number in range(pattern.variables))
    ends = _Ends(called)
    lines = [ends.edge(edge) for edge in in_order_of_appearance(pattern) or pattern.edges]
    lines += [f"  FILTER({_condition(one, ends)})" for one in pattern.constraints]
    wanted = " ".join(f"?{name}" for name in called) or "*"
    return f"SELECT DISTINCT {wanted} WHERE {{\n" + "\n".join(lines) + "\n}"


class _Ends:
    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def text(self, end: End) -> str:
        return f"?{self._names[end]}" if isinstance(end, int) else written(end)

    def edge(self, edge: Edge) -> str:
        return f"  {self.text(edge.subject)} {written(edge.property)} {self.text(edge.object)} ."


def _condition(one: Constraint, ends: _Ends) -> str:
    x, operand = ends.text(one.variable), ends.text(one.operand)
    if one.code is Code.EQ:
        return _is_equal(x, operand)
    if one.code is Code.NE:
        return f"{_is_sound(x)} && !{_is_equal(x, operand)}"
    if one.code is Code.DIFFERS:
        return f"{_is_sound(x)} && {_is_sound(operand)} && !{_is_equal(x, operand)}"
    if one.code in _SIGNS:
        assert isinstance(one.operand, Literal), "what has an order is a literal"
        return f"COALESCE({_is_kind(x, one.operand)} && {x} {_SIGNS[one.code]} {operand}, false)"
    types = (f"{x} {_TYPE} ?t .", f"GRAPH <{TAXONOMY}> {{ {x} {_TYPE} ?t }}")
    if one.code is Code.DIRECT:
        return " || ".join(f"EXISTS {{ {stated} FILTER(?t = {operand}) }}" for stated in types)
    ways = [(stated, "?t") for stated in types] + [("", x)]
    return " || ".join(_is_below(stated, kin, operand, one.code) for stated, kin in ways)


def _is_below(stated: str, kin: str, operand: str, code: Code) -> str:
    """Return that a class, a type of x or x itself, is below the operand, or above it; each is
    below itself.
    """
    way = f"{kin} {_BELOW} {operand}" if code is Code.IS_A else f"{operand} {_BELOW} {kin}"
    same = f"EXISTS {{ {stated} FILTER(?t = {operand}) }}" if stated else f"sameTerm({kin}, {operand})"
    return f"{same} || EXISTS {{ {stated} GRAPH <{TAXONOMY}> {{ {way} }} }}"


def _is_equal(x: str, y: str) -> str:
    return f"(sameTerm({x}, {y}) || COALESCE({x} = {y}, false))"


def _is_kind(x: str, operand: Literal) -> str:
    """Return that x is of the kind of value that compares with an operand."""
    if operand.datatype in _NUMBERS:
        return f"isNumeric({x})"
    if operand.datatype == LANGUAGE_STRING:
        return f'LANG({x}) = "{operand.language}"'
    return f"DATATYPE({x}) = <{operand.datatype}>"


def _is_sound(x: str) -> str:
    """Return that x is not an ill-typed literal."""
    numbers = ", ".join(f"<{one}>" for one in sorted(_NUMBERS))
    test = f"IF(DATATYPE({x}) IN ({numbers}), isNumeric({x}), true)"
    for datatype, example in _EXAMPLES.items():
        pinned = f'"{example}"^^<{datatype}>'
        fits = f"COALESCE({x} <= {pinned} || {x} > {pinned}, false)"
        test = f"IF(DATATYPE({x}) = <{datatype}>, {fits}, {test})"
    return f"(!isLiteral({x}) || {test})"
