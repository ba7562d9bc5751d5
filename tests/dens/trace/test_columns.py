"""Columns built from buffers are those that Arrow makes of the same values."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.trace.columns import column_of, of_numbers

WORD = pa.dictionary(pa.int8(), pa.string())
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    pa.int32(): st.integers(-(1 << 31), (1 << 31) - 1),
    pa.int64(): st.integers(-(1 << 63), (1 << 63) - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=5),
    pa.binary(): st.binary(max_size=5),
    WORD: st.sampled_from(["sent", "lost", "größer"]),
}


@given(st.data(), st.sampled_from(list(VALUES)))
def test_a_column_is_the_one_that_arrow_makes(data: st.DataObject, type: Any) -> None:
    values = data.draw(st.lists(st.none() | VALUES[type], max_size=20))
    column = column_of(values, pa.field("x", type))
    column.validate(full=True)
    assert column.equals(pa.array(values, type))
    assert column.null_count == values.count(None)


@given(st.lists(st.booleans(), max_size=20))
def test_truths_and_arrays_are_the_ones_that_arrow_makes(truths: list[bool]) -> None:
    field = pa.field("x", pa.bool_())
    expected = pa.array(truths, pa.bool_())
    assert column_of(truths, field).equals(expected)
    assert column_of(np.array(truths, np.bool_), field).equals(expected)
    every_other = np.arange(2 * len(truths))[::2]
    assert of_numbers(every_other, pa.int32()).equals(pa.array(every_other.tolist(), pa.int32()))


@pytest.mark.parametrize(
    ("value", "type"), [(1 << 31, pa.int32()), (1.5, pa.int64()), ("1", pa.int64()), (3, pa.string())]
)
def test_what_does_not_fit_is_refused(value: object, type: Any) -> None:
    with pytest.raises((OverflowError, TypeError, AttributeError)):
        column_of([value], pa.field("x", type))


def test_writing_a_trace_does_without_pandas(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from dens.trace.writer import TraceWriter\n"
        "with TraceWriter(Path(sys.argv[1]) / 'trace') as trace:\n"
        "    trace['nodes'].append(0, 'a', 'g', 'mediator')\n"
        "print('pandas' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "False\n"
