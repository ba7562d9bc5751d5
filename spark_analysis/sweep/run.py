"""Runs a sweep: every variant with every seed, on Spark or in local processes, into one table.

The folder of a sweep has `sweep.json` (its definition), `runs/` and `results.parquet` with one row per run.
An interrupted sweep continues where it stopped; complete runs are not repeated. Seeds may be added later; a
different sweep in the same folder is rejected.

Runs are grouped into about four tasks per core: fewer would leave cores idle at the end, one task per run
would cost more to start than short runs take.
"""

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dens.config.atomic_write import write_whole
from dens.config.json_documents import LARGEST_JSON, parse_json
from dens.config.problems import DocumentError, Problem
from dens.config.untrusted_folder import read_in
from spark_analysis.errors import SweepError
from spark_analysis.session.worker_errors import translated_worker_errors
from spark_analysis.sweep.key_figures import swept_metrics
from spark_analysis.sweep.plan import Changes, SweepPlan, label
from spark_analysis.sweep.results import SweepResult, Timing, summarise, write_results
from spark_analysis.sweep.task import RunDone, check_code, fingerprint, known_run, run_task

TASKS_PER_CORE: Final = 4
_LOOK_EVERY_S: Final = 0.5
_FIELDS: Final[list[tuple[str, pa.DataType]]] = [
    ("id", pa.int64()),
    ("answer", pa.string()),
    ("reason", pa.string()),
]
_ANSWER: Final = pa.schema(_FIELDS)
_BROKEN: Final = (
    "a process of the sweep ended unexpectedly. In a script the call must be below "
    '`if __name__ == "__main__":`, because every process imports the script again; otherwise memory may '
    "have run out: use fewer processes. Finished runs are kept; repeat the command to continue"
)
_MANY: Final = 4096
"""More than the cores of any cluster."""


@dataclass(frozen=True, slots=True)
class Task:
    """One variant with one seed."""

    variant: int
    seed: int
    scenario: str
    changes: tuple[str, ...]
    folder: str
    allow_code: bool = False

    @property
    def name(self) -> str:
        return Path(self.folder).name


OnProgress = Callable[[int], None]
"""Receives the number of finished tasks."""

Runner = Callable[[Sequence[Task], OnProgress], Iterator[tuple[Task, RunDone]]]
"""Runs tasks and yields each with its result, in any order; a failure raises `SweepError`."""


def run_sweep(
    plan: SweepPlan,
    out: Path,
    runner: Runner,
    progress: Callable[[int, int], None] | None = None,
    *,
    allow_code: bool = False,
) -> SweepResult:
    """Run what has not been run yet, write `results.parquet`, and return the variants side by side.

    `runner` is `on_spark(spark)` or `in_processes(jobs)`. `progress` receives finished and total runs. An
    invalid plan raises `DocumentError` before anything is run; a metric that cannot be loaded raises
    `OutsidePackageError`. A scenario with processes is refused unless `allow_code`.
    """
    variants = _checked_plan(plan, out, allow_code)
    folder = out.absolute() / "runs"
    tasks = [
        Task(
            number,
            seed,
            variant.scenario,
            variant.changes,
            str(folder / f"v{number:03}-s{seed}"),
            allow_code,
        )
        for seed in plan.seeds
        for number, variant in enumerate(variants)
    ]
    found: dict[tuple[int, int], RunDone] = {}
    for task in tasks:
        known = known_run(Path(task.folder))
        if known is not None:
            found[task.variant, task.seed] = known
    resumed = len(found)

    def on_progress(done: int) -> None:
        if progress is not None:
            progress(resumed + done, len(tasks))

    on_progress(0)
    begin, computing_s = time.perf_counter(), 0.0
    waiting = [task for task in tasks if (task.variant, task.seed) not in found]
    if waiting:
        for task, done in runner(waiting, on_progress):
            found[task.variant, task.seed] = done
            computing_s += done.computing_s
    timing = Timing(len(tasks), resumed, computing_s, time.perf_counter() - begin)
    figures = {key: done.figures for key, done in found.items()}
    write_results(plan, figures, out / "results.parquet")
    return SweepResult(summarise(plan, figures), timing)


def check_plan(plan: SweepPlan, out: Path, *, allow_code: bool = False) -> None:
    """Raise what `run_sweep` would raise before it runs anything."""
    _checked_plan(plan, out, allow_code)


def _checked_plan(plan: SweepPlan, out: Path, allow_code: bool) -> "list[_Variant]":
    swept_metrics()
    variants = _checked_variants(plan)
    check_code(plan.scenario, allow_code=allow_code)
    _refuse_another(out, plan, variants)
    return variants


def check_variants(plan: SweepPlan) -> None:
    """Raise all problems of the variants, regardless of the output folder."""
    _checked_variants(plan)


def in_processes(jobs: int) -> Runner:
    """Return a runner with this number of local processes.

    Each process imports the calling script again, so a script must call this below `if __name__ ==
    "__main__":`.

    Ctrl-C reaches all processes of a terminal. The run processes ignore it, because each would print a
    traceback; they are terminated from here.
    """

    def run(tasks: Sequence[Task], on_progress: OnProgress) -> Iterator[tuple[Task, RunDone]]:
        others = set(active_children())
        with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
            try:
                with _interruptions_withheld():  # inherited by processes that are started now
                    waiting = {
                        pool.submit(
                            run_task, task.scenario, task.changes, task.seed, task.folder, task.allow_code
                        ): task
                        for task in tasks
                    }
                for count, ended in enumerate(as_completed(waiting), 1):
                    yield waiting[ended], _result_of(waiting[ended], ended.result)
                    on_progress(count)
            except BaseException as error:
                pool.shutdown(wait=False, cancel_futures=True)
                if not isinstance(error, Exception):
                    for process in set(active_children()) - others:
                        process.terminate()
                if isinstance(error, BrokenProcessPool):
                    raise SweepError(_BROKEN) from error
                raise

    return run


@contextmanager
def _interruptions_withheld() -> Iterator[None]:
    """Defer an interruption until afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result_of(task: Task, result: Callable[[], RunDone]) -> RunDone:
    try:
        return result()
    except BrokenProcessPool:
        raise
    except Exception as error:
        raise _failed(task, f"{type(error).__name__}: {error}") from error


def _failed(task: Task, reason: str) -> SweepError:
    return SweepError(
        f"the run {task.name} failed: {reason}. Finished runs are kept; repeat the command to continue"
    )


def on_spark(spark: SparkSession) -> Runner:
    """Return a runner on the cores of a Spark session; its machines share the sweep's folder.

    Progress is observed in that folder while Spark works.
    """

    def run(tasks: Sequence[Task], on_progress: OnProgress) -> Iterator[tuple[Task, RunDone]]:
        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch["id"].to_pylist():
                    answer, reason = _answered(tasks[int(number or 0)])
                    yield pa.RecordBatch.from_pydict(
                        {"id": [number], "answer": [answer], "reason": [reason]}, schema=_ANSWER
                    )

        numbers = spark.range(0, len(tasks), 1, min(len(tasks), TASKS_PER_CORE * _cores(spark)))
        answers = numbers.mapInArrow(work, "id long, answer string, reason string")
        with translated_worker_errors("the sweep failed on a worker"):
            rows = _watched(answers.collect, tasks, on_progress)
        for row in rows:
            task = tasks[row["id"]]
            if row["reason"] is not None:
                raise _failed(task, row["reason"])
            yield task, RunDone(**json.loads(row["answer"]))

    return run


def _cores(spark: SparkSession) -> int:
    """Return how many tasks run at once, which is the default number of partitions of a range."""
    parts = spark.range(_MANY).select(F.spark_partition_id().alias("part")).collect()
    return 1 + max(int(row["part"]) for row in parts)


def _answered(task: Task) -> tuple[str | None, str | None]:
    """Return the result of a run, or the reason of its failure: an exception would make Spark retry."""
    try:
        done = run_task(task.scenario, task.changes, task.seed, task.folder, task.allow_code)
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    return json.dumps(asdict(done)), None


def _watched(collect: Callable[[], list[Any]], tasks: Sequence[Task], on_progress: OnProgress) -> list[Any]:
    """Wait for Spark, and report meanwhile how many runs have finished."""
    with ThreadPoolExecutor(1) as aside:
        rows = aside.submit(collect)
        while not rows.done():
            on_progress(sum(Path(task.folder, "figures.json").is_file() for task in tasks))
            time.sleep(_LOOK_EVERY_S)
        on_progress(len(tasks))
        return rows.result()


@dataclass(frozen=True, slots=True)
class _Variant:
    scenario: str
    changes: tuple[str, ...]
    fingerprint: str


def _checked_variants(plan: SweepPlan) -> list[_Variant]:
    """Return every variant as the emulator takes it; all problems are raised together.

    A problem that a variant has and the scenario itself has not is reported at its position in the sweep
    file.
    """
    fingerprint(plan.scenario, ())  # problems of the scenario itself are reported in its own file
    scenario = plan.scenario if Path(plan.scenario).suffix != ".toml" else str(Path(plan.scenario).absolute())
    variants: list[_Variant] = []
    problems: list[Problem] = []
    for changes in plan.variants:
        try:
            words = tuple(setting.word() for setting in changes)
            variants.append(_Variant(scenario, words, fingerprint(scenario, words)))
        except DocumentError as error:
            problems.extend(_at_home(plan, changes, problem) for problem in error.problems)
    if problems:
        raise DocumentError(problems)
    return variants


def _at_home(plan: SweepPlan, changes: Changes, problem: Problem) -> Problem:
    """Return a problem of a variant at the setting that it concerns: the one that the emulator names, or the
    first whose key the message mentions.
    """
    if not changes:
        return problem
    named = [setting for setting in changes if problem.file == f"--set {setting.word()}"]
    named += [setting for setting in changes if setting.path.split(".")[-1] in problem.message]
    setting = (named or changes)[0]
    return plan.problem(setting, problem.code, f"with {setting.text()}: {problem.message}")


def _refuse_another(out: Path, plan: SweepPlan, variants: Sequence[_Variant]) -> None:
    """Record which sweep the folder holds; raise `SweepError` if it is another one."""
    note = out / "sweep.json"
    described = [
        {"label": label(changes), "changes": list(variant.changes), "fingerprint": variant.fingerprint}
        for changes, variant in zip(plan.variants, variants, strict=True)
    ]
    try:
        earlier = parse_json(read_in(out, note.name, LARGEST_JSON), str(note), "D383")
    except (FileNotFoundError, NotADirectoryError):
        earlier = None
    if earlier is not None:
        if not isinstance(earlier, dict) or earlier.get("variants") != described:
            raise SweepError(
                f"{out}: holds another sweep, or its scenario has changed since; use another folder"
            )
    elif out.is_dir() and any(out.iterdir()):
        raise SweepError(f"{out}: is not empty and holds no sweep; use another folder")
    text = json.dumps({"scenario": plan.scenario, "variants": described}, indent=1)
    write_whole(note, text.encode(), within=out, private="mission_key" in text)
