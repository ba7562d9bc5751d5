"""Completeness: which readings and documents subscribers should have received, and what happened to them.

The fates are defined in `metrics/truth.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from plugins.registry import name_of_language
from spark_analysis.answers import Analysis
from spark_analysis.languages import languages_of
from spark_analysis.metrics import truth
from spark_analysis.metrics.truth import GroundTruth
from spark_analysis.number_format import share_text
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.questions import filtering
from spark_analysis.questions.composites import useful_for_composites
from spark_analysis.questions.delivery import kept_outcomes
from spark_analysis.rendering.html import figure, paragraph, table
from spark_analysis.run import Run

FATE_TEXTS: Final = {
    "delivered": "delivered",
    "under_way": "still under way",
    "withdrawn": "subscription withdrawn before arrival",
    "too_late": "carried until it expired",
    "dropped": "carried, every copy discarded",
    "never_carried": "released, never carried",
    "held_back": "held back by hysteresis or interval",
    "not_asked_for_this": "no subscription at the source matched",
    "not_asked": "no subscription at the source yet",
}
"""Labels of the fates in `metrics/truth.py`."""


@dataclass(frozen=True, slots=True)
class SensorErrorCounts:
    """Pairs of reading and subscription of one language, for sensors with a stated error: matches by both the
    measured and the true values (`agreed`), by the measured values only (`false`), by the true values only
    (`missed`).
    """

    language: int
    agreed: int
    false: int
    missed: int


def matched_readings(context: RunContext) -> DataFrame:
    """Return the readings and documents that match a subscription, cached."""
    return context.cache(context.run.judged(context.revisions))


def collect(context: RunContext) -> GroundTruth:
    run, readings = context.run, context.once(matched_readings)
    rows = truth.fate_counts(
        readings,
        context.revisions,
        context.once(kept_outcomes),
        run.table("notifications"),
        run.table("messages"),
        context.copies(),
        languages_of(run.manifest).plain,
    )
    counts = {(row["wanted"], row["fate"]): row["pairs"] for row in rows.collect()}
    released = context.once(filtering.collect).released + _released_documents(run)
    return GroundTruth(
        **{fate: counts.get((True, fate), 0) for fate in truth.FATES},
        unwanted=counts.get((False, "delivered"), 0),
        released_in_vain=released - _useful(context, readings),
    )


def _useful(context: RunContext, readings: DataFrame) -> int:
    """Return how many released readings and documents matched a subscription."""
    useful = useful_for_composites(context.run, context.revisions, readings)
    if useful is not None:
        return useful
    row = readings.transform(truth.released_and_wanted).first()
    assert row is not None
    return int(row["readings"])


def _released_documents(run: Run) -> int:
    if not run.rows("documents"):
        return 0
    row = run.table("documents").transform(released_documents).first()
    assert row is not None
    return int(row["documents"])


def released_documents(documents: DataFrame) -> DataFrame:
    """Return one row: the number of documents that became notifications."""
    return documents.where(F.col("released") > 0).agg(F.count("*").alias("documents"))


def collect_sensor_errors(context: RunContext) -> tuple[SensorErrorCounts, ...]:
    """Return the effect of sensor errors, by language; empty if no sensor states an error."""
    if not context.revisions or not context.run.rows("true_readings"):
        return ()
    rows = context.run.disagreements(context.revisions).collect()
    return tuple(SensorErrorCounts(**row.asDict()) for row in sorted(rows, key=lambda row: row["language"]))


def sections(found: GroundTruth, analysis: Analysis) -> Iterable[Section]:
    documents = bool(analysis.run.documents)
    if analysis.filtering.judged or documents:
        yield Section(
            place=20,
            id="completeness",
            title="Completeness: what subscribers should have received",
            html=paragraph(_text(found, documents=documents))
            + figure(_figure(found) + _errors_table(analysis.misled)),
        )


def _text(found: GroundTruth, *, documents: bool) -> str:
    source = "reading and document" if documents else "reading"
    text = (
        f"Every {source} was matched against every subscription in force at that time, whether or not the "
        f"subscription had reached the source. Subscribers should have received {found.wanted:,} pairs of "
        f"{source.replace(' and ', ' or ')} and subscriber, and received {share_text(found.recall)} of them."
    )
    if found.unwanted:
        text += f" {found.unwanted:,} more were delivered without a match."
    if found.released_in_vain:
        what = "readings or documents" if documents else "readings"
        text += f" {found.released_in_vain:,} {what} left their source although no subscription matched them."
    return text


def _errors_table(errors: tuple[SensorErrorCounts, ...]) -> str:
    if not errors:
        return ""
    return table(
        "Effect of stated sensor errors: pairs of reading and subscription that match by the measured and "
        "by the true values",
        ("language", "both", "measured only", "true only"),
        [
            (name_of_language(one.language), f"{one.agreed:,}", f"{one.false:,}", f"{one.missed:,}")
            for one in errors
        ],
    )


def _figure(found: GroundTruth) -> str:
    """Draw one bar per fate, best first."""
    from spark_analysis.rendering.drawing import fates_chart

    bars = [(text, getattr(found, fate)) for fate, text in FATE_TEXTS.items()]
    return fates_chart(
        bars, found.wanted, "truth", "Fates of everything that subscribers should have received"
    )


TRUTH: Final = Question(name="truth", place=70, collect=collect, sections=sections)
SENSOR_ERRORS: Final = Question(name="misled", place=200, collect=collect_sensor_errors)
