"""Pieces add up to contacts, as a plain sweep over moments says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emulation.contacts.contact import contacts_from_pieces

pieces = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 30), st.integers(0, 9)), max_size=25
)


@given(pieces, st.integers(0, 3))
def test_merged_intervals_cover_the_same_moments_and_lie_apart(
    given_pieces: list[tuple[int, int, int, int]], gap: int
) -> None:
    rows = [(a, b, begin, begin + length) for a, b, begin, length in given_pieces if a != b]
    a, b, begin, end = (np.array([row[column] for row in rows], dtype=np.int64) for column in range(4))
    contacts = contacts_from_pieces(
        a.astype(np.int32), b.astype(np.int32), begin.astype(float), end.astype(float), 30.0, float(gap)
    )
    expected: dict[tuple[int, int], list[list[int]]] = {}
    for one, other, start, stop in sorted((min(r[:2]), max(r[:2]), *r[2:]) for r in rows):
        merged = expected.setdefault((one, other), [])
        if merged and start <= merged[-1][1] + gap:
            merged[-1][1] = max(merged[-1][1], stop)
        else:
            merged.append([start, stop])
    flat = sorted((start, *pair, stop) for pair, spans in expected.items() for start, stop in spans)
    found = zip(contacts.begin_ms, contacts.a, contacts.b, contacts.end_ms, strict=True)
    assert [tuple(map(int, row)) for row in found] == flat
    assert contacts.censored.tolist() == [stop >= 30 for _, _, _, stop in flat]
