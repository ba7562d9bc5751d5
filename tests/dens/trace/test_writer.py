"""What is written comes back, part by part, with the same bytes for the same rows."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.trace.run_folder import RunFolder
from dens.trace.schema import TABLES
from dens.trace.writer import TraceError, TraceWriter, parts_of_tables
from tests.paths import ROOT

node_rows = st.lists(
    st.tuples(
        st.integers(0, 2**31 - 1),
        st.text(max_size=5),
        st.text(max_size=5),
        st.sampled_from(["mediator", "publisher"]),
    ),
    max_size=25,
)


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@given(node_rows, st.integers(1, 9))
@settings(max_examples=25, deadline=None)
def test_rows_come_back_in_parts_of_bounded_size(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, str, str]], most: int
) -> None:
    folder = tmp_path_factory.mktemp("trace")
    with TraceWriter(folder, rows_per_part=most) as trace:
        for row in rows:
            trace["nodes"].append(*row)
    parts = sorted((folder / "nodes").iterdir())
    tables = [pq.read_table(part) for part in parts]
    assert [part.name for part in parts] == [f"part-{index:05d}.parquet" for index in range(len(parts))]
    assert all(table.num_rows <= most for table in tables)
    found = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    assert found == rows
    assert trace["nodes"].written == len(rows)


def test_every_table_exists_with_its_columns_even_when_nothing_happened(tmp_path: Path) -> None:
    with TraceWriter(tmp_path):
        pass
    for name, schema in TABLES.items():
        [part] = (tmp_path / name).iterdir()
        assert pq.read_schema(part).equals(schema)


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for run in ("one", "two"):
        with TraceWriter(tmp_path / run) as trace:
            trace["nodes"].append(1, "medics-1", "medics", "subscriber")
            trace["contacts"].extend(
                [
                    np.array([0], np.int32),
                    np.array([1], np.int32),
                    np.array([0.5]),
                    np.array([9.25]),
                    np.array([True]),
                ]
            )
    assert bytes_below(tmp_path / "one") == bytes_below(tmp_path / "two")


def test_columns_are_cut_into_parts_too(tmp_path: Path) -> None:
    numbers = np.arange(25, dtype=np.int32)
    with TraceWriter(tmp_path, rows_per_part=10) as trace:
        trace["contacts"].extend([numbers, numbers + 1, numbers * 1.0, numbers * 2.0, numbers > 3])
    tables = [pq.read_table(part) for part in sorted((tmp_path / "contacts").iterdir())]
    assert [table.num_rows for table in tables] == [10, 10, 5]
    assert [value for table in tables for value in table["a"].to_pylist()] == numbers.tolist()


def test_the_parts_of_every_table_are_counted_and_unfinished_ones_are_not(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "trace", rows_per_part=2) as trace:
        for node in range(5):
            trace["nodes"].append(node, f"n-{node}", "n", "mediator")
    (tmp_path / "trace" / "nodes" / ".part-00003.parquet").write_bytes(b"half")
    assert parts_of_tables(tmp_path) == {**dict.fromkeys(TABLES, 1), "nodes": 3}
    assert parts_of_tables(tmp_path / "nowhere") == {}


@pytest.mark.parametrize(("status", "counted"), [("complete", True), ("partial", False), ("running", False)])
def test_the_manifest_of_a_complete_run_counts_the_parts(tmp_path: Path, status: str, counted: bool) -> None:
    with RunFolder(tmp_path / "run", force=False) as folder:
        with TraceWriter(folder.path / "trace"):
            pass
        folder.write("manifest.json", {"status": status})
        folder.write("summary.json", {"status": status})
    found = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert found == {"status": status, **({"parts": dict.fromkeys(TABLES, 1)} if counted else {})}
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == {"status": status}


def test_a_follower_sees_every_table_from_the_first_checkpoint_on(tmp_path: Path) -> None:
    with TraceWriter(tmp_path) as trace:
        trace["nodes"].append(0, "n-0", "n", "mediator")
        assert trace.collected == 1
        trace.checkpoint()
        assert trace.collected == 0
        assert pq.read_table(tmp_path / "nodes").num_rows == 1
        assert all(pq.read_table(tmp_path / name).schema.names == TABLES[name].names for name in TABLES)
        trace["nodes"].append(1, "n-1", "n", "mediator")
    assert pq.read_table(tmp_path / "nodes")["node"].to_pylist() == [0, 1]
    assert len(list((tmp_path / "matches").iterdir())) == 1


def test_a_null_where_none_may_be_is_refused(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path)
    trace["matches"].append(0, 1, None, 3, 4, 5, 6, 255, 0.0)
    with pytest.raises(ValueError, match="column origin has a row without a value"):
        trace.checkpoint()
    assert not list((tmp_path / "matches").iterdir())


def test_an_interruption_leaves_whole_parts(tmp_path: Path) -> None:
    def run_until_interrupted() -> None:
        with TraceWriter(tmp_path, rows_per_part=2) as trace:
            for node in range(5):
                trace["nodes"].append(node, f"n-{node}", "n", "mediator")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_until_interrupted()
    assert pq.read_table(tmp_path / "nodes")["node"].to_pylist() == [0, 1, 2, 3, 4]
    assert not list(tmp_path.rglob(".*"))


def test_a_folder_that_cannot_be_made_is_an_os_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TraceError, match=r"cannot write the trace.*file"):
        TraceWriter(tmp_path / "file")


def test_a_full_disk_leaves_no_half_part(tmp_path: Path) -> None:
    code = f"""
import resource
from pathlib import Path
from dens.trace.writer import TraceWriter, TraceError
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    with TraceWriter(Path({str(tmp_path)!r}), rows_per_part=1000) as trace:
        for node in range(1000):
            trace["nodes"].append(node, str(node * 7919 % 100003), "n", "mediator")
except TraceError as error:
    print("refused", error.filename)
"""
    assert hasattr(resource, "RLIMIT_FSIZE")
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith("refused ")
    assert "part-00000.parquet" in run.stdout
    assert not list((tmp_path / "nodes").iterdir())
