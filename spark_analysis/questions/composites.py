"""Composite events: which composites should have been composed and delivered, and what happened to each.

Expected composites are computed like expected readings (`metrics/truth.py`): every reading is released in
full for the parts of the subscriptions in force, and fed to the composer that DENS nodes use. One result (an
identity, whichever message contains it) for one subscriber is one expected composite. It has exactly one
*fate*:

| fate | meaning |
| --- | --- |
| delivered | the application received a message with it |
| under_way | composed, and a carrier has it at the end of the run, with time left |
| too_late | composed, and a carrier had it until it expired |
| dropped | composed, and every carrier discarded it before |
| never_met | never composed: all parts were carried, and no DENS node held them together |
| not_carried | never composed, a part was never carried; or composed by a source and never carried |
| not_released | never composed: a part never left its source |

The last three are distinguished by composing again, from what was carried and from what was released.
Readings outside of any composite are filtered by Spark; the rest, and composing, which needs all parts
in one place, runs on the driver.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from plugins.language import Composer, Matcher
from spark_analysis import json_keys
from spark_analysis.answers import Analysis
from spark_analysis.languages import languages_of
from spark_analysis.metrics import truth
from spark_analysis.metrics.delivery import had_until_expiry
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.radio_use import NOTIFICATION_TYPES
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.number_format import share_text
from spark_analysis.predictions import PredictionStats, prediction_stats_of
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.rendering.html import figure, paragraph
from spark_analysis.run import Run
from watchdog.header import body_of, framed
from watchdog.lifetime import lifetime_s
from watchdog.reading import Reading

FATES: Final = (
    "delivered",
    "under_way",
    "too_late",
    "dropped",
    "never_met",
    "not_carried",
    "not_released",
)
"""Best first; an expected composite has the first one that applies."""
FATE_TEXTS: Final = {
    "delivered": "delivered",
    "under_way": "composed, still under way",
    "too_late": "composed, expired",
    "dropped": "composed, every copy discarded",
    "never_met": "parts carried, never by one node",
    "not_carried": "a part never carried",
    "not_released": "a part never left its source",
}
"""Labels of the fates."""

ExpectedComposite = tuple[int, bytes]
"""(subscriber, identity of the result)."""
SourceNotification = tuple[int, int, bytes, int]
"""(origin, language, vector, event time)."""


@dataclass(frozen=True, slots=True)
class Composites:
    """Fates of the expected composites, and how many were delivered that were not expected: among these are
    predictions whose outcome is not in the trace.
    """

    delivered: int
    under_way: int
    too_late: int
    dropped: int
    never_met: int
    not_carried: int
    not_released: int
    unexpected: int = field(metadata=json_keys.UNEXPECTED_COMPOSITES)
    messages: int
    """Messages with an expected composite, from all nodes."""
    predictions: PredictionStats | None = field(metadata=json_keys.PREDICTIONS)
    """Outcomes of predictions; None if none has ended."""
    expected: int = field(init=False, metadata=json_keys.EXPECTED)
    ratio: float | None = field(init=False)
    """delivered / expected"""

    def __post_init__(self) -> None:
        """Derive the sums, so that they are always consistent with the counts."""
        made = self.delivered + self.under_way + self.too_late + self.dropped
        expected = made + self.never_met + self.not_carried + self.not_released
        object.__setattr__(self, "expected", expected)
        object.__setattr__(self, "ratio", self.delivered / expected if expected else None)


@dataclass(frozen=True, slots=True)
class CompositeMessage:
    """A message with a result: when it expires, whether a node other than its source had it, whether a
    carrier has it at the end, whether a carrier had it until it expired, and which subscribers received it.
    """

    over_ms: int
    is_carried: bool
    is_left: bool
    ran_out: bool
    seen_by: frozenset[int]


@dataclass(slots=True)
class CompositeOracle:
    """Composes everything it is fed, as DENS nodes do, without forgetting anything.

    Revisions of a subscription share their name, so each revision needs its own composer.
    """

    revisions: Sequence[SubscriptionRevision]
    languages: RunLanguages
    _layers: list[dict[int, Composer]] = field(default_factory=list)
    _matchers: dict[int, Matcher] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add every revision with its lifetime."""
        depth: dict[tuple[int, int], int] = {}
        for revision in self.revisions:
            name = revision.subscriber, revision.id
            layer = depth[name] = depth.get(name, -1) + 1
            if layer == len(self._layers):
                self._layers.append({})
            number, body = revision.language, body_of(revision.vector)
            if number not in self._layers[layer]:
                self._layers[layer][number] = self.languages.composer(number)
            if number not in self._matchers:
                self._matchers[number] = self.languages.matchers(number)[number]
            withdrawn_ms = revision.withdrawn_ms
            end_ms = revision.expires_ms if withdrawn_ms is None else min(revision.expires_ms, withdrawn_ms)
            self._layers[layer][number].add(name, body, revision.seq, revision.created_ms, end_ms)
            self._matchers[number].add(name, body)

    def results(self, notifications: Iterable[SourceNotification]) -> dict[ExpectedComposite, int]:
        """Return every result per subscriber, with the latest expiry."""
        expiry: dict[ExpectedComposite, int] = {}
        for position, (origin, language, vector, event_ms) in enumerate(notifications):
            for layer in self._layers:
                for number, composer in layer.items():
                    item = origin << 32 | position
                    for composite in composer.feed(item, language, vector, event_ms, event_ms):
                        over_ms = composite.event_ms + 1000 * lifetime_s(composite.lifetime_q)
                        for expected in self._expected(number, composite.vector, composite.event_ms):
                            expiry[expected] = max(over_ms, expiry.get(expected, over_ms))
        return expiry

    def _expected(self, number: int, vector: bytes, event_ms: int) -> Iterator[ExpectedComposite]:
        for match in self._matchers[number].match(vector, event_ms, event_ms):
            for result in self.languages.results(number)(vector):
                yield match.key[0], result.identity


def part_revisions(
    revisions: Iterable[SubscriptionRevision], languages: RunLanguages
) -> tuple[SubscriptionRevision, ...]:
    """Return the parts of these revisions as subscriptions with the same lifetimes."""
    parts: list[SubscriptionRevision] = []
    for revision in revisions:
        for part in languages.parts(revision.language)(body_of(revision.vector)):
            vector = framed(0, 0, 0, part.body)
            parts.append(replace(revision, id=len(parts), language=part.language_id, vector=vector))
    return tuple(parts)


def released_in_full(
    readings: Iterable[Row], parts: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Iterator[SourceNotification]:
    """Yield what a source would release for these readings, by time, if all parts were installed."""
    filters = {number: languages.source_filter(number) for number in {part.language for part in parts}}
    for position, body in enumerate(dict.fromkeys((part.language, body_of(part.vector)) for part in parts)):
        filters[body[0]].add((position >> 8, position & 255), body[1])
    reading = Reading(languages.table.feature_bytes)
    for row in sorted(readings, key=lambda row: (row["at_ms"], row["node"], row["event"])):
        stamp_s = row["at_ms"] // 1000 if row["stamp"] is None else row["stamp"]
        reading.clear(row["event"], row["event_number"], stamp_s)
        present = int.from_bytes(row["attributes"], "big")
        indexes = [index for index in range(8 * len(row["attributes"])) if present >> index & 1]
        for index, value in zip(indexes, bytes(row["values"]), strict=True):
            reading.set(index, value)
        for number, source_filter in filters.items():
            for release in source_filter.feed(reading):
                yield row["node"], number, release.vector, row["at_ms"]


def part_readings_in(judged: DataFrame) -> DataFrame:
    """Return the keys of the readings that are part of a composite."""
    return judged.select(*truth.READING).distinct()


def readings_with_values(filter_decisions: DataFrame, part_readings_in: DataFrame) -> DataFrame:
    """Return the full rows of these readings."""
    return filter_decisions.join(
        part_readings_in.withColumnRenamed("event_ms", "at_ms"),
        ["node", "event", "event_number", "at_ms"],
        "semi",
    ).select("node", "event", "event_number", "at_ms", "stamp", "attributes", "values")


def part_notifications(
    notifications: DataFrame, part_readings_in: DataFrame, messages: DataFrame
) -> DataFrame:
    """Return the notifications of these readings, and whether a node other than the source had each."""
    named = part_readings_in.withColumnsRenamed({"event_ms": "at_ms", "node": "origin"})
    keys = ["origin", "event", "event_number", "at_ms"]
    return (
        notifications.join(named, keys, "semi")
        .join(truth.carriage(messages).select("origin", "number", "carried"), ["origin", "number"], "left")
        .select("origin", "number", "language", "vector", "at_ms", F.coalesce("carried", F.lit(False)))
        .toDF("origin", "number", "language", "vector", "at_ms", "carried")
    )


def message_steps(messages: DataFrame, copies: DataFrame, composed: Sequence[int]) -> DataFrame:
    """Return, for every message of these languages, whether it was carried, its remaining copies and its
    receivers. `copies` is `Run.copies_at_end`.
    """
    seen_by = F.when(F.col("kind") == "delivered", F.col("node"))
    steps = (
        messages.where(F.col("type").isin(*NOTIFICATION_TYPES) & F.col("language").isin(*composed))
        .groupBy("origin", "number")
        .agg(F.collect_set(seen_by).alias("seen_by"))
        .join(truth.carriage(messages), ["origin", "number"])
    )
    left = copies.select("origin", "number", "carried_left", "ran_out", "carried_until_ms")
    return steps.join(left, ["origin", "number"], "left").na.fill(False, ["carried_left", "ran_out"])


def message_expiry(notifications: DataFrame, composites: DataFrame, composed: Sequence[int]) -> DataFrame:
    """Return when every message of these languages expires."""
    by_sources = notifications.select("origin", "number", "language", "lifetime_ms", "at_ms")
    by_nodes = composites.select(
        "origin", "number", "language", "lifetime_ms", F.col("event_ms").alias("at_ms")
    )
    return (
        by_sources.unionByName(by_nodes)
        .where(F.col("language").isin(*composed))
        .select("origin", "number", (F.col("at_ms") + F.col("lifetime_ms")).alias("over_ms"))
    )


def result_messages(results: DataFrame, lives: DataFrame, steps: DataFrame) -> DataFrame:
    """Return one row per result of a message."""
    message = ["origin", "number"]
    in_time = results.join(lives, message).join(steps, message)
    return in_time.withColumn("ran_out", had_until_expiry(F.col("over_ms")))


def messages_by_result(result_rows: Iterable[Row]) -> dict[bytes, list[CompositeMessage]]:
    """Return the messages with each result."""
    messages: dict[bytes, list[CompositeMessage]] = {}
    for row in result_rows:
        message = CompositeMessage(
            row["over_ms"], row["carried"], row["carried_left"], row["ran_out"], frozenset(row["seen_by"])
        )
        messages.setdefault(bytes(row["identity"]), []).append(message)
    return messages


def fate(
    expected: ExpectedComposite,
    messages: Mapping[bytes, Sequence[CompositeMessage]],
    carried: Callable[[ExpectedComposite], bool],
    released: Callable[[ExpectedComposite], bool],
    end_ms: int,
) -> str:
    """Return the fate of one expected composite."""
    subscriber, identity = expected
    ranks = []
    for message in messages.get(identity, ()):
        if subscriber in message.seen_by:
            return "delivered"
        if not message.is_carried:
            ranks.append("not_carried")
        elif message.over_ms > end_ms and message.is_left:
            ranks.append("under_way")
        elif message.over_ms <= end_ms and message.ran_out:
            ranks.append("too_late")
        else:
            ranks.append("dropped")
    if ranks:
        return min(ranks, key=FATES.index)
    if carried(expected):
        return "never_met"
    return "not_carried" if released(expected) else "not_released"


def collect(context: RunContext) -> Composites | None:
    """Return the fates of all expected composites; None without composite subscriptions."""
    return composites_of(context.run, context.revisions, context.copies())


def composites_of(
    run: Run, revisions: Sequence[SubscriptionRevision], copies: DataFrame
) -> Composites | None:
    """Return the fates of all expected composites; None without composite subscriptions. `copies` is
    `Run.copies_at_end`.
    """
    languages = languages_of(run.manifest)
    composing = [revision for revision in revisions if languages.composes(revision.language)]
    if not composing:
        return None
    parts = part_revisions(composing, languages)
    part_readings = run.judged(parts).transform(part_readings_in).cache()
    readings = run.table("filter_decisions").transform(readings_with_values, part_readings).collect()
    notifications = (
        run.table("notifications")
        .transform(part_notifications, part_readings, run.table("messages"))
        .orderBy("at_ms", "origin", "number")
        .collect()
    )
    part_readings.unpersist()
    lives = message_expiry(run.table("notifications"), run.table("composites"), languages.composed)
    steps = message_steps(run.table("messages"), copies, languages.composed)
    result_rows = run.table("results").transform(result_messages, lives, steps).collect()
    by_result = messages_by_result(result_rows)

    def compose(notifications: Sequence[SourceNotification]) -> dict[ExpectedComposite, int]:
        return CompositeOracle(composing, languages).results(notifications)

    expected = compose(list(released_in_full(readings, parts, languages)))
    left = [(row["origin"], row["language"], bytes(row["vector"]), row["at_ms"]) for row in notifications]
    released = compose(left)
    carried = compose([row for row, source in zip(left, notifications, strict=True) if source["carried"]])
    end_ms = run.manifest.simulated_ms
    fates = Counter(
        fate(result, by_result, carried.__contains__, released.__contains__, end_ms) for result in expected
    )
    overtaken = {bytes(row["identity"]) for row in result_rows if row["rank"]}
    shown = {
        (subscriber, identity)
        for identity, messages in by_result.items()
        if identity not in overtaken
        for message in messages
        for subscriber in message.seen_by
    }
    identities = {identity for _, identity in expected}
    return Composites(
        **{fate: fates[fate] for fate in FATES},
        unexpected=len(shown - expected.keys()),
        messages=sum(len(messages) for identity, messages in by_result.items() if identity in identities),
        predictions=prediction_stats_of(run.recorded),
    )


def useful_for_composites(
    run: Run, revisions: Sequence[SubscriptionRevision], judged: DataFrame
) -> int | None:
    """Return how many released readings match a subscription, are part of a composite, or became a composite
    at the source; None without composite subscriptions. `judged` are those that match.
    """
    languages = languages_of(run.manifest)
    composing = [revision for revision in revisions if languages.composes(revision.language)]
    if not composing:
        return None
    parts = run.judged(part_revisions(composing, languages))
    wanted = judged.unionByName(parts).where(F.col("released") > 0).select(*truth.READING)
    from_sources = (
        run.table("notifications")
        .where(F.col("language").isin(*languages.composed))
        .select(F.col("origin").alias("node"), "event", "event_number", F.col("at_ms").alias("event_ms"))
    )
    return wanted.unionByName(from_sources).distinct().count()


def sections(composites: Composites | None, analysis: Analysis) -> Iterable[Section]:
    if composites is not None:
        yield Section(
            place=30,
            id="composites",
            title="Composite events",
            html=paragraph(_text(composites)) + figure(_figure(composites)),
        )


def _text(composites: Composites) -> str:
    text = (
        f"From the readings, {composites.expected:,} composites should have been composed and delivered to "
        f"their subscribers, and {share_text(composites.ratio)} were. Composites are counted by content, not "
        f"by message: {composites.messages:,} messages of DENS nodes and sources contain them."
    )
    if composites.unexpected:
        text += (
            f" {composites.unexpected:,} more were delivered: predictions that were still open at the end."
        )
    if composites.predictions is not None:
        text += f" {composites.predictions.as_text()}."
    return text


def _figure(composites: Composites) -> str:
    """Draw one bar per fate, best first."""
    from spark_analysis.rendering.drawing import fates_chart

    bars = [(text, getattr(composites, fate)) for fate, text in FATE_TEXTS.items()]
    return fates_chart(bars, composites.expected, "composites", "Fates of all expected composites")


COMPOSITES: Final = Question(name="composites", place=170, collect=collect, sections=sections)
