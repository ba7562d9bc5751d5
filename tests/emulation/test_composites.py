"""Composites in a moving world: mediators that stop and start again change nothing of what is shown."""

from collections import Counter
from pathlib import Path

import pytest

from dens.trace.recorded_run import recorded_run
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from plugins.composite.composites import CONFIRMED, MATCH, PREDICTED, Composite, decode_composite
from plugins.composite.results import match_identity, results_of

KILLED = 'fault=[{kind="crash", who=["bearers"], every_s=300, for_s=0.001}]'
"""Every five minutes some bearer is killed, and begins again with what it had committed."""


def shown(folder: Path, *changes: str) -> list[tuple[int, Composite, bytes]]:
    """Return who was shown which composites in ninety minutes of the place of triage, in order."""
    run_scenario(load_scenario("triage", ["duration_s=5400", *changes]), 1, folder)
    recorded = recorded_run(folder)
    vectors = {
        (row["origin"], row["number"]): row["vector"]
        for table in ("composites", "notifications")
        for row in recorded.table(table).to_pylist()
        if row["language"] == 4
    }
    return [
        (row["node"], decode_composite(vector), vector)
        for row in recorded.table("messages").to_pylist()
        if row["kind"] == "delivered" and row["language"] == 4
        for vector in [vectors[row["origin"], row["number"]]]
    ]


def identities(seen: list[tuple[int, Composite, bytes]]) -> set[tuple[int, bytes]]:
    """Return who was shown which match."""
    return {(node, match_identity(said)) for node, said, _ in seen if said.kind in (MATCH, CONFIRMED)}


@pytest.mark.slow
def test_killed_and_restarted_mediators_change_no_identity_that_is_shown(tmp_path: Path) -> None:
    whole, killed = shown(tmp_path / "whole", "fault=[]"), shown(tmp_path / "killed", KILLED)
    stopped = recorded_run(tmp_path / "killed").table("node_state").to_pylist()
    assert sum(row["state"] == "down" for row in stopped) > 10
    assert identities(whole) == identities(killed) != set()
    for seen in (whole, killed):
        assert set(Counter(matches_in(seen)).values()) == {1}


def matches_in(seen: list[tuple[int, Composite, bytes]]) -> list[tuple[int, bytes]]:
    return [(node, match_identity(said)) for node, said, _ in seen if said.kind == MATCH]


@pytest.mark.slow
def test_predictions_are_shown_once_and_before_their_outcomes(tmp_path: Path) -> None:
    """Live counts open predictions late, and most are overtaken on their way: it takes the whole scenario."""
    seen = shown(tmp_path / "run", "duration_s=14400", KILLED)
    stages: dict[tuple[int, bytes], int] = {}
    for node, said, vector in seen:
        for result in results_of(vector):
            if said.kind == PREDICTED:
                assert (node, result.identity) not in stages
                stages[node, result.identity] = 0
            elif said.kind > CONFIRMED or result.rank:
                is_first = stages.get((node, result.identity)) == 0
                assert is_first or said.kind == CONFIRMED
                stages[node, result.identity] = 1
    assert 0 < len(stages) < len(seen)
    assert set(Counter(matches_in(seen)).values()) == {1}
