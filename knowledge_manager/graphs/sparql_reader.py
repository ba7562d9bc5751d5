"""Reads the part of SPARQL that asks what a pattern can ask; it is parsed, never evaluated.

Taken: ASK, or SELECT of variables, over one group of triples, with FILTERs of `&&`, comparisons of a variable
with a constant, `?x != ?y`, `g:isA`, `g:direct` and `g:above`. A blank node is a variable without a name, a
path `p/q` two triples. All else is refused by name and place: what is allowed is listed, not what is not.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from documents.problems import did_you_mean, listed
from knowledge_manager.graphs.terms import STRING, Iri, Literal, TermError, iri, literal

NAMESPACE: Final = "urn:dens:graph:1#"
MOST_EDGES: Final = 64
MOST_FILTERS: Final = 64
DEEPEST: Final = 32

_FUNCTIONS: Final = {"isA": "is-a", "direct": "direct", "above": "above"}
_OPERATORS: Final = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_TURNED: Final = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

_QUIET: Final = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|<[^<>\"{}|^`\\\s]*>|#[^\n]*", re.S
)
"""Strings, addresses and comments: what stands in them is no word of SPARQL."""
_WORDS: Final = re.compile(
    r"\b(?:OPTIONAL|UNION|MINUS|SERVICE|GRAPH|FROM|BIND|VALUES|LIMIT|OFFSET|ORDER\s+BY|GROUP\s+BY|HAVING|"
    r"DISTINCT|REDUCED|CONSTRUCT|DESCRIBE|INSERT|DELETE|NOT\s+EXISTS|EXISTS|NOT\s+IN|IN|AS)\b(?!\s*:)",
    re.I,
)
_SIGNS: Final = re.compile(r"\|\||!(?!=)")


@dataclass(frozen=True, slots=True)
class Variable:
    """Something to be found, by its name; one that was a blank node begins with an underscore."""

    name: str


Wanted = Variable | Iri | Literal


@dataclass(frozen=True, slots=True)
class AskedEdge:
    """A triple of the query."""

    subject: Wanted
    property: Iri
    object: Wanted


@dataclass(frozen=True, slots=True)
class AskedConstraint:
    """A condition on a variable: the operator as people write it, and a constant or another variable."""

    variable: Variable
    operator: str
    operand: Wanted


@dataclass(frozen=True, slots=True)
class SparqlPattern:
    """What a query asks, in the order of its text."""

    edges: tuple[AskedEdge, ...]
    constraints: tuple[AskedConstraint, ...]


@dataclass(frozen=True, slots=True)
class SparqlProblem:
    """What is refused: where in the text, with which code, and why."""

    offset: int
    code: str
    message: str


class SparqlRefused(Exception):
    """The text asks for what no pattern can ask; `problems` has all of it."""

    def __init__(self, problems: list[SparqlProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def read_sparql(text: str, prefixes: Mapping[str, str]) -> SparqlPattern:
    """Return what a query asks; `prefixes` are those that it need not declare. Anything else raises
    `SparqlRefused`.
    """
    quiet = _QUIET.sub(lambda found: " " * len(found.group()), text)
    problems = [*_refused_words(quiet), *_too_much(quiet)]
    if problems:
        raise SparqlRefused(sorted(problems, key=lambda problem: problem.offset))
    query = _parsed(text, prefixes)
    reader = _Walk(text, quiet)
    reader.query(query)
    if reader.problems:
        raise SparqlRefused(reader.problems)
    return SparqlPattern(tuple(reader.edges), tuple(reader.constraints))


def _refused_words(quiet: str) -> Iterator[SparqlProblem]:
    for found in _WORDS.finditer(quiet):
        if quiet[: found.start()].rstrip()[-1:] in ("?", "$", ":"):
            continue
        word = " ".join(found.group().upper().split())
        yield SparqlProblem(
            found.start(), "D510", f"{word} is not in the language; {_INSTEAD.get(word, _ASK)}"
        )
    for found in _SIGNS.finditer(quiet):
        message = f'"{found.group()}" is not in the language; {_INSTEAD[found.group()]}'
        yield SparqlProblem(found.start(), "D510", message)


_ASK: Final = "ask for triples with FILTERs"
_INSTEAD: Final = {
    "OPTIONAL": "leave it out: what may be missing decides nothing",
    "UNION": "make a subscription of each part",
    "||": "make a subscription of each side",
    "!": "say != of a comparison",
    "LIMIT": "a match is a match; bindings are limited anyway",
    "FROM": "every publication is asked by itself",
    "SERVICE": "nothing is fetched",
    "GRAPH": "a publication is one graph",
    "DISTINCT": "bindings are distinct anyway",
}


def _too_much(quiet: str) -> Iterator[SparqlProblem]:
    """Yield what has too many parts for the parser, which takes its time."""
    deep = 0
    for at, sign in enumerate(quiet):
        deep += (sign in "([{") - (sign in ")]}")
        if deep > DEEPEST:
            yield SparqlProblem(at, "D503", f"brackets are nested more than {DEEPEST} deep")
            return
    ends = [found.start() for found in re.finditer(r"[;,]|\.(?=\s|\}|\]|$)", quiet)]
    if len(ends) > 2 * (MOST_EDGES + MOST_FILTERS):
        yield SparqlProblem(ends[2 * MOST_EDGES], "D513", f"a pattern has at most {MOST_EDGES} edges")
    parts = [found.start() for found in re.finditer(r"&&|\bFILTER\b", quiet, re.I)]
    if len(parts) > 2 * MOST_FILTERS:
        yield SparqlProblem(
            parts[2 * MOST_FILTERS], "D513", f"a pattern has at most {MOST_FILTERS} constraints"
        )


def _parsed(text: str, prefixes: Mapping[str, str]) -> Any:
    from pyparsing import ParseBaseException
    from rdflib.plugins.sparql import algebra, parser

    from knowledge_manager.rdf_text import texts_kept

    try:
        with texts_kept():
            prologue, query = parser.parseQuery(text)
            known = algebra.translatePrologue(prologue, None, {**prefixes, "g": NAMESPACE}, None)
            named = functools.partial(algebra.translatePName, prologue=known)
            query = algebra.traverse(query, visitPost=named)
            if query.where is not None:
                query.where = algebra.traverse(query.where, visitPost=algebra.translatePath)
            return query
    except ParseBaseException as error:
        said = str(error).split("  (at char", maxsplit=1)[0].splitlines()[0]
        raise SparqlRefused([SparqlProblem(error.loc, "D518", f"this is no SPARQL: {said}")]) from None
    except RecursionError:
        raise SparqlRefused([SparqlProblem(0, "D503", "the query is nested too deeply")]) from None
    except Exception as error:  # rdflib raises plain exceptions where a prefix is unknown
        raise SparqlRefused([_about_prefix(str(error), text, prefixes)]) from None


def _about_prefix(said: str, text: str, prefixes: Mapping[str, str]) -> SparqlProblem:
    found = re.search(r"prefix : ?(\S+)", said)
    if found is None:
        return SparqlProblem(
            0, "D518", f"this is no SPARQL: {said.splitlines()[0] if said else 'unreadable'}"
        )
    prefix = found[1]
    at = re.search(rf"(?<![\w:]){re.escape(prefix)}:", text)
    message = f'prefix "{prefix}" is unknown ({listed(list(prefixes))}){did_you_mean(prefix, prefixes)}'
    return SparqlProblem(at.start() if at else 0, "D515", message)


@dataclass(slots=True)
class _Walk:
    """Walks a parsed query; whatever is not known by name is refused."""

    text: str
    quiet: str
    edges: list[AskedEdge] = field(default_factory=list)
    constraints: list[AskedConstraint] = field(default_factory=list)
    problems: list[SparqlProblem] = field(default_factory=list)
    _steps: int = 0

    def query(self, query: Any) -> None:
        if query.name not in ("SelectQuery", "AskQuery"):
            self._refuse(f"{query.name} is not in the language; ASK or SELECT", "")
            return
        for key in query.keys():  # noqa: SIM118 (rdflib's value is no plain mapping)
            if key not in ("where", "projection"):
                self._refuse(f"{key} is not in the language; ask for triples with FILTERs", key)
        for one in query.projection or ():
            if set(one.keys()) != {"var"}:
                self._refuse("SELECT names variables, and computes nothing", "SELECT")
        if query.where is None or query.where.name != "GroupGraphPatternSub":
            self._refuse("a sub-query is not in the language", "{")
            return
        for part in query.where.part or ():
            if part.name == "TriplesBlock":
                self._triples(part)
            elif part.name == "Filter":
                self._expression(part.expr)
            else:
                self._refuse(f"a group or sub-query within the pattern is not in the language; {_ASK}", "{")

    def _triples(self, block: Any) -> None:
        for row in block.triples:
            terms = list(row)
            for at in range(0, len(terms), 3):
                self._triple(*terms[at : at + 3])

    def _triple(self, subject: Any, property_: Any, object_: Any) -> None:
        from rdflib import URIRef
        from rdflib.paths import SequencePath

        ends = self._term(subject), self._term(object_)
        steps = list(property_.args) if isinstance(property_, SequencePath) else [property_]
        if not all(isinstance(step, URIRef) for step in steps):
            message = (
                "a variable is no property" if _is_variable(property_) else "this path is not in the language"
            )
            hint = (
                "name the property" if _is_variable(property_) else "a path is a sequence p/q of properties"
            )
            self._refuse(f"{message}; {hint}", f"?{property_}" if _is_variable(property_) else "")
            return
        nodes = [ends[0]]
        for _ in steps[1:]:
            self._steps += 1
            nodes.append(Variable(f"_step{self._steps}"))
        nodes.append(ends[1])
        for number, step in enumerate(steps):
            self._keep(nodes[number], str(step), nodes[number + 1])

    def _keep(self, subject: Wanted | None, property_: str, object_: Wanted | None) -> None:
        try:
            if subject is not None and object_ is not None:
                self.edges.append(AskedEdge(subject, iri(property_), object_))
        except TermError as error:
            self._refuse(str(error), property_, "D507")

    def _term(self, node: Any) -> Wanted | None:
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
                return literal(str(node), str(node.datatype or STRING), node.language or "")
        except TermError as error:
            self._refuse(str(error), str(node), "D507")
            return None
        self._refuse(f"{_readable(type(node).__name__)} is not in the language; name a node", "")
        return None

    def _expression(self, expression: Any) -> None:
        inner = _bare(expression)
        name = getattr(inner, "name", "")
        if name == "ConditionalAndExpression":
            self._expression(inner.expr)
            for other in inner.other:
                self._expression(other)
        elif name == "RelationalExpression":
            self._comparison(inner)
        elif name == "Function" and str(inner.iri).startswith(NAMESPACE):
            self._kinship(inner)
        elif name == "Function":
            self._refuse(
                f"function <{inner.iri}> is not in the language (g:isA, g:direct, g:above)", "FILTER"
            )
        else:
            said = _readable(name.removeprefix("Builtin_")) if name else "this"
            self._refuse(
                f"{said} is no condition of the language; compare a variable with a constant", "FILTER"
            )

    def _comparison(self, found: Any) -> None:
        word = _OPERATORS.get(str(found.op))
        one, other = (self._operand(side) for side in (found.expr, found.other))
        if one is None or other is None:
            return
        if word is None:
            self._refuse(f"{found.op} is not in the language", str(found.op))
        elif isinstance(one, Variable) and isinstance(other, Variable):
            if word == "ne":
                self.constraints.append(AskedConstraint(one, "differs", other))
            else:
                self._refuse(
                    f"?{one.name} {found.op} ?{other.name}: two variables are compared by != alone", "FILTER"
                )
        elif isinstance(one, Variable):
            self.constraints.append(AskedConstraint(one, word, other))
        elif isinstance(other, Variable):
            self.constraints.append(AskedConstraint(other, _TURNED[word], one))
        else:
            self._refuse("two constants are compared; one side is a variable", "FILTER")

    def _kinship(self, call: Any) -> None:
        name = str(call.iri).removeprefix(NAMESPACE)
        if name not in _FUNCTIONS:
            known = [f"g:{one}" for one in _FUNCTIONS]
            hint = did_you_mean(f"g:{name}", known)
            self._refuse(f"function g:{name} is unknown ({listed(known)}){hint}", f"g:{name}", "D515")
            return
        given = [self._operand(one) for one in call.expr]
        if len(given) != 2 or not isinstance(given[0], Variable) or not isinstance(given[1], Iri):
            self._refuse(f"g:{name} takes a variable and a class", f"g:{name}")
            return
        self.constraints.append(AskedConstraint(given[0], _FUNCTIONS[name], given[1]))

    def _operand(self, expression: Any) -> Wanted | None:
        inner = _bare(expression)
        if getattr(inner, "name", "") in ("UnaryMinus", "UnaryPlus"):
            number = self._operand(inner.expr)
            if isinstance(number, Literal):
                minus = inner.name == "UnaryMinus" and not number.text.startswith("-")
                return literal(f"-{number.text}" if minus else number.text, number.datatype)
        if getattr(inner, "name", ""):
            said = _readable(inner.name.removeprefix("Builtin_"))
            self._refuse(f"{said} is not computed; compare a variable with a constant", "FILTER")
            return None
        return self._term(inner)

    def _refuse(self, message: str, near: str, code: str = "D510") -> None:
        at = self.quiet.upper().find(near.upper()) if near else -1
        if at < 0:
            at = max(self.text.find(near), 0) if near else max(self.quiet.find("{"), 0)
        self.problems.append(SparqlProblem(at, code, message))


def _bare(expression: Any) -> Any:
    """Return what stands in an expression when all levels of the grammar that say nothing are taken away."""
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


def _readable(name: str) -> str:
    """Return how rdflib calls a part, as SPARQL does: OptionalGraphPattern is OPTIONAL."""
    words = re.sub(r"(GraphPattern|GroupOr|Expression)", "", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words).upper() or name
