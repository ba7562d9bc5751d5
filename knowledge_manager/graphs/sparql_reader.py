"""Parses the subset of SPARQL that patterns can express; queries are never evaluated.

Supported: ASK, or SELECT of variables, over one group of triples, with FILTERs of `&&`, comparisons of a
variable with a constant, `?x != ?y`, `g:isA`, `g:direct` and `g:above`. A blank node is an anonymous
variable, a path `p/q` two triples. Everything else is rejected by name and position (an allow-list, not a
deny-list).
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dens.config.problems import did_you_mean, listed
from knowledge_manager.graphs.sparql_words import SparqlWords
from knowledge_manager.graphs.terms import RDF, STRING, XSD, Iri, Literal, TermError, iri, literal

NAMESPACE: Final = "urn:dens:graph:1#"
MOST_EDGES: Final = 64
MOST_FILTERS: Final = 64
DEEPEST: Final = 32

ALWAYS: Final = {"rdf": RDF, "xsd": XSD}
"""Prefixes that need no declaration; the many others that rdflib predefines are rejected."""
_UNKNOWN: Final = "urn:dens:unknown:"
"""Stands for an undeclared prefix, so that the rest of the query can be checked."""

_FUNCTIONS: Final = {"isA": "is-a", "direct": "direct", "above": "above"}
_OPERATORS: Final = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_TURNED: Final = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

_QUIET: Final = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|<[^<>\"{}|^`\\\s]*>|#[^\n]*", re.S
)
"""Strings, IRIs and comments, which contain no keywords."""
_WORDS: Final = re.compile(
    r"\b(?:OPTIONAL|UNION|MINUS|SERVICE|GRAPH|FROM|BIND|VALUES|LIMIT|OFFSET|ORDER\s+BY|GROUP\s+BY|HAVING|"
    r"DISTINCT|REDUCED|CONSTRUCT|DESCRIBE|INSERT|DELETE|NOT\s+EXISTS|EXISTS|NOT\s+IN|IN|AS)\b(?!\s*:)",
    re.I,
)
_SIGNS: Final = re.compile(r"\|\||!(?!=)")
_ARITHMETIC: Final = re.compile(r"[+*/]|(?<![A-Za-z_])-|-(?![A-Za-z_])")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable by name; the name of one that was a blank node starts with an underscore."""

    name: str


QueryTerm = Variable | Iri | Literal


@dataclass(frozen=True, slots=True)
class QueryEdge:
    """A triple of the query, and its position."""

    subject: QueryTerm
    property: Iri
    object: QueryTerm
    offset: int


@dataclass(frozen=True, slots=True)
class QueryConstraint:
    """A condition on a variable: operator, a constant or another variable, and its position."""

    variable: Variable
    operator: str
    operand: QueryTerm
    offset: int


@dataclass(frozen=True, slots=True)
class SparqlPattern:
    """Edges and constraints of a query, in the order of its text."""

    edges: tuple[QueryEdge, ...]
    constraints: tuple[QueryConstraint, ...]


@dataclass(frozen=True, slots=True)
class SparqlProblem:
    """A rejected construct: position, error code and message."""

    offset: int
    code: str
    message: str


class SparqlRefused(Exception):
    """The query is outside of the supported subset; `problems` lists all reasons."""

    def __init__(self, problems: list[SparqlProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def read_sparql(text: str, prefixes: Mapping[str, str]) -> SparqlPattern:
    """Return the pattern of a query; `prefixes` need no declaration. Anything unsupported raises
    `SparqlRefused`.
    """
    quiet = _QUIET.sub(lambda found: " " * len(found.group()), text)
    problems = [*_refused_words(quiet), *_too_much(quiet)]
    if problems:
        raise SparqlRefused(sorted(problems, key=lambda problem: problem.offset))
    known = {**ALWAYS, **prefixes, "g": NAMESPACE}
    words = SparqlWords(text, known)
    unknown = {prefix: f"{_UNKNOWN}{prefix}:" for _, prefix in words.unknown}
    reader = _Walk(words, max(quiet.find("{"), 0), [*_unknown_prefixes(words, known)])
    try:
        reader.query(_parsed(text, {**known, **unknown}))
    except SparqlRefused as refused:
        reader.problems += refused.problems
    if reader.problems:
        raise SparqlRefused(sorted(dict.fromkeys(reader.problems), key=lambda problem: problem.offset))
    return SparqlPattern(tuple(reader.edges), tuple(reader.constraints))


def _refused_words(quiet: str) -> Iterator[SparqlProblem]:
    for found in _WORDS.finditer(quiet):
        if quiet[: found.start()].rstrip()[-1:] in ("?", "$", ":"):
            continue
        word = " ".join(found.group().upper().split())
        yield SparqlProblem(found.start(), "D510", f"{word} is not supported; {_INSTEAD.get(word, _ASK)}")
    for found in _SIGNS.finditer(quiet):
        message = f'"{found.group()}" is not supported; {_INSTEAD[found.group()]}'
        yield SparqlProblem(found.start(), "D510", message)


_ASK: Final = "use triples with FILTERs"
_INSTEAD: Final = {
    "OPTIONAL": "remove it: an optional part does not affect matching",
    "UNION": "write one subscription per part",
    "||": "write one subscription per side",
    "!": "use != in a comparison",
    "LIMIT": "remove it: bindings are limited anyway",
    "FROM": "every publication is matched separately",
    "SERVICE": "nothing is fetched",
    "GRAPH": "a publication is one graph",
    "DISTINCT": "bindings are distinct anyway",
}


def _too_much(quiet: str) -> Iterator[SparqlProblem]:
    """Yield what exceeds the limits, before the slow parser runs."""
    deep = 0
    for at, sign in enumerate(quiet):
        deep += (sign in "([{") - (sign in ")]}")
        if deep > DEEPEST:
            yield SparqlProblem(at, "D503", f"brackets are nested more than {DEEPEST} deep")
            return
    ends = [found.start() for found in re.finditer(r"[;,]|\.(?=\s|\}|\]|$)", quiet)]
    if len(ends) > 2 * (MOST_EDGES + MOST_FILTERS):
        yield SparqlProblem(ends[2 * MOST_EDGES], "D513", f"a pattern has at most {MOST_EDGES} edges")
    signs = [found.start() for found in _ARITHMETIC.finditer(quiet)]
    if len(signs) > MOST_EDGES + MOST_FILTERS:
        message = "more than {} arithmetic signs; compare a variable with a constant"
        yield SparqlProblem(
            signs[MOST_EDGES + MOST_FILTERS], "D510", message.format(MOST_EDGES + MOST_FILTERS)
        )
    parts = [found.start() for found in re.finditer(r"&&|\bFILTER\b", quiet, re.I)]
    if len(parts) > 2 * MOST_FILTERS:
        yield SparqlProblem(
            parts[2 * MOST_FILTERS], "D513", f"a pattern has at most {MOST_FILTERS} constraints"
        )


def _parsed(text: str, prefixes: Mapping[str, str]) -> Any:
    from pyparsing import ParseBaseException
    from rdflib.plugins.sparql import algebra, parser

    from knowledge_manager.rdf_text import literals_unnormalised

    try:
        with literals_unnormalised():
            prologue, query = parser.parseQuery(text)
            known = algebra.translatePrologue(prologue, None, dict(prefixes), None)
            named = functools.partial(algebra.translatePName, prologue=known)
            query = algebra.traverse(query, visitPost=named)
            if query.where is not None:
                query.where = algebra.traverse(query.where, visitPost=algebra.translatePath)
            return query
    except ParseBaseException as error:
        rest = " ".join(text[error.loc :].split())
        shown = f'at "{rest[:40]}{"…" if len(rest) > 40 else ""}"' if rest else "at the end of the query"
        message = f"syntax error {shown}; a triple is subject, property, object and a dot"
        raise SparqlRefused([SparqlProblem(error.loc, "D518", message)]) from None
    except RecursionError:
        raise SparqlRefused([SparqlProblem(0, "D503", "the query is nested too deeply")]) from None
    except Exception as error:  # rdflib raises plain exceptions, of any kind
        reason = str(error).splitlines()[0] if str(error) else "unreadable"
        raise SparqlRefused([SparqlProblem(0, "D518", f"syntax error: {reason}")]) from None


def _unknown_prefixes(words: SparqlWords, prefixes: Mapping[str, str]) -> Iterator[SparqlProblem]:
    for at, prefix in words.unknown:
        message = f'prefix "{prefix}" is unknown ({listed(list(prefixes))}){did_you_mean(prefix, prefixes)}'
        yield SparqlProblem(at, "D515", message)


@dataclass(slots=True)
class _Walk:
    """Walks a parsed query and rejects every construct that is not known by name."""

    words: SparqlWords
    begin: int
    problems: list[SparqlProblem]
    edges: list[QueryEdge] = field(default_factory=list)
    constraints: list[QueryConstraint] = field(default_factory=list)
    _steps: int = 0

    def query(self, query: Any) -> None:
        if query.name not in ("SelectQuery", "AskQuery"):
            self._refuse(f"{query.name} is not supported; use ASK or SELECT", 0)
            return
        for key in query.keys():  # noqa: SIM118 (rdflib's value is not a plain mapping)
            if key not in ("where", "projection"):
                self._refuse(
                    f"{key} is not supported; use triples with FILTERs",
                    self.words.read_on(key.upper()),
                )
        for one in query.projection or ():
            if set(one.keys()) != {"var"}:
                self._refuse("SELECT takes variables only, no expressions", self.words.read_on("SELECT"))
        if query.where is None or query.where.name != "GroupGraphPatternSub":
            self._refuse("sub-queries are not supported", self.begin)
            return
        self.words.at = self.begin
        for part in query.where.part or ():
            if part.name == "TriplesBlock":
                self._triples(part)
            elif part.name == "Filter":
                at = self.words.read_on("FILTER")
                self._expression(part.expr, at)
            else:
                message = f"groups and sub-queries within the pattern are not supported; {_ASK}"
                self._refuse(message, self.begin)

    def _triples(self, block: Any) -> None:
        for row in block.triples:
            terms = list(row)
            for at in range(0, len(terms), 3):
                self._triple(*terms[at : at + 3])

    def _triple(self, subject: Any, property_: Any, object_: Any) -> None:
        from rdflib import URIRef
        from rdflib.paths import SequencePath

        steps = list(property_.args) if isinstance(property_, SequencePath) else [property_]
        at = self.words.edge(_first_name(steps[0]), _meaning(object_))
        ends = self._term(subject, at), self._term(object_, at)
        if _is_variable(property_):
            self._refuse("a property cannot be a variable; name the property", at)
            return
        if not all(isinstance(step, URIRef) for step in steps):
            self._refuse("this path is not supported; use a sequence p/q of properties", at)
            return
        nodes = [ends[0]]
        for _ in steps[1:]:
            self._steps += 1
            nodes.append(Variable(f"_step{self._steps}"))
        nodes.append(ends[1])
        for number, step in enumerate(steps):
            self._keep(nodes[number], str(step), nodes[number + 1], at)

    def _keep(self, subject: QueryTerm | None, property_: str, object_: QueryTerm | None, at: int) -> None:
        try:
            if subject is not None and object_ is not None:
                self.edges.append(QueryEdge(subject, iri(property_), object_, at))
        except TermError as error:
            self._refuse(str(error), at, "D507")

    def _term(self, node: Any, at: int) -> QueryTerm | None:
        from rdflib import BNode, URIRef
        from rdflib import Literal as Text
        from rdflib import Variable as Name

        try:
            if isinstance(node, Name):
                return Variable(str(node))
            if isinstance(node, BNode):
                return Variable(f"_{node}")
            if isinstance(node, URIRef):
                return iri(str(node))
            if isinstance(node, Text):
                return literal(str(node), iri(str(node.datatype or STRING)).text, node.language or "")
        except TermError as error:
            self._refuse(str(error), at, "D507")
            return None
        self._refuse(f"{_readable(type(node).__name__)} is not supported; name a node", at)
        return None

    def _expression(self, expression: Any, at: int) -> None:
        inner = _bare(expression)
        name = getattr(inner, "name", "")
        if name == "ConditionalAndExpression":
            for one in (inner.expr, *inner.other):
                self._expression(one, at)
        elif name == "RelationalExpression":
            self._comparison(inner, at)
        elif name == "Function" and str(inner.iri).startswith(NAMESPACE):
            self._kinship(inner)
        elif name == "Function":
            place = self.words.read_on(str(inner.iri))
            self._refuse(f"function <{inner.iri}> is not supported (g:isA, g:direct, g:above)", place)
        else:
            construct = _readable(name.removeprefix("Builtin_")) if name else "this"
            self._refuse(f"{construct} is not supported in FILTER; compare a variable with a constant", at)
            self._pass_over(inner)

    def _comparison(self, found: Any, at: int) -> None:
        word = _OPERATORS.get(str(found.op))
        one, other = (self._operand(side, at) for side in (found.expr, found.other))
        if one is None or other is None:
            return
        named = next((side for side in (one, other) if isinstance(side, Variable)), None)
        place = at if named is None else self.words.read_on(f"?{named.name}")
        if named is None:
            self._refuse("two constants are compared; one side must be a variable", place)
        elif word is None:
            self._refuse(f"{found.op} is not supported", place)
        elif isinstance(one, Variable) and isinstance(other, Variable):
            if word == "ne":
                self.constraints.append(QueryConstraint(one, "differs", other, place))
            else:
                comparison = f"?{one.name} {found.op} ?{other.name}"
                self._refuse(f"{comparison}: two variables can be compared with != only", place)
        elif named is one:
            self.constraints.append(QueryConstraint(named, word, other, place))
        else:
            self.constraints.append(QueryConstraint(named, _TURNED[word], one, place))

    def _kinship(self, call: Any) -> None:
        name, at = str(call.iri).removeprefix(NAMESPACE), self.words.read_on(str(call.iri))
        if name not in _FUNCTIONS:
            known = [f"g:{one}" for one in _FUNCTIONS]
            hint = did_you_mean(f"g:{name}", known)
            self._refuse(f"function g:{name} is unknown ({listed(known)}){hint}", at, "D515")
            return
        given = [self._operand(one, at) for one in call.expr]
        if len(given) != 2 or not isinstance(given[0], Variable) or not isinstance(given[1], Iri):
            self._refuse(f"g:{name} takes a variable and a class", at)
            return
        self.constraints.append(QueryConstraint(given[0], _FUNCTIONS[name], given[1], at))

    def _operand(self, expression: Any, at: int) -> QueryTerm | None:
        inner = _bare(expression)
        if getattr(inner, "name", "") in ("UnaryMinus", "UnaryPlus"):
            number = self._operand(inner.expr, at)
            if isinstance(number, Literal):
                minus = inner.name == "UnaryMinus" and not number.text.startswith("-")
                return literal(f"-{number.text}" if minus else number.text, number.datatype)
        if getattr(inner, "name", ""):
            construct = _readable(inner.name.removeprefix("Builtin_"))
            self._refuse(f"{construct} is not evaluated; compare a variable with a constant", at)
            self._pass_over(inner)
            return None
        return self._term(inner, at)

    def _pass_over(self, part: Any) -> None:
        """Advance past the variables of a rejected expression."""
        if _is_variable(part):
            self.words.read_on(_meaning(part))
        elif isinstance(part, Mapping):
            self._pass_over(list(part.values()))
        elif not isinstance(part, str):
            for one in part:
                self._pass_over(one)

    def _refuse(self, message: str, at: int, code: str = "D510") -> None:
        self.problems.append(SparqlProblem(at, code, message))


def _bare(expression: Any) -> Any:
    """Return an expression without the grammar levels that have a single operand."""
    while getattr(expression, "name", "") in _LEVELS and not {"other", "op"} & set(expression.keys()):
        expression = expression.expr
    return expression


_LEVELS: Final = frozenset(
    {
        "ConditionalOrExpression",
        "ConditionalAndExpression",
        "RelationalExpression",
        "AdditiveExpression",
        "MultiplicativeExpression",
    }
)


def _is_variable(node: Any) -> bool:
    from rdflib import Variable as Name

    return isinstance(node, Name)


def _meaning(node: Any) -> str:
    """Return a node as `SparqlWords` names it."""
    return f"?{node}" if _is_variable(node) else str(node)


def _first_name(path: Any) -> str:
    """Return the first name in a property, a path or a variable, as `SparqlWords` names it."""
    while True:
        inner = getattr(path, "args", None) or [getattr(path, "arg", None) or getattr(path, "path", None)]
        if inner[0] is None:
            return _meaning(path)
        path = inner[0]


def _readable(name: str) -> str:
    """Return rdflib's name of a construct as SPARQL spells it: OptionalGraphPattern is OPTIONAL."""
    words = re.sub(r"(GraphPattern|GroupOr|Expression)", "", name)
    return _SUMS.get(words) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words).upper() or name


_SUMS: Final = {"Additive": "a sum", "Multiplicative": "a product"}
