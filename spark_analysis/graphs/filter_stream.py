"""Matches publications as they arrive: Structured Streaming brings in each file once, and each batch is
matched by the index of its time.

Before batch n is matched, `notes/n.json` records the version of the index; a repeated batch uses the recorded
version, and `matches/batch=n` is replaced atomically. So a stream that was killed at any point and restarted
gives the same matches as an uninterrupted one, even if the index changed in between. Spark records the files
of a batch before it starts the batch.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame

from dens.config.atomic_write import write_whole
from dens.config.json_documents import parse_json
from dens.config.untrusted_folder import read_in
from spark_analysis.errors import AnalysisError, NoSpark
from spark_analysis.graphs.filter_batch import PUBLICATIONS, FilterJob, judged
from spark_analysis.graphs.index_files import newest_version, read_index, table_digest
from spark_analysis.graphs.index_shipping import ShippedIndex, ship
from spark_analysis.graphs.results import Totals, write_matches
from spark_analysis.session.connect import is_remote
from spark_analysis.streams import cause_of, exclusive_folder, refuse_patterns

_PARTS_AT_ONCE: Final = 64
_LARGEST_NOTE: Final = 64 * 1024
_LOOK_EVERY_S: Final = 0.2


class FilterError(AnalysisError):
    """Publications cannot be matched, or the folder belongs to another job."""


@dataclass(frozen=True, slots=True)
class BatchJudged:
    """One batch, and the version of the index that matched it."""

    number: int
    version: int
    totals: Totals


OnBatch = Callable[[BatchJudged], None]


def follow(job: FilterJob, on_batch: OnBatch, *, every_s: float, once: bool = False) -> Totals:
    """Match what arrives in a folder of Parquet files until interrupted, or with `once` what is there.

    A repeated call continues; the totals are those of this call.
    """
    if is_remote(job.spark):
        raise NoSpark(
            "publications cannot be followed through Spark Connect; use this machine or a spark:// master"
        )
    from spark_analysis.session.classic import SPARK_ERRORS

    publications, out = job.publications.absolute(), job.out.absolute()
    job = replace(job, publications=publications, out=out)
    refuse_patterns(publications, "a folder of publications")
    refuse_patterns(out, "a folder")
    out.mkdir(parents=True, exist_ok=True)
    with exclusive_folder(out, f"{out}: another process already writes to this folder"):
        _same_job(job)
        stream = _Stream(job, on_batch)
        reader = job.spark.readStream.schema(PUBLICATIONS).option("maxFilesPerTrigger", _PARTS_AT_ONCE)
        source = reader.option("pathGlobFilter", "*.parquet").parquet(str(publications))
        writing = source.writeStream.foreachBatch(stream.bring_in)
        writing = writing.option("checkpointLocation", str(out / "checkpoint"))
        writing = (
            writing.trigger(availableNow=True)
            if once
            else writing.trigger(processingTime=f"{round(1000 * every_s)} milliseconds")
        )
        try:
            query = writing.start()
        except SPARK_ERRORS as error:
            raise FilterError(f"{out}: Spark's checkpoint is damaged; use another folder") from error
        try:
            while query.isActive and not once:
                time.sleep(_LOOK_EVERY_S)
            query.awaitTermination()
        except StreamingQueryException as error:
            if stream.failure is not None:
                raise stream.failure from None
            raise FilterError(f"{publications}: following failed: {cause_of(error)}") from error
        finally:
            query.stop()
        return stream.totals


class _Stream:
    """Processes the batches."""

    def __init__(self, job: FilterJob, on_batch: OnBatch) -> None:
        self._job = job
        self._on_batch = on_batch
        self._shipped: dict[int, ShippedIndex] = {}
        self.totals = Totals()
        self.failure: Exception | None = None
        """The error of this class that ended the stream: Spark passes on only its text."""

    def bring_in(self, frame: DataFrame, number: int) -> None:
        """Match one batch."""
        try:
            version = self._noted(number)
            found = frame.transform(judged(self._of(version), self._job.table))
            target = self._job.out / "matches" / f"batch={number:08}"
            target.parent.mkdir(exist_ok=True)
            totals = write_matches(found, target, as_rows=self._job.as_rows)
        except Exception as error:
            self.failure = error
            raise
        self.totals += totals
        self._on_batch(BatchJudged(number, version, totals))

    def _noted(self, number: int) -> int:
        """Return the index version of a batch: the recorded one, or the newest, which is then recorded."""
        name = f"notes/{number:08}.json"
        if (self._job.out / name).exists():
            noted = parse_json(read_in(self._job.out, name, _LARGEST_NOTE), str(self._job.out / name), "D528")
            return int(noted["version"])
        version = newest_version(self._job.index)
        write_whole(self._job.out / name, json.dumps({"version": version}).encode(), within=self._job.out)
        return version

    def _of(self, version: int) -> ShippedIndex:
        if version not in self._shipped:
            self._shipped[version] = ship(
                read_index(self._job.index, self._job.table, version), self._job.spark
            )
        return self._shipped[version]


def _same_job(job: FilterJob) -> None:
    """Reject a folder of another job; record the job in a new folder."""
    out = job.out
    document = {
        "index": str(job.index.absolute()),
        "publications": str(job.publications),
        "table": table_digest(job.table),
        "rows": job.as_rows,
    }
    file = out / "filter.json"
    if not file.exists():
        if (out / "checkpoint").exists() or (out / "matches").exists():
            raise FilterError(f"{out}: contains matches of another job; choose another folder")
        write_whole(file, (json.dumps(document, indent=2) + "\n").encode(), within=out)
        return
    known = parse_json(read_in(out, "filter.json", _LARGEST_NOTE), str(file), "D528")
    for name, value in document.items():
        if not isinstance(known, dict) or known.get(name) != value:
            raise FilterError(f"{out}: the earlier job had another {name}; choose another folder")
