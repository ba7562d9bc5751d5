"""Source-filter savings on readings that can be added up by hand."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame

from spark_analysis.metrics.filtering import filter_savings, with_rate

MakeTable = Callable[..., DataFrame]


def decision(values: bytes, installed: int, released: int, **more: Any) -> dict[str, Any]:
    return {"attributes": b"\x07", "values": values, "installed": installed, "released": released, **more}


def test_readings_and_the_bytes_that_never_used_the_radio(make_table: MakeTable) -> None:
    decisions = make_table(
        "filter_decisions",
        decision(b"abc", installed=2, released=1, cost_us=10.0),
        decision(b"abc", installed=2, released=2, cost_us=30.0),
        decision(b"abc", installed=2, released=0, cost_us=20.0),
        decision(b"a", installed=0, released=0),
        decision(b"ab", installed=1, released=0, suppressed="hysteresis"),
    )
    nodes = make_table("nodes", {"node": 0, "group": "patients"})
    row = (
        decisions.transform(with_rate, nodes, {"patients": 10.0, "others": 5.0})
        .transform(filter_savings)
        .first()
    )
    assert row is not None
    assert row.asDict() == {
        "judged": 5,
        "released": 2,
        "kept": 3,
        "unasked": 1,
        "suppressed": 1,
        "notifications": 3,
        "vector_bytes_judged": 3 * 11 + 9 + 10,  # 11 bytes for three attributes, as SPEC's example
        "vector_bytes_kept": 11 + 9 + 10,
        "radio_s_kept": pytest.approx(3.0),
        "mean_cost_us": pytest.approx(12.0),
        "share_kept": 0.6,
    }


def test_no_readings_at_all(make_table: MakeTable) -> None:
    nodes = make_table("nodes", {"node": 0, "group": "patients"})
    row = make_table("filter_decisions").transform(with_rate, nodes, {}).transform(filter_savings).first()
    assert row is not None
    assert row["radio_s_kept"] is None
    assert (row["judged"], row["kept"], row["vector_bytes_kept"], row["share_kept"]) == (0, 0, 0, None)
