"""Without faults nothing comes earlier than it can nor later than it must, judged from contacts alone."""

import heapq
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]
HAND_SHAKE_MS = 5_000.0
"""So much of the beginning of each contact may go by before anything is exchanged."""
TRANSFER_MS = 3_000.0
"""So long may one hop take."""


def arrivals(
    contacts: list[dict[str, float]], roles: dict[int, str], source: int, from_ms: float, *, slow: bool
) -> dict[int, float]:
    """Return when a message can (or, `slow`, must) be where, through mediators only."""
    queue, reached = [(from_ms, source)], dict[int, float]()
    while queue:
        at_ms, node = heapq.heappop(queue)
        if node in reached:
            continue
        reached[node] = at_ms
        if node != source and roles[node] != "mediator":
            continue
        for row in contacts:
            if node not in (row["a"], row["b"]):
                continue
            peer = int(row["b"] if node == row["a"] else row["a"])
            if node == source and roles[peer] != "mediator":
                continue
            if slow:
                there_ms = max(at_ms, row["begin_ms"] + HAND_SHAKE_MS) + TRANSFER_MS
                if there_ms <= row["end_ms"]:
                    heapq.heappush(queue, (there_ms, peer))
            elif at_ms <= row["end_ms"]:
                heapq.heappush(queue, (max(at_ms, row["begin_ms"]), peer))
    return reached


@pytest.mark.parametrize("seed", range(6))
def test_deliveries_lie_between_the_ideal_and_the_trimmed_path(
    write_scenario: WriteScenario, tmp_path: Path, seed: int
) -> None:
    scenario = load_scenario(write_scenario(("loss = 0.05", "loss = 0.0"), ("every_s = 30", "every_s = 60")))
    run_scenario(scenario, seed, tmp_path / "run")
    tables = {
        name: pq.read_table(tmp_path / "run" / "trace" / name).to_pylist()
        for name in ("nodes", "contacts", "notifications", "messages")
    }
    roles = {row["node"]: row["role"] for row in tables["nodes"]}
    delivered = {
        (row["node"], row["origin"], row["number"]): row["at_ms"]
        for row in tables["messages"]
        if row["kind"] == "delivered"
    }
    judged = 0
    for row in tables["notifications"]:
        over_ms = min(row["at_ms"] + row["lifetime_ms"], scenario.duration_ms)
        can = arrivals(tables["contacts"], roles, row["origin"], row["at_ms"], slow=False)
        must = arrivals(tables["contacts"], roles, row["origin"], row["at_ms"], slow=True)
        for subscriber in (node for node, role in roles.items() if role == "subscriber"):
            at_ms = delivered.pop((subscriber, row["origin"], row["number"]), None)
            if at_ms is not None:
                assert can[subscriber] <= at_ms < over_ms
            if must.get(subscriber, over_ms) < over_ms:
                assert at_ms is not None
                assert at_ms <= must[subscriber]
                judged += 1
    assert delivered == {}
    assert judged > 0
