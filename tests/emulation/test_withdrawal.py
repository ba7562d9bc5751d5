"""Subscriptions that are taken back in the middle of a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.metrics.expected import SubscriptionRevision, subscription_revisions

WriteScenario = Callable[..., Path]
WITHDRAWN = ('file = "fever.xml"\n', 'file = "fever.xml"\nat_s = 60\nwithdrawn_at_s = 3000\n')
CRASH = (
    "[[sensor]]",
    '[[fault]]\nkind = "crash"\nwho = ["medics-1"]\nat_s = 2900\nfor_s = 200\n\n[[sensor]]',
)


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    parts = sorted((out / "trace" / table).glob("*.parquet"))
    return [row for part in parts for row in pq.read_table(part).to_pylist()]


def revisions(out: Path) -> tuple[SubscriptionRevision, ...]:
    return subscription_revisions(rows(out, "subscriptions"))


def test_what_is_taken_back_is_no_longer_wanted(write_scenario: WriteScenario, tmp_path: Path) -> None:
    run_scenario(load_scenario(write_scenario(WITHDRAWN)), 6, tmp_path / "run")
    first, second = revisions(tmp_path / "run")
    for one in (first, second):
        assert (one.created_ms, one.withdrawn_ms, one.document) == (60_000, 3_000_000, "fever.xml")
        assert one.in_force(2_999_999)
        assert not one.in_force(3_000_000)
    messages = rows(tmp_path / "run", "messages")
    taken_back = [row for row in messages if (row["kind"], row["type"]) == ("created", "unsubscribe")]
    assert [(row["at_ms"], row["node"]) for row in taken_back] == [(3_000_000, 0), (3_000_000, 1)]
    told = {(row["origin"], row["number"]): row["at_ms"] for row in rows(tmp_path / "run", "notifications")}
    delivered = [row for row in messages if row["kind"] == "delivered"]
    assert delivered
    assert all(told[row["origin"], row["number"]] < 3_000_000 for row in delivered)
    # Filters learn of it as the withdrawal gets to them, and publish no more.
    run_scenario(load_scenario(write_scenario()), 6, tmp_path / "kept")
    kept = [row["at_ms"] for row in rows(tmp_path / "kept", "notifications")]
    assert sum(at_ms > 3_000_000 for at_ms in told.values()) < sum(at_ms > 3_000_000 for at_ms in kept)


def test_a_device_that_is_down_takes_back_when_it_is_up(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    run_scenario(load_scenario(write_scenario(WITHDRAWN, CRASH)), 5, tmp_path / "run")
    ends = sorted(one.withdrawn_ms for one in revisions(tmp_path / "run") if one.withdrawn_ms is not None)
    assert ends == [3_000_000, 3_100_000]


def test_what_is_taken_back_after_the_end_is_a_mistake(write_scenario: WriteScenario) -> None:
    path = write_scenario(('file = "fever.xml"\n', 'file = "fever.xml"\nwithdrawn_at_s = 3600\n'))
    with pytest.raises(DocumentError, match="3600 s is not within the run of 3600 s"):
        load_scenario(path)


def test_withdrawal_before_subscription_is_refused(write_scenario: WriteScenario) -> None:
    path = write_scenario(('file = "fever.xml"\n', 'file = "fever.xml"\nat_s = 60\nwithdrawn_at_s = 60\n'))
    with pytest.raises(DocumentError, match="is not after 60 s, when it is subscribed"):
        load_scenario(path)
