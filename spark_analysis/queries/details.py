"""Asks what matches said beyond their degree, and has their languages put it into words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import functions as F  # noqa: N812

from knowledge_manager.mission_table import MissionTable
from plugins.guard.guard import LanguageDefect
from plugins.language import Match
from plugins.registry import RegistryError, authoring_of, language
from spark_analysis.answers import MatchDetail
from spark_analysis.languages import mission_table
from spark_analysis.metrics.delivery import deliveries
from spark_analysis.metrics.match_details import REVISION, details
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.queries.naming import name_of
from spark_analysis.run import Run
from watchdog.vector import VectorError

MOST_DETAILS: Final = 100
"""So many different details are shown, those of most notifications."""


def details_of(
    run: Run, revisions: Sequence[SubscriptionRevision], nodes: Mapping[int, Mapping[str, Any]]
) -> tuple[MatchDetail, ...]:
    """Ask for the details of a run's matches; where its footers say that there are none, nothing is asked."""
    if not run.recorded.says("matches", "detail"):
        return ()
    delivered = run.table("messages").transform(deliveries)
    most_first = F.desc("notifications"), *REVISION, "degree_u8", "detail"
    rows = run.table("matches").transform(details, delivered).orderBy(*most_first).limit(MOST_DETAILS)
    asked = {revision.key: revision for revision in revisions}
    table = mission_table(run.manifest)
    found = []
    for row in rows.collect():
        revision = asked.get((row["subscriber"], row["id"], row["seq"]))
        match = Match((row["subscriber"], row["id"]), row["degree_u8"], bytes(row["detail"]))
        found.append(
            MatchDetail(
                subscriber=name_of(nodes, row["subscriber"]),
                id=row["id"],
                seq=row["seq"],
                document=None if revision is None else revision.document,
                degree_u8=match.degree_u8,
                detail=match.detail.hex(),
                words=in_words(None if revision is None else revision.language, match, table),
                notifications=row["notifications"],
                delivered=row["delivered"],
            )
        )
    return tuple(found)


def in_words(number: int | None, match: Match, table: MissionTable) -> str:
    """Return what a match says as its language puts it; in hexadecimal where nobody can read it: the language
    is unknown here, has no words, or did not write these bytes.
    """
    if number is not None:
        try:
            return authoring_of(language(number)).describe_match(match, table)
        except (RegistryError, VectorError, LanguageDefect):
            pass
    return match.detail.hex(" ")
