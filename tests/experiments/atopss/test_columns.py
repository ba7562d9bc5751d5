"""Degrees in columns are those of the language, and of the definition."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dens_experiments.atopss.columns import necessity, possibility, served
from dens_experiments.atopss.workload import AXIS, WORKLOADS, Workload, bodies
from plugins.atopss.shapes.degrees import judged
from plugins.atopss.shapes.scale import byte_of
from plugins.atopss.shapes.shapes import Shape
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.shapes import drawn

corners = st.lists(st.integers(0, 12), min_size=4, max_size=4).map(sorted)


@given(st.lists(st.tuples(corners, corners), min_size=1, max_size=8))
def test_law_fractions_are_exact(pairs: list[tuple[list[int], list[int]]]) -> None:
    wanted, values = (np.array(column) for column in zip(*pairs, strict=True))
    found = possibility(wanted, values), necessity(wanted, values)
    for row, (one, other) in enumerate(pairs):
        shapes = Shape(*one), Shape(*other)
        assert tuple(Fraction(int(part.over[row]), int(part.under[row])) for part in found) == exact(
            *map(drawn, shapes)
        )
        assert tuple(int(part.bytes[row]) for part in found) == tuple(map(byte_of, judged(*shapes)))


def test_served_columns_name_given_attributes_only() -> None:
    workload = Workload("distinct", 3)
    columns, told = workload.subscriptions(4000), workload.publications(5)
    for place, (rows, values) in enumerate(served(columns, told)):
        known = dict(zip(told.attributes[place].tolist(), told.corners[place].tolist(), strict=True))
        expected = [
            row for row, names in enumerate(columns.attributes.tolist()) if set(names) <= known.keys()
        ]
        assert rows.tolist() == expected
        assert values.tolist() == [[known[name] for name in columns.attributes[row]] for row in expected]


def test_workloads_repeat_themselves_and_share_what_they_say() -> None:
    for name in WORKLOADS:
        one, again = (Workload(name, 5).subscriptions(300, 4, 0.5, 7) for _ in range(2))
        assert (one.corners == again.corners).all()
        assert (np.diff(one.corners) >= 0).all()
        assert len({tuple(row) for row in one.attributes.tolist()}) <= 7
        distinct = len({tuple(corner) for row in one.corners.tolist() for corner in row})
        assert name == "distinct" or distinct <= 300 * 4
        assert len(bodies(one)) == 300
    told = Workload("words", 5).publications(50, 10, 4, 7)
    asked = {tuple(row) for row in Workload("words", 5).subscriptions(300, 4, 0.0, 7).attributes.tolist()}
    assert all(any(set(names) <= set(row) for names in asked) for row in told.attributes.tolist())
    assert told.corners.max() < 2 * AXIS


def test_a_covered_subscription_lies_within_an_earlier_one() -> None:
    columns = Workload("distinct", 8).subscriptions(200, 4, 1.0)
    m, n = columns.corners[0], columns.corners[1]
    assert (columns.attributes[0] == columns.attributes[1]).all()
    assert (n[:, :2] >= m[:, :2]).all()
    assert (n[:, 2:] <= m[:, 2:]).all()
