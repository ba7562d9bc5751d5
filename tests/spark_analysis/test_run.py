"""Opening a run: what is read, and what is refused by name."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dens.config.problems import DocumentError
from dens.trace.run_documents import NotARun
from dens.trace.schema import SCHEMA_VERSION
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.answers import analyse
from spark_analysis.errors import TraceError
from spark_analysis.run import is_large, open_run
from spark_analysis.schema import TABLES
from spark_analysis.sweep.key_figures import key_figures
from tests.paths import ROOT
from tests.spark_analysis.little import write_little_sweep

WriteRun = Callable[..., Path]

NODES = [{"node": i, "name": f"medics-{i}", "group": "medics", "role": "subscriber"} for i in range(5)]


def test_tables_come_back_as_they_were_written(write_run: WriteRun, spark: SparkSession) -> None:
    run = open_run(write_run({"nodes": NODES}, rows_per_part=2), spark)
    assert [row.asDict() for row in run.table("nodes").orderBy("node").collect()] == NODES
    assert run.rows("nodes") == 5
    assert len(run.recorded.parts["nodes"]) == 3
    assert not run.partial
    assert run.manifest.title == "Made by hand"


def test_a_table_without_parts_is_an_empty_frame_with_its_columns(
    write_run: WriteRun, spark: SparkSession
) -> None:
    run = open_run(write_run({"nodes": NODES}), spark)
    for name, schema in TABLES.items():
        frame = run.table(name)
        assert frame.columns == schema.names
        assert frame.count() == run.rows(name)


@pytest.mark.parametrize("name", ["with blank", "star*[a]{b}?", "per%20cent", "back\\slash"])
def test_odd_names_of_folders_are_taken_literally(
    write_run: WriteRun, spark: SparkSession, name: str
) -> None:
    assert open_run(write_run({"nodes": NODES}, name=name), spark).table("nodes").count() == 5


def test_a_run_that_was_stopped_is_partial(write_run: WriteRun, spark: SparkSession) -> None:
    assert open_run(write_run({"nodes": NODES}, {"status": "partial"}), spark).partial


def test_unfinished_parts_are_not_read(write_run: WriteRun, spark: SparkSession) -> None:
    folder = write_run({"nodes": NODES})
    (folder / "trace" / "nodes" / ".part-00001.parquet").write_bytes(b"half")
    assert open_run(folder, spark).table("nodes").count() == 5


def refusal(path: Path, spark: SparkSession) -> str:
    with pytest.raises((NotARun, DocumentError)) as caught:
        open_run(path, spark)
    return str(caught.value)


def test_what_is_not_a_run_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    assert f"{tmp_path}/nowhere is not a run: the folder does not exist" in refusal(
        tmp_path / "nowhere", spark
    )
    assert "is not a run: it has no manifest.json" in refusal(tmp_path, spark)
    (tmp_path / "manifest.json").write_text("{")
    assert "manifest.json:1:2: error D383: invalid JSON" in refusal(tmp_path, spark)
    (tmp_path / "manifest.json").write_text("[]")
    assert "is not the manifest of a run" in refusal(tmp_path, spark)
    for document in ("{}", '{"schema_version": "1"}'):
        (tmp_path / "manifest.json").write_text(document)
        assert "manifest.json: error D383: schema_version: " in refusal(tmp_path, spark)
    (tmp_path / "manifest.json").write_text('{"schema_version": 1}')
    assert "simulated_ms: field required" in refusal(tmp_path, spark)


def test_a_newer_schema_is_refused_with_both_versions(write_run: WriteRun, spark: SparkSession) -> None:
    message = refusal(write_run({"nodes": NODES}, {"schema_version": 99}), spark)
    assert "schema version 99" in message
    assert f"reads up to {SCHEMA_VERSION}" in message


def test_an_empty_run_is_refused(write_run: WriteRun, spark: SparkSession) -> None:
    assert "the run is empty" in refusal(write_run({}), spark)


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_torn_part_is_refused_by_name(write_run: WriteRun, spark: SparkSession, keep: int) -> None:
    folder = write_run({"nodes": NODES}, rows_per_part=2)
    part = folder / "trace" / "nodes" / "part-00001.parquet"
    part.write_bytes(part.read_bytes()[:keep])
    message = refusal(folder, spark)
    assert str(part) in message
    assert "not a whole Parquet file" in message


def test_a_missing_part_is_refused_by_number(write_run: WriteRun, spark: SparkSession) -> None:
    folder = write_run({"nodes": NODES}, rows_per_part=2)
    (folder / "trace" / "nodes" / "part-00001.parquet").unlink()
    assert "part 00001 is missing before part-00002.parquet" in refusal(folder, spark)


@pytest.fixture(scope="module")
def little_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that the emulation wrote."""
    folder = tmp_path_factory.mktemp("little")
    write_little_sweep(folder)
    run_scenario(load_scenario(folder / "little.toml"), 1, folder / "run")
    return folder / "run"


@pytest.fixture
def written(little_run: Path, tmp_path: Path) -> Path:
    """A run that a test may damage."""
    return Path(shutil.copytree(little_run, tmp_path / "written"))


def with_manifest(run: Path, **facts: object) -> None:
    """Change what the manifest says; a fact that is None is left out."""
    manifest = json.loads((run / "manifest.json").read_text()) | facts
    said = {key: value for key, value in manifest.items() if value is not None}
    (run / "manifest.json").write_text(json.dumps(said))


def test_what_a_run_wrote_is_found_whole(written: Path) -> None:
    assert not is_large(written)
    with_manifest(written, parts=None)
    assert not is_large(written)


@pytest.mark.parametrize("table", TABLES)
def test_a_lost_table_is_refused_by_name(written: Path, table: str) -> None:
    shutil.rmtree(written / "trace" / table)
    with pytest.raises(NotARun, match=f"table {table} has only 0 of its [0-9]+ parts left"):
        is_large(written)


def test_a_lost_last_part_is_refused_by_table(write_run: WriteRun) -> None:
    folder = write_run({"nodes": NODES}, {"parts": {"nodes": 3}}, rows_per_part=2)
    assert not is_large(folder)
    (folder / "trace" / "nodes" / "part-00002.parquet").unlink()
    for asked in (is_large, key_figures):
        with pytest.raises(NotARun, match="table nodes has only 2 of its 3 parts left"):
            asked(folder)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("messages", "0 of its [0-9]+ deliveries"),
        ("contacts", "0 of its [0-9]+ rows"),
        ("nodes", "0 of its [0-9]+ rows"),
        ("notifications", "0 of its [0-9]+ rows"),
    ],
)
def test_a_run_whose_manifest_counts_no_parts_is_held_to_its_summary(
    written: Path, table: str, words: str
) -> None:
    with_manifest(written, parts=None)
    shutil.rmtree(written / "trace" / table)
    with pytest.raises(NotARun, match=f"table {table} has only {words} left"):
        is_large(written)
    (written / "summary.json").write_text("{")
    assert not is_large(written)


@pytest.mark.parametrize("status", ["running", "partial"])
def test_a_run_that_did_not_end_is_read_as_it_is(written: Path, status: str) -> None:
    with_manifest(written, status=status)
    shutil.rmtree(written / "trace" / "messages")
    assert not is_large(written)


def test_a_table_without_a_column_is_refused(write_run: WriteRun, spark: SparkSession) -> None:
    folder = write_run({"nodes": NODES})
    (folder / "trace" / "nodes").rename(folder / "trace" / "motion")
    assert "table motion lacks the column begin_ms" in refusal(folder, spark)


def test_an_unknown_table_is_refused_with_the_known_ones(write_run: WriteRun, spark: SparkSession) -> None:
    run = open_run(write_run({"nodes": NODES}), spark)
    with pytest.raises(TraceError, match='no table "node"; it has nodes, motion'):
        run.table("node")


def test_a_trace_of_version_2_is_read_and_reported(spark: SparkSession) -> None:
    older = ROOT / "tests" / "dens" / "trace" / "version_2"
    run = open_run(older, spark)
    assert run.table("documents").count() == 0
    assert run.table("matches").where("detail is null").count() == run.rows("matches") > 0
    assert run.table("filter_decisions").where("exact is null").count() == run.rows("filter_decisions") > 0
    types = {row["type"] for row in run.table("messages").select("type").distinct().collect()}
    assert "batch" in types
    assert "bundle" not in types
    found = analyse(run)
    assert (found.delivery.total.delivered, found.delivery.total.expected) == (25, 28)
    assert found.filtering.kept == 2
