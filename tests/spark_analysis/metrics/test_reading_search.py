"""Readings × revisions in force, in columns: against plain Python and against the naive matcher."""

import random
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy import ground_truth
from plugins.fuzzy.ground_truth import FuzzyGroundTruth, complete_notification
from plugins.fuzzy.matching.algorithms import ALGORITHMS
from plugins.ground_truth import MatcherTruth
from spark_analysis.errors import TraceError
from spark_analysis.metrics import reading_search
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.reading_search import ReadingSearch, read_columns
from spark_analysis.metrics.run_languages import RunLanguages
from tests.plugins.fuzzy.matching.populations import ALL_AGGREGATORS, near_notifications, near_subscriptions
from tests.sizes import examples
from tests.spark_analysis.synthetic import EVENT, Row, Told, Wish, notification_vector, subscription_vector

Found = list[tuple[int, int, int]]
"""(reading, revision, degree), in order."""

run_languages = RunLanguages(load_mission_table(["medical"]))


@dataclass(frozen=True)
class Naive:
    """The languages of a run, with the plainest ground truth there is."""

    feature_bytes: int = 1

    def ground_truth(self, number: int) -> MatcherTruth:
        assert number == 1
        return MatcherTruth(ALGORITHMS["naive"](None, "subset", self.feature_bytes), complete_notification)


@dataclass(frozen=True)
class Fast:
    """The languages of a run whose vocabulary is not known."""

    feature_bytes: int = 1

    def ground_truth(self, number: int) -> FuzzyGroundTruth:
        assert number == 1
        return FuzzyGroundTruth(None, self.feature_bytes)


def is_compiled(search: ReadingSearch) -> bool:
    [truth] = search._truths.values()
    return isinstance(truth, FuzzyGroundTruth) and truth.is_compiled


def revision(wish: Wish) -> SubscriptionRevision:
    vector = subscription_vector(wish)
    times = (wish.created_ms, wish.expires_ms, wish.withdrawn_ms)
    return SubscriptionRevision(wish.subscriber, wish.id, wish.seq, 1, *times, vector, None)


def batch_of(rows: list[Row]) -> pa.RecordBatch:
    kinds = {"event_ms": pa.int64(), "event": pa.int32(), "attributes": pa.binary(), "values": pa.binary()}
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(list(kinds.items())))


def found_by(search: ReadingSearch, batch: pa.RecordBatch) -> Found:
    found: Found = []
    for begin, matches in search.matches(batch):
        start = 0
        for reading, end in enumerate(matches.ends.tolist()):
            people = {search._person[at] for at in matches.revisions[start:end].tolist()}
            assert matches.subscribers[reading] == len(people)
            pairs = zip(
                matches.revisions[start:end].tolist(), matches.degrees[start:end].tolist(), strict=True
            )
            found += [(begin + reading, *pair) for pair in pairs]
            start = end
        assert start == len(matches.revisions) == len(matches.degrees)
    return sorted(found)


def chance_wishes(chance: random.Random, count: int) -> list[Wish]:
    wishes = []
    for number in range(count):
        intervals = {}
        for attribute in chance.sample((0, 1, 3, 4), chance.randrange(1, 4)):
            low = chance.randrange(200)
            intervals[attribute] = (low, min(255, low + chance.randrange(20, 120)))
        created_ms = chance.randrange(1000)
        withdrawn_ms = created_ms + chance.randrange(900) if chance.random() < 0.3 else None
        life_ms = chance.randrange(1, 1500)
        wishes.append(
            Wish(number // 8, number % 8, 0, intervals, created_ms, created_ms + life_ms, withdrawn_ms)
        )
    return wishes


def chance_readings(chance: random.Random, count: int) -> tuple[list[Row], list[Told]]:
    rows, told = [], []
    for number in range(count):
        values = {a: chance.randrange(256) for a in (0, 1, 3, 4) if chance.random() < 0.8}
        mask = sum(1 << a for a in values)
        told.append(Told(9, number, chance.randrange(2000), values))
        rows.append(
            {
                "event_ms": told[-1].at_ms,
                "event": EVENT,
                "attributes": bytes((mask,)),
                "values": bytes(values[a] for a in sorted(values)),
            }
        )
    return rows, told


def expected(wishes: list[Wish], told: list[Told]) -> Found:
    found = []
    for reading, one in enumerate(told):
        for position, wish in enumerate(wishes):
            until_ms = (
                wish.expires_ms if wish.withdrawn_ms is None else min(wish.expires_ms, wish.withdrawn_ms)
            )
            if wish.created_ms <= one.at_ms < until_ms and all(
                a in one.values and low <= one.values[a] <= high for a, (low, high) in wish.intervals.items()
            ):
                found.append((reading, position, 255))
    return found


@pytest.mark.parametrize(
    ("count", "make", "together"),
    [(40, Naive(), False), (300, run_languages, False), (2500, run_languages, True), (2500, Naive(), False)],
)
def test_every_search_finds_what_plain_python_finds(count: int, make: RunLanguages, together: bool) -> None:
    chance = random.Random(count)
    wishes = chance_wishes(chance, count)
    rows, told = chance_readings(chance, 120)
    search = ReadingSearch([revision(wish) for wish in wishes], make)
    found = found_by(search, batch_of(rows))
    assert is_compiled(search) is together
    assert len(found) > 20
    assert found == expected(wishes, told)


def test_what_is_held_follows_the_time_of_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in order, then from the start again, then one of everything: always what plain Python finds."""
    monkeypatch.setattr(ground_truth, "TOGETHER_FROM", 1000)
    monkeypatch.setattr(reading_search, "PAIRS_AT_ONCE", 1500)
    chance = random.Random(5)
    wishes = chance_wishes(chance, 300)
    rows, told = chance_readings(chance, 200)
    order = sorted(range(200), key=lambda at: told[at].at_ms)
    search = ReadingSearch([revision(wish) for wish in wishes], run_languages)
    pieces = [order[at : at + 20] for at in range(0, 200, 20)]
    held = []
    for piece in [*pieces, *pieces[:3], order, []]:
        found = found_by(search, batch_of([rows[at] for at in piece]))
        assert found == expected(wishes, [told[at] for at in piece])
        held.append(int(search._held.sum()))
    assert is_compiled(search)
    assert min(held[:10]) < 150 < max(held[:10]) < 300


@settings(max_examples=examples(60), deadline=None)
@given(
    vectors=st.lists(near_subscriptions(ALL_AGGREGATORS), min_size=1, max_size=12),
    told=st.lists(near_notifications(), min_size=1, max_size=8),
)
def test_columns_find_what_the_definition_finds_for_every_aggregator(
    vectors: list[bytes], told: list[bytes]
) -> None:
    revisions = [
        SubscriptionRevision(at, 0, 0, 1, 0, 10, None, vector, None) for at, vector in enumerate(vectors)
    ]
    batch = batch_of(
        [
            {"event_ms": 5, "event": one[-2].bit_length() - 1, "attributes": one[-1:], "values": one[6:-2]}
            for one in told
        ]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ground_truth, "TOGETHER_FROM", 0)
        search = ReadingSearch(revisions, Fast())
        together = found_by(search, batch)
        assert is_compiled(search)
    assert together == found_by(ReadingSearch(revisions, Naive()), batch)


def test_masks_of_two_bytes_and_a_batch_that_is_a_piece_of_another() -> None:
    vector = bytes(6) + bytes((100, 200, 60)) + b"\x00\x01" + b"\x02\x00"
    revisions = [SubscriptionRevision(3, 0, 0, 1, 0, 10, None, vector, None)]
    rows = [
        {"event_ms": 1, "event": 0, "attributes": b"\x02\x01", "values": bytes((7, value))}
        for value in (0, 150, 90, 255)
    ]
    whole = batch_of(rows)
    wide = Naive(2)
    assert [at for at, _, _ in found_by(ReadingSearch(revisions, wide), whole)] == [1, 2]
    assert [at for at, _, _ in found_by(ReadingSearch(revisions, wide), whole.slice(1, 2))] == [0, 1]


def test_full_reading_encodes_as_specified() -> None:
    told = Told(1, 0, 0, {0: 7, 3: 9})
    rows = [
        {"event_ms": 0, "event": EVENT, "attributes": b"\x09", "values": b"\x07\x09"},
        {"event_ms": 0, "event": EVENT, "attributes": b"\x00", "values": b""},
    ]
    readings = read_columns(batch_of(rows))
    written = complete_notification(EVENT, int(readings.features[0]), readings.rows[0], None)
    assert written is not None
    assert written[6:] == notification_vector(told)[6:]
    assert complete_notification(EVENT, int(readings.features[1]), readings.rows[1], None) is None
    wide = read_columns(batch_of([{"event_ms": 0, "event": 9, "attributes": b"\x00\x01", "values": b"\x05"}]))
    vector = complete_notification(9, int(wide.features[0]), wide.rows[0], None)
    assert vector == bytes(6) + b"\x05\x02\x00\x00\x01"


@pytest.mark.parametrize(
    ("attributes", "values", "message"),
    [
        ([b"\x01", b"\x03"], [b"\x01\x02", b"\x01"], "more or fewer values"),
        ([b"\x01", b"\x00\x01"], [b"\x01", b"\x01"], "different lengths"),
    ],
)
def test_masks_that_do_not_fit_are_refused(
    attributes: list[bytes], values: list[bytes], message: str
) -> None:
    rows = [
        {"event_ms": 0, "event": EVENT, "attributes": mask, "values": value}
        for mask, value in zip(attributes, values, strict=True)
    ]
    with pytest.raises(TraceError, match=message):
        read_columns(batch_of(rows))
