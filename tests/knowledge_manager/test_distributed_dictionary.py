"""The laws of the dictionary: the order of news never matters, nothing older wins, the bound holds."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.dictionary.distributed import EXPIRED_RETENTION_MS, DistributedDataDictionary
from knowledge_manager.dictionary.extract import Extract, ExtractError, OfferedSource, decode_extract
from plugins.language import Requirement
from plugins.lookup import MeasuresAny
from tests.knowledge_manager.histories import NOW_MS, Told, dictionary_of, histories, state_of
from watchdog.lifetime import lifetime_s


def newest_by_definition(told: list[Told], bound: int) -> list[tuple[int, bytes, int]]:
    """Return what must be held: the newest of every node, unless forgotten; of these the latest born."""
    newest: dict[int, Told] = {}
    for one in told:
        gone_ms = one.born_ms + decode_extract(one.content).lifetime_ms + EXPIRED_RETENTION_MS
        known = newest.get(one.node)
        if gone_ms > NOW_MS and (known is None or one.counter > known.counter):
            newest[one.node] = one
    kept = sorted(newest.values(), key=lambda one: (one.born_ms, one.node))[-bound:]
    return sorted((one.node, one.content, one.born_ms) for one in kept)


@given(histories(), st.integers(1, 8), st.randoms(use_true_random=False))
def test_any_order_and_any_repetition_end_in_the_same(
    told: list[Told], bound: int, chance: random.Random
) -> None:
    news = [*told, *chance.choices(told, k=len(told))] if told else []
    chance.shuffle(news)
    assert state_of(dictionary_of(news, bound)) == newest_by_definition(told, bound)


@given(histories(), st.integers(1, 5))
def test_it_never_outgrows_its_bound(told: list[Told], bound: int) -> None:
    dictionary = DistributedDataDictionary(bound=bound)
    for one in told:
        dictionary.learn(one.node, one.content, NOW_MS, age_ms=NOW_MS - one.born_ms)
        assert len(dictionary) <= bound
        assert len(dictionary._by_age) <= 2 * bound + 18
        assert len(dictionary._purge_queue) <= 2 * bound + 18


@given(histories(), st.integers(0, 60))
def test_bytes_are_bounded_too_and_counted_truly(told: list[Told], most: int) -> None:
    """Whatever is pushed out was born no later than all that is left."""
    dictionary = DistributedDataDictionary(bytes_bound=most)
    for one in told:
        before = {held.node: held for held in dictionary.held()}
        dictionary.learn(one.node, one.content, NOW_MS, age_ms=NOW_MS - one.born_ms)
        left = {held.node: held for held in dictionary.held()}
        assert dictionary.total_bytes == sum(len(held.content) for held in left.values()) <= most
        gone = [held for node, held in before.items() if node not in left and node != one.node]
        assert all(out.rank <= held.rank for out in gone for held in left.values())


NEWS = st.tuples(
    st.integers(0, 3), st.integers(0, 5), st.integers(1, 127), st.integers(0, 255), st.integers(0, NOW_MS)
)


@given(st.lists(NEWS, max_size=20))
def test_an_older_extract_never_replaces_a_newer_one(news: list[tuple[int, int, int, int, int]]) -> None:
    """Even where publishers contradict themselves: counters that repeat, births that go back."""
    dictionary = DistributedDataDictionary()
    for node, counter, mask, lifetime_q, age_ms in news:
        before = dictionary.get(node)
        content = Extract(counter, lifetime_q, 1, (OfferedSource(0, mask),)).encode()
        dictionary.learn(node, content, NOW_MS, age_ms=age_ms)
        after = dictionary.get(node)
        if before is not None:
            assert after is not None
            assert (after.extract.counter, after.content) >= (before.extract.counter, before.content)
            if after.content == before.content:
                assert after.born_ms <= before.born_ms


@given(
    histories(), st.binary(max_size=30), st.one_of(st.integers(-5, 70_000), st.integers(2**31 - 3, 2**31 + 3))
)
def test_invalid_extract_changes_nothing(told: list[Told], content: bytes, node: int) -> None:
    dictionary = dictionary_of(told)
    before = state_of(dictionary)
    try:
        decode_extract(content)
        well_formed = 0 <= node <= 2**31 - 1
    except ExtractError:
        well_formed = False
    if not well_formed:
        with pytest.raises(ExtractError):
            dictionary.learn(node, content, NOW_MS)
        assert state_of(dictionary) == before


def look_up(body: bytes) -> MeasuresAny:
    """A language of one byte each: event, then attributes; an empty body wants nothing."""
    return MeasuresAny((Requirement(body[0], frozenset(body[1:])),) if body else ())


@dataclass(frozen=True, slots=True)
class SpeaksHttp:
    """A question that has nothing to do with attributes: is anything offered over this protocol?"""

    protocol: int
    alternatives: None = None

    def serves(self, extract: Extract) -> bool:
        return any(source.protocol == self.protocol for source in extract.sources)


def test_a_language_may_ask_anything_of_an_extract() -> None:
    dictionary = DistributedDataDictionary({8: lambda body: SpeaksHttp(body[0]), 9: look_up})
    dictionary.learn(3, content(1, OfferedSource(0, 0b011), OfferedSource(0, 0b100, 1)), 0)
    dictionary.learn(2, content(1, OfferedSource(0, 0b111)), 0)
    assert dictionary.publishers_for(8, bytes([1])) == [3]
    assert dictionary.publishers_for(8, bytes([0])) == [2, 3]
    assert dictionary.publishers_for(7, bytes([0])) == []
    dictionary.advance_time(lifetime_s(96) * 1000)
    assert dictionary.publishers_for(8, bytes([0])) == []


def content(counter: int, *sources: OfferedSource, lifetime_q: int = 96) -> bytes:
    return Extract(counter, lifetime_q, 1, sources).encode()


def test_publishers_are_those_with_one_source_for_all() -> None:
    dictionary = DistributedDataDictionary({9: look_up})
    dictionary.learn(3, content(1, OfferedSource(0, 0b011), OfferedSource(0, 0b100, 1)), 0)
    dictionary.learn(2, content(1, OfferedSource(0, 0b111)), 0)
    dictionary.learn(1, content(1, OfferedSource(1, 0b111)), 0)
    assert dictionary.publishers_for(9, bytes([0, 0, 1])) == [2, 3]
    assert dictionary.publishers_for(9, bytes([0, 1, 2])) == [2]
    assert dictionary.publishers_for(9, bytes([1, 2])) == [1]
    assert dictionary.publishers_for(9, b"") == []
    assert dictionary.publishers_for(8, bytes([1, 2])) == []


STEP = st.one_of(
    st.tuples(
        st.just("learn"),
        st.integers(0, 4),
        st.integers(0, 3),
        st.integers(0, 7),
        st.sampled_from([0, 8, 24, 40]),
    ),
    st.tuples(st.just("wait"), st.integers(0, 40_000)),
    st.tuples(st.just("ask"), st.integers(0, 2), st.integers(0, 2)),
)


@given(st.lists(STEP, max_size=30), st.integers(1, 4))
def test_answers_are_those_of_what_is_live(steps: list[tuple[object, ...]], bound: int) -> None:
    """Answers from memory never outlive what they were made of."""
    dictionary = DistributedDataDictionary({9: look_up}, bound=bound)
    now_ms = 0
    for step in steps:
        match step:
            case ("learn", int(node), int(counter), int(mask), int(lifetime_q)):
                sources = (OfferedSource(0, mask),) if mask else ()
                dictionary.learn(node, content(counter, *sources, lifetime_q=lifetime_q), now_ms)
            case ("wait", int(pause_ms)):
                now_ms += pause_ms
                dictionary.advance_time(now_ms)
            case ("ask", int(a), int(b)):
                expected = [
                    held.node
                    for held in dictionary.held()
                    if held.born_ms + lifetime_s(held.extract.lifetime_q) * 1000 > now_ms
                    and any(
                        {a, b} <= {i for i in range(8) if s.attributes >> i & 1} for s in held.extract.sources
                    )
                ]
                assert dictionary.publishers_for(9, bytes([0, a, b])) == expected


def test_what_expired_answers_nothing_but_keeps_older_ones_out() -> None:
    dictionary = DistributedDataDictionary({9: look_up})
    life_ms = lifetime_s(96) * 1000
    dictionary.learn(1, content(5, OfferedSource(0, 1)), 1000)
    assert dictionary.publishers_for(9, bytes([0, 0])) == [1]
    dictionary.advance_time(1000 + life_ms - 1)
    assert dictionary.publishers_for(9, bytes([0, 0])) == [1]
    dictionary.advance_time(1000 + life_ms)
    assert dictionary.publishers_for(9, bytes([0, 0])) == []
    dictionary.learn(1, content(4, OfferedSource(0, 1), lifetime_q=150), 1000 + life_ms)
    assert dictionary.publishers_for(9, bytes([0, 0])) == []
    dictionary.advance_time(1000 + life_ms + EXPIRED_RETENTION_MS)
    assert len(dictionary) == 0


def test_what_was_renewed_outlives_the_end_of_its_older_self() -> None:
    dictionary = DistributedDataDictionary({9: look_up})
    life_ms = lifetime_s(96) * 1000
    dictionary.learn(1, content(1, OfferedSource(0, 1)), 0)
    dictionary.learn(1, content(2, OfferedSource(0, 1)), EXPIRED_RETENTION_MS)
    dictionary.advance_time(life_ms + EXPIRED_RETENTION_MS - 1)
    assert dictionary.publishers_for(9, bytes([0, 0])) == [1]
    dictionary.advance_time(life_ms + EXPIRED_RETENTION_MS)
    assert [held.extract.counter for held in dictionary.held()] == [2]


def test_an_offer_is_taken_back_by_an_empty_extract() -> None:
    dictionary = DistributedDataDictionary({9: look_up})
    dictionary.learn(1, content(1, OfferedSource(0, 1)), 0)
    assert dictionary.publishers_for(9, bytes([0, 0])) == [1]
    dictionary.learn(1, content(2), 10)
    dictionary.learn(1, content(1, OfferedSource(0, 1)), 20)
    assert dictionary.publishers_for(9, bytes([0, 0])) == []


def test_where_it_came_from_and_when_it_was_last_heard() -> None:
    dictionary = DistributedDataDictionary()
    told = content(1, OfferedSource(0, 3, 2, 2))
    dictionary.learn(7, told, 5_000, age_ms=4_000, via=2, hops=3)
    dictionary.learn(7, told, 9_000, age_ms=1_000, via=4, hops=1)
    held = dictionary.get(7)
    assert held is not None
    assert held.born_ms == 1_000, "an extract never becomes younger"
    assert (held.provenance.via, held.provenance.hops, held.provenance.heard_ms) == (4, 1, 9_000)
    (document,) = dictionary.as_document()
    assert (document["node"], document["age_s"], document["via"]) == (7, 8, 4)
    assert document["sources"] == [
        {"event": 0, "attributes": [0, 1], "protocol": "file", "content_type": "text/csv"}
    ]


def test_a_dictionary_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        DistributedDataDictionary(bound=0)
