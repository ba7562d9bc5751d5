"""When devices in range can talk, held to a look at every moment."""

from hypothesis import given
from hypothesis import strategies as st

from dens.trace.manifest import PlannedPartition
from spark_analysis.metrics.outages import Outages, outages_of

DEVICES = 4
END = 20
spans = st.tuples(st.integers(0, END), st.integers(1, END)).map(lambda one: (one[0], one[0] + one[1]))
contacts = st.tuples(st.integers(0, DEVICES - 1), st.integers(0, DEVICES - 1), spans).filter(
    lambda one: one[0] < one[1]
)


def covers(stretches: list[tuple[float, float]], at: float) -> bool:
    return any(begin <= at < end for begin, end in stretches)


@given(
    st.lists(contacts, max_size=8),
    st.dictionaries(st.integers(0, DEVICES - 1), st.lists(spans, max_size=3)),
    st.lists(st.tuples(st.frozensets(st.integers(0, DEVICES - 1)), spans), max_size=3),
)
def test_they_talk_while_nothing_is_between_them(
    drawn: list[tuple[int, int, tuple[int, int]]],
    down: dict[int, list[tuple[int, int]]],
    islands: list[tuple[frozenset[int], tuple[int, int]]],
) -> None:
    in_order = sorted(((a, b, *span) for a, b, span in drawn), key=lambda one: one[2])
    outages = Outages({node: tuple(spans) for node, spans in down.items()}, tuple(islands))
    found = list(outages.talking((a, b, float(begin), float(end)) for a, b, begin, end in in_order))
    assert [one[2] for one in found] == sorted(one[2] for one in found)
    for half in range(1, 4 * END, 2):  # between the whole moments, where nothing changes
        at = half / 2
        for a in range(DEVICES):
            for b in range(a + 1, DEVICES):
                in_range = covers([(begin, end) for x, y, begin, end in in_order if (x, y) == (a, b)], at)
                cut = any(covers(list(down.get(one, [])), at) for one in (a, b)) or any(
                    (a in island) != (b in island) and covers([span], at) for island, span in islands
                )
                talking = covers([(begin, end) for x, y, begin, end in found if (x, y) == (a, b)], at)
                assert talking == (in_range and not cut)


def test_outages_are_read_from_states_and_planned_partitions() -> None:
    nodes = [
        {"node": 0, "name": "a-1", "group": "a"},
        {"node": 1, "name": "a-2", "group": "a"},
        {"node": 2, "name": "b-1", "group": "b"},
    ]
    states = [
        {"at_ms": at_ms, "node": node, "state": state}
        for at_ms, node, state in ((0, 0, "up"), (5, 0, "down"), (9, 0, "up"), (7, 2, "down"))
    ]
    partitions = [PlannedPartition(("a-1", "b"), 10, 20), PlannedPartition(("a",), 30, None)]
    found = outages_of(states, partitions, nodes)
    assert found == Outages(
        {0: ((5.0, 9.0),), 2: ((7.0, float("inf")),)},
        ((frozenset({0, 2}), (10.0, 30.0)), (frozenset({0, 1}), (30.0, float("inf")))),
    )
