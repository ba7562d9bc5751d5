"""Journal entries appear in the trace: the rows and columns that no run of the first language
fills."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dens.node.recording.recorder import Journal
from dens.overlay.events import (
    HoldingsEnded,
    MessageEvent,
    MessageExpired,
    MessageStored,
    NotificationMatched,
)
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item
from dens.trace.tables import rows_of
from dens.trace.writer import TraceWriter
from watchdog.reading import Reading

DOCUMENT = st.tuples(
    st.integers(0, 10**9),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**31 - 1),
    st.integers(0, 255),
    st.binary(max_size=300),
    st.integers(0, 255),
    st.integers(0, 255),
)


def written(run: Path, table: str, tell: Callable[[Journal], object]) -> list[dict[str, Any]]:
    """Return the rows of a table after events were written to the journal."""
    with TraceWriter(run / "trace", rows_per_part=3) as trace:
        tell(Journal(trace, 0))
    return list(rows_of(run, table))


@given(st.lists(DOCUMENT, max_size=8))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_documents_come_back_as_they_were_offered(
    tmp_path_factory: Any, offered: list[tuple[int, int, int, int, bytes, int, int]]
) -> None:
    def tell(journal: Journal) -> None:
        for document in offered:
            journal.offered(*document)
        assert journal.counts.get("documents", 0) == len(offered)

    names = ("at_ms", "node", "event_number", "language", "vector", "installed", "released")
    rows = written(tmp_path_factory.mktemp("run"), "documents", tell)
    assert rows == [dict(zip(names, document, strict=True)) for document in offered]


def test_the_detail_of_a_match_is_written_and_null_where_there_is_none(tmp_path: Path) -> None:
    item = Item(int(MessageType.NOTIFICATION), 4, 7, 1, 1_000, 8, 0, b"abc")

    def tell(journal: Journal) -> None:
        journal.event(2, NotificationMatched(1_500, item, 9, 1, 0, 200, detail=b"\x00\xff" * 100))
        journal.event(2, NotificationMatched(1_500, item, 9, 2, 0, 200))

    rows = written(tmp_path, "matches", tell)
    assert [row["detail"] for row in rows] == [b"\x00\xff" * 100, None]
    assert [row["id"] for row in rows] == [1, 2]


def test_exact_values_are_written_beside_their_bytes(tmp_path: Path) -> None:
    reading = Reading()
    reading.clear(3, 5, 0)
    reading.set(2, 77)

    def tell(journal: Journal) -> None:
        journal.judged(10, 4, reading, 0, [], None, 0.0, exact=b"\x01\x02\x03")
        journal.judged(20, 4, reading, 0, [], None, 0.0)

    rows = written(tmp_path, "filter_decisions", tell)
    assert [(row["values"], row["exact"]) for row in rows] == [(b"M", b"\x01\x02\x03"), (b"M", None)]


def test_late_report_is_recorded_at_the_time_of_expiry(tmp_path: Path) -> None:
    def told(kind: type[MessageEvent], at_ms: int) -> MessageEvent:
        return kind(at_ms, Item(MessageType.NOTIFICATION, 1, 3, 7, 0, 9, 0, b""))

    def tell(journal: Journal) -> None:
        journal.event(2, told(MessageStored, 5))
        journal.event(2, told(MessageStored, 9))
        journal.event(2, told(MessageExpired, 5))
        journal.event(1, told(MessageExpired, 5))
        journal.event(1, told(MessageStored, 9))

    rows = written(tmp_path, "messages", tell)
    assert [(row["at_ms"], row["kind"], row["node"]) for row in rows] == [
        (5, "stored", 2),
        (5, "expired", 1),
        (5, "expired", 2),
        (9, "stored", 2),
        (9, "stored", 1),
    ]


def test_what_is_held_after_each_end_stands_by_time_and_node(tmp_path: Path) -> None:
    def tell(journal: Journal) -> None:
        journal.buffer(8, 2, 1, 1, 10)
        journal.event(1, HoldingsEnded(4, 1, 2, 20))
        journal.event(1, HoldingsEnded(8, 1, 1, 10))
        journal.buffer(9, 1, 1, 1, 10)

    rows = written(tmp_path, "buffers", tell)
    assert [(row["at_ms"], row["node"], row["notifications"]) for row in rows] == [
        (4, 1, 2),
        (8, 1, 1),
        (8, 2, 1),
    ]
