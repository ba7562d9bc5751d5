"""Description of the bytes of a vector."""

from typing import Any

from knowledge_manager.durations import written_duration
from knowledge_manager.graphs.dictionary import NO_DICTIONARY, Dictionary
from knowledge_manager.graphs.terms import Graph, Iri, Term
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.description import Description, Fields, VectorKind
from plugins.byte_numbers import ByteReader
from plugins.gtopss.authoring.words import constraint_words, edge_words, term_words, usual_names
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.rings import cut_variables
from plugins.gtopss.term_bytes import read_term
from plugins.gtopss.vectors import FORM_AT, PATTERN, decode_pattern, decode_publication
from watchdog.header import BODY_AT, HEADER_ID, HEADER_LIFETIME, HEADER_REVISION, body_of
from watchdog.lifetime import lifetime_s


def describe_vector(vector: bytes, table: MissionTable | None, kind: VectorKind | None = None) -> Description:
    """Describe a vector; byte 5 decides its kind. Bytes that are invalid, or not of the requested kind, raise
    `VectorError`.
    """
    dictionary = NO_DICTIONARY if table is None else table.dictionary
    is_pattern = len(vector) > FORM_AT and vector[FORM_AT] == PATTERN
    if kind == "sv" or (kind is None and is_pattern):
        return _pattern(vector, dictionary)
    return _publication(vector, dictionary)


def _pattern(vector: bytes, dictionary: Dictionary) -> Description:
    pattern = decode_pattern(body_of(vector), dictionary)
    names = usual_names(pattern)
    fields = Fields(vector)
    fields.take(1, "id", f"number {vector[HEADER_ID]} at its subscriber")
    fields.take(1, "seq", f"revision {vector[HEADER_REVISION]}")
    fields.take(1, "valid", f"lives {written_duration(lifetime_s(vector[HEADER_LIFETIME]))}")
    stamp_s = int.from_bytes(vector[3:5], "big")
    fields.take(2, "stamp", f"created at {stamp_s} s (modulo 65536)")
    fields.take(1, "form", "a pattern")
    fields.take(1, "variables", f"{pattern.variables}")
    data = ByteReader(vector)
    data.at = BODY_AT + 4
    _take_terms(fields, data, dictionary)
    edges = [edge_words(edge, names, dictionary) for edge in pattern.edges]
    _take_counted(fields, data, "edge", [3] * len(edges), edges)
    asked = [constraint_words(one, names, dictionary) for one in pattern.constraints]
    _take_counted(fields, data, "constraint", [2] * len(asked), asked)
    cuts = [f"?{names[one]}" for one in cut_variables(pattern)]
    facts = {
        "id": vector[HEADER_ID],
        "seq": vector[HEADER_REVISION],
        "valid": vector[HEADER_LIFETIME],
        "valid_s": lifetime_s(vector[HEADER_LIFETIME]),
        "stamp_s": stamp_s,
        "variables": [f"?{name}" for name in names],
        "edges": edges,
        "constraints": asked,
        "cut_variables": cuts,
    }
    return Description("subscription", vector, fields.found(), pattern_sentences(pattern, dictionary), facts)


def pattern_sentences(pattern: Pattern, dictionary: Dictionary) -> tuple[str, ...]:
    """Return the text of a pattern, one line per condition."""
    names = usual_names(pattern)
    lines = [edge_words(edge, names, dictionary) for edge in pattern.edges]
    lines += [f"where {constraint_words(one, names, dictionary)}" for one in pattern.constraints]
    return tuple(lines)


def _publication(vector: bytes, dictionary: Dictionary) -> Description:
    publication = decode_publication(vector, dictionary)
    fields = Fields(vector)
    fields.take(2, "event number", f"{publication.number} at its publisher")
    fields.take(1, "valid", f"lives {written_duration(lifetime_s(publication.valid))}")
    fields.take(2, "stamp", f"happened at {publication.stamp_s} s (modulo 65536)")
    fields.take(1, "form", "a publication")
    data = ByteReader(vector)
    data.at = FORM_AT + 1
    _take_terms(fields, data, dictionary)
    _take_statements(fields, data)
    lines = statement_lines(publication.graph, dictionary)
    facts: dict[str, Any] = {
        "number": publication.number,
        "valid": publication.valid,
        "valid_s": lifetime_s(publication.valid),
        "stamp_s": publication.stamp_s,
        "statements": len(publication.graph),
        "triples": lines,
    }
    sentences = tuple(f"{line} ." for line in lines)
    return Description("notification", vector, fields.found(), sentences, facts)


def statement_lines(graph: Graph, dictionary: Dictionary) -> list[str]:
    """Return the text of the statements of a graph, in order."""
    return sorted(" ".join(term_words(term, dictionary) for term in triple) for triple in graph)


def _take_terms(fields: Fields, data: ByteReader, dictionary: Dictionary) -> None:
    """Add a field per local term, which shows its size."""
    begin, count = data.at, data.number("a number of terms")
    fields.take(data.at - begin, "local terms", f"{count} spelt out")
    local: list[Term] = []

    def datatype(reference: int) -> Iri:
        found = local[reference] if reference < count else dictionary.terms[reference - count]
        assert isinstance(found, Iri), "a decoded vector has none else"
        return found

    for number in range(count):
        begin = data.at
        local.append(read_term(data, dictionary, datatype))
        fields.take(data.at - begin, f"term {number}", term_words(local[-1], dictionary))


def _take_counted(fields: Fields, data: ByteReader, name: str, parts: list[int], meanings: list[str]) -> None:
    """Add a count and its entries of some numbers each; the first number of a constraint is a plain byte."""
    begin = data.at
    data.number("a count")
    fields.take(data.at - begin, f"{name}s", f"{len(meanings)}")
    for numbers, meaning in zip(parts, meanings, strict=True):
        begin = data.at
        if name == "constraint":
            data.byte("a constraint")
            numbers -= 1
        for _ in range(numbers):
            data.number("a part")
        fields.take(data.at - begin, name, meaning)


def _take_statements(fields: Fields, data: ByteReader) -> None:
    begin, subjects = data.at, data.number("a number of subjects")
    fields.take(data.at - begin, "subjects", f"{subjects}")
    for number in range(subjects):
        begin = data.at
        data.number("a subject")
        pairs = data.number("a number of statements")
        for _ in range(2 * pairs):
            data.number("a part")
        fields.take(data.at - begin, f"subject {number}", f"{pairs} statements")
