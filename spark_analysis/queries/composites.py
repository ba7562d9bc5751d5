"""Asks what became of composites, where somebody asked for any."""

from collections import Counter
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Composites
from spark_analysis.foretold import foretold_in
from spark_analysis.languages import languages_of
from spark_analysis.metrics import composites as found_in
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.metrics.truth import READING
from spark_analysis.run import Run


def composites_of(
    run: Run, revisions: Sequence[SubscriptionRevision], copies: DataFrame
) -> Composites | None:
    """Return the fates of all composites that were owed to a subscriber; None without such subscriptions.
    `copies` is what `holding.copies_at_end` gives.
    """
    languages = languages_of(run.manifest)
    asked = [revision for revision in revisions if languages.composes(revision.language)]
    if not asked:
        return None
    parts = found_in.part_revisions(asked, languages)
    concerned = run.judged(parts).transform(found_in.concerned).cache()
    readings = run.table("filter_decisions").transform(found_in.readings_of, concerned).collect()
    told = (
        run.table("notifications")
        .transform(found_in.notifications_of, concerned, run.table("messages"))
        .orderBy("at_ms", "origin", "number")
        .collect()
    )
    concerned.unpersist()
    lives = found_in.lives_of(run.table("notifications"), run.table("composites"), languages.composed)
    steps = found_in.steps_of(run.table("messages"), copies, languages.composed)
    sayings = run.table("results").transform(found_in.sayings_of, lives, steps).collect()
    said = found_in.said_by(sayings)

    def composed(told: Sequence[found_in.Told]) -> dict[found_in.Owed, int]:
        return found_in.Composed(asked, languages).results(told)

    owed = composed(list(found_in.told_in_full(readings, parts, languages)))
    left = [(row["origin"], row["language"], bytes(row["vector"]), row["at_ms"]) for row in told]
    released = composed(left)
    carried = composed([one for one, row in zip(left, told, strict=True) if row["carried"]])
    end_ms = run.manifest.simulated_ms
    fates = Counter(
        found_in.fate(one, said, carried.__contains__, released.__contains__, end_ms) for one in owed
    )
    overtaken = {bytes(row["identity"]) for row in sayings if row["rank"]}
    shown = {
        (subscriber, identity)
        for identity, messages in said.items()
        if identity not in overtaken
        for message in messages
        for subscriber in message.seen_by
    }
    identities = {identity for _, identity in owed}
    return Composites(
        **{fate: fates[fate] for fate in found_in.FATES},
        unowed=len(shown - owed.keys()),
        messages=sum(len(messages) for identity, messages in said.items() if identity in identities),
        foretold=foretold_in(run.recorded),
    )


def useful_for_composites(
    run: Run, revisions: Sequence[SubscriptionRevision], judged: DataFrame
) -> int | None:
    """Return how many readings that left their source somebody wanted, as they are, as part of a composite,
    or as what a source made of them; None where nobody asked for composites. `judged` are the first.
    """
    languages = languages_of(run.manifest)
    asked = [revision for revision in revisions if languages.composes(revision.language)]
    if not asked:
        return None
    parts = run.judged(found_in.part_revisions(asked, languages))
    wanted = judged.unionByName(parts).where(F.col("released") > 0).select(*READING)
    made = (
        run.table("notifications")
        .where(F.col("language").isin(*languages.composed))
        .select(F.col("origin").alias("node"), "event", "event_number", F.col("at_ms").alias("event_ms"))
    )
    return wanted.unionByName(made).distinct().count()
