"""Outcomes of composites: each once, and together all that were expected."""

import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from dens.trace.recorded_run import recorded_run
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from plugins.composite.composites import CONFIRMED, MATCH, decode_composite
from plugins.composite.results import match_identity
from spark_analysis.devices import Devices
from spark_analysis.metrics.delivery import copies_at_end
from spark_analysis.questions.composites import (
    FATES,
    CompositeMessage,
    composites_of,
    fate,
    message_expiry,
    message_steps,
    messages_by_result,
    result_messages,
)
from spark_analysis.run import Run, open_run

ME, OTHER, END_MS = 7, 8, 10_000
OWED = (ME, b"what")


@pytest.mark.parametrize(
    ("messages", "is_carried", "is_released", "expected"),
    [
        ([CompositeMessage(9_000, True, False, True, frozenset({OTHER, ME}))], True, True, "delivered"),
        ([CompositeMessage(9_000, True, False, True, frozenset({OTHER})),
          CompositeMessage(11_000, True, True, False, frozenset())],
         True, True, "under_way"),
        ([CompositeMessage(9_000, True, False, True, frozenset()),
          CompositeMessage(9_000, True, False, False, frozenset())],
         True, True, "too_late"),
        ([CompositeMessage(11_000, True, False, False, frozenset()),
          CompositeMessage(11_000, False, False, False, frozenset())],
         True, True, "dropped"),
        ([], True, True, "never_met"),
        ([], False, True, "not_carried"),
        ([CompositeMessage(11_000, False, False, False, frozenset())], False, False, "not_carried"),
        ([], False, False, "not_released"),
    ],
)  # fmt: skip
def test_every_fate(
    messages: list[CompositeMessage], is_carried: bool, is_released: bool, expected: str
) -> None:
    found = fate(OWED, {b"what": messages}, lambda _: is_carried, lambda _: is_released, END_MS)
    assert found == expected
    assert found in FATES


@pytest.mark.spark
def test_composites_in_devices_that_are_down_and_refused_ones(make_table: Callable[..., DataFrame]) -> None:
    """Node 4 composes and is down when the composite expires; node 9 is a source and composes, too."""

    def step(kind: str, origin: int, number: int, node: int) -> dict[str, object]:
        named = {"origin": origin, "number": number, "node": node, "language": 4}
        return {**named, "kind": kind, "type": "notification", "at_ms": 2_000}

    lives = {(4, 1): "too_late", (9, 1): "not_carried", (9, 2): "not_carried", (9, 3): "dropped"}
    messages = make_table(
        "messages",
        step("made", 4, 1, 4),
        *(step("created", 9, number, 9) for number in (1, 2, 3)),
        step("refused", 9, 1, 5),
        step("received", 9, 2, 5),
        step("refused", 9, 2, 5),
        step("delivered", 9, 3, OTHER),
    )
    results = make_table(
        "results",
        *({"origin": one, "number": number, "identity": bytes([one, number])} for one, number in lives),
    )
    composites = make_table(
        "composites",
        *(
            {"origin": one, "number": number, "language": 4, "event_ms": 1_000, "lifetime_ms": 2_000}
            for one, number in lives
        ),
    )
    copies = copies_at_end(messages, make_table("node_state"), Devices(9, {}))
    expiry = message_expiry(make_table("notifications"), composites, [4])
    steps = message_steps(messages, copies, [4])
    by_result = messages_by_result(result_messages(results, expiry, steps).collect())
    assert {
        key: fate((ME, bytes(key)), by_result, lambda _: True, lambda _: True, END_MS) for key in lives
    } == lives


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Run:
    """Ninety minutes of the place of triage, in which two mediators stop and start again."""
    folder = tmp_path_factory.mktemp("runs") / "triage"
    scenario = load_scenario("triage", ["duration_s=5400", "fault[0].at_s=3000"])
    run_scenario(scenario, 3, folder)
    return open_run(folder, spark)


@pytest.mark.slow
@pytest.mark.spark
def test_outcomes_add_up_to_expected_composites(run: Run) -> None:
    found = composites_of(run, run.revisions(), run.copies_at_end())
    assert found is not None
    assert sum(getattr(found, one) for one in FATES) == found.expected > 50
    assert found.delivered == len(delivered_matches(run.path)) > 10
    assert found.unexpected <= 10  # predictions that were open at the end
    assert found.messages >= found.delivered


@pytest.mark.slow
@pytest.mark.spark
def test_no_composites_are_expected_without_subscriptions(run: Run) -> None:
    plain = [one for one in run.revisions() if one.language == 1]
    assert composites_of(run, plain, run.copies_at_end()) is None
    later = [dataclasses.replace(one, created_ms=10**9, expires_ms=10**9) for one in run.revisions()]
    found = composites_of(run, later, run.copies_at_end())
    assert found is not None
    assert (found.expected, found.ratio) == (0, None)


def delivered_matches(folder: Path) -> Counter[tuple[int, bytes]]:
    """Return who saw which match how often, from vectors and deliveries alone."""
    recorded = recorded_run(folder)
    vectors = {
        (row["origin"], row["number"]): row["vector"]
        for table in ("composites", "notifications")
        for row in recorded.table(table).to_pylist()
        if row["language"] == 4
    }
    seen: Counter[tuple[int, bytes]] = Counter()
    for row in recorded.table("messages").to_pylist():
        if row["kind"] == "delivered" and row["language"] == 4:
            composite = decode_composite(vectors[row["origin"], row["number"]])
            if composite.kind in (MATCH, CONFIRMED):
                seen[row["node"], match_identity(composite)] += 1
    return seen
