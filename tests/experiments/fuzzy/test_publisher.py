"""The publisher's filter of the figures is that of boards, and its work is counted right."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens_experiments.fuzzy.publisher import PublisherFilter, counted_covering, counted_work
from dens_experiments.fuzzy.workload import WORKLOADS, Workload
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading
from watchdog.score import satisfies, vector_degree

LOADS = [WORKLOADS[name] for name in ("paper", "wide", "every_attribute")]


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("algorithm", ["fnif", "fnifs", "fnifc"])
@given(load=st.sampled_from(LOADS), seed=st.integers(1, 99), drops=st.sets(st.integers(0, 79), max_size=30))
@settings(max_examples=8)
def test_it_releases_what_a_board_releases(
    algorithm: str, shares: bool, load: Workload, seed: int, drops: set[int]
) -> None:
    source = PublisherFilter(algorithm, load.condition, shares)
    board = FuzzyFilter(1, load.condition)
    vectors = load.subscriptions(80, seed)
    source.load(vectors[:40])
    for number, vector in enumerate(vectors):
        if number >= 40:
            source.insert(number, vector)
        board.add((number >> 8, number & 255), vector)
    for number in sorted(drops):
        source.delete(number)
        board.remove((number >> 8, number & 255))
    for reading in load.readings(10, seed):
        assert source.feed(reading) == len(board.feed(reading))


def slow_work(load: Workload, vectors: list[bytes], reading: Reading) -> tuple[int, int]:
    """What FNIF does for a reading, by its description: it compares all features once, and after a hit it
    continues with the values of subscriptions of other features only."""
    sent: set[int] = set()
    tests = judged = 0
    for vector in vectors:
        tests += 1
        feature = vector[-1]
        served = feature in sent if load.condition == "exact" else any(not feature & ~one for one in sent)
        if not feature & ~reading.mask[0] and not served:
            judged += 1
            if satisfies(vector[5], vector_degree(vector, 1, reading.row)):
                sent.add(feature)
    return tests, judged


def in_order(source: PublisherFilter) -> list[bytes]:
    """The subscriptions as they lie in the pool, which is the order in which they are visited."""
    pool = source.pool
    return [
        bytes(5) + bytes(pool.part(number << 16 | pool.header() + record * (block[0] << 1)))
        for number, block in enumerate(pool.blocks)
        for record in range(block[1])
    ]


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_counted_work_is_that_of_the_papers_description(load: Workload) -> None:
    vectors = load.subscriptions(60, 5)
    source = PublisherFilter("fnif", load.condition)
    source.load(vectors)
    held = in_order(source)
    assert sorted(held) == sorted(bytes(5) + vector[5:] for vector in vectors)
    for reading in load.readings(12, 5):
        tests, judged = slow_work(load, held, reading)
        found = counted_work(source, [reading])
        assert (found["feature tests"], found["subscriptions judged"]) == (tests, judged)


def test_counting_leaves_the_filters_as_they_were() -> None:
    from watchdog import covering, fnif, scan

    before = scan.first_satisfied, fnif.first_satisfied, covering.covers
    load = WORKLOADS["paper"]
    source = PublisherFilter("fnifc", "exact")
    source.load(load.subscriptions(40, 1))
    counted_work(source, load.readings(3, 1))
    with pytest.raises(ZeroDivisionError):
        counted_covering(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    assert (scan.first_satisfied, fnif.first_satisfied, covering.covers) == before


def test_covering_compares_and_the_others_do_not() -> None:
    vectors = WORKLOADS["paper"].subscriptions(60, 1)

    def loaded(algorithm: str) -> PublisherFilter:
        source = PublisherFilter(algorithm, "exact")
        for number, vector in enumerate(vectors):
            source.insert(number, vector)
        return source

    assert counted_covering(lambda: loaded("fnif"))["records compared for covering"] == 0
    found = counted_covering(lambda: loaded("fnifc"))
    assert found["records compared for covering"] > 60
    assert found["keys looked at"] == 60 * 59 / 2
