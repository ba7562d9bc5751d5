"""A whole made-up run: every figure of the analysis against plain Python."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from dens.app.runs.contacts import contact_document
from dens.cli.runs.tables import summary_table
from emulation.contacts.contact import Contacts
from emulation.contacts.statistics import contact_statistics
from spark_analysis.answers import DIRECT, Analysis, analyse, settings
from spark_analysis.errors import AnalysisError
from spark_analysis.question import TIMELINE_BINS
from spark_analysis.questions.radio import GivenUp
from spark_analysis.report.page import page
from spark_analysis.run import Run, open_run
from tests.spark_analysis import oracle
from tests.spark_analysis.conftest import write_tables
from tests.spark_analysis.session.test_cluster import alike
from tests.spark_analysis.synthetic import END_MS, Row, SyntheticRun, synthetic_run

WriteRun = Callable[..., Path]

PARTITIONS = "spark.sql.shuffle.partitions"
FACTORY = "spark.sql.codegen.factoryMode"


@pytest.fixture(scope="module")
def synthetic() -> SyntheticRun:
    return synthetic_run(seed=11)


@pytest.fixture(scope="module")
def run(synthetic: SyntheticRun, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = write_tables(tmp_path_factory.mktemp("synthetic") / "run", synthetic.tables, rows_per_part=100)
    return open_run(folder, spark)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def test_facts(analysis: Analysis, synthetic: SyntheticRun) -> None:
    assert analysis.run.end_s == END_MS / 1000
    assert analysis.run.nodes_by_role == {"mediator": 2, "publisher": 4, "subscriber": 3}
    assert analysis.run.subscriptions == len(synthetic.wishes)
    assert analysis.run.notifications == len(synthetic.told)


def test_delivery(analysis: Analysis, synthetic: SyntheticRun) -> None:
    pairs = oracle.pending_pairs(synthetic)
    total = analysis.delivery.total
    assert (total.expected, total.delivered, total.missed, total.open) == oracle.served(synthetic, pairs)
    assert 0 < total.delivered < total.expected
    assert total.ratio == total.delivered / total.expected
    medics = {pair for pair in pairs if pair[2] < 2}
    groups = {group.group: group.served for group in analysis.delivery.by_group}
    assert list(groups) == ["drivers", "medics"]
    assert groups["medics"].expected == len(medics)
    assert groups["drivers"].expected == len(pairs) - len(medics)
    assert analysis.delivery.repeated == 0
    assert analysis.delivery.unexpected == len(set(oracle.delivered_at(synthetic)) - pairs)


def test_every_subscription(analysis: Analysis, synthetic: SyntheticRun) -> None:
    owed, arrived = oracle.owed_rows(synthetic), oracle.delivered_at(synthetic)
    expected = {
        (wish.subscriber, wish.id, wish.seq): [
            row[:3] for row in owed if row[2:] == (wish.subscriber, wish.id, wish.seq)
        ]
        for wish in synthetic.wishes
    }
    assert len(analysis.delivery.by_subscription) == len(expected)
    for one in analysis.delivery.by_subscription:
        pairs = expected[int(one.subscriber.split("-")[1]), one.id, one.seq]
        assert one.document == f"subscription-{one.id}.xml"
        assert one.served.expected == len(pairs)
        assert one.served.delivered == sum(pair in arrived for pair in pairs)


def test_delay(analysis: Analysis, synthetic: SyntheticRun) -> None:
    delays = oracle.delays(synthetic)
    found = analysis.delay
    assert found.delivered == len(delays)
    assert (found.missed, found.open) == oracle.served(synthetic, oracle.pending_pairs(synthetic))[2:]
    assert found.mean_s == pytest.approx(sum(delays) / len(delays) / 1000)
    assert found.max_s == delays[-1] / 1000
    assert found.p50_s == oracle.nearest_rank(delays, 50) / 1000
    assert found.p90_s == oracle.nearest_rank(delays, 90) / 1000
    assert found.p95_s == oracle.nearest_rank(delays, 95) / 1000
    assert found.p99_s == oracle.nearest_rank(delays, 99) / 1000
    assert found.quantiles_s == tuple(oracle.nearest_rank(delays, i) / 1000 for i in range(101))


def test_delay_by_hops(analysis: Analysis, synthetic: SyntheticRun) -> None:
    delays = oracle.delays(synthetic)
    assert [(one.hops, one.delivered) for one in analysis.delay.by_hops] == [(2, len(delays))]
    assert analysis.delay.by_hops[0].mean_s == pytest.approx(sum(delays) / len(delays) / 1000)


def test_a_session_is_left_as_it_was_whatever_happens(spark: SparkSession) -> None:
    before = spark.conf.get(FACTORY)
    with suppress(ZeroDivisionError), settings(spark, {FACTORY: "CODEGEN_ONLY"}):
        assert spark.conf.get(FACTORY) == "CODEGEN_ONLY"
        raise ZeroDivisionError
    assert spark.conf.get(FACTORY) == before


def test_delays_for_a_notebook(run: Run, synthetic: SyntheticRun) -> None:
    rows = run.delays().select("origin", "number", "subscriber", "delay_ms").collect()
    assert {tuple(row)[:3] for row in rows} == oracle.pending_pairs(synthetic)
    assert sorted(row["delay_ms"] for row in rows if row["delay_ms"] is not None) == oracle.delays(synthetic)


def test_overhead(analysis: Analysis, synthetic: SyntheticRun) -> None:
    messages = synthetic.tables["messages"]
    relayed = sum(row["kind"] in ("replicated", "delivered") for row in messages)
    delivered = sum(row["kind"] == "delivered" for row in messages)
    sent = [row["bytes"] for row in messages if row["kind"] == "sent"]
    assert analysis.overhead.relayed == relayed
    assert analysis.metrics["overhead_ratio"].value == pytest.approx((relayed - delivered) / delivered)
    assert analysis.metrics["bytes_per_delivery"].value == pytest.approx(sum(sent) / delivered)
    assert [(one.type, one.sent, one.sent_bytes) for one in analysis.overhead.by_type] == [
        ("notification", len(sent), sum(sent))
    ]
    lost, dropped = (sum(row["kind"] == kind for row in messages) for kind in ("lost", "dropped"))
    assert set(analysis.overhead.given_up) == {
        GivenUp("lost", "notification", "radio", lost),
        GivenUp("dropped", "notification", "oldest", dropped),
    }
    assert analysis.overhead.by_type[0].lost == lost


def test_contacts(analysis: Analysis, synthetic: SyntheticRun) -> None:
    contacts = synthetic.tables["contacts"]
    times = [(row["end_ms"] - row["begin_ms"], row["censored"] or row["begin_ms"] == 0) for row in contacts]
    assert analysis.contacts.pairs == 36
    assert analysis.contacts.pairs_met == len({(row["a"], row["b"]) for row in contacts})
    for found, expected in (
        (analysis.contacts.contact, times),
        (analysis.contacts.inter_contact, oracle.gaps(contacts)),
    ):
        known = sorted(time for time, censored in expected if not censored)
        assert found.known == len(known)
        assert found.censored == len(expected) - len(known)
        assert found.mean_s == pytest.approx(sum(known) / len(known) / 1000)
        median_s = next((t / 1000 for t in known if oracle.survival_at(expected, t) <= 0.5 + 1e-12), None)
        assert found.median_s == (None if median_s is None else pytest.approx(median_s))
        assert found.watched_s == pytest.approx(max(time for time, _ in expected) / 1000)
        shares = [share for _, share in found.survival]
        assert shares == sorted(shares, reverse=True)
        for seconds, share in found.survival:
            assert share == pytest.approx(oracle.survival_at(expected, seconds * 1000 * (1 + 1e-9)))


def test_dens_contacts_says_the_same_as_the_report(analysis: Analysis, synthetic: SyntheticRun) -> None:
    rows = synthetic.tables["contacts"]
    names = ("a", "b", "begin_ms", "end_ms", "censored")
    columns = {name: np.array([row[name] for row in rows]) for name in names}
    document = contact_document(contact_statistics(Contacts(**columns), END_MS))
    for name in ("contact", "inter_contact"):
        reported = getattr(analysis.contacts, name)
        assert document[f"{name}_censored"] == reported.censored > 0
        assert document[f"{name}_known"] == reported.known
        assert document[f"{name}_median_s"] == reported.median_s
        assert document[f"{name}_watched_s"] == reported.watched_s
        assert document[f"{name}_mean_s"] == pytest.approx(reported.mean_s)


def test_filtering(analysis: Analysis, synthetic: SyntheticRun) -> None:
    decisions = synthetic.tables["filter_decisions"]
    kept = [row for row in decisions if row["released"] == 0]
    assert analysis.filtering.judged == len(decisions)
    assert analysis.filtering.kept == len(kept)
    assert analysis.filtering.notifications == sum(row["released"] for row in decisions)
    assert analysis.filtering.unasked == sum(row["installed"] == 0 for row in kept)
    assert analysis.filtering.vector_bytes_kept == sum(8 + len(row["values"]) for row in kept)
    assert analysis.filtering.mean_cost_us == pytest.approx(124.5)


def test_timeline(analysis: Analysis, synthetic: SyntheticRun) -> None:
    assert len(analysis.timeline.expected) == TIMELINE_BINS
    assert sum(analysis.timeline.expected) == analysis.delivery.total.expected
    assert sum(analysis.timeline.delivered) == analysis.delivery.total.delivered
    events = {(told.origin, told.number): told.at_ms for told in synthetic.told}
    in_tenth = sum(
        int(events[pair[:2]] / (END_MS / TIMELINE_BINS)) == 10 for pair in oracle.pending_pairs(synthetic)
    )
    assert analysis.timeline.expected[10] == in_tenth


def test_tracks(analysis: Analysis, synthetic: SyntheticRun) -> None:
    assert [track.node for track in analysis.tracks] == [row["name"] for row in synthetic.tables["nodes"]]
    first = sorted(
        (row for row in synthetic.tables["motion"] if row["node"] == 0),
        key=lambda row: float(row["begin_ms"]),
    )
    assert analysis.tracks[0].points == (
        (first[0]["x0_m"], first[0]["y0_m"]),
        *((row["x1_m"], row["y1_m"]) for row in first),
    )


def test_the_document_is_json_without_tracks(analysis: Analysis) -> None:
    document = json.loads(json.dumps(analysis.as_document(), allow_nan=False))
    assert not {"tracks", "meetings"} & set(document)
    assert document["delivery"]["total"]["ratio"] == analysis.delivery.total.ratio
    assert document["delivery"]["by_group"][0]["group"] == "drivers"


def test_a_run_in_which_nothing_happened(write_run: WriteRun, spark: SparkSession) -> None:
    nodes = [{"node": 0, "name": "alone-0", "group": "alone", "role": "subscriber"}]
    still = analyse(open_run(write_run({"nodes": nodes}), spark))
    assert still.delivery.total.expected == 0
    assert still.delivery.total.ratio is None
    assert still.delay.p50_s is None
    assert still.metrics["overhead_ratio"].value is None
    assert still.contacts.contact.survival == ()
    assert still.filtering.share_kept is None
    assert still.tracks == ()


def test_a_run_that_was_stopped_is_reported_as_partial(write_run: WriteRun, spark: SparkSession) -> None:
    nodes = [{"node": 0, "name": "alone-0", "group": "alone", "role": "subscriber"}]
    facts = {"status": "running", "simulated_ms": 300_000}
    stopped = analyse(open_run(write_run({"nodes": nodes}, facts), spark))
    assert stopped.run.partial
    assert stopped.run.end_s == 300
    assert "This run is partial: it stopped after 5" in page(stopped)
    assert "partial run" in str(summary_table(stopped).title)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"vector": b"\x00\x01"}, "data that its language rejects.*VectorError"),
        ({"language": 200}, "a subscription uses language 200, which no installed package provides"),
    ],
)
def test_a_vector_that_no_language_understands_is_named(
    write_run: WriteRun, spark: SparkSession, synthetic: SyntheticRun, change: Row, reason: str
) -> None:
    tables = {name: synthetic.tables[name] for name in ("nodes", "subscriptions", "notifications")}
    tables["subscriptions"] = [{**tables["subscriptions"][0], **change}]
    with pytest.raises(AnalysisError, match=reason):
        analyse(open_run(write_run(tables), spark))


def test_ground_truth(analysis: Analysis, synthetic: SyntheticRun) -> None:
    """The made-up readings are all zero, and the made-up notifications have other values."""
    found = analysis.truth
    wanted = {
        (row["node"], row["event_number"], row["at_ms"], wish.subscriber): row
        for row in synthetic.tables["filter_decisions"]
        for wish in synthetic.wishes
        if all(row["attributes"][0] >> a & 1 and low == 0 for a, (low, _) in wish.intervals.items())
        and oracle.in_force(wish, row["at_ms"])
    }
    assert found.wanted == len(wanted)
    assert found.delivered == 0
    assert found.not_asked == sum(
        row["installed"] == 0 and row["suppressed"] is None for row in wanted.values()
    )
    assert found.unwanted == len(oracle.delivered_at(synthetic))


def test_large_run_gives_the_same_answers(
    run: Run, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a million rows queries are compiled and replanned as they go, which must not change answers."""
    monkeypatch.setattr("spark_analysis.run.SMALL_RUN_ROWS", 0)
    monkeypatch.setattr("spark_analysis.run.SMALL_TABLE_ROWS", 0)
    assert not run.small
    compiled = dict.fromkeys(DIRECT, "true") | {FACTORY: "FALLBACK", PARTITIONS: "4"}
    with settings(run.spark, compiled):
        large = analyse(run)
    assert alike(large.as_document(), analysis.as_document())


def test_pieces_and_holding_have_a_value_for_every_bin(analysis: Analysis, synthetic: SyntheticRun) -> None:
    assert len(analysis.pieces.pieces) == len(analysis.holding.copies) == TIMELINE_BINS
    begun = sum(row["begin_ms"] <= 0 for row in synthetic.tables["contacts"])
    assert 9 - begun <= analysis.pieces.pieces[0] < 9
    assert analysis.holding.copies[0] == 5
    assert analysis.holding.copies[59:61] == (5, 7)
    assert analysis.holding.copies[-1] == 7
    assert analysis.holding.bytes[-1] == 210


def test_languages_groups_and_loads(analysis: Analysis, synthetic: SyntheticRun) -> None:
    assert [one.language for one in analysis.delivery.by_language] == [1]
    assert analysis.delivery.by_language[0].served == analysis.delivery.total
    ratios = [group.served.ratio or 0 for group in analysis.delivery.by_group]
    assert analysis.fairness_of_groups.jain == pytest.approx(
        sum(ratios) ** 2 / (2 * sum(r**2 for r in ratios))
    )
    loads = {load.group: load for load in analysis.loads}
    assert list(loads) == ["drivers", "medics", "patients", "relays"]
    decisions = synthetic.tables["filter_decisions"]
    assert loads["patients"].filter_s == pytest.approx(sum(row["cost_us"] for row in decisions) / 1e6)
    assert loads["patients"].nodes == 4
    assert loads["medics"].filter_us_per_reading is None
    *work, late = synthetic.tables["matching_work"]
    assert loads["relays"].matching.notifications == len(work)
    assert loads["relays"].matching.late_us == late["cost_us"]
    assert loads["relays"].matching.memberships == sum(row["memberships"] for row in work)
    assert loads["medics"].matching.notifications == 0
    assert (loads["relays"].peak_items, loads["relays"].peak_bytes) == (5, 150)


def test_what_time_has_joined_and_where_nodes_met(analysis: Analysis, synthetic: SyntheticRun) -> None:
    contacts = synthetic.tables["contacts"]
    assert analysis.pieces.pairs == 72
    assert len(analysis.pieces.reachable) == TIMELINE_BINS
    assert list(analysis.pieces.reachable) == sorted(analysis.pieces.reachable)
    assert 2 * len({(row["a"], row["b"]) for row in contacts}) <= analysis.pieces.reachable[-1] <= 72
    assert len(analysis.meetings) == len(contacts)


def test_how_far_notifications_spread(analysis: Analysis, synthetic: SyntheticRun) -> None:
    """Node 4 is the only one that gets a copy from another."""
    copies = sum(row["kind"] == "replicated" for row in synthetic.tables["messages"])
    assert analysis.holding.degree[-1] == pytest.approx(1 + copies / len(synthetic.told))
    assert len(analysis.holding.degree) == TIMELINE_BINS


def test_fairness(analysis: Analysis, synthetic: SyntheticRun) -> None:
    pairs, arrived = oracle.pending_pairs(synthetic), oracle.delivered_at(synthetic)
    ratios = []
    for subscriber in {pair[2] for pair in pairs}:
        own = [pair for pair in pairs if pair[2] == subscriber]
        ratios.append(sum(pair in arrived for pair in own) / len(own))
    assert analysis.fairness.least == min(ratios)
    assert analysis.fairness.largest == max(ratios)
    assert analysis.fairness.jain == pytest.approx(
        sum(ratios) ** 2 / (len(ratios) * sum(ratio**2 for ratio in ratios))
    )
