"""The bytes of publications and patterns: golden ones, one spelling each, and nothing else accepted."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.graphs.graph_reader import read_graph
from knowledge_manager.graphs.terms import INSTANT, Blank, Graph, literal
from plugins.gtopss.pattern import Code, Constraint, Edge, Pattern
from plugins.gtopss.vectors import (
    GraphPublication,
    decode_pattern,
    decode_publication,
    encode_pattern,
    encode_publication,
)
from tests.plugins.gtopss.graphs import ITEM, ITEM_BYTES, PATTERN_BYTES, REPORTS, graphs, term
from watchdog.header import body_of
from watchdog.vector import VectorError

DICTIONARY = REPORTS.dictionary

FLOODS = Pattern(
    3,
    (
        Edge(0, term("rdf:type"), term("rss:item")),
        Edge(0, term("dc:subject"), 1),
        Edge(0, term("dc:date"), 2),
    ),
    (
        Constraint(1, Code.IS_A, term("t:flood")),
        Constraint(2, Code.GE, literal("2026-05-01T00:00:00Z", INSTANT)),
    ),
)


def test_the_golden_item() -> None:
    graph = read_graph(ITEM.encode(), "item.ttl", "turtle").graph
    assert encode_publication(GraphPublication(graph), DICTIONARY) == ITEM_BYTES
    assert decode_publication(ITEM_BYTES, DICTIONARY).graph == graph


def test_the_golden_pattern() -> None:
    assert encode_pattern(FLOODS, DICTIONARY) == body_of(PATTERN_BYTES)
    found = decode_pattern(body_of(PATTERN_BYTES), DICTIONARY)
    assert set(found.edges) == set(FLOODS.edges)
    assert found.constraints == FLOODS.constraints


@given(graphs())
def test_what_is_written_is_read_again(graph: Graph) -> None:
    vector = encode_publication(GraphPublication(graph, 77, 3, 65_000), DICTIONARY)
    found = decode_publication(vector, DICTIONARY)
    assert (found.number, found.valid, found.stamp_s) == (77, 3, 65_000)
    assert encode_publication(found, DICTIONARY) == vector
    blanks = sorted(
        {one for triple in graph for one in triple if isinstance(one, Blank)}, key=lambda b: b.number
    )
    renamed = {old: Blank(new) for new, old in enumerate(blanks)}
    assert found.graph == {tuple(renamed.get(one, one) for one in triple) for triple in graph}  # type: ignore[call-overload]


@given(st.binary(max_size=60), st.sampled_from([ITEM_BYTES, PATTERN_BYTES]), st.data())
def test_bytes_are_read_or_refused(noise: bytes, vector: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(vector)))
    mutated = vector[:at] + noise[:3] + vector[at + data.draw(st.integers(0, 3)) :]
    for one in (mutated, vector[:6] + noise):
        for accepted in (_publication, _pattern):
            offset = _offset_of_refusal(accepted, one)
            assert offset is None or 0 <= offset <= len(one) + 1


def _offset_of_refusal(accepted: Callable[[bytes], bytes], vector: bytes) -> int | None:
    """Return where bytes are refused; None where they are taken, and written again as they were."""
    try:
        again = accepted(vector)
    except VectorError as error:
        return error.offset
    assert again == vector
    return None


def _publication(vector: bytes) -> bytes:
    return encode_publication(decode_publication(vector, DICTIONARY), DICTIONARY)


def _pattern(vector: bytes) -> bytes:
    body = body_of(vector)
    return vector[:3] + encode_pattern(
        decode_pattern(body, DICTIONARY), DICTIONARY, int.from_bytes(body[:2], "big")
    )


@pytest.mark.parametrize(
    ("changed", "offset", "message"),
    [
        ("00005f000011", 5, "form"),
        ("00005f0000100100", 8, "ends where a namespace"),
        ("00005f00001001 00100161", 8, "namespace 16 is unknown"),
        ("00005f00001001 0000 04 74797065", 7, "encoded as a local term"),
        ("00005f00001001 01 05 75726e3a61 01 01 01 0102", 7, "is not used"),
        ("00005f00001002 01057572 6e3a62 0105 75726e3a61", 14, "ascending order of their bytes"),
        ("00005f00001000 00", 8, "has no statements"),
    ],
)
def test_refusals_of_publications(changed: str, offset: int, message: str) -> None:
    with pytest.raises(VectorError, match=message) as error:
        decode_publication(bytes.fromhex(changed), DICTIONARY)
    assert error.value.offset == offset
