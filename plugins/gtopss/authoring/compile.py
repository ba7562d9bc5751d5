"""From a document to the body of a pattern."""

from collections.abc import Iterator
from typing import Any, Final

from dens.config.problems import DocumentError, did_you_mean, listed
from knowledge_manager.graphs.sparql_reader import QueryTerm, Variable
from knowledge_manager.graphs.terms import XSD, Iri, Literal, is_ill_formed
from knowledge_manager.graphs.values import value_of
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import DEFAULTS, Compiled, CompileOptions
from plugins.gtopss.authoring.document import QUERY_SUFFIX, ReadDocument, read_document, read_query
from plugins.gtopss.authoring.draft import DraftConstraint, named_variables, shown
from plugins.gtopss.authoring.satisfiable import contradictions
from plugins.gtopss.authoring.words import constraint_words, edge_words
from plugins.gtopss.pattern import (
    KINSHIPS,
    MOST_CONSTRAINTS,
    MOST_EDGES,
    MOST_VARIABLES,
    ORDERS,
    Code,
    Constraint,
    Edge,
    End,
    Pattern,
    parts_of,
)
from plugins.gtopss.rings import MOST_CUTS, cut_variables, ring_in
from plugins.gtopss.statements import TYPE
from plugins.gtopss.vectors import encode_pattern

_CODES: Final = {code.word: code for code in Code}


def compile_pattern(
    source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
) -> Compiled:
    """Return the compiled pattern. All errors raise one `DocumentError`."""
    read = read_query if file.endswith(QUERY_SUFFIX) else read_document
    found = read(source, file, table.dictionary.prefixes)
    if found.problems:
        raise DocumentError(found.problems)
    names = named_variables(found.draft)
    _check_sizes(found, names)
    _check_names(found, names, table)
    if found.problems:
        raise DocumentError(found.problems)
    pattern = _pattern(found, names)
    _warn_of_ill_formed(found)
    _warn_of_unlikely_names(found, table)
    _check_meaning(found, pattern, list(names))
    if any(problem.severity == "error" for problem in found.problems) or (options.strict and found.problems):
        raise DocumentError(found.problems)
    body = encode_pattern(pattern, table.dictionary, options.stamp_s)
    return Compiled(
        body=body,
        lifetime_q=found.lifetime_q,
        warnings=tuple(sorted(found.problems)),
        steps=_steps(pattern, list(names), table),
        spans=(None,) * len(body),
        remarks=tuple(_remarks(found, table)),
    )


def _check_sizes(found: ReadDocument, names: dict[str, int]) -> None:
    draft, whole = found.draft, found.whole
    if not draft.edges:
        found.complain(whole, "D513", "a pattern has at least one edge")
    if len(draft.edges) > MOST_EDGES:
        message = f"{len(draft.edges)} edges; a pattern has at most {MOST_EDGES}"
        found.complain(draft.edges[MOST_EDGES].span, "D513", message)
    if len(draft.constraints) > MOST_CONSTRAINTS:
        message = f"{len(draft.constraints)} constraints; a pattern has at most {MOST_CONSTRAINTS}"
        found.complain(draft.constraints[MOST_CONSTRAINTS].span, "D513", message)
    if len(names) > MOST_VARIABLES:
        rest = list(names)[MOST_VARIABLES]
        span = next(edge.span for edge in draft.edges if Variable(rest) in (edge.subject, edge.object))
        message = f"{len(names)} variables; a pattern has at most {MOST_VARIABLES}"
        found.complain(span, "D512", f"{message}: make some of them constants, or write two subscriptions")


def _check_names(found: ReadDocument, names: dict[str, int], table: MissionTable) -> None:
    for edge in found.draft.edges:
        if isinstance(edge.subject, Literal):
            found.complain(
                edge.span, "D519", "a literal cannot be a subject; reverse the edge, or use a variable"
            )
    for one in found.draft.constraints:
        operands = [one.operand] if isinstance(one.operand, Variable) else []
        for variable in (one.variable, *operands):
            if variable.name not in names:
                message = f"{shown([variable.name])} occurs in no edge ({shown(names)})"
                found.complain(one.span, "D519", message + did_you_mean(variable.name, names))
        _check_operand(found, one, table)
        if one.operator == "differs" and one.operand == one.variable:
            found.complain(one.span, "D514", f"{shown([one.variable.name])} never differs from itself")


def _check_operand(found: ReadDocument, one: DraftConstraint, table: MissionTable) -> None:
    code, operand = _CODES[one.operator], one.operand
    if code in KINSHIPS:
        _check_class(found, one, table)
    elif code in ORDERS and (not isinstance(operand, Literal) or value_of(operand) is None):
        found.complain(
            one.span,
            "D516",
            "no order is defined for this; compare with a number, a text, an instant or a date",
        )


def _warn_of_ill_formed(found: ReadDocument) -> None:
    literals = [(edge.object, edge.span) for edge in found.draft.edges]
    literals += [(one.operand, one.span) for one in found.draft.constraints]
    for term, span in literals:
        if isinstance(term, Literal) and is_ill_formed(term):
            kind = term.datatype.removeprefix(XSD)
            found.warn(span, "D516", f'"{term.text[:80]}" is not a valid {kind}; it equals only itself')


def _warn_of_unlikely_names(found: ReadDocument, table: MissionTable) -> None:
    """Warn of an unknown name that is similar to a known one: a misspelt name would silently never match."""
    taxonomy, dictionary = table.taxonomy, table.dictionary
    everybody = {term.text for term in dictionary.terms} | set(taxonomy.parents) | set(taxonomy.types)
    known: dict[int, list[str]] = {}
    for iri in sorted(everybody):
        if (place := dictionary.split(iri)) is not None:
            known.setdefault(place[0], []).append(place[1])
    for edge in found.draft.edges:
        for term in (edge.subject, edge.property, edge.object):
            if not isinstance(term, Iri) or term.text in everybody:
                continue
            place = dictionary.split(term.text)
            hint = "" if place is None else did_you_mean(place[1], known.get(place[0], ()))
            if hint:
                word = dictionary.shortened(term.text)
                found.warn(edge.span, "D515", f"{word} is in no dictionary and no taxonomy{hint}")


def _check_class(found: ReadDocument, one: DraftConstraint, table: MissionTable) -> None:
    assert isinstance(one.operand, Iri), "readers treat nothing else as a class"
    if one.operand.text in table.taxonomy or table.dictionary.number_of(one.operand) is not None:
        return
    known = [table.dictionary.shortened(known) for known in table.taxonomy.parents]
    word = table.dictionary.shortened(one.operand.text)
    message = f"class {word} is unknown ({listed(known) if known else 'the mission has no taxonomy'})"
    found.complain(one.span, "D515", message + did_you_mean(word, known))


def _pattern(found: ReadDocument, names: dict[str, int]) -> Pattern:
    def end(one: QueryTerm) -> End:
        return names[one.name] if isinstance(one, Variable) else one

    edges = [Edge(end(one.subject), one.property, end(one.object)) for one in found.draft.edges]
    asked = []
    for one in found.draft.constraints:
        variable, operand, code = names[one.variable.name], end(one.operand), _CODES[one.operator]
        if code is Code.DIFFERS and isinstance(operand, int):
            variable, operand = min(variable, operand), max(variable, operand)
        asked.append(Constraint(variable, code, operand))
    return Pattern(len(names), tuple(dict.fromkeys(edges)), tuple(dict.fromkeys(asked)))


def _check_meaning(found: ReadDocument, pattern: Pattern, names: list[str]) -> None:
    cuts = cut_variables(pattern)
    if len(cuts) > MOST_CUTS:
        ring = [names[one] for one in ring_in(pattern)]
        around = shown([*ring, ring[0]])
        message = f"too many connected rings; {around} is still a ring when two variables are fixed"
        begin = [Variable(name) for name in ring[:2]]
        span = next(
            (one.span for one in found.draft.edges if one.subject in begin and one.object in begin),
            found.draft.edges[0].span,
        )
        found.complain(
            span, "D511", f"{message}: make one of its variables a constant, or write two subscriptions"
        )
    for variable, reason in contradictions(pattern).items():
        name = names[variable]
        span = next(one.span for one in found.draft.constraints if one.variable.name == name)
        found.complain(span, "D514", f"nothing can be {shown([name])}: {reason}")
    parts = list(parts_of(pattern))
    if len(parts) > 1:
        message = f"the edges form {len(parts)} parts without a common node; each may match anywhere"
        found.warn(found.draft.edges[0].span, "D517", message)


def _remarks(found: ReadDocument, table: MissionTable) -> Iterator[str]:
    """Yield the rdf:type edges whose class has subclasses, which they do not match."""
    for edge in found.draft.edges:
        if edge.property != TYPE or not isinstance(edge.object, Iri):
            continue
        below = len(table.taxonomy.descendants(edge.object.text) - {edge.object.text})
        if below:
            word = table.dictionary.shortened(edge.object.text)
            yield (
                f"line {edge.span.line}: rdf:type matches {word} itself, not the {below} below it; "
                "is-a (g:isA) matches all of them"
            )


def _steps(pattern: Pattern, names: list[str], table: MissionTable) -> dict[str, Any]:
    return {
        "variables": [f"?{name}" for name in names],
        "edges": [edge_words(edge, names, table.dictionary) for edge in pattern.edges],
        "constraints": [constraint_words(one, names, table.dictionary) for one in pattern.constraints],
        "cut_variables": [f"?{names[one]}" for one in cut_variables(pattern)],
    }
