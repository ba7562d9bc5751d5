"""Publications judged by Spark: the pairs of one process, in batches, by shards and as a stream."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from dens_experiments.graph.graphs import table
from spark_analysis.errors import AnalysisError, NoSpark
from spark_analysis.graphs.filter_batch import FilterJob
from spark_analysis.graphs.filter_job import filter_publications
from spark_analysis.graphs.filter_stream import BatchJudged, follow
from spark_analysis.graphs.index_files import version_folder
from spark_analysis.graphs.results import Totals
from tests.spark_analysis.graphs.made import (
    by_one_process,
    drawn,
    make_index,
    write_part,
    written_pairs,
)

BODIES, VECTORS = drawn(300, 24)
PAIRS = sorted(by_one_process(BODIES, VECTORS))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("index") / "index", BODIES)


@pytest.fixture(scope="module")
def publications(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("publications") / "in"
    for part in range(3):
        write_part(folder, part, VECTORS[8 * part : 8 * part + 8], 8 * part)
    return folder


def test_a_batch_says_the_pairs_of_one_process(
    spark: SparkSession, index: Path, publications: Path, tmp_path: Path
) -> None:
    found = filter_publications(FilterJob(index, publications, tmp_path, spark, table(), as_rows=True))
    assert written_pairs(tmp_path) == PAIRS
    assert len(PAIRS) > 100
    assert found == Totals(24, len(PAIRS))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["matches"]


def test_one_row_a_publication_has_the_same_packed(
    spark: SparkSession, index: Path, publications: Path, tmp_path: Path
) -> None:
    filter_publications(FilterJob(index, publications, tmp_path, spark, table()))
    rows = pq.read_table(tmp_path / "matches").to_pylist()
    found = {
        (row["number"], int.from_bytes(row["subscriptions"][at : at + 4], "little"), False)
        for row in rows
        for at in range(0, len(row["subscriptions"]), 4)
    }
    assert sorted(found) == PAIRS
    assert sorted(row["number"] for row in rows) == list(range(24)), "also those that match nothing"


def test_invalid_table_of_publications_is_reported_before_matching(
    spark: SparkSession, index: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "torn.parquet").write_bytes(b"x")
    pq.write_table(pa.table({"number": ["a"], "vector": ["zz"]}), folder / "words.parquet")
    with pytest.raises(Refusal) as refused:
        filter_publications(FilterJob(index, folder, tmp_path / "out", spark, table()))
    torn, words = str(refused.value).splitlines()
    assert f"{folder / 'torn.parquet'}: not a readable Parquet file" in torn
    assert words.endswith("vector (binary), not number (string), vector (string)")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("plan", ["random", "containment", "frequency"])
def test_every_plan_of_the_chapter_says_the_same_pairs(
    spark: SparkSession, index: Path, tmp_path: Path, plan: str
) -> None:
    told = [*(vector.hex() for vector in VECTORS), "zz"]
    (tmp_path / "notifications.hex").write_text("\n".join(told))
    found = filter_publications(
        FilterJob(index, tmp_path / "notifications.hex", tmp_path / "o", spark, table(), as_rows=True),
        plan=plan,
        shards=3,
    )
    assert written_pairs(tmp_path / "o") == PAIRS
    assert found.publications == 25
    assert (found.matches, found.faults) == (len(PAIRS), 1)
    assert sorted(one.name for one in (tmp_path / "o").iterdir()) == ["matches"]


def test_hexadecimal_lines_keep_their_numbers_and_bad_ones_are_reported(
    spark: SparkSession, index: Path, tmp_path: Path
) -> None:
    lines = [VECTORS[0].hex(), "", "zz", VECTORS[1].hex()[:-4], VECTORS[2].hex()]
    (tmp_path / "notifications.hex").write_text("\n".join(lines))
    found = filter_publications(
        FilterJob(index, tmp_path / "notifications.hex", tmp_path / "out", spark, table(), as_rows=True)
    )
    assert (found.publications, found.faults) == (4, 2)
    assert found.first_fault.startswith("publication 2: byte ") or found.first_fault.startswith(
        "publication 2: "
    )
    expected = [(0, *pair[1:]) for pair in PAIRS if pair[0] == 0] + [
        (4, *pair[1:]) for pair in PAIRS if pair[0] == 2
    ]
    assert written_pairs(tmp_path / "out") == expected


def test_what_cannot_be_judged_is_refused(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no Parquet file"):
        filter_publications(FilterJob(index, tmp_path, tmp_path / "out", spark, table()))
    with pytest.raises(Refusal, match="check the path"):
        filter_publications(FilterJob(index, tmp_path / "nowhere", tmp_path / "out", spark, table()))
    with pytest.raises(DocumentError, match="D528"):
        filter_publications(FilterJob(tmp_path, tmp_path, tmp_path / "out", spark, table()))


class Killed(RuntimeError):
    """Stands for the end of the process: after matches are in place, before Spark notes that."""


def test_a_stream_goes_on_with_what_it_noted(spark: SparkSession, tmp_path: Path) -> None:
    """The index changes between batches, and the stream dies when a batch is written and not yet noted."""
    others = drawn(120, 1, seed=2)[0]
    index, incoming, out = make_index(tmp_path / "index", BODIES), tmp_path / "in", tmp_path / "out"
    told: list[BatchJudged] = []

    def go(*, dies_at: int | None = None) -> Totals:
        def tell(batch: BatchJudged) -> None:
            told.append(batch)
            if batch.number == dies_at:
                raise Killed

        return follow(
            FilterJob(index, incoming, out, spark, table(), as_rows=True), tell, every_s=0.1, once=True
        )

    write_part(incoming, 0, VECTORS[:8], 0)
    assert go().publications == 8
    write_part(incoming, 1, VECTORS[8:16], 8)
    with pytest.raises(AnalysisError, match=r"following failed: \S*Killed"):
        go(dies_at=1)
    make_index(index, others)
    write_part(incoming, 2, VECTORS[16:], 16)
    go()
    assert [(one.number, one.version) for one in told] == [(0, 1), (1, 1), (1, 1), (2, 2)]
    expected = by_one_process(BODIES, VECTORS[:16]) | by_one_process(others, VECTORS[16:], 16)
    assert written_pairs(out) == sorted(expected)
    assert sorted(one.name for one in (out / "matches").iterdir()) == [f"batch=0000000{n}" for n in range(3)]


def test_a_stream_refuses_what_is_not_its_own(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    incoming, out = tmp_path / "in", tmp_path / "out"
    write_part(incoming, 0, VECTORS[:1], 0)

    def go(as_rows: bool = False, to: Path = out) -> Totals:
        return follow(
            FilterJob(index, incoming, to, spark, table(), as_rows), lambda _: None, every_s=0.1, once=True
        )

    go()
    with pytest.raises(AnalysisError, match="had another rows"):
        go(as_rows=True)
    with pytest.raises(Refusal, match=r"a stream \(--follow\) writes"):
        filter_publications(FilterJob(index, incoming, out, spark, table()))
    with pytest.raises(AnalysisError, match="cannot be followed; follow it through a link"):
        go(to=tmp_path / "a*b")
    (tmp_path / "other" / "matches").mkdir(parents=True)
    with pytest.raises(AnalysisError, match="matches of another job"):
        go(to=tmp_path / "other")


def test_a_damaged_index_ends_a_stream_in_words(spark: SparkSession, tmp_path: Path) -> None:
    index, incoming = make_index(tmp_path / "index", BODIES[:10]), tmp_path / "in"
    write_part(incoming, 0, VECTORS[:1], 0)
    (version_folder(index, 1) / "ends.npy").write_bytes(b"")
    with pytest.raises(DocumentError, match=r"D528: ends\.npy is damaged"):
        follow(
            FilterJob(index, incoming, tmp_path / "out", spark, table()),
            lambda _: None,
            every_s=0.1,
            once=True,
        )


def test_publications_are_not_followed_through_connect(index: Path, tmp_path: Path) -> None:
    Remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    job = FilterJob(index, tmp_path, tmp_path, Remote(), table())  # type: ignore[arg-type]
    with pytest.raises(NoSpark, match="cannot be followed through Spark Connect"):
        follow(job, lambda _: None, every_s=1)
