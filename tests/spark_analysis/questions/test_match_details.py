"""What matches say beyond their degree: counted once, and put into words by their language."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from knowledge_manager.mission_table import load_mission_table
from plugins import registry
from plugins.direct.language import subscription_to
from plugins.language import Match
from spark_analysis.answers import analyse
from spark_analysis.metrics.delivery import deliveries
from spark_analysis.questions.match_details import details, in_words
from spark_analysis.report.page import page
from spark_analysis.run import open_run
from tests.spark_analysis.metrics.test_truth import step

MakeTable = Callable[..., DataFrame]
WriteRun = Callable[..., Path]


def match(number: int, id: int, detail: bytes | None, node: int = 4) -> dict[str, Any]:
    return {
        "at_ms": 2_000, "node": node, "origin": 9, "number": number, "subscriber": 1, "id": id, "seq": 0,
        "degree_u8": 200, "cost_us": 0.0, "detail": detail,
    }  # fmt: skip


MATCHES = [
    match(1, 0, b"\x80"),
    match(1, 0, b"\x80", node=5),
    match(2, 0, b"\x80"),
    match(3, 0, b"\x81"),
    match(3, 1, None),
    match(4, 0, b""),
]


def test_each_match_counts_once_whoever_found_it(make_table: MakeTable) -> None:
    delivered = make_table("messages", step("delivered", 2, 1)).transform(deliveries)
    rows = make_table("matches", *MATCHES).transform(details, delivered).collect()
    found = {(row["id"], bytes(row["detail"])): (row["notifications"], row["delivered"]) for row in rows}
    assert found == {(0, b"\x80"): (2, 1), (0, b"\x81"): (1, 0)}


@pytest.fixture
def worded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with another language is installed."""
    entry = EntryPoint("worded", "tests.spark_analysis.worded_language:LANGUAGE", registry.ENTRY_POINT_GROUP)
    found = {registry.ENTRY_POINT_GROUP: [entry]}
    monkeypatch.setattr("dens.config.entry_points.entry_points", lambda group: found.get(group, []))
    registry._installed.cache_clear()
    yield
    monkeypatch.undo()
    registry._installed.cache_clear()


@pytest.mark.usefixtures("worded")
def test_a_language_puts_its_details_into_words() -> None:
    table = load_mission_table(["medical"])
    assert in_words(77, Match((1, 0), 200, b"\xff"), table) == "surely 100%, in medical words"
    assert in_words(77, Match((1, 0), 200, b"\xff\x01"), table) == "ff 01", "no detail of its own"
    assert in_words(78, Match((1, 0), 200, b"\xff\x01"), table) == "ff 01", "unknown here"
    assert in_words(0, Match((1, 0), 200, b"\x01"), table) == "01", "it has no words"
    assert in_words(None, Match((1, 0), 200, b"\x01"), table) == "01", "no language of that name"


def subscription(id: int) -> dict[str, Any]:
    return {
        "subscriber": 1, "id": id, "seq": 0, "language": 0, "created_ms": 0, "expires_ms": 9_000,
        "withdrawn_ms": None, "vector": subscription_to(1, id, 0, 100), "document": "subscription.xml",
    }  # fmt: skip


def test_the_report_shows_them_and_nothing_where_there_are_none(
    write_run: WriteRun, spark: SparkSession
) -> None:
    nodes = [{"node": 1, "name": "medics-1", "group": "medics", "role": "subscriber"}]
    tables = {"nodes": nodes, "subscriptions": [subscription(0), subscription(1)]}
    found = analyse(open_run(write_run({**tables, "matches": MATCHES}), spark))
    assert [(one.subscriber, one.id, one.words, one.notifications) for one in found.details] == [
        ("medics-1", 0, "80", 2),
        ("medics-1", 0, "81", 1),
    ]
    assert found.as_document()["details"][0]["detail"] == "80"
    assert "Details of matches" in page(found)
    silent = [match(1, 0, None), match(2, 1, None)]
    nothing = analyse(open_run(write_run({**tables, "matches": silent}, name="silent"), spark))
    assert nothing.details == ()
    assert "Details of matches" not in page(nothing)
