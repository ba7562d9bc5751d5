"""From a run to its answers: every question of `metrics/`, in as few Spark jobs as they allow."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from spark_analysis.answers import Analysis, GroundTruth, RunFacts
from spark_analysis.asking import delivery as arriving
from spark_analysis.asking import energy, network, nodes, radio
from spark_analysis.metrics import truth
from spark_analysis.metrics.delivery import pairs as pairs_of
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.run import Run
from spark_analysis.worker_errors import told_in_words

DIRECT: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""How the queries of a small run are run: not compiled, and as one job each instead of one for each stage."""


def analyse(run: Run) -> Analysis:
    """Ask a run everything that its report shows.

    Raises `AnalysisError` when the trace names a language or holds a vector that cannot be understood.
    """
    refused = (
        f"{run.path}: the trace holds something that its language refuses; it was damaged, or written by a "
        "version with other languages"
    )
    # Compiling and replanning the queries of a small run take longer than running them.
    with told_in_words(refused), settings(run.spark, DIRECT if run.small else {}):
        return _ask(run)


def _ask(run: Run) -> Analysis:
    """Ask the families of questions side by side: while one is being planned another one runs."""
    end_ms = run.manifest.simulated_ms
    who = {row["node"]: row for row in run.small_table("nodes")}
    revisions = run.revisions()
    messages, contacts = run.table("messages"), run.table("contacts")
    with ThreadPoolExecutor() as together:
        outcomes = run.outcomes(revisions).cache()
        tally = together.submit(arriving.tallied, outcomes)
        overhead = together.submit(radio.overhead_of, messages)
        times = together.submit(network.contacts_of, contacts, len(who), end_ms)
        filtering = together.submit(nodes.filtering_of, run, who)
        pieces = together.submit(network.pieces_of, contacts, len(who), end_ms)
        holding = together.submit(nodes.holding_of, run.table("buffers"), messages, end_ms)
        loads = together.submit(nodes.loads_of, run, who, end_ms)
        joules = together.submit(energy.energy_of, run, who, end_ms, lambda: overhead.result().delivered)
        tracks = together.submit(network.tracks_of, run, who, end_ms)
        meetings = together.submit(network.meetings_of, run, end_ms)
        together.submit(import_module, "spark_analysis.page")  # loaded by the time the answers are there
        counts = tally.result()  # and the outcomes are there for the questions that follow
        pairs = outcomes.transform(pairs_of)
        timeline = together.submit(arriving.timeline_of, pairs, end_ms)
        delay = together.submit(arriving.delay_of, pairs)
        ground_truth = _truth(run, revisions, outcomes, filtering.result().released)
        found = Analysis(
            run=_facts(run, who, end_ms),
            delivery=arriving.delivery_of(counts, revisions, who),
            delay=delay.result(),
            overhead=overhead.result(),
            contacts=times.result(),
            filtering=filtering.result(),
            truth=ground_truth,
            fairness=arriving.fairness_of(counts),
            fairness_of_groups=arriving.fairness_of(counts, who),
            pieces=pieces.result(),
            holding=holding.result(),
            loads=loads.result(),
            energy=joules.result(),
            timeline=timeline.result(),
            tracks=tracks.result(),
            meetings=meetings.result(),
        )
        outcomes.unpersist()
        return found


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


def _facts(run: Run, who: Mapping[int, Mapping[str, Any]], end_ms: int) -> RunFacts:
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
    )


def _truth(
    run: Run, revisions: Sequence[SubscriptionRevision], outcomes: DataFrame, released: int
) -> GroundTruth:
    should = run.judged(revisions).cache()
    rows = truth.fate_counts(should, revisions, outcomes, run.table("notifications"), run.table("messages"))
    counts = {(row["wanted"], row["fate"]): row["pairs"] for row in rows.collect()}
    useful = should.transform(truth.released_and_wanted).first()
    should.unpersist()
    assert useful is not None
    return GroundTruth(
        **{fate: counts.get((True, fate), 0) for fate in truth.FATES},
        unwanted=counts.get((False, "delivered"), 0),
        released_in_vain=released - useful["readings"],
    )
