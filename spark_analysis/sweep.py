"""Runs a sweep: every variant with every seed, on Spark or in plain processes, into one table.

A folder holds the sweep: `variants/` the scenarios, `runs/` the runs, `results.parquet` one row a run. A
sweep that was stopped goes on where it was; a run that is whole is not run again. Seeds may be added to it
later, and another sweep in the same folder is refused.

Runs are packed into about four tasks for each core: fewer would leave cores idle at the end, one task for
each run would pay for starting tasks what short runs take themselves.
"""

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from spark_analysis.errors import SweepError
from spark_analysis.interval import Interval, interval
from spark_analysis.key_figures import FIGURES, KeyFigures
from spark_analysis.sweep_plan import SweepPlan, changed, label, toml_text
from spark_analysis.sweep_task import check_variant, run_task, scenario_file

TASKS_PER_CORE: Final = 4


@dataclass(frozen=True, slots=True)
class Task:
    """One variant with one seed."""

    variant: int
    seed: int
    file: str
    folder: str


@dataclass(frozen=True, slots=True)
class VariantResult:
    """What one variant came to: each figure's mean over the seeds, and its difference from the first variant.

    Differences are taken seed by seed; the interval of a difference that leaves out 0 says that the variants
    differ. The first variant's own differences are None.
    """

    label: str
    figures: dict[str, Interval | None]
    differences: dict[str, Interval | None]


Runner = Callable[[Sequence[Task]], Iterator[tuple[Task, KeyFigures]]]
"""Runs tasks and yields each with its figures, in any order."""


def run_sweep(
    plan: SweepPlan, out: Path, runner: Runner, progress: Callable[[int, int], None] | None = None
) -> list[VariantResult]:
    """Run what has not been run yet, write `results.parquet`, and return the variants side by side.

    `runner` is `on_spark(spark)` or `in_processes(jobs)`. `progress` is told runs done and runs in all.
    """
    files = _lay_out(plan, out)
    tasks = [
        Task(variant, seed, str(file), str(out.absolute() / "runs" / f"v{variant:03}-s{seed}"))
        for seed in plan.seeds
        for variant, file in enumerate(files)
    ]
    found: dict[tuple[int, int], KeyFigures] = {}
    for task, figures in runner(tasks):
        found[task.variant, task.seed] = figures
        if progress is not None:
            progress(len(found), len(tasks))
    _write_table(plan, found, out)
    return summarise(plan, found)


def in_processes(jobs: int) -> Runner:
    """Return a runner that uses so many processes of this machine."""

    def run(tasks: Sequence[Task]) -> Iterator[tuple[Task, KeyFigures]]:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(run_task, task.file, task.seed, task.folder): task for task in tasks}
            for done in as_completed(waiting):
                yield waiting[done], done.result()

    return run


def on_spark(spark: SparkSession) -> Runner:
    """Return a runner that uses the cores of a Spark session; its machines share the sweep's folder."""

    def run(tasks: Sequence[Task]) -> Iterator[tuple[Task, KeyFigures]]:
        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch["id"].to_pylist():
                    task = tasks[int(number or 0)]
                    answer = json.dumps(run_task(task.file, task.seed, task.folder))
                    yield pa.RecordBatch.from_pydict({"id": [number], "figures": [answer]})

        cores = spark.sparkContext.defaultParallelism
        numbers = spark.range(0, len(tasks), 1, min(len(tasks), TASKS_PER_CORE * cores))
        for row in numbers.mapInArrow(work, "id long, figures string").collect():
            yield tasks[row["id"]], json.loads(row["figures"])

    return run


def summarise(plan: SweepPlan, found: dict[tuple[int, int], KeyFigures]) -> list[VariantResult]:
    """Return each variant's means and paired differences with 95 % confidence intervals."""
    return [
        VariantResult(
            label(changes),
            {name: interval(_values(plan, found, variant, name)) for name in FIGURES},
            {
                name: interval(_differences(plan, found, variant, name)) if variant else None
                for name in FIGURES
            },
        )
        for variant, changes in enumerate(plan.variants)
    ]


def _values(
    plan: SweepPlan, found: dict[tuple[int, int], KeyFigures], variant: int, name: str
) -> list[float]:
    values = (found[variant, seed][name] for seed in plan.seeds)
    return [value for value in values if value is not None]


def _differences(
    plan: SweepPlan, found: dict[tuple[int, int], KeyFigures], variant: int, name: str
) -> list[float]:
    pairs = ((found[variant, seed][name], found[0, seed][name]) for seed in plan.seeds)
    return [value - first for value, first in pairs if value is not None and first is not None]


def _lay_out(plan: SweepPlan, out: Path) -> list[Path]:
    """Write the variants' scenarios, having checked all of them before anything is run."""
    original = scenario_file(plan.scenario)
    try:
        text = original.read_text(encoding="utf-8")
    except OSError as error:
        raise SweepError(f"{original}: cannot be read ({error.strerror})") from error
    settings = tomllib.loads(text)
    written = [toml_text(changed(settings, changes)) for changes in plan.variants]
    _refuse_another(out, written)
    files = []
    for variant, text in enumerate(written):
        folder = out / "variants" / f"v{variant:03}"
        folder.mkdir(parents=True, exist_ok=True)
        for neighbour in original.parent.absolute().iterdir():
            link = folder / neighbour.name
            if neighbour != original.absolute() and not link.is_symlink():
                link.symlink_to(neighbour)
        file = folder / original.name
        _write(file, text)
        check_variant(file)
        files.append(file.absolute())
    return files


def _refuse_another(out: Path, written: list[str]) -> None:
    """Note which sweep the folder holds; raise `SweepError` when it is another one."""
    note = out / "sweep.json"
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")) != written:
        raise SweepError(f"{out}: holds another sweep; give this one a folder of its own")
    out.mkdir(parents=True, exist_ok=True)
    _write(note, json.dumps(written))


def _write(path: Path, text: str) -> None:
    unfinished = path.parent / f".{path.name}.{os.getpid()}"
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _write_table(plan: SweepPlan, found: dict[tuple[int, int], KeyFigures], out: Path) -> None:
    """Write one row a run: the variant's number and what makes it, the seed, and every figure."""
    rows: list[dict[str, Any]] = [
        {"variant": variant, "label": label(plan.variants[variant]), "seed": seed, **figures}
        for (variant, seed), figures in sorted(found.items())
    ]
    kinds: list[Any] = [("variant", pa.int32()), ("label", pa.string()), ("seed", pa.int64())]
    schema = pa.schema([*kinds, *((name, pa.float64()) for name in FIGURES)])
    unfinished = out / ".results.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), unfinished)
    unfinished.replace(out / "results.parquet")
