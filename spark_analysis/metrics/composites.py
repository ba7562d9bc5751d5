"""What became of composites: which sequences there were to be told, and how far each of them came.

What is owed is found as `truth.py` finds readings: every reading that a watchdog judged is told as its source
would tell it to the parts of the subscriptions in force, and given to the composer that a DENS node uses. One
result (an identity, whichever message says it) for one subscriber is one thing owed, and exactly one *fate*
is true of it:

| fate | meaning |
| --- | --- |
| delivered | the application saw a message that says it |
| under_way | made, and a carrier has it at the end of the run, with time left |
| too_late | made, and a carrier had it until its lifetime was over |
| dropped | made, and every carrier gave it up before |
| never_met | never made: all parts were carried, and no DENS node held them together |
| not_carried | never made: some part left its source and reached nobody; or a source made it, and it did |
| not_released | never made: some part never left its source |

The last three are told apart by composing again, of what was carried, and of what was released. Readings that
are no part of anything are left out where they are judged, side by side; the rest, and composing, which needs
all parts in one place, is done where the question is asked.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from plugins.language import Composer, Matcher
from spark_analysis.metrics import truth
from spark_analysis.metrics.overhead import NOTIFICATION_TYPES
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.metrics.run_languages import RunLanguages
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
"""Best first; what is owed has the first one that is true of it."""

Owed = tuple[int, bytes]
"""A subscriber, and the identity of a result."""
Told = tuple[int, int, bytes, int]
"""Who told it, in which language, the vector, and when it happened."""


@dataclass(frozen=True, slots=True)
class SaidBy:
    """A message that says a result: until when it lives, whether any node but its source had it, whether a
    carrier has it at the end, whether one had it until its lifetime was over, and who saw it.
    """

    over_ms: int
    is_carried: bool
    is_left: bool
    ran_out: bool
    seen_by: frozenset[int]


@dataclass(slots=True)
class Composed:
    """Composes, as DENS nodes do, everything that it is given; nobody forgets anything here.

    Revisions of one subscription have one name, so each of them needs a composer of its own.
    """

    revisions: Sequence[SubscriptionRevision]
    languages: RunLanguages
    _layers: list[dict[int, Composer]] = field(default_factory=list)
    _matchers: dict[int, Matcher] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Hold every revision, in the time in which it is in force."""
        depth: dict[tuple[int, int], int] = {}
        for one in self.revisions:
            name = one.subscriber, one.id
            layer = depth[name] = depth.get(name, -1) + 1
            if layer == len(self._layers):
                self._layers.append({})
            number, body = one.language, body_of(one.vector)
            if number not in self._layers[layer]:
                self._layers[layer][number] = self.languages.composer(number)
            if number not in self._matchers:
                self._matchers[number] = self.languages.matchers(number)[number]
            end_ms = one.expires_ms if one.withdrawn_ms is None else min(one.expires_ms, one.withdrawn_ms)
            self._layers[layer][number].add(name, body, one.seq, one.created_ms, end_ms)
            self._matchers[number].add(name, body)

    def results(self, told: Iterable[Told]) -> dict[Owed, int]:
        """Return every result for every subscriber, and until when it can be told at best."""
        found: dict[Owed, int] = {}
        for position, (origin, language, vector, event_ms) in enumerate(told):
            for layer in self._layers:
                for number, composer in layer.items():
                    item = origin << 32 | position
                    for made in composer.feed(item, language, vector, event_ms, event_ms):
                        over_ms = made.event_ms + 1000 * lifetime_s(made.lifetime_q)
                        for owed in self._owed(number, made.vector, made.event_ms):
                            found[owed] = max(over_ms, found.get(owed, over_ms))
        return found

    def _owed(self, number: int, vector: bytes, event_ms: int) -> Iterator[Owed]:
        for match in self._matchers[number].match(vector, event_ms, event_ms):
            for result in self.languages.results(number)(vector):
                yield match.key[0], result.identity


def part_revisions(
    revisions: Iterable[SubscriptionRevision], languages: RunLanguages
) -> tuple[SubscriptionRevision, ...]:
    """Return the parts of these revisions as subscriptions of their own, in force when those are."""
    found: list[SubscriptionRevision] = []
    for revision in revisions:
        for part in languages.parts(revision.language)(body_of(revision.vector)):
            vector = framed(0, 0, 0, part.body)
            found.append(replace(revision, id=len(found), language=part.language_id, vector=vector))
    return tuple(found)


def told_in_full(
    readings: Iterable[Row], parts: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Iterator[Told]:
    """Yield what a source would tell of these readings, by time, if all parts were installed at it."""
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
        for number, one in filters.items():
            for release in one.feed(reading):
                yield row["node"], number, release.vector, row["at_ms"]


def concerned(judged: DataFrame) -> DataFrame:
    """Name the readings that are part of anything."""
    return judged.select(*truth.READING).distinct()


def readings_of(filter_decisions: DataFrame, concerned: DataFrame) -> DataFrame:
    """Give the readings that are named, with all that composing needs of them."""
    return filter_decisions.join(
        concerned.withColumnRenamed("event_ms", "at_ms"), ["node", "event", "event_number", "at_ms"], "semi"
    ).select("node", "event", "event_number", "at_ms", "stamp", "attributes", "values")


def notifications_of(notifications: DataFrame, concerned: DataFrame, messages: DataFrame) -> DataFrame:
    """Give the notifications of readings that are named, and whether anybody but the source had each."""
    named = concerned.withColumnsRenamed({"event_ms": "at_ms", "node": "origin"})
    keys = ["origin", "event", "event_number", "at_ms"]
    return (
        notifications.join(named, keys, "semi")
        .join(truth.carriage(messages).select("origin", "number", "carried"), ["origin", "number"], "left")
        .select("origin", "number", "language", "vector", "at_ms", F.coalesce("carried", F.lit(False)))
        .toDF("origin", "number", "language", "vector", "at_ms", "carried")
    )


def steps_of(messages: DataFrame, copies: DataFrame, composed: Sequence[int]) -> DataFrame:
    """Say of every message of these languages who had it, what is left of it, and who saw it. `copies` is
    what `holding.copies_at_end` gives.
    """
    elsewhere = F.col("kind").isin("made", "stored", "replicated")
    seen_by = F.when(F.col("kind") == "delivered", F.col("node"))
    steps = (
        messages.where(F.col("type").isin(*NOTIFICATION_TYPES) & F.col("language").isin(*composed))
        .groupBy("origin", "number")
        .agg(F.max(elsewhere).alias("carried"), F.collect_set(seen_by).alias("seen_by"))
    )
    left = copies.select("origin", "number", "carried_left", "ran_out")
    return steps.join(left, ["origin", "number"], "left").na.fill(False, ["carried_left", "ran_out"])


def lives_of(notifications: DataFrame, composites: DataFrame, composed: Sequence[int]) -> DataFrame:
    """Say of every message of these languages until when it lives, whoever made it."""
    by_sources = notifications.select("origin", "number", "language", "lifetime_ms", "at_ms")
    by_nodes = composites.select(
        "origin", "number", "language", "lifetime_ms", F.col("event_ms").alias("at_ms")
    )
    return (
        by_sources.unionByName(by_nodes)
        .where(F.col("language").isin(*composed))
        .select("origin", "number", (F.col("at_ms") + F.col("lifetime_ms")).alias("over_ms"))
    )


def sayings_of(results: DataFrame, lives: DataFrame, steps: DataFrame) -> DataFrame:
    """Give one row for each result that a message says."""
    message = ["origin", "number"]
    return results.join(lives, message).join(steps, message)


def said_by(sayings: Iterable[Row]) -> dict[bytes, list[SaidBy]]:
    """Return for every result the messages that say it."""
    found: dict[bytes, list[SaidBy]] = {}
    for row in sayings:
        message = SaidBy(
            row["over_ms"], row["carried"], row["carried_left"], row["ran_out"], frozenset(row["seen_by"])
        )
        found.setdefault(bytes(row["identity"]), []).append(message)
    return found


def fate(
    owed: Owed,
    said: Mapping[bytes, Sequence[SaidBy]],
    carried: Callable[[Owed], bool],
    released: Callable[[Owed], bool],
    end_ms: int,
) -> str:
    """Return what became of one thing owed."""
    subscriber, identity = owed
    ranks = []
    for message in said.get(identity, ()):
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
    if carried(owed):
        return "never_met"
    return "not_carried" if released(owed) else "not_released"
