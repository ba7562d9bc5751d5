"""Every figure of a report, held to a second computation from the files of the run (`trace_oracle.py`)."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dens.trace.recorded_run import recorded_run
from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario
from spark_analysis.answers import Analysis, analyse
from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.members.overhead_ratio import overhead_ratio
from spark_analysis.catalogue.recorded import evidence_of
from spark_analysis.catalogue.registry import metrics
from spark_analysis.json_keys import to_document
from spark_analysis.pair_figures import DeliveryCounts
from spark_analysis.run import open_run
from spark_analysis.sweep.key_figures import key_figures
from tests.spark_analysis.hard_scenario import write_hard_scenario
from tests.spark_analysis.trace_oracle import PLAIN, READINGS, TraceOracle

SEED = 4


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunSummary]:
    folder = tmp_path_factory.mktemp("hard")
    scenario = load_scenario(str(write_hard_scenario(folder)))
    return folder / "run", run_scenario(scenario, SEED, folder / "run")


@pytest.fixture(scope="module")
def oracle(summary: tuple[Path, RunSummary]) -> TraceOracle:
    return TraceOracle(summary[0])


@pytest.fixture(scope="module")
def found(summary: tuple[Path, RunSummary], spark: SparkSession) -> Analysis:
    return analyse(open_run(summary[0], spark))


def plain(served: DeliveryCounts) -> dict[str, Any]:
    document: dict[str, Any] = to_document(served)
    return document


def test_the_run_has_everything_that_could_be_counted_wrongly(oracle: TraceOracle) -> None:
    assert min(oracle.served(oracle.expected).values()) > 0
    truth = oracle.truth()
    assert min(truth[name] for name in ("delivered", "under_way", "withdrawn", "too_late", "dropped")) > 0
    radio = oracle.radio()
    assert radio["delivered"] + radio["composite_deliveries"] > radio["delivered_between_devices"]
    assert radio["frames"] > radio["transmissions"]
    assert min(radio["duplicates"], radio["composite_deliveries"]) > 0
    assert len(oracle.devices) < len(oracle.nodes)
    assert {PLAIN, READINGS} <= set(oracle.expected["language"])
    assert min(oracle.installs()) > 0
    assert not all(is_recorded for _, _, is_recorded in oracle.expired_copies), "down when it expired"
    assert oracle.refused(framed=True), "sent alone"
    assert oracle.refused(framed=False), "in a batch or inside a device"
    inside = {node for node, device in oracle.device.items() if node != device}
    assert {origin in inside for origin, _ in oracle.refused(framed=False)} == {True, False}
    assert truth["never_carried"] > 0


def test_every_metric(found: Analysis, oracle: TraceOracle) -> None:
    expected = oracle.metrics()
    assert expected.keys() == {metric.name for metric in metrics()}
    for name, value in expected.items():
        assert found.metrics[name].value == (None if value is None else pytest.approx(value)), name
    assert found.metrics["overhead_ratio"].value is not None
    assert found.metrics["overhead_ratio"].value >= 0


def test_without_spark_it_is_the_same(summary: tuple[Path, RunSummary], found: Analysis) -> None:
    assert key_figures(summary[0]) == {name: one.value for name, one in found.metrics.items()}


def test_deliveries(found: Analysis, oracle: TraceOracle) -> None:
    delivery = found.delivery
    assert plain(delivery.total) == pytest.approx(oracle.served(oracle.expected))
    assert {one.group: plain(one.served) for one in delivery.by_group} == oracle.by("group")
    assert {one.language: plain(one.served) for one in delivery.by_language} == oracle.by("language")
    names = {node: row.name for node, row in oracle.nodes.items()}
    assert {(one.subscriber, one.id, one.seq): plain(one.served) for one in delivery.by_subscription} == {
        (names[subscriber], id_, seq): served
        for (subscriber, id_, seq), served in oracle.by_subscription().items()
    }
    assert found.fairness.jain == pytest.approx(oracle.jain("subscriber"))
    assert found.fairness_of_groups.jain == pytest.approx(oracle.jain("group"))
    owed, delivered = oracle.timeline()
    assert (list(found.timeline.expected), list(found.timeline.delivered)) == (owed, delivered)


def test_delays(found: Analysis, oracle: TraceOracle) -> None:
    delay, served = found.delay, oracle.served(oracle.expected)
    for name in ("delivered", "missed", "open", "lost", "withdrawn"):
        assert getattr(delay, name) == served[name]
    assert delay.within_s[25] == oracle.within(0.25)
    assert delay.median_s == oracle.within(0.5)
    assert (delay.p50_s, delay.p90_s, delay.p99_s) == (oracle.rank(50), oracle.rank(90), oracle.rank(99))
    assert delay.max_s == oracle.delays[-1] / 1000
    assert {one.hops: (one.delivered, pytest.approx(one.mean_s)) for one in delay.by_hops} == oracle.by_hops()


def test_radio(found: Analysis, oracle: TraceOracle, summary: tuple[Path, RunSummary]) -> None:
    expected = oracle.radio()
    by_type = expected.pop("by_type")
    for name, value in expected.items():
        assert getattr(found.overhead, name) == value, name
    assert {one.type: (one.sent, one.sent_bytes) for one in found.overhead.by_type} == by_type
    told = summary[1]
    assert told.frames_sent == expected["frames"]
    assert (told.delivered, told.composites_delivered) == (
        expected["delivered"],
        expected["composite_deliveries"],
    )
    assert told.delivered == found.delivery.total.delivered, "delivered has one meaning"


def test_truth_and_composites(found: Analysis, oracle: TraceOracle) -> None:
    expected = oracle.truth()
    assert {name: getattr(found.truth, name) for name in expected} == expected
    assert found.truth.precision == pytest.approx(
        expected["delivered"] / (expected["delivered"] + expected["unwanted"])
    )
    composites = found.composites
    assert composites is not None
    assert composites.delivered + composites.unexpected == len(oracle.composites_shown())


def test_contacts_and_pieces(found: Analysis, oracle: TraceOracle) -> None:
    expected, contacts = oracle.contact_times(), found.contacts
    assert (contacts.pairs, contacts.pairs_met) == (expected["pairs"], expected["pairs_met"])
    assert (contacts.contact.known, contacts.contact.censored) == expected["contact"]
    assert (contacts.inter_contact.known, contacts.inter_contact.censored) == expected["inter_contact"]
    pieces, largest, reachable = oracle.pieces()
    assert list(found.pieces.pieces) == pieces
    assert list(found.pieces.largest) == largest
    assert list(found.pieces.reachable) == reachable
    assert found.pieces.pairs == len(oracle.devices) * (len(oracle.devices) - 1)
    assert found.run.devices == len(oracle.devices)


def test_what_devices_hold_and_use(found: Analysis, oracle: TraceOracle) -> None:
    assert list(found.holding.degree) == pytest.approx(oracle.degree())
    assert (list(found.holding.copies), list(found.holding.bytes)) == oracle.copies()
    for load in found.loads:
        expected = oracle.loads()[load.group]
        assert {name: getattr(load, name) for name in expected} == pytest.approx(expected), load.group
    energy, used = found.energy, oracle.energy()
    assert energy is not None
    assert used.pop("radio_from_frames_j") == pytest.approx(used["radio_j"]), "every byte on the air costs"
    assert {name: getattr(energy, name) for name in used} == pytest.approx(used)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("brokers", ["duration_s=300"]),
        ("dense", ["duration_s=2400"]),
        ("neman", ["duration_s=1200"]),
        ("one_a", ["duration_s=1200"]),
        ("one_a", ["duration_s=1200", 'overlay.policy="direct"']),
        ("one_b", ["duration_s=600"]),
        ("one_c", ["duration_s=200"]),
        ("reports", ["duration_s=600"]),
        ("rescue", ["duration_s=9000"]),
        ("triage", ["duration_s=3600"]),
        ("two_islands", ["duration_s=9000"]),
        ("valley", ["duration_s=2400"]),
        ("weather_poles", ["duration_s=5400"]),
    ],
)
def test_overhead_of_what_ships_counts_items(name: str, changes: list[str], tmp_path: Path) -> None:
    """In whatever frames notifications travel, a transfer is one of them at one more device."""
    run_scenario(load_scenario(name, changes), 1, tmp_path / "run")
    oracle, use = TraceOracle(tmp_path / "run"), evidence_of(recorded_run(tmp_path / "run")).radio
    assert use is not None
    assert use.relayed == oracle.transfers() > 0
    far = sum(oracle.device[row.origin] != oracle.device[row.node] for row in oracle.shown.itertuples())
    assert use.delivered_between_devices == far
    ratio = overhead_ratio(Evidence(radio=use))
    assert ratio == (pytest.approx((use.relayed - far) / far) if far else None)
    assert ratio is None or ratio >= 0
    if "direct" in str(changes):
        assert ratio == 0, "every transfer is a delivery"
