"""Questions to dictionaries: their bytes, and whom they are about."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.extract import Extract, ExtractError, OfferedSource
from knowledge_manager.dictionary.offers import interests_of
from knowledge_manager.dictionary.question import (
    EVERYTHING,
    concerns,
    concerns_attribute,
    decode_question,
    encode_question,
)
from knowledge_manager.lookup.lookup import look_up
from knowledge_manager.lookup.thesaurus_files import load_layers
from knowledge_manager.mission_table import load_mission_table
from plugins.language import Requirement
from plugins.lookup import MeasuresAny

TABLE = load_mission_table(["medical", "weather", "fire"])
WISHES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 127)), max_size=6)
SOURCES = st.lists(
    st.builds(OfferedSource, st.integers(0, 7), st.integers(1, 127)), max_size=3, unique=True
).map(tuple)
EXTRACTS = st.builds(lambda sources: Extract(1, 200, 1, sources), SOURCES)


def is_about(wishes: list[tuple[int, int]], extract: Extract) -> bool:
    """By definition, subscription by subscription and attribute by attribute."""
    offered = {
        (source.event, index)
        for source in extract.sources
        for index in range(7)
        if source.attributes >> index & 1
    }
    return any(
        event == wanted and (not feature or feature >> index & 1)
        for wanted, feature in wishes
        for event, index in offered
    )


@given(WISHES, EXTRACTS)
def test_question_concerns_sources_that_offer_any_of_its_attributes(
    wishes: list[tuple[int, int]], extract: Extract
) -> None:
    content = encode_question(wishes, 1)
    assert concerns(decode_question(content), extract) is (not wishes or is_about(wishes, extract))


@given(WISHES, st.integers(0, 7), st.integers(0, 6))
def test_it_is_about_attributes_as_about_those_who_offer_them(
    wishes: list[tuple[int, int]], event: int, index: int
) -> None:
    content = encode_question(wishes, 1)
    only = Extract(1, 200, 1, (OfferedSource(event, 1 << index),))
    assert concerns_attribute(content, event, index) is concerns(decode_question(content), only)


@given(st.one_of(st.binary(max_size=30), WISHES.map(lambda wishes: encode_question(wishes, 4))))
def test_the_decoder_is_total_and_takes_only_what_the_encoder_writes(content: bytes) -> None:
    with suppress(ExtractError):
        wishes = decode_question(content)
        again = [] if wishes is None else list(wishes.items())
        size = 1 if not content else (1, 2, 4, 8)[content[0] & 15]
        assert encode_question(again, size) == content


@pytest.mark.parametrize(
    "content", [b"\x10", b"\x20\x00\x01", b"\x14\x00", b"\x10\x01\x01\x01\x01", b"\x10\x08\x01"]
)
def test_invalid_question_is_refused(content: bytes) -> None:
    with pytest.raises(ExtractError):
        DistributedDataDictionary(table=TABLE).offering(content)


def test_a_word_is_about_what_it_means() -> None:
    words = load_layers([])
    patient, weather = TABLE.event("patient"), TABLE.event("weather")

    def wishes(word: str) -> set[tuple[int, int]]:
        return set(interests_of(look_up(word, TABLE, words).meanings, TABLE))

    assert wishes("heart_rate") == {(patient.index, 1 << patient.attribute("heart_rate").index)}
    assert (patient.index, 1 << patient.attribute("heart_rate").index) in wishes("puls")
    assert wishes("patient") == {(patient.index, 0)}
    assert {event for event, _ in wishes("high")} >= {patient.index, weather.index}
    assert wishes("zzzz") == set()


def test_a_dictionary_asks_for_what_its_languages_ask_for() -> None:
    """A language with requirements, one with another question, one that needs no source."""

    class Whatever:
        alternatives = None

        def serves(self, extract: Extract) -> bool:
            return True

    wanted = MeasuresAny((Requirement(0, frozenset({1, 2})), Requirement(3, frozenset({0}))))
    asks = {1: lambda body: wanted, 2: lambda body: Whatever(), 3: lambda body: MeasuresAny(())}
    dictionary = DistributedDataDictionary(asks, table=TABLE)
    assert decode_question(dictionary.question_for([(1, b"")])) == {0: 6, 3: 1}
    assert dictionary.question_for([(1, b""), (2, b"")]) == EVERYTHING
    assert dictionary.question_for([(9, b"")]) == EVERYTHING
    assert [dictionary.needs_publisher(language, b"") for language in (1, 2, 3, 9)] == [
        True,
        True,
        False,
        True,
    ]
