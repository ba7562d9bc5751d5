"""Contacts: how long two devices are in range of each other, and how long they are apart.

Both are censored data. A contact that had begun before the run started, or was still going on at its end, is
at least as long as it was observed; the time after a pair's last contact is at least the rest of the run.
Dropping these times would favour short ones, counting them as complete would be wrong. They are marked,
excluded from plain means, and used properly by the survival curve and the median (Kaplan–Meier,
`metrics/estimates.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.metrics.estimates import NOTHING, collected, estimates, life_table
from spark_analysis.number_format import median_text, seconds
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.rendering.html import figure, paragraph
from spark_analysis.survival import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution of times of which some are censored, that is, only known to be longer than observed.

    The median is the Kaplan–Meier estimate, None if it exceeds `watched_s`, the longest observation; the mean
    is over the known times.
    """

    known: int
    censored: int
    mean_s: float | None
    median_s: float | None
    watched_s: float | None
    survival: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Contacts:
    """Contact and inter-contact times of pairs of devices; `pairs_met` of `pairs` ever met."""

    pairs: int
    pairs_met: int
    contact: Times
    inter_contact: Times


def until(contacts: DataFrame, end_ms: int) -> DataFrame:
    """Truncate the contacts at the end of the run; those of a partial run were computed for the whole
    scenario.
    """
    return contacts.where(F.col("begin_ms") < end_ms).withColumns(
        {
            "end_ms": F.least("end_ms", F.lit(float(end_ms))),
            "censored": F.col("censored") | (F.col("end_ms") >= end_ms),
        }
    )


def contact_times(contacts: DataFrame) -> DataFrame:
    """Return one row per contact: the pair, its length, and whether the length is censored."""
    return contacts.select(
        "a",
        "b",
        (F.col("end_ms") - F.col("begin_ms")).alias("time_ms"),
        (F.col("censored") | (F.col("begin_ms") <= 0)).alias("censored"),
    )


def inter_contact_times(contacts: DataFrame, end_ms: int) -> DataFrame:
    """Return one row per gap: the time from the end of a pair's contact to its next one, or, censored, to the
    end of the run.

    A contact that lasts to the end of the run has no gap after it. Pairs that never met have no row.
    """
    by_pair = Window.partitionBy("a", "b").orderBy("begin_ms")
    return (
        contacts.withColumn("next_ms", F.lead("begin_ms").over(by_pair))
        .where(F.col("next_ms").isNotNull() | ~F.col("censored"))
        .select(
            "a",
            "b",
            (F.coalesce("next_ms", F.lit(float(end_ms))) - F.col("end_ms")).alias("time_ms"),
            F.col("next_ms").isNull().alias("censored"),
        )
    )


def as_watched(times: DataFrame, which: str) -> DataFrame:
    """Return times in the form that `metrics/estimates.py` takes, for the distribution `which`."""
    return times.select(
        F.lit(which).alias("which"),
        "time_ms",
        (~F.col("censored")).cast("int").alias("ended"),
        F.col("censored").cast("int").alias("censored"),
        F.lit(0).alias("never"),
    )


def pairs_met(contacts: DataFrame) -> DataFrame:
    """Return one row: the number of pairs that were in range at least once."""
    return contacts.select("a", "b").distinct().agg(F.count("*").alias("pairs_met"))


def collect(context: RunContext) -> Contacts:
    end_ms, devices = context.end_ms, context.devices.count
    contacts = context.run.table("contacts").transform(until, end_ms)
    apart = contacts.transform(inter_contact_times, end_ms).transform(as_watched, "inter_contact")
    times = contacts.transform(contact_times).transform(as_watched, "contact").unionByName(apart)
    curves = collected(times.transform(life_table).transform(estimates))
    met = contacts.transform(pairs_met).first()
    assert met is not None
    return Contacts(
        pairs=devices * (devices - 1) // 2,
        pairs_met=met["pairs_met"],
        contact=_times(curves.get("contact", NOTHING)),
        inter_contact=_times(curves.get("inter_contact", NOTHING)),
    )


def _times(estimate: Estimate) -> Times:
    return Times(
        known=estimate.known,
        censored=estimate.censored,
        mean_s=seconds(estimate.mean),
        median_s=seconds(estimate.median),
        watched_s=seconds(estimate.longest),
        survival=tuple((time_ms / 1000, share) for time_ms, share in estimate.survival),
    )


def sections(contacts: Contacts, analysis: Analysis) -> Iterable[Section]:
    yield Section(
        place=80,
        id="contacts",
        title="Contact and inter-contact times",
        html=paragraph(_text(contacts)) + figure(_figure(contacts)),
    )


def _text(contacts: Contacts) -> str:
    return (
        f"{contacts.pairs_met:,} of {contacts.pairs:,} pairs of devices met at least once. The median "
        f"contact lasted {_median(contacts.contact)}; the median time between two contacts of a pair was "
        f"{_median(contacts.inter_contact)}. Medians and curves are Kaplan–Meier estimates: they account for "
        "times that were cut off by the start or end of the run (censored) and are only known to be longer."
    )


def _median(times: Times) -> str:
    return (
        f"{median_text(times.median_s, times.watched_s)} ({times.known:,} known, {times.censored:,} censored)"
    )


def _figure(contacts: Contacts) -> str:
    """Draw the survival curves of contact and inter-contact times on logarithmic axes."""
    from matplotlib.ticker import NullLocator

    from spark_analysis.rendering.drawing import INK, ONE, TWO, canvas, styled, svg, time_axis

    with styled():
        chart, axes = canvas(4.4)
        times = [s for kind in (contacts.contact, contacts.inter_contact) for s, _ in kind.survival]
        for kind, name, colour in (
            (contacts.contact, "in contact", ONE),
            (contacts.inter_contact, "apart", TWO),
        ):
            _survival_line(axes, kind, name, colour)
        time_axis(axes, times)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda share, _position: f"{share * 100:g} %")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("time")
        axes.set_ylabel("share longer than this")
        if times:
            axes.legend(frameon=False, loc="lower left", labelcolor=INK)
        return svg(
            chart,
            "contacts",
            "Contact and inter-contact times",
            "Two falling curves: contacts last "
            f"{median_text(contacts.contact.median_s, contacts.contact.watched_s)} in the median, pairs are "
            f"apart for {median_text(contacts.inter_contact.median_s, contacts.inter_contact.watched_s)} in "
            "the median between two contacts.",
        )


def _survival_line(axes: "Axes", times: Times, name: str, colour: str) -> None:
    """Draw one curve where it is above 0, which a logarithmic axis cannot show."""
    points = [(s, share) for s, share in times.survival if share > 0]
    if points:
        label = f"{name} ({times.known:,} known, {times.censored:,} censored)"
        axes.plot(*zip(*points, strict=True), color=colour, drawstyle="steps-post", label=label)


CONTACTS: Final = Question(name="contacts", place=50, collect=collect, sections=sections)
