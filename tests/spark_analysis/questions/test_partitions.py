"""Pieces of the network and journeys through it, against loops over sampled time."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame

from spark_analysis.questions.partitions import (
    Network,
    _arrivals,
    _meetings,
    earliest_arrivals,
    pieces_over_time,
)
from tests.spark_analysis.synthetic import END_MS, synthetic_run

MakeTable = Callable[..., DataFrame]


def contact(a: int, b: int, begin_ms: float, end_ms: float) -> dict[str, object]:
    return {"a": a, "b": b, "begin_ms": begin_ms, "end_ms": end_ms}


def test_pieces_of_a_hand_made_network(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts",
        contact(0, 1, 0.0, 2500.0),
        contact(1, 2, 1500.0, 2000.0),
        contact(3, 4, 2000.0, 2400.0),
        contact(3, 4, 2600.0, 2900.0),
    )
    found = contacts.transform(pieces_over_time(5, 1000, 4000)).orderBy("sample").collect()
    assert [tuple(row) for row in found] == [
        (0, 4, 2, 3, 2),
        (1, 4, 2, 3, 2),
        (2, 2, 3, 0, 8),
        (3, 5, 1, 5, 8),
    ]
    nobody = contacts.where("false").transform(pieces_over_time(5, 1000, 2000)).collect()
    assert [tuple(row) for row in nobody] == [(0, 5, 1, 5, 0), (1, 5, 1, 5, 0)]


def test_pieces_agree_with_spreading_from_node_to_node(make_table: MakeTable) -> None:
    run = synthetic_run(3)
    every_ms = END_MS // 9
    found = make_table("contacts", *run.tables["contacts"]).transform(pieces_over_time(9, every_ms, END_MS))
    rows = {row["sample"]: row for row in found.collect()}
    assert len(rows) == 9
    for sample, row in rows.items():
        at_ms = sample * every_ms
        near: dict[int, set[int]] = {node: {node} for node in range(9)}
        for one in run.tables["contacts"]:
            if one["begin_ms"] <= at_ms <= one["end_ms"]:
                near[one["a"]].add(one["b"])
                near[one["b"]].add(one["a"])
        for _ in range(9):
            near = {node: set().union(*(near[other] for other in known)) for node, known in near.items()}
        pieces = {frozenset(known) for known in near.values()}
        sizes = [len(piece) for piece in pieces]
        assert (row["pieces"], row["largest"], row["alone"]) == (len(sizes), max(sizes), sizes.count(1))
        journeys = [
            tuple(one[key] for key in ("a", "b", "begin_ms", "end_ms")) for one in run.tables["contacts"]
        ]
        arrivals = [_arrivals(_meetings(journeys), source, None) for source in range(9)]
        assert row["reachable"] == sum(ms <= at_ms for at in arrivals for ms in at.values()) - 9


def test_a_network_without_nodes_has_no_largest_piece() -> None:
    assert Network(0).figures() == {"pieces": 0, "largest": 0, "alone": 0, "reachable": 0}


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 30), st.integers(0, 12)).filter(
            lambda one: one[0] < one[1]
        ),
        max_size=25,
    )
)
def test_what_time_has_joined_is_what_journeys_reach(drawn: list[tuple[int, int, int, int]]) -> None:
    """Contacts may overlap, repeat, and last for no time at all."""
    contacts = [(a, b, float(begin), float(begin + length)) for a, b, begin, length in drawn]
    contacts.sort(key=lambda one: one[2])
    arrivals = [_arrivals(_meetings(contacts), source, None) for source in range(6)]
    network, coming = Network(6), list(contacts)
    for moment in range(45):
        while coming and coming[0][2] <= moment:
            network.meet(*coming.pop(0))
        network.forget_before(moment)
        found = network.figures()
        assert found["reachable"] == sum(ms <= moment for at in arrivals for ms in at.values()) - 6
        edges = [(a, b) for a, b, begin_ms, end_ms in contacts if begin_ms <= moment <= end_ms]
        near = {node: {node} for node in range(6)}
        for a, b in edges * 6:
            near[a] = near[b] = near[a] | near[b]
            for node in near[a]:
                near[node] = near[a]
        sizes = [len(piece) for piece in {frozenset(piece) for piece in near.values()}]
        assert (found["pieces"], found["largest"], found["alone"]) == (len(sizes), max(sizes), sizes.count(1))


def spread(contacts: list[tuple[int, int, float, float]], source: int, through: set[int]) -> dict[int, float]:
    """Return when each node is first reached, by stepping through every whole moment."""
    reached = {source: 0.0}
    for moment in range(200):
        changed = True
        while changed:
            changed = False
            for a, b, begin_ms, end_ms in contacts:
                if begin_ms <= moment <= end_ms:
                    for giver, taker in ((a, b), (b, a)):
                        if giver in reached and taker not in reached and giver in through | {source}:
                            reached[taker] = float(moment)
                            changed = True
    return reached


@pytest.mark.parametrize("seed", range(20))
def test_journeys_agree_with_stepping_through_time(seed: int) -> None:
    chance = random.Random(seed)
    contacts = []
    for _ in range(25):
        a, b = sorted(chance.sample(range(8), 2))
        begin = chance.randrange(180)
        contacts.append((a, b, float(begin), float(begin + chance.randrange(20))))
    for through in ({3, 4, 5}, set(range(8))):
        for source in range(8):
            assert _arrivals(_meetings(contacts), source, frozenset(through)) == spread(
                contacts, source, through
            )


def test_a_journey_uses_contacts_in_their_order(make_table: MakeTable) -> None:
    nodes = make_table("nodes", {"node": 0}, {"node": 2})
    contacts = [(0, 1, 10.0, 20.0), (1, 2, 15.0, 30.0), (1, 3, 0.0, 5.0)]
    found = nodes.transform(earliest_arrivals(contacts)).collect()
    assert sorted(tuple(row) for row in found) == [
        (0, 1, 10.0),
        (0, 2, 15.0),
        (2, 0, 15.0),
        (2, 1, 15.0),
    ]
