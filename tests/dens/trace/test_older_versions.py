"""A trace that an older version wrote is read: what it did not write has no rows, or is null.

`version_2` is a run of 300 s that version 2 wrote, kept as it was.
"""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dens.trace.comparison import compare_runs
from dens.trace.parts import whole_parts
from dens.trace.recorded_run import recorded_run
from dens.trace.run_documents import NotARun
from dens.trace.schema import ADDED_COLUMNS, SCHEMA_VERSION, TABLES
from dens.trace.tables import rows_of
from emulation.rerun import rerun
from spark_analysis.sweep.key_figures import key_figures

VERSION_2 = Path(__file__).parent / "version_2"


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The run of version 2, in a folder that a test may change."""
    return Path(shutil.copytree(VERSION_2, tmp_path / "older"))


def test_it_is_of_an_older_version() -> None:
    assert recorded_run(VERSION_2).manifest.schema_version == 2 < SCHEMA_VERSION
    assert not (VERSION_2 / "trace" / "documents").exists()


def test_what_it_did_not_write_is_null_or_has_no_rows() -> None:
    run = recorded_run(VERSION_2)
    assert run.rows("documents") == run.table("documents").num_rows == 0
    for table, columns in ADDED_COLUMNS.items():
        found = run.table(table)
        assert found.schema.names == TABLES[table].names
        assert found.num_rows == run.rows(table) > 0
        for name in columns:
            assert found[name].null_count == found.num_rows
            assert found.schema.field(name).type == TABLES[table].field(name).type


def test_its_words_are_those_of_now() -> None:
    found = set(recorded_run(VERSION_2).table("messages")["type"].to_pylist())
    written = set(pq.read_table(VERSION_2 / "trace" / "messages")["type"].to_pylist())
    assert "bundle" in written
    assert found == {"batch" if word == "bundle" else word for word in written}


def test_figures_equal_those_of_the_version_that_wrote_the_trace() -> None:
    figures = key_figures(VERSION_2)
    assert figures["delivery_ratio"] == pytest.approx(25 / 28)
    assert figures["share_kept"] == pytest.approx(2 / 30)


def test_done_again_it_gives_what_does_not_depend_on_the_protocol_and_says_what_is_new(
    tmp_path: Path,
) -> None:
    """Since then messages among mediators share datagrams: messages and their times differ; what
    happens, is measured, subscribed and delivered is the same. Notifications name the event class of
    their reading besides.
    """
    again = rerun(VERSION_2, tmp_path / "again")
    assert again.comparison is not None
    assert set(again.comparison.tables) == {"messages", "matches", "buffers", "notifications"}
    # New columns, a new table, words that are called otherwise now; and no dictionaries of numbers any more.
    assert set(TABLES) == {*again.comparison.rearranged, *again.comparison.tables}
    assert f"schema_version: 2 | {SCHEMA_VERSION}" in [difference.line() for difference in again.versions]
    assert key_figures(tmp_path / "again")["delivery_ratio"] == key_figures(VERSION_2)["delivery_ratio"]
    delivered = [
        {(row["node"], row["origin"], row["number"]) for row in rows if row["kind"] == "delivered"}
        for rows in (list(rows_of(run, "messages")) for run in (VERSION_2, tmp_path / "again"))
    ]
    assert delivered[0] == delivered[1] != set()


def test_a_detail_that_only_one_of_them_has_is_a_difference(older: Path, tmp_path: Path) -> None:
    part = Path("trace") / "matches" / "part-00001.parquet"
    newer = Path(shutil.copytree(older, tmp_path / "newer"))
    rows = pq.read_table(newer / part)
    for detail, differs in ((None, ()), (b"\x01", ("matches",))):
        column = pa.array([detail, *[None] * (rows.num_rows - 1)], pa.binary())
        pq.write_table(rows.append_column("detail", column), newer / part)
        manifest = json.loads((newer / "manifest.json").read_text())
        (newer / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 3}))
        assert compare_runs(older, newer).tables == differs


def test_what_every_version_wrote_may_not_be_missing(older: Path) -> None:
    part = older / "trace" / "matches" / "part-00001.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["degree_u8"]), part)
    with pytest.raises(NotARun, match="table matches lacks the column degree_u8"):
        recorded_run(older)


def test_version_1_had_no_energy(older: Path) -> None:
    manifest = json.loads((older / "manifest.json").read_text())
    del manifest["parts"]["energy"]
    (older / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 1}))
    shutil.rmtree(older / "trace" / "energy")
    run = recorded_run(older)
    assert whole_parts(older, run.manifest)["energy"] == ()
    assert list(rows_of(older, "energy")) == []
    assert run.rows() == recorded_run(VERSION_2).rows()
