"""Graphs and patterns in a line each, for people: `HP325 project ?y`, `?y is-a Academia`."""

import re

from knowledge_manager.graphs.terms import (
    DECIMAL,
    INSTANT,
    INTEGER,
    RDF,
    Blank,
    Graph,
    Iri,
    Term,
    Triple,
    literal,
)
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern

NAMES = "urn:fig:"
_CODES = {code.word: code for code in Code}
_TOKEN = re.compile(r'"[^"]*"|\S+')


def term(text: str) -> Term:
    if text == "a":
        return Iri(RDF + "type")
    if text.startswith('"'):
        return literal(text.strip('"'))
    if text.startswith("_:"):
        return Blank(int(text[2:]))
    if text.startswith("t:"):
        return Iri(f"urn:dens:hazard:{text[2:]}")
    if re.fullmatch(r"-?\d+", text):
        return literal(text, INTEGER)
    if re.fullmatch(r"-?\d+\.\d+", text):
        return literal(text, DECIMAL)
    if re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", text):
        return literal(text, INSTANT)
    return Iri(NAMES + text)


def graph(lines: list[str]) -> Graph:
    return frozenset(Triple(*_statement(line, {})) for line in lines)  # type: ignore[arg-type]


def pattern(edges: list[str], where: list[str] | None = None) -> Pattern:
    numbers: dict[str, int] = {}
    found = [Edge(*_statement(line, numbers)) for line in edges]  # type: ignore[arg-type]
    asked = []
    for line in where or []:
        variable, word, operand = _TOKEN.findall(line)
        end: End = numbers[operand] if operand.startswith("?") else term(operand)  # type: ignore[assignment]
        asked.append(Constraint(numbers[variable], _CODES[word], end))
    return Pattern(len(numbers), tuple(found), tuple(asked))


def _statement(line: str, numbers: dict[str, int]) -> list[End | Term]:
    subject, property_, object_ = _TOKEN.findall(line)
    named = term("a") if property_ == "a" else Iri(NAMES + property_)
    ends = [
        numbers.setdefault(text, len(numbers)) if text.startswith("?") else _name(text)
        for text in (subject, object_)
    ]
    return [ends[0], named, ends[1]]


def _name(text: str) -> Term:
    return Iri(NAMES + text) if text == "a" else term(text)
