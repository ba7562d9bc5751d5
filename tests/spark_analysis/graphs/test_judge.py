"""What was found, packed and unpacked: no pair is lost or made up on the way, with or without Spark."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens_experiments.graph.graphs import table
from spark_analysis.graphs.filter_batch import packed, unpacked
from spark_analysis.graphs.index_files import read_index, write_index
from spark_analysis.graphs.judge import Found, GraphJudge, bodies_in, index_parts
from tests.spark_analysis.graphs.made import by_one_process, drawn, make_index

ROWS = st.lists(st.dictionaries(st.integers(0, 2**32 - 1), st.booleans(), max_size=5), max_size=6)


@given(ROWS, st.integers(0, 1000), st.integers(0, 3))
def test_pairs_survive_packing(rows: list[dict[int, bool]], first: int, cut: int) -> None:
    ordered = [sorted(row.items()) for row in rows]
    ends = np.cumsum([0, *map(len, ordered)])
    positions = np.array([position for row in ordered for position, _ in row], np.int64)
    flags = np.array([flag for row in ordered for _, flag in row], bool)
    numbers = pa.array([first + place for place in range(len(rows))], pa.int64())
    batch = packed(numbers, Found(ends, positions, flags, [None] * len(rows)))
    some = batch.slice(min(cut, batch.num_rows))  # a slice keeps the buffers of the whole
    found = [
        (row["number"], row["subscription"] % 2**32, row["undecided"])
        for part in unpacked(iter([some]))
        for row in part.to_pylist()
    ]
    assert found == [
        (first + place, position, flag)
        for place, row in enumerate(ordered)
        if place >= cut
        for position, flag in row
    ]


@pytest.mark.slow
def test_a_judge_says_what_one_process_says(tmp_path: Path) -> None:
    bodies, vectors = drawn(300, 12)
    bodies += bodies[:50]  # equal subscriptions are one concept
    judge = GraphJudge(read_index(make_index(tmp_path, bodies), table()), table())
    found = judge.judge([*vectors, b"no vector", vectors[0]])
    spread = np.repeat(np.arange(len(vectors) + 2), np.diff(found.ends)).tolist()
    pairs = set(zip(spread, found.positions.tolist(), found.undecided.tolist(), strict=True))
    again = {(len(vectors) + 1, *pair[1:]) for pair in by_one_process(bodies, vectors[:1])}
    assert pairs == by_one_process(bodies, vectors) | again
    assert [fault is None for fault in found.faults] == [True] * 12 + [False, True]
    assert list(bodies_in(judge.arrays)) == bodies


def test_publications_that_were_seen_change_the_arrays_and_no_answer(tmp_path: Path) -> None:
    bodies, vectors = drawn(200, 40)
    found = []
    for place, seen in enumerate(((), vectors)):
        parts = index_parts(bodies, table(), seen)
        version = write_index(tmp_path / str(place), parts.arrays, parts.header, [""] * len(bodies), table())
        judged = GraphJudge(version, table()).judge(vectors)
        found.append((judged.ends.tolist(), judged.positions.tolist()))
    assert found[0] == found[1]


def test_foreign_arrays_are_refused_as_index(tmp_path: Path) -> None:
    from dens.config.problems import DocumentError

    version = write_index(tmp_path, {"ends": np.zeros(1)}, {"layout": 1}, [], table())
    with pytest.raises(DocumentError, match="D528: the arrays are not an index"):
        GraphJudge(version, table())
