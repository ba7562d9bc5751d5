"""Source-filter savings on readings that can be added up by hand."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from pyspark.sql import DataFrame

from spark_analysis.questions.filtering import filter_savings, filtering_from

MakeTable = Callable[..., DataFrame]

NODES = {0: {"group": "patients"}, 1: {"group": "patients"}, 2: {"group": "others"}}


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
    rows = decisions.transform(filter_savings, "node").collect()
    assert asdict(filtering_from(rows, NODES, {"patients": 10.0, "others": 5.0})) == {
        "judged": 5,
        "released": 2,
        "kept": 3,
        "unasked": 1,
        "suppressed": 1,
        "notifications": 3,
        "vector_bytes_judged": 3 * 11 + 9 + 10,  # 11 bytes: docs/reference/vector-format.md
        "vector_bytes_kept": 11 + 9 + 10,
        "radio_s_kept": pytest.approx(3.0),
        "mean_cost_us": pytest.approx(12.0),
        "share_kept": 0.6,
    }


def test_no_readings_at_all(make_table: MakeTable) -> None:
    rows = make_table("filter_decisions").transform(filter_savings, "node").collect()
    found = filtering_from(rows, NODES, {"patients": 10.0})
    assert found.radio_s_kept is None
    assert (found.judged, found.kept, found.vector_bytes_kept, found.share_kept) == (0, 0, 0, None)


def test_radios_of_several_nodes_and_one_whose_rate_is_not_known(make_table: MakeTable) -> None:
    decisions = make_table(
        "filter_decisions",
        *(decision(b"abc", installed=1, released=0, node=node, cost_us=2.0 * node) for node in (0, 1, 2, 7)),
    )
    rows = decisions.transform(filter_savings, "node").collect()
    found = filtering_from(rows, NODES, {"patients": 11.0, "others": 5.5})
    assert found.radio_s_kept == pytest.approx(1 + 1 + 2)  # node 7 has no group
    assert (found.judged, found.vector_bytes_kept, found.mean_cost_us) == (4, 44, 5.0)
    assert filtering_from(rows, NODES, {}).radio_s_kept is None
