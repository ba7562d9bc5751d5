"""From a run to its answers: every question of `metrics/`, in as few Spark jobs as they allow."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import DataFrame, Row, SparkSession

from plugins.registry import languages
from spark_analysis.answers import Analysis, Filtering, GroundTruth, Misled, RunFacts
from spark_analysis.catalogue.evidence import Evidence, ReadingsKept, WantedTold
from spark_analysis.catalogue.metric import Metric, measured
from spark_analysis.catalogue.registry import metrics
from spark_analysis.errors import AnalysisError
from spark_analysis.languages import languages_of
from spark_analysis.matching_figures import MatchingDone, total_matching
from spark_analysis.metrics import truth
from spark_analysis.metrics.delivery import pairs as pairs_of
from spark_analysis.metrics.documents import frames_of_documents, released_documents
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.pair_figures import PairFigures
from spark_analysis.queries import delivery as arriving
from spark_analysis.queries import energy, network, nodes, radio
from spark_analysis.queries.composites import composites_of, useful_for_composites
from spark_analysis.queries.details import details_of
from spark_analysis.queries.metrics import SparkTables
from spark_analysis.queries.routing import broker_tables_of
from spark_analysis.radio_use import RadioUse
from spark_analysis.run import Run
from spark_analysis.session.worker_errors import told_in_words

DIRECT: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""How the queries of a small run are run: not compiled, as one job each instead of one for each stage, and
in as few tasks as there can be.
"""


def analyse(run: Run) -> Analysis:
    """Ask a run everything that its report shows.

    Raises `AnalysisError` when the trace names a language or holds a vector that cannot be understood.
    """
    refused = (
        f"{run.path}: the trace holds something that its language refuses; it was damaged, or written by a "
        "version with other languages"
    )
    # Compiling and replanning the queries of a small run take longer than running them.
    catalogue = metrics()  # one that cannot be loaded is told before anything is computed
    _refuse_unknown_languages(run)
    with told_in_words(refused), settings(run.spark, DIRECT if run.small else {}):
        return _ask(run, catalogue)


def _refuse_unknown_languages(run: Run) -> None:
    """Refuse a run in which somebody asked in a language that nobody here knows."""
    strangers = {revision.language for revision in run.revisions()} - languages().keys()
    if strangers:
        numbers = ", ".join(map(str, sorted(strangers)))
        raise AnalysisError(
            f"{run.path}: somebody asked in language {numbers}, which no installed package brings; install "
            "it (the manifest lists the versions of all that took part)"
        )


def _ask(run: Run, catalogue: Sequence[Metric]) -> Analysis:
    """Ask the families of questions side by side: while one is being planned another one runs.

    Those that others wait for come first: what was owed, and who wanted which reading.
    """
    end_ms = run.manifest.simulated_ms
    who = {row["node"]: row for row in run.small_table("nodes")}
    devices = run.devices
    revisions = run.revisions()
    copies = run.copies_at_end().cache()
    with ThreadPoolExecutor() as together:
        owed = together.submit(_kept_outcomes, run, revisions, copies)
        wanted = together.submit(_kept_readings, run, revisions)
        pieces = together.submit(network.pieces_of, run, devices.count, end_ms)
        times = together.submit(network.contacts_of, run, devices.count, end_ms)
        use = together.submit(radio.radio_use_of, run, devices)
        meetings = together.submit(network.meetings_of, run, end_ms)
        holding = together.submit(nodes.holding_of, run, devices, end_ms)
        filtering = together.submit(nodes.filtering_of, run, who)
        loads = together.submit(nodes.loads_of, run, who, devices, end_ms)
        joules = together.submit(
            energy.energy_of, run, who, devices.count, end_ms, lambda: use.result().deliveries
        )
        tracks = together.submit(network.tracks_of, run, who, end_ms)
        details = together.submit(details_of, run, revisions, who)
        misled = together.submit(_misled, run, revisions)
        composites = together.submit(composites_of, run, revisions, copies)
        brokers = together.submit(broker_tables_of, run, who)
        outcomes, counts = owed.result()
        pairs = outcomes.transform(pairs_of)
        timeline = together.submit(arriving.timeline_of, pairs, end_ms)
        delivery = arriving.delivery_of(counts, _not_composing(run, revisions), who)
        figures = arriving.pair_figures_of(pairs, delivery.total, end_ms)
        delay = together.submit(arriving.delay_of, figures, pairs, devices)
        readings, useful = wanted.result()
        fates = _fates(run, revisions, readings, outcomes, copies)
        released = filtering.result().released + _released_documents(run)
        told = GroundTruth(**fates, released_in_vain=released - useful)
        matched = total_matching(load.matching for load in loads.result())
        evidence = _evidence(run, figures, use.result(), filtering.result(), matched, told)
        found = Analysis(
            run=_facts(run, who, devices.count, end_ms),
            delivery=delivery,
            delay=delay.result(),
            overhead=radio.overhead_of(run, use.result()),
            contacts=times.result(),
            filtering=filtering.result(),
            truth=told,
            fairness=arriving.fairness_of(counts),
            fairness_of_groups=arriving.fairness_of(counts, who),
            pieces=pieces.result(),
            holding=holding.result(),
            loads=loads.result(),
            energy=joules.result(),
            timeline=timeline.result(),
            tracks=tracks.result(),
            meetings=meetings.result(),
            composites=composites.result(),
            brokers=brokers.result(),
            details=details.result(),
            misled=misled.result(),
            metrics=measured(catalogue, evidence),
        )
        outcomes.unpersist()
        readings.unpersist()
        copies.unpersist()
        return found


def _evidence(
    run: Run,
    pairs: PairFigures,
    use: RadioUse,
    filtering: Filtering,
    matched: MatchingDone,
    truth: GroundTruth,
) -> Evidence:
    """Return what the metrics are made of."""
    return Evidence(
        pairs=pairs,
        radio=use,
        readings=ReadingsKept(filtering.judged, filtering.kept),
        matching=matched,
        wanted=WantedTold(truth.wanted, truth.delivered),
        truth=truth,
        tables=SparkTables(run),
    )


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Set up a session for a while; afterwards it is as it was."""
    before = {name: str(spark.conf.get(name)) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _facts(run: Run, who: Mapping[int, Mapping[str, Any]], devices: int, end_ms: int) -> RunFacts:
    roles = [row["role"] for row in who.values()]
    return RunFacts(
        name=run.manifest.name,
        title=run.manifest.title,
        seed=run.manifest.seed,
        policy=run.manifest.policy,
        partial=run.partial,
        end_s=end_ms / 1000,
        nodes_by_role={role: roles.count(role) for role in sorted(set(roles))},
        subscriptions=len(run.revisions()),
        notifications=run.rows("notifications"),
        devices=devices,
        documents=run.rows("documents"),
        document_frames=_document_frames(run),
    )


def _not_composing(run: Run, revisions: Sequence[SubscriptionRevision]) -> tuple[SubscriptionRevision, ...]:
    """Return the revisions to which notifications of sources are owed; composites are counted apart."""
    languages = languages_of(run.manifest)
    return tuple(revision for revision in revisions if not languages.composes(revision.language))


def _kept_outcomes(
    run: Run, revisions: Sequence[SubscriptionRevision], copies: DataFrame
) -> tuple[DataFrame, list[Row]]:
    """Return the outcomes, kept for the questions that follow, and their counts."""
    outcomes = run.outcomes(revisions, copies).cache()
    return outcomes, arriving.tallied(outcomes)


def _kept_readings(run: Run, revisions: Sequence[SubscriptionRevision]) -> tuple[DataFrame, int]:
    """Return the readings that somebody wanted, kept for the question what became of them, and how many of
    them left their source.
    """
    readings = run.judged(revisions).cache()
    counted = useful_for_composites(run, revisions, readings)
    if counted is None:
        useful = readings.transform(truth.released_and_wanted).first()
        assert useful is not None
        counted = int(useful["readings"])
    return readings, counted


def _misled(run: Run, revisions: Sequence[SubscriptionRevision]) -> tuple[Misled, ...]:
    """Ask how often a sensor that errs told otherwise than the truth would have, by language."""
    if not revisions or not run.rows("true_readings"):
        return ()
    rows = run.disagreements(revisions).collect()
    return tuple(Misled(**row.asDict()) for row in sorted(rows, key=lambda row: row["language"]))


def _document_frames(run: Run) -> float | None:
    radios = run.manifest.scenario.get("radio", {}).values()
    sizes = [radio["frame_bytes"] for radio in radios if radio.get("frame_bytes")]
    if not sizes or not run.rows("documents"):
        return None
    counted = frames_of_documents(run.table("documents"), run.table("messages"), min(sizes)).first()
    return None if counted is None else counted["frames"]


def _released_documents(run: Run) -> int:
    if not run.rows("documents"):
        return 0
    counted = run.table("documents").transform(released_documents).first()
    assert counted is not None
    return int(counted["documents"])


def _fates(
    run: Run,
    revisions: Sequence[SubscriptionRevision],
    readings: DataFrame,
    outcomes: DataFrame,
    copies: DataFrame,
) -> dict[str, int]:
    """Count the pairs that met each fate, and as `unwanted` those that were delivered and not wanted."""
    rows = truth.fate_counts(
        readings,
        revisions,
        outcomes,
        run.table("notifications"),
        run.table("messages"),
        copies,
        languages_of(run.manifest).plain,
    )
    counts = {(row["wanted"], row["fate"]): row["pairs"] for row in rows.collect()}
    wanted = {fate: counts.get((True, fate), 0) for fate in truth.FATES}
    return {**wanted, "unwanted": counts.get((False, "delivered"), 0)}
