"""The compiled form: the same bytes for the same concepts, and nothing else is taken for one."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.compact_sections import CompactError
from knowledge_manager.thesaurus.compiled import MAGIC, compile_thesaurus, read_compact
from knowledge_manager.thesaurus.concept import Concept, Label, Relation, Target
from knowledge_manager.thesaurus.thesaurus import Thesaurus

CONCEPTS = [
    Concept(
        f"u:{index}",
        "s:",
        (Label(f"ord {index} ø", "nb", "preferred"), Label(f"word {index}", "en", "alternative")),
        ((Relation.BROADER, f"u:{index // 3}"), (Relation.CLOSE, f"u:{index * 5 % 20}")),
        (Target("term", f"t{index}"),) if index % 2 else (),
        "degC" if index % 3 else "",
    )
    for index in range(20)
]


@given(st.randoms(use_true_random=False))
def test_order_does_not_matter(chance: random.Random) -> None:
    shuffled = chance.sample(CONCEPTS, len(CONCEPTS))
    assert compile_thesaurus(shuffled) == compile_thesaurus(CONCEPTS)


def test_it_holds_what_went_in() -> None:
    thesaurus = Thesaurus.of(CONCEPTS)
    assert thesaurus.concept_count == 20
    assert thesaurus.label_count == 40
    assert {target.name for target in thesaurus.targets()} == {f"t{i}" for i in range(1, 20, 2)}
    for concept in CONCEPTS:
        for label in concept.labels:
            if concept.targets:
                finding = thesaurus.find(label.text)[0]
                assert (finding.label, finding.concept, finding.scheme) == (label, concept.uri, "s:")
                assert (finding.target, finding.closeness, finding.steps) == (concept.targets[0], 1000, ())
                assert finding.unit == concept.unit


def test_an_empty_thesaurus_knows_nothing() -> None:
    thesaurus = Thesaurus.of([])
    assert thesaurus.find("anything") == ()
    assert thesaurus.nearest("anything") == ()


@given(st.data())
def test_any_damage_is_noticed(data: st.DataObject) -> None:
    content = bytearray(compile_thesaurus(CONCEPTS[:5]))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CompactError) as error:
        Thesaurus(bytes(content))
    assert 0 <= error.value.offset <= len(content)


def test_every_truncation_is_noticed() -> None:
    content = compile_thesaurus(CONCEPTS[:5])
    for length in range(len(content)):
        with pytest.raises(CompactError):
            read_compact(content[:length])
    with pytest.raises(CompactError):
        read_compact(content + b"\0")


@given(st.binary(max_size=200))
def test_well_sealed_nonsense_is_refused(body: bytes) -> None:
    import zlib

    content = MAGIC + zlib.crc32(body).to_bytes(4, "little") + body
    with pytest.raises(CompactError):
        read_compact(content)


@given(st.data())
def test_well_sealed_damage_never_breaks_a_look_up(data: st.DataObject) -> None:
    """A damaged file may carry a valid checksum: it is refused, or look-ups still return an answer."""
    import zlib

    content = bytearray(compile_thesaurus(CONCEPTS[:6]))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(12, len(content) - 1))] = data.draw(st.integers(0, 255))
    content[8:12] = zlib.crc32(bytes(content[12:])).to_bytes(4, "little")
    try:
        thesaurus = Thesaurus(bytes(content))
    except CompactError:
        return
    for word in ("ord 1 ø", "word 3", "word 5", "nothing"):
        for finding in thesaurus.find(word, "nb"):
            assert repr(finding)
            assert 450 <= finding.closeness <= 1000
    assert isinstance(thesaurus.nearest("wrod 1"), tuple)
