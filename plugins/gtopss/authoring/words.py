"""Texts of patterns and publications."""

from collections.abc import Sequence

from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.graphs.terms import XSD, Iri, Term, written
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern

_WORDS = {
    Code.EQ: "equals",
    Code.NE: "is not",
    Code.LT: "<",
    Code.LE: "≤",
    Code.GT: ">",
    Code.GE: "≥",
    Code.IS_A: "is a",
    Code.DIRECT: "is directly a",
    Code.ABOVE: "is above",
    Code.DIFFERS: "differs from",
}


def usual_names(pattern: Pattern) -> list[str]:
    """Return default names for variables, which are not encoded."""
    return [chr(ord("a") + number) for number in range(pattern.variables)]


def term_words(term: Term, dictionary: Dictionary) -> str:
    if isinstance(term, Iri):
        return dictionary.shortened(term.text)
    text = written(term)
    for namespace, prefix in ((XSD, "xsd"), *((space, name) for name, space in dictionary.prefixes.items())):
        if f"^^<{namespace}" in text and text.endswith(">"):
            return text.replace(f"^^<{namespace}", f"^^{prefix}:", 1).removesuffix(">")
    return text


def end_words(end: End, names: Sequence[str], dictionary: Dictionary) -> str:
    return f"?{names[end]}" if isinstance(end, int) else term_words(end, dictionary)


def edge_words(edge: Edge, names: Sequence[str], dictionary: Dictionary) -> str:
    subject, object_ = (end_words(end, names, dictionary) for end in (edge.subject, edge.object))
    return f"{subject} {dictionary.shortened(edge.property.text)} {object_}"


def constraint_words(one: Constraint, names: Sequence[str], dictionary: Dictionary) -> str:
    return f"?{names[one.variable]} {_WORDS[one.code]} {end_words(one.operand, names, dictionary)}"
