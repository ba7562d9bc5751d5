"""The dictionary where the overlay wants a `Directory`, beside the simplest one there could be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.interfaces import Directory
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.extract import ExtractError
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.dictionary.offers import offers_for
from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy.language import FUZZY
from watchdog.vector import VectorError

TABLE = load_mission_table(["medical", "weather", "fire"])
OFFERS = st.dictionaries(st.integers(0, 2), st.sets(st.integers(0, 5), min_size=1), min_size=1)


def new_directory() -> DistributedDataDictionary:
    return DistributedDataDictionary({1: FUZZY.lookup(TABLE).question}, table=TABLE)


def subscription(event: int, attributes: list[int]) -> bytes:
    constraints = b"\x00\xff\x7f" * len(attributes)
    mask = sum(1 << index for index in attributes)
    return bytes([0, 0, 0]) + constraints + bytes([1 << event, mask])


def extract_of(offers: dict[int, set[int]], counter: int) -> bytes:
    local = LocalDataDictionary(TABLE)
    for event, attributes in offers.items():
        event_class = TABLE.event_at(event)
        local.offer(event_class.name, [event_class.attribute_at(index).name for index in attributes])
    return local.extract(counter)


@given(
    st.dictionaries(st.integers(0, 50), OFFERS, max_size=8),
    st.integers(0, 2),
    st.sets(st.integers(0, 5), min_size=1),
)
def test_it_finds_exactly_the_publishers_that_offer_all(
    publishers: dict[int, dict[int, set[int]]], event: int, wanted: set[int]
) -> None:
    directory: Directory = new_directory()
    for node, offers in publishers.items():
        directory.learn(node, extract_of(offers, 1), 0)
    expected = sorted(node for node, offers in publishers.items() if wanted <= offers.get(event, set()))
    assert list(directory.publishers_for(1, subscription(event, sorted(wanted)))) == expected


@given(st.integers(0, 2), st.sets(st.integers(0, 5), min_size=1), OFFERS)
def test_partial_offers_say_what_is_missing(
    event: int, wanted: set[int], offers: dict[int, set[int]]
) -> None:
    directory = new_directory()
    directory.learn(8, extract_of(offers, 1), 0)
    (answer,) = offers_for(directory, TABLE, 1, subscription(event, sorted(wanted)))
    offered = wanted & offers.get(event, set())
    names = [TABLE.event_at(event).attribute_at(index).name for index in sorted(wanted - offered)]
    assert answer.publishers == ((8,) if offered == wanted else ())
    assert [offer.missing for offer in answer.partial] == ([tuple(names)] if offered and names else [])


def test_age_needs_no_sensor() -> None:
    directory = new_directory()
    directory.learn(1, extract_of({0: {1}}, 1), 0)
    assert directory.publishers_for(1, subscription(0, [1, 7])) == [1]


def test_bad_vectors_and_extracts_are_refused_with_an_offset() -> None:
    directory = new_directory()
    for refused in (
        lambda: directory.publishers_for(1, b"nonsense"),
        lambda: directory.learn(1, b"nonsense", 0),
        lambda: directory.learn(1, bytes([0, 3]), 0),
    ):
        with pytest.raises((VectorError, ExtractError)) as error:
            refused()
        assert error.value.offset >= 0
