"""The publisher's filter of the figures is that of boards, and its work is counted right."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.experiments.fuzzy.publisher import PublisherFilter, counted_covering, counted_work
from studio.experiments.fuzzy.workload import WORKLOADS, Workload
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
    """What FNIF does for a reading, by its description: in each round all features, and the values of those
    that fit and are not served, unless something larger is satisfied already."""
    served: list[int] = []
    tests = judged = 0
    while True:
        best = (0, 0)
        tests += len(vectors)
        for vector in vectors:
            feature = vector[-1]
            place = (feature.bit_count(), feature)
            fits = (
                feature == reading.mask[0] if load.condition == "exact" else feature & ~reading.mask[0] == 0
            )
            open_still = not any(feature & ~other == 0 for other in served)
            if place > best and fits and open_still:
                judged += 1
                if satisfies(vector[5], vector_degree(vector, 1, reading.row)):
                    best = place
        if best == (0, 0):
            return tests, judged
        served.append(best[1])


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
