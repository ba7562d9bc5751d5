"""The answers to the questions of the report (`questions/`), for one run."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from pyspark.sql import SparkSession

from plugins.registry import languages
from spark_analysis.catalogue.registry import metrics
from spark_analysis.errors import AnalysisError
from spark_analysis.question import Question, RunContext
from spark_analysis.run import Run
from spark_analysis.session.worker_errors import translated_worker_errors

DIRECT: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Spark settings for small runs: compiling and replanning their queries takes longer than running them."""


class Analysis:
    """The answers of one run. Each is an attribute with the name of its question: `analysis.delivery`."""

    def __init__(self, **answers: Any) -> None:
        self.answers: Mapping[str, Any] = answers

    def __getattr__(self, name: str) -> Any:
        """Return the answer to a question; called only for names that are not attributes."""
        try:
            return self.__dict__["answers"][name]
        except KeyError:
            raise AttributeError(f"the analysis has no answer {name!r}") from None

    def as_document(self) -> dict[str, Any]:
        """Return the answers as plain data for JSON."""
        return {
            question.name: question.document(self.answers[question.name])
            for question in questions()
            if question.document is not None
        }


@cache
def questions() -> tuple[Question[Any], ...]:
    """Return every `Question` in the modules of `questions/`, in the order of JSON."""
    package = import_module(f"{__package__}.questions")  # by name: its modules import this one
    modules = [
        import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)
    ]
    found = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Question)
    }
    return tuple(sorted(found.values(), key=lambda question: question.place))


def analyse(run: Run) -> Analysis:
    """Return the answers to all questions of the report.

    Raises `AnalysisError` if the trace has an unknown language or an invalid vector.
    """
    invalid = (
        f"{run.path}: the trace contains data that its language rejects; it is damaged, or was written by a "
        "version with other languages"
    )
    metrics()  # a metric that cannot be loaded must fail before anything is computed
    _refuse_unknown_languages(run)
    with translated_worker_errors(invalid), settings(run.spark, DIRECT if run.small else {}):
        return _answer(run, questions())


def _refuse_unknown_languages(run: Run) -> None:
    unknown = {revision.language for revision in run.revisions()} - languages().keys()
    if unknown:
        numbers = ", ".join(map(str, sorted(unknown)))
        raise AnalysisError(
            f"{run.path}: a subscription uses language {numbers}, which no installed package provides; "
            "install the package (the manifest lists packages and versions)"
        )


def _answer(run: Run, all_questions: Sequence[Question[Any]]) -> Analysis:
    """Answer the questions in parallel: while one query is planned another one runs."""
    context = RunContext(run)
    try:
        with ThreadPoolExecutor() as pool:
            answers = {
                question.name: pool.submit(context.once, question.collect) for question in all_questions
            }
        return Analysis(**{name: answer.result() for name, answer in answers.items()})
    finally:
        context.release()


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session temporarily."""
    before = {name: str(spark.conf.get(name)) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
