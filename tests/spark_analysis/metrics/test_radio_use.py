"""What the radio was used for: tables that can be added up by hand, and random networks counted by item."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame

from dens.trace.tables import plain_schema
from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.members.bytes_per_delivery import bytes_per_delivery
from spark_analysis.catalogue.members.duplicate_share import duplicate_share
from spark_analysis.catalogue.members.overhead_ratio import overhead_ratio
from spark_analysis.devices import Devices
from spark_analysis.metrics.radio_links import RadioLinks
from spark_analysis.metrics.radio_use import radio_use
from spark_analysis.questions.radio import traffic
from spark_analysis.radio_use import RadioUse
from spark_analysis.summed_tables import Count

MakeTable = Callable[..., DataFrame]
Row = dict[str, Any]
PLAIN = RadioLinks({}, {})
COMPOSED = 4


class Told:
    """Tables of rows, in parts of three."""

    def __init__(self, **tables: list[Row]) -> None:
        self._tables = tables

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        schema = plain_schema(table, columns)
        nullable = pa.schema([field.with_nullable(True) for field in schema])
        rows = pa.Table.from_pylist(
            [{name: row.get(name) for name in columns} for row in self._tables.get(table, [])], nullable
        )
        found: dict[str, float] = {}
        for batch in rows.to_batches(max_chunksize=3):
            for name, value in count(batch).items():
                found[name] = found.get(name, 0) + value
        return found


def step(kind: str, type_: str, node: int, peer: int | None, **besides: Any) -> Row:
    known = {"origin": 8, "number": 1, "language": 1, "bytes": 40}
    return {"kind": kind, "type": type_, "node": node, "peer": peer, **known, **besides}


def test_what_came_in_any_frame_and_was_new_is_a_transfer() -> None:
    """Device 0 has engines 0 and 5, the other devices have one. A batch carries two notifications."""
    messages = [
        step("created", "notification", 8, None),
        step("sent", "batch", 8, 0, bytes=90),
        step("received", "batch", 0, 8, bytes=90),
        step("stored", "notification", 0, 8),
        step("stored", "notification", 0, 8, number=2),
        step("sent", "notification", 0, 1),
        step("received", "notification", 1, 0),
        step("replicated", "notification", 1, 0),
        step("sent", "notification", 0, 1),
        step("received", "notification", 1, 0),
        step("duplicate", "notification", 1, 0),
        step("delivered", "notification", 5, 0),
        step("duplicate", "notify", 5, 0),
        step("sent", "notify", 1, 2, bytes=50),
        step("delivered", "notification", 2, 1),
        step("delivered", "notification", 2, 1, language=COMPOSED, number=3),
        step("created", "notification", 5, None, origin=5, number=4),
        step("stored", "notification", 0, 5, origin=5, number=4),
        step("delivered", "notification", 5, 0, origin=5, number=4),
        step("replicated", "subscribe", 1, 0),
        step("sent", "hello", 0, 1, bytes=20),
    ]
    use = radio_use(Told(messages=messages), Devices(4, {5: 0}), PLAIN, [COMPOSED])
    assert use == RadioUse(
        relayed=5,
        duplicates=1,
        delivered=3,
        composite_deliveries=1,
        delivered_between_devices=3,
        transmissions=5,
        frames=5,
        bytes_on_air=90 + 40 + 40 + 50 + 20,
        sent_bytes={"batch": 90, "notification": 80, "notify": 50, "hello": 20},
    )
    known = Evidence(radio=use)
    assert (overhead_ratio(known), bytes_per_delivery(known)) == (pytest.approx(2 / 3), 60.0)
    assert duplicate_share(known) == pytest.approx(1 / 6)


def test_every_frame_has_its_overhead() -> None:
    """The smaller frame and the larger overhead of a link count, for what relays sent too; on the first hop
    of a forwarded frame those of the next hop.
    """
    links = RadioLinks({0: 64, 1: 50, 3: 10}, {0: 28, 3: 30})
    messages = [
        step("sent", "hello", 0, 1, bytes=100),  # 2 frames of 50, 28 each
        step("sent", "hello", 0, 2, bytes=65),  # 2 frames of 64
        step("sent", "hello", 2, 4, bytes=900),  # one frame without overhead
        step("sent", "hello", 0, 4, bytes=64),  # beyond range, over 3: 7 frames of 10, 30 each; to 4 one, 28
    ]
    hop = {"node": 0, "peer": 3, "destination": 4, "hop": 1, "sent_ms": 7, "bytes": 64}
    hops = [hop, {**hop, "node": 3, "peer": 4, "hop": 2}, {**hop, "node": 3, "hop": 2, "sent_ms": None}]
    use = radio_use(Told(messages=messages, hops=hops), Devices(5, {}), links, [])
    assert (use.transmissions, use.frames, use.forwarded, use.forwarded_frames) == (
        5,
        2 + 2 + 1 + 7 + 7,
        1,
        7,
    )
    forwarded = 64 + 7 * 30
    assert use.forwarded_bytes == forwarded
    assert use.bytes_on_air == (100 + 2 * 28) + (65 + 2 * 28) + 900 + (64 + 7 * 30) + forwarded
    assert use.sent_bytes == {"hello": (100 + 56) + (65 + 56) + 900 + (64 + 28)}


@st.composite
def networks(draw: st.DrawFn) -> tuple[Devices, list[Row], int, int]:
    """Draw devices, some with an end inside, and items that go from device to device in any order. Return
    also how many times a device got an item that it had not, and how many of these deliveries came from afar.
    """
    count = draw(st.integers(1, 6))
    inside = {count + place: home for place, home in enumerate(draw(st.sets(st.integers(0, count - 1))))}
    home = {home: engine for engine, home in inside.items()}
    rows: list[Row] = []
    came = far = 0
    for number in range(draw(st.integers(0, 4))):
        source = draw(st.integers(0, count - 1))
        origin = home.get(source, source)
        about = {"origin": origin, "number": number}
        rows.append(step("created", "notification", origin, None, **about))
        if origin != source:
            rows.append(step("stored", "notification", source, origin, **about))
        has = {source}
        for _ in range(draw(st.integers(0, 8))):
            giver = draw(st.sampled_from(sorted(has)))
            taker = draw(st.integers(0, count - 1))
            if taker == giver:
                continue
            type_ = draw(st.sampled_from(["notification", "notify"]))
            if draw(st.booleans()):
                rows.append(step("received", type_, taker, giver, **about))
            kind = draw(st.sampled_from(["replicated", "stored"])) if taker not in has else "duplicate"
            came += taker not in has
            has.add(taker)
            rows.append(step(kind, type_, taker, giver, **about))
        for device in sorted(has & home.keys()):
            if draw(st.booleans()):
                rows.append(step("delivered", "notification", home[device], device, **about))
                far += device != source
    return Devices(count, inside), rows, came, far


@given(networks())
def test_overhead_counts_items_and_is_never_below_0(drawn: tuple[Devices, list[Row], int, int]) -> None:
    devices, rows, came, far = drawn
    use = radio_use(Told(messages=rows), devices, PLAIN, [])
    assert (use.relayed, use.delivered_between_devices) == (came, far)
    ratio = overhead_ratio(Evidence(radio=use))
    assert ratio == (pytest.approx((came - far) / far) if far else None)
    assert ratio is None or ratio >= 0


def test_what_one_node_saw_says_nothing_of_transfers_elsewhere() -> None:
    """It hears of deliveries by their receipts, and of the transfers before them only of its own."""
    rows = [
        step("replicated", "notification", 0, 1),
        *(step("delivered", "notification", node, None) for node in (2, 3, 4)),
    ]
    seen = radio_use(Told(messages=rows), Devices(5, {}), PLAIN, [], of_one_node=True)
    assert (overhead_ratio(Evidence(radio=seen)), seen.delivered, seen.relayed) == (None, 3, 1)


def test_traffic_is_counted_by_kind_type_and_reason(make_table: MakeTable) -> None:
    def row(kind: str, type_: str, bytes_: int, reason: str | None = None) -> Row:
        return {"kind": kind, "type": type_, "bytes": bytes_, "reason": reason}

    messages = make_table(
        "messages",
        row("lost", "hello", 20, "radio"),
        row("lost", "hello", 21, "radio"),
        row("lost", "hello", 22, "contact_ended"),
        row("sent", "hello", 23),
    )
    assert [tuple(row) for row in messages.transform(traffic).collect()] == [
        ("lost", "hello", "contact_ended", 1, 22),
        ("lost", "hello", "radio", 2, 41),
        ("sent", "hello", None, 1, 23),
    ]


@pytest.mark.parametrize("rows", [[], [step("sent", "hello", 0, 1)]])
def test_no_deliveries_have_no_ratio(rows: list[Row]) -> None:
    use = radio_use(Told(messages=rows), Devices(2, {}), PLAIN, [])
    assert use.delivered == 0
    assert overhead_ratio(Evidence(radio=use)) is bytes_per_delivery(Evidence(radio=use)) is None
