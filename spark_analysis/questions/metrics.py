"""Every metric of the catalogue."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from spark_analysis.answers import Analysis
from spark_analysis.catalogue.evidence import Evidence, ReadingCounts, WantedPairs
from spark_analysis.catalogue.metric import Measured, measured
from spark_analysis.catalogue.registry import metrics
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.questions import completeness, filtering
from spark_analysis.questions.delivery import pair_figures_of
from spark_analysis.questions.load import total_matching_of
from spark_analysis.questions.radio import radio_use_of
from spark_analysis.rendering.html import scrolling, table
from spark_analysis.spark_tables import SparkTables


def collect(context: RunContext) -> Mapping[str, Measured]:
    """Return every metric by its name."""
    counts, truth = context.once(filtering.collect), context.once(completeness.collect)
    evidence = Evidence(
        pairs=context.once(pair_figures_of),
        radio=context.once(radio_use_of),
        readings=ReadingCounts(counts.judged, counts.kept),
        matching=context.once(total_matching_of),
        wanted=WantedPairs(truth.wanted, truth.delivered),
        truth=truth,
        tables=SparkTables(context.run),
    )
    return measured(metrics(), evidence)


def values(found: Mapping[str, Measured]) -> dict[str, Any]:
    return {name: metric.value for name, metric in found.items()}


def sections(found: Mapping[str, Measured], analysis: Analysis) -> Iterable[Section]:
    rows = [(metric.title, found[metric.name].text, metric.meaning) for metric in metrics()]
    caption = "The metrics by which runs are compared"
    yield Section(
        place=170,
        id="metrics",
        title="Metrics",
        html=scrolling(table(caption, ("metric", "value", "meaning"), rows, (2,))),
    )


METRICS: Final = Question(name="metrics", place=210, collect=collect, sections=sections, document=values)
