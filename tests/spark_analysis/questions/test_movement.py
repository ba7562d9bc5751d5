"""Where nodes met, on hand-made legs and against interpolation in plain Python."""

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame

from spark_analysis.questions.movement import meeting_places
from tests.spark_analysis.synthetic import Row, synthetic_run

MakeTable = Callable[..., DataFrame]


def leg(node: int, begin_ms: float, end_ms: float, *places: float) -> Row:
    names = ("x0_m", "y0_m", "x1_m", "y1_m")
    return {"node": node, "begin_ms": begin_ms, "end_ms": end_ms, **dict(zip(names, places, strict=True))}


def test_a_contact_is_in_the_middle_between_its_nodes(make_table: MakeTable) -> None:
    motion = make_table(
        "motion",
        leg(1, 0.0, 100.0, 0.0, 0.0, 100.0, 0.0),
        leg(1, 100.0, 200.0, 100.0, 0.0, 100.0, 50.0),
        leg(2, 0.0, 200.0, 20.0, 40.0, 20.0, 40.0),
    )
    contacts = make_table(
        "contacts",
        {"a": 1, "b": 2, "begin_ms": 40.0, "end_ms": 90.0},
        {"a": 1, "b": 2, "begin_ms": 100.0, "end_ms": 101.0},
        {"a": 1, "b": 3, "begin_ms": 100.0, "end_ms": 101.0},
    )
    rows = contacts.transform(meeting_places, motion).orderBy("begin_ms").collect()
    assert [(row["x_m"], row["y_m"], row["time_ms"]) for row in rows] == [
        (30.0, 20.0, 50.0),
        (60.0, 20.0, 1.0),
    ]


def test_places_agree_with_plain_interpolation(make_table: MakeTable) -> None:
    tables = synthetic_run(5).tables

    def at(node: int, at_ms: float) -> tuple[float, float]:
        for one in tables["motion"]:
            if one["node"] == node and one["begin_ms"] <= at_ms < one["end_ms"]:
                part = (at_ms - one["begin_ms"]) / (one["end_ms"] - one["begin_ms"])
                return (
                    one["x0_m"] * (1 - part) + one["x1_m"] * part,
                    one["y0_m"] * (1 - part) + one["y1_m"] * part,
                )
        raise AssertionError("a leg is missing")

    found = make_table("contacts", *tables["contacts"]).transform(
        meeting_places, make_table("motion", *tables["motion"])
    )
    rows = {(row["a"], row["b"], row["begin_ms"]): (row["x_m"], row["y_m"]) for row in found.collect()}
    assert len(rows) == len(tables["contacts"])
    for one in tables["contacts"]:
        (ax, ay), (bx, by) = at(one["a"], one["begin_ms"]), at(one["b"], one["begin_ms"])
        assert rows[one["a"], one["b"], one["begin_ms"]] == pytest.approx(((ax + bx) / 2, (ay + by) / 2))
