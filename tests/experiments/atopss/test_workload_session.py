"""The workload session: a crisp and an approximate matcher, fed alike."""

from typing import Any

import pytest

from dens_experiments.atopss.session import WorkloadSession
from dens_experiments.session import Refused


def counted(told: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on a clock."""
    return {name: _without_times(value) if isinstance(value, dict) else value for name, value in told.items()}


def _without_times(values: dict[str, Any]) -> dict[str, Any]:
    return {what: value for what, value in values.items() if not what.endswith("_ms")}


def test_a_seed_and_changes_repeat_a_session() -> None:
    def lines() -> list[dict[str, Any]]:
        session = WorkloadSession(7)
        found = [counted(session.step()) for _ in range(3)]
        session.change({"half_width": 0.3, "unsubscribe": 20, "subscribe": 0.5})
        return [*found, *(counted(session.step()) for _ in range(4))]

    told = lines()
    assert told == lines()
    assert [one["subscriptions"] for one in told] == [50, 100, 150, 130, 111, 91, 72]
    assert told[0]["parameters"]["half_width"] == 0.05
    assert told[-1]["parameters"]["half_width"] == 0.3


def test_wider_publications_match_more_and_thresholds_less() -> None:
    def matched(**change: float) -> dict[str, int]:
        session = WorkloadSession(2)
        session.change({"subscribe": 400, "publish": 40, **change})
        told = session.step()
        return {name: told[name]["matched_subscriptions"] for name in ("crisp", "approximate")}

    plain, wide = matched(), matched(half_width=0.3)
    assert wide["crisp"] == plain["crisp"] < plain["approximate"] < wide["approximate"]
    strict = matched(necessity=1)
    assert strict["approximate"] < plain["approximate"]
    assert strict["crisp"] == plain["crisp"]
    exact = matched(half_width=0, possibility=0.5)
    assert abs(exact["approximate"] - exact["crisp"]) <= 0.1 * exact["crisp"] + 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ([], "a change is an object with some of: subscribe"),
        ({}, "a change is an object"),
        ({"speed": 1}, "unknown parameter 'speed'"),
        ({"half_width": 1.5}, "half_width is a number from 0 to 1"),
        ({"publish": True}, "publish is a number"),
        ({"publish": "9"}, "publish is a number from 0 to 100,000"),
        ({"publish": float("nan")}, "publish is a number"),
    ],
)
def test_what_cannot_be_turned_changes_nothing(change: Any, says: str) -> None:
    session = WorkloadSession(1)
    before = session.parameters
    with pytest.raises(Refused, match=says):
        session.change(change)
    assert session.parameters == before
