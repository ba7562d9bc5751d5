"""Radio traffic: what was transmitted, and which copies were discarded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.languages import languages_of
from spark_analysis.metrics.ordering import in_order
from spark_analysis.metrics.radio_links import radio_links
from spark_analysis.metrics.radio_use import radio_use
from spark_analysis.number_format import bytes_text, number_text
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.radio_use import RadioUse
from spark_analysis.rendering.html import figure, paragraph, scrolling, table
from spark_analysis.spark_tables import SparkTables

_DISCARDED: Final = ("lost", "dropped", "refused", "expired", "quarantined", "undecided")


@dataclass(frozen=True, slots=True)
class TypeTraffic:
    """Messages of one type, each counted once as its source sent it: number, bytes on the air with frame
    overhead, and how many were lost.
    """

    type: str
    sent: int
    sent_bytes: int
    lost: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Copies of messages of one type that were lost, dropped, refused, quarantined, undecided or expired for
    one reason.
    """

    kind: str
    type: str
    reason: str
    messages: int


@dataclass(frozen=True, slots=True)
class Overhead:
    """Use of the radio; defined in `metrics/radio_use.py`."""

    relayed: int
    delivered: int
    transmissions: int
    bytes_on_air: int
    forwarded: int
    by_type: tuple[TypeTraffic, ...]
    given_up: tuple[GivenUp, ...]
    duplicates: int = 0
    composite_deliveries: int = 0
    deliveries: int = 0
    delivered_between_devices: int = 0
    frames: int = 0
    forwarded_frames: int = 0
    forwarded_bytes: int = 0


def traffic(messages: DataFrame) -> DataFrame:
    """Count steps and bytes of all messages by kind, type and reason."""
    return (
        messages.groupBy("kind", "type", "reason")
        .agg(F.count("*").alias("messages"), F.sum("bytes").alias("bytes"))
        .transform(in_order, "kind", "type", "reason")
    )


def radio_use_of(context: RunContext) -> RadioUse:
    """Return transfers, deliveries and transmissions."""
    run = context.run
    return radio_use(
        SparkTables(run),
        context.devices,
        radio_links(run.manifest, context.nodes.values()),
        languages_of(run.manifest).composed,
        of_one_node=run.manifest.node is not None,
    )


def collect(context: RunContext) -> Overhead:
    use = context.once(radio_use_of)
    rows = context.run.table("messages").transform(traffic).collect()
    sent = {row["type"]: row["messages"] for row in rows if row["kind"] == "sent"}
    lost: dict[str, int] = {}
    for row in rows:
        if row["kind"] == "lost":
            lost[row["type"]] = lost.get(row["type"], 0) + row["messages"]
    octets = use.sent_bytes
    return Overhead(
        relayed=use.relayed,
        delivered=use.delivered,
        transmissions=use.transmissions,
        bytes_on_air=use.bytes_on_air,
        forwarded=use.forwarded,
        by_type=tuple(
            TypeTraffic(type_, messages, octets[type_], lost.get(type_, 0))
            for type_, messages in sorted(sent.items(), key=lambda item: (-octets[item[0]], item[0]))
        ),
        given_up=tuple(
            GivenUp(row["kind"], row["type"], row["reason"] or "no reason given", row["messages"])
            for row in sorted(rows, key=lambda row: -row["messages"])
            if row["kind"] in _DISCARDED
        ),
        duplicates=use.duplicates,
        composite_deliveries=use.composite_deliveries,
        deliveries=use.deliveries,
        delivered_between_devices=use.delivered_between_devices,
        frames=use.frames,
        forwarded_frames=use.forwarded_frames,
        forwarded_bytes=use.forwarded_bytes,
    )


def sections(overhead: Overhead, analysis: Analysis) -> Iterable[Section]:
    yield Section(
        place=70,
        id="radio",
        title="Radio traffic",
        html=paragraph(_text(overhead, analysis.run.document_frames)) + figure(_figure(overhead.by_type)),
        is_half=True,
    )
    if overhead.given_up:
        yield Section(place=190, title="Discarded copies", html=scrolling(_discarded_table(overhead)))


def _text(overhead: Overhead, document_frames: float | None) -> str:
    split = f" in {overhead.frames:,} frames" if overhead.frames != overhead.transmissions else ""
    text = (
        f"{overhead.transmissions:,} transmissions{split}, {bytes_text(overhead.bytes_on_air)} on the air, "
        "including envelopes, frame overhead and interrupted transfers."
    )
    if overhead.forwarded:
        text += (
            f" {overhead.forwarded:,} of them were forwarded by relays: "
            f"{bytes_text(overhead.forwarded_bytes)} with headers. The bars exclude these: they count each "
            "message once, as its source sent it."
        )
    if document_frames is not None:
        text += f" A document took {document_frames:.1f} frames on average."
    return text


def _discarded_table(overhead: Overhead) -> str:
    return table(
        "Counted per copy: a notification that was delivered long ago expires at every carrier. "
        "Lost: transmitted and not received. Dropped and refused: by policy. "
        "Quarantined: processing raised an error; the message is still carried. "
        "Undecided: the work budget of its origin was spent, or a call reached its limit.",
        ("event", "message type", "reason", "copies"),
        [(one.kind, one.type, one.reason, number_text(one.messages)) for one in overhead.given_up],
        text_columns=(1, 2),
    )


def _figure(by_type: Sequence[TypeTraffic]) -> str:
    """Draw the bytes on the air by message type."""
    from spark_analysis.rendering.drawing import HALF_WIDTH_IN, INK, ONE, canvas, styled, svg

    with styled():
        chart, axes = canvas(0.5 + 0.3 * max(len(by_type), 1), HALF_WIDTH_IN)
        names = [traffic.type for traffic in by_type]
        sizes = [traffic.sent_bytes for traffic in by_type]
        axes.barh(names, sizes, color=ONE, height=0.62)
        for position, size in enumerate(sizes):
            axes.annotate(bytes_text(size), (size, position), (5, 0), textcoords="offset points", va="center")
        axes.invert_yaxis()
        axes.set_xlim(0, max(sizes, default=1) * 1.15)
        axes.xaxis.set_visible(False)
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        return svg(
            chart,
            "traffic",
            "Bytes on the air by message type",
            "Bars: " + ", ".join(f"{t.type} {bytes_text(t.sent_bytes)}" for t in by_type) + ".",
        )


OVERHEAD: Final = Question(name="overhead", place=40, collect=collect, sections=sections)
