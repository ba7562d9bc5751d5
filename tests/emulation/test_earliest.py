"""The judge against a slow one that only repeats what one contact allows."""

from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulation.earliest import arrivals, meetings_of
from tests.sizes import examples

Row = dict[str, int]
contacts = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 50), st.integers(0, 12)), max_size=25
).map(
    lambda drawn: [
        {"a": a, "b": b, "begin_ms": at, "end_ms": at + length} for a, b, at, length in drawn if a != b
    ]
)


@given(contacts, st.sets(st.integers(0, 6)), st.integers(0, 30), st.sampled_from([0.0, 3.0]))
@settings(max_examples=examples(200), deadline=None)
def test_arrivals_are_those_that_no_contact_can_improve(
    rows: list[Row], mediators: set[int], from_ms: int, needs_ms: float
) -> None:
    at: dict[int, float] = {0: float(from_ms)}
    is_changing = True
    while is_changing:
        is_changing = False
        for row in rows:
            for node, peer in ((row["a"], row["b"]), (row["b"], row["a"])):
                carries = (node in mediators and node != 0) or (node == 0 and peer in mediators)
                there = max(at.get(node, inf), row["begin_ms"]) + needs_ms
                if carries and there <= row["end_ms"] and there < at.get(peer, inf):
                    at[peer] = there
                    is_changing = True
    assert arrivals(meetings_of(rows), mediators, 0, from_ms, needs_ms) == at
