"""Details of matches beyond their degree, as their languages describe them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from knowledge_manager.mission_table import MissionTable
from plugins.language import LanguageDefect, Match
from plugins.registry import RegistryError, authoring_of, language
from spark_analysis.answers import Analysis
from spark_analysis.languages import mission_table
from spark_analysis.metrics.delivery import deliveries
from spark_analysis.number_format import number_text
from spark_analysis.question import Question, RunContext, Section, name_of
from spark_analysis.rendering.html import scrolling, table
from watchdog.vector import VectorError

REVISION: Final = ("subscriber", "id", "seq")
MOST_DETAILS: Final = 100
"""Details in JSON, the most frequent ones."""
SHOWN_DETAILS: Final = 20
"""Details on the page, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class MatchDetail:
    """A detail that the language of a subscription attached to matches, and how many notifications had it.
    `words` is the language's description.
    """

    subscriber: str
    id: int
    seq: int
    document: str | None
    degree_u8: int
    detail: str
    words: str
    notifications: int
    delivered: int


def details(matches: DataFrame, delivered: DataFrame) -> DataFrame:
    """Count, for each subscription revision, degree and detail, the notifications with it and those that were
    delivered.

    A match that several nodes find counts once. Matches without a detail are ignored. `delivered` is the
    result of `delivery.deliveries`.
    """
    matched = (
        matches.where(F.length("detail") > 0)
        .select("origin", "number", *REVISION, "degree_u8", "detail")
        .distinct()
    )
    arrived = delivered.select("origin", "number", "subscriber", "delivered_ms")
    return (
        matched.join(arrived, ["origin", "number", "subscriber"], "left")
        .groupBy(*REVISION, "degree_u8", "detail")
        .agg(F.count("*").alias("notifications"), F.count("delivered_ms").alias("delivered"))
    )


def collect(context: RunContext) -> tuple[MatchDetail, ...]:
    """Return the most frequent details; the query is skipped if the footers of the trace show none."""
    run = context.run
    if not run.recorded.says("matches", "detail"):
        return ()
    delivered = run.table("messages").transform(deliveries)
    most_first = F.desc("notifications"), *REVISION, "degree_u8", "detail"
    rows = run.table("matches").transform(details, delivered).orderBy(*most_first).limit(MOST_DETAILS)
    revisions = {revision.key: revision for revision in context.revisions}
    table_ = mission_table(run.manifest)
    found = []
    for row in rows.collect():
        revision = revisions.get((row["subscriber"], row["id"], row["seq"]))
        match = Match((row["subscriber"], row["id"]), row["degree_u8"], bytes(row["detail"]))
        found.append(
            MatchDetail(
                subscriber=name_of(context.nodes, row["subscriber"]),
                id=row["id"],
                seq=row["seq"],
                document=None if revision is None else revision.document,
                degree_u8=match.degree_u8,
                detail=match.detail.hex(),
                words=in_words(None if revision is None else revision.language, match, table_),
                notifications=row["notifications"],
                delivered=row["delivered"],
            )
        )
    return tuple(found)


def in_words(number: int | None, match: Match, table: MissionTable) -> str:
    """Return the language's description of a match, or its bytes in hex if the language is unknown, has no
    description or did not write these bytes.
    """
    if number is not None:
        try:
            return authoring_of(language(number)).describe_match(match, table)
        except (RegistryError, VectorError, LanguageDefect):
            pass
    return match.detail.hex(" ")


def sections(found: tuple[MatchDetail, ...], analysis: Analysis) -> Iterable[Section]:
    if not found:
        return
    shown = found[:SHOWN_DETAILS]
    rest = len(found) - len(shown)
    more = f"; {rest} less frequent ones are in the JSON" if rest else ""
    details_table = table(
        f"Details of matches, as described by their language, by the number of notifications{more}",
        ("subscriber", "subscription", "detail", "notifications", "delivered"),
        [
            (
                one.subscriber,
                f"{one.document or 'generated'} ({one.id}, revision {one.seq})",
                one.words,
                number_text(one.notifications),
                number_text(one.delivered),
            )
            for one in shown
        ],
        text_columns=(1, 2),
    )
    yield Section(place=185, title="Match details", html=scrolling(details_table))


DETAILS: Final = Question(name="details", place=190, collect=collect, sections=sections)
