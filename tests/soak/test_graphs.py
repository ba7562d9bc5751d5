"""Long laws of graphs: ten million vectors, and large populations against the definition and two judges."""

import random

import pytest

from plugins.gtopss.canonical import canonical
from plugins.gtopss.match import Verdict, judge
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, decode_publication, encode_pattern, encode_publication
from tests.plugins.gtopss.graphs import ITEM_BYTES, PATTERN_BYTES, REPORTS, SMALL_TAXONOMY
from tests.plugins.gtopss.judges import OxigraphJudge
from tests.plugins.gtopss.random_graphs import random_graph, random_pattern
from tests.plugins.gtopss.test_matchers import SMALL, body_of, vector_of
from watchdog.vector import VectorError

VECTORS = 10_000_000
SEEDS = 8


@pytest.mark.parametrize("seed", range(SEEDS))
def test_ten_million_vectors_are_taken_or_refused(seed: int) -> None:
    """Random bytes, and mutations of what is well-formed: by both decoders alike, `VectorError` alone."""
    chance = random.Random(seed)
    index = GraphIndex.build([decode_pattern(PATTERN_BYTES[3:], REPORTS.dictionary)], REPORTS)
    known = [ITEM_BYTES, *(vector_of(random_graph(chance)) for _ in range(50))]
    bodies = [PATTERN_BYTES[3:], *(body_of(random_pattern(chance)) for _ in range(50))]
    taken = 0
    for _ in range(VECTORS // SEEDS // 2):
        vector, body = mutated(chance, known), mutated(chance, bodies)
        try:
            told = decode_publication(vector, REPORTS.dictionary)
        except VectorError:
            with pytest.raises(VectorError):
                index.find(vector)
        else:
            taken += 1
            assert encode_publication(told, REPORTS.dictionary) == vector
            index.find(vector)
        try:
            pattern = decode_pattern(body, REPORTS.dictionary)
        except VectorError:
            continue
        stamp_s = int.from_bytes(body[:2], "big")
        assert encode_pattern(pattern, REPORTS.dictionary, stamp_s) == body
    assert taken > 100


def mutated(chance: random.Random, known: list[bytes]) -> bytes:
    """Return some bytes, mostly like one of these."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(80))
    found = bytearray(chance.choice(known))
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        at = chance.randrange(len(found))
        kind = chance.randrange(3)
        if kind == 0:
            found[at] = chance.randrange(256)
        elif kind == 1:
            del found[at]
        else:
            found.insert(at, chance.randrange(256))
        if not found:
            break
    return bytes(found)


@pytest.mark.parametrize("seed", range(20))
def test_populations_agree_with_the_definition_and_with_pyoxigraph(seed: int) -> None:
    chance = random.Random(1000 + seed)
    concepts = list(dict.fromkeys(canonical(random_pattern(chance)) for _ in range(300)))
    index = GraphIndex.build(concepts, SMALL)
    for turn in range(60):
        graph = random_graph(chance)
        statements = Statements(graph, SMALL_TAXONOMY)
        wanted = [at for at, one in enumerate(concepts) if judge(one, statements) is not Verdict.NOT]
        assert index.find(vector_of(graph)).concepts.tolist() == wanted
        if turn % 10 == 0:
            store = OxigraphJudge(graph, SMALL_TAXONOMY)
            assert [at for at, one in enumerate(concepts) if store.rows(one)] == wanted
        if turn == 30:
            index = GraphIndex.build(concepts, SMALL, index)
