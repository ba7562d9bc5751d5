"""From a run to its answers: every question of `metrics/`, in as few Spark jobs as they allow."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from pyspark.errors import PythonException
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import (
    Analysis,
    Contacts,
    Delay,
    Delivery,
    Fairness,
    Filtering,
    GivenUp,
    GroundTruth,
    GroupServed,
    Holding,
    HopsDelay,
    Overhead,
    Pieces,
    RunFacts,
    Served,
    SubscriptionServed,
    Timeline,
    Times,
    Track,
    TypeTraffic,
)
from spark_analysis.errors import TraceError
from spark_analysis.metrics import contacts as meeting
from spark_analysis.metrics import delivery as arriving
from spark_analysis.metrics import truth
from spark_analysis.metrics.delay import PERCENTILES, delay_by_hops, delay_summary
from spark_analysis.metrics.filtering import filter_savings
from spark_analysis.metrics.holding import held_over_time
from spark_analysis.metrics.overhead import overhead, traffic
from spark_analysis.metrics.owed import subscription_revisions
from spark_analysis.metrics.pieces import pieces_over_time
from spark_analysis.run import Run
from spark_analysis.survival import survival

TIMELINE_BINS: Final = 120
MOST_LEGS: Final = 4000
"""So many legs are drawn on the map at most; beyond them every k-th node is shown."""

_DIRECT: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""How the queries of a small run are run: not compiled, and as one job each instead of one for each stage."""
_GIVEN_UP: Final = ("lost", "dropped", "refused", "expired")


def analyse(run: Run) -> Analysis:
    """Ask a run everything that its report shows.

    Raises `TraceError` when the trace names a language or holds a vector that cannot be understood.
    """
    try:
        with _suited_compiler(run):
            return _ask(run)
    except PythonException as error:
        reason = [line for line in str(error).splitlines() if line.strip()][-1]
        raise TraceError(
            f"{run.path}: the trace holds something that its language refuses ({reason.strip()}); it was "
            "damaged, or written by a version with other languages"
        ) from error


def _ask(run: Run) -> Analysis:
    """Ask the families of questions side by side: while one is being planned another one runs."""
    end_ms = run.manifest.simulated_ms
    nodes = {row["node"]: row for row in run.table("nodes").collect()}
    with ThreadPoolExecutor() as together:
        overhead_ = together.submit(_overhead, run.table("messages"))
        contacts = together.submit(_contacts, run.table("contacts"), len(nodes), end_ms)
        filtering = together.submit(_filtering, run.table("filter_decisions"))
        pieces = together.submit(_pieces, run.table("contacts"), len(nodes), end_ms)
        holding = together.submit(_holding, run.table("buffers"), end_ms)
        tracks = together.submit(_tracks, run, nodes, end_ms)
        together.submit(import_module, "spark_analysis.page")  # loaded by the time the answers are there
        outcomes = run.outcomes().cache()
        pairs = outcomes.transform(arriving.pairs).cache()
        delay = _delay(pairs)
        timeline = _timeline(pairs, end_ms)
        delivery = _delivery(run, outcomes, pairs, nodes)
        fairness = _fairness(pairs)
        released = filtering.result().released
        ground_truth = _truth(run, outcomes, released)
        pairs.unpersist()
        outcomes.unpersist()
        return Analysis(
            run=_facts(run, nodes, end_ms),
            delivery=delivery,
            delay=delay,
            overhead=overhead_.result(),
            contacts=contacts.result(),
            filtering=filtering.result(),
            truth=ground_truth,
            fairness=fairness,
            pieces=pieces.result(),
            holding=holding.result(),
            timeline=timeline,
            tracks=tracks.result(),
        )


@contextmanager
def _suited_compiler(run: Run) -> Iterator[None]:
    """Have Spark run the queries of a small run directly: compiling and replanning take longer than running.

    Afterwards the session is as it was.
    """
    settings = _DIRECT if run.small else {}
    before = {name: str(run.spark.conf.get(name)) for name in settings}
    for name, value in settings.items():
        run.spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            run.spark.conf.set(name, value)


def _facts(run: Run, nodes: dict[int, Row], end_ms: int) -> RunFacts:
    roles = [row["role"] for row in nodes.values()]
    return RunFacts(
        name=run.manifest.name,
        title=run.manifest.title,
        seed=run.manifest.seed,
        partial=run.partial,
        end_s=end_ms / 1000,
        nodes_by_role={role: roles.count(role) for role in sorted(set(roles))},
        subscriptions=run.rows("subscriptions"),
        notifications=run.rows("notifications"),
    )


def _delivery(
    run: Run,
    outcomes: DataFrame,
    pairs: DataFrame,
    nodes: dict[int, Row],
) -> Delivery:
    wrong = outcomes.transform(arriving.delivered_wrongly).first()
    assert wrong is not None
    with_group = pairs.transform(arriving.with_group, run.table("nodes"))
    by_group = with_group.transform(arriving.delivery_ratio, "group").orderBy("group").collect()
    served = {
        (row["subscriber"], row["id"], row["seq"]): _served(row)
        for row in outcomes.transform(arriving.owed_outcomes)
        .transform(arriving.delivery_ratio, "subscriber", "id", "seq")
        .collect()
    }
    groups = tuple(GroupServed(row["group"], _served(row)) for row in by_group)
    return Delivery(
        total=Served(
            owed=sum(group.served.owed for group in groups),
            delivered=sum(group.served.delivered for group in groups),
            missed=sum(group.served.missed for group in groups),
            open=sum(group.served.open for group in groups),
        ),
        repeated=wrong["repeated"],
        not_owed=wrong["not_owed"],
        by_group=groups,
        by_subscription=tuple(
            SubscriptionServed(
                subscriber=_name(nodes, revision.subscriber),
                id=revision.id,
                seq=revision.seq,
                document=revision.document,
                served=served.get((revision.subscriber, revision.id, revision.seq), Served(0, 0, 0, 0)),
            )
            for revision in subscription_revisions(run.table("subscriptions"))
        ),
    )


def _served(row: Row) -> Served:
    return Served(row["owed"], row["delivered"], row["missed"], row["open"])


def _delay(pairs: DataFrame) -> Delay:
    row = pairs.transform(delay_summary).first()
    assert row is not None
    return Delay(
        delivered=row["delivered"],
        censored=row["censored"],
        mean_s=_seconds(row["mean_ms"]),
        max_s=_seconds(row["max_ms"]),
        quantiles_s=tuple(value / 1000 for value in row["quantiles_ms"] or ()),
        by_hops=tuple(
            HopsDelay(hops["hops"], hops["delivered"], hops["mean_ms"] / 1000)
            for hops in pairs.transform(delay_by_hops).collect()
        ),
        **{f"p{p}_s": _seconds(row[f"p{p}_ms"]) for p in PERCENTILES},
    )


def _overhead(messages: DataFrame) -> Overhead:
    counted = messages.transform(traffic).cache()
    rows = counted.collect()
    costs = counted.transform(overhead).first()
    counted.unpersist()
    assert costs is not None
    sent = {row["type"]: row for row in rows if row["kind"] == "sent"}
    lost: dict[str, int] = {}
    for row in rows:
        if row["kind"] == "lost":
            lost[row["type"]] = lost.get(row["type"], 0) + row["messages"]
    return Overhead(
        relayed=costs["relayed"],
        delivered=costs["delivered"],
        transmissions=costs["transmissions"],
        bytes_on_air=costs["bytes_on_air"],
        overhead_ratio=costs["overhead_ratio"],
        bytes_per_delivery=costs["bytes_per_delivery"],
        by_type=tuple(
            TypeTraffic(type_, row["messages"], row["bytes"], lost.get(type_, 0))
            for type_, row in sorted(sent.items(), key=lambda item: (-item[1]["bytes"], item[0]))
        ),
        given_up=tuple(
            GivenUp(row["kind"], row["type"], row["reason"] or "no reason given", row["messages"])
            for row in sorted(rows, key=lambda row: -row["messages"])
            if row["kind"] in _GIVEN_UP
        ),
    )


def _contacts(table: DataFrame, nodes: int, end_ms: int) -> Contacts:
    table = table.transform(meeting.until, end_ms)
    times = (
        table.transform(meeting.contact_times)
        .withColumn("which", F.lit("contact"))
        .unionByName(
            table.transform(meeting.inter_contact_times, end_ms).withColumn("which", F.lit("inter_contact"))
        )
        .cache()
    )
    summaries = {row["which"]: row for row in times.transform(meeting.time_summary, "which").collect()}
    bins = times.transform(meeting.life_table, "which").collect()
    met = table.transform(meeting.pairs_met).first()
    times.unpersist()
    assert met is not None

    def of(which: str) -> Times:
        row = summaries.get(which)
        return Times(
            known=row["known"] if row else 0,
            censored=row["censored"] if row else 0,
            mean_s=_seconds(row["mean_ms"]) if row else None,
            median_s=_seconds(row["median_ms"]) if row else None,
            survival=survival(
                (bin_["bin"], bin_["ended"], bin_["censored"]) for bin_ in bins if bin_["which"] == which
            ),
        )

    return Contacts(
        pairs=nodes * (nodes - 1) // 2,
        pairs_met=met["pairs_met"],
        contact=of("contact"),
        inter_contact=of("inter_contact"),
    )


def _filtering(filter_decisions: DataFrame) -> Filtering:
    row = filter_decisions.transform(filter_savings).first()
    assert row is not None
    return Filtering(**row.asDict())


def _truth(run: Run, outcomes: DataFrame, released: int) -> GroundTruth:
    revisions = subscription_revisions(run.table("subscriptions"))
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


def _fairness(pairs: DataFrame) -> Fairness:
    row = pairs.transform(arriving.delivery_ratio, "subscriber").transform(arriving.fairness).first()
    assert row is not None
    return Fairness(**row.asDict())


def _pieces(contacts: DataFrame, nodes: int, end_ms: int) -> Pieces:
    every_ms = _bin_ms(end_ms)
    rows = contacts.transform(pieces_over_time(nodes, every_ms, end_ms)).collect()
    rows.sort(key=lambda row: int(row["sample"]))
    return Pieces(
        every_ms / 1000, tuple(row["pieces"] for row in rows), tuple(row["largest"] for row in rows)
    )


def _holding(buffers: DataFrame, end_ms: int) -> Holding:
    bin_ms = _bin_ms(end_ms)
    changes = {row["bin"]: row for row in buffers.transform(held_over_time, bin_ms).collect()}
    copies, sizes = [0], [0]
    for bin_ in range(-(-end_ms // bin_ms)):
        row = changes.get(bin_)
        copies.append(copies[-1] if row is None else row["notifications"])
        sizes.append(sizes[-1] if row is None else row["notification_bytes"])
    return Holding(bin_ms / 1000, tuple(copies[1:]), tuple(sizes[1:]))


def _bin_ms(end_ms: int) -> int:
    return max(1, -(-end_ms // TIMELINE_BINS))


def _timeline(pairs: DataFrame, end_ms: int) -> Timeline:
    bin_ms = _bin_ms(end_ms)
    rows = pairs.transform(arriving.over_time, bin_ms).collect()
    bins = max(-(-end_ms // bin_ms), 1 + max((row["bin"] for row in rows), default=0))
    became_owed, arrived = [0] * bins, [0] * bins
    for row in rows:
        became_owed[row["bin"]], arrived[row["bin"]] = row["owed"], row["delivered"]
    return Timeline(bin_ms / 1000, tuple(became_owed), tuple(arrived))


def _tracks(run: Run, nodes: dict[int, Row], end_ms: int) -> tuple[Track, ...]:
    """Return the paths of all nodes, or of every k-th one where all would be too many to draw."""
    every = -(-run.rows("motion") // MOST_LEGS) or 1
    shown = sorted(nodes)[::every]
    walked = run.table("motion").where(F.col("node").isin(shown) & (F.col("begin_ms") < end_ms))
    legs = walked.orderBy("node", "begin_ms").collect()
    points: dict[int, list[tuple[float, float]]] = {}
    for leg in legs:
        path = points.setdefault(leg["node"], [(leg["x0_m"], leg["y0_m"])])
        if (leg["x1_m"], leg["y1_m"]) != path[-1]:
            path.append((leg["x1_m"], leg["y1_m"]))
    return tuple(Track(_name(nodes, node), nodes[node]["role"], tuple(path)) for node, path in points.items())


def _name(nodes: dict[int, Row], node: int) -> str:
    return str(nodes[node]["name"]) if node in nodes else f"node {node}"


def _seconds(milliseconds: Any) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
