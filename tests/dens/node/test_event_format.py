"""Every kind of event is formatted as a JSON document and as a line of text."""

import json

import pytest

from dens.node.output.event_format import EventFormatter, event_document, event_line
from dens.overlay import events
from dens.overlay.events import Event
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.envelope import UPDATE_ADVICE
from dens.overlay.wire.item import Item

ITEM = Item(MessageType.NOTIFICATION, 1, 7, 5, 1_000, 95, 1, b"\x03\x05")
SUBSCRIPTION = Item(MessageType.INSTALL, 1, 9, 2, 1_000, 95, 1, b"\x04\x00\x5f")
OF_MESSAGES = [
    kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, events.MessageEvent) and kind is not events.MessageEvent
]
OTHERS: list[tuple[Event, str]] = [
    (events.DatagramRefused(9, 3, 27, "bad_tag"), "refused 27 bytes from 3: bad_tag"),
    (
        events.NotificationMatched(9, ITEM, 9, 4, 0, 255),
        "matched notification 7/5: for 9's subscription 4 (degree 1.00)",
    ),
    (
        events.NotificationMatched(9, ITEM, 9, 4, 0, 255, from_before=True),
        "still matched from before: notification 7/5: for 9's subscription 4 (degree 1.00)",
    ),
    (events.FilterInstalled(9, SUBSCRIPTION, 1, 0), "installed the filter of 9's subscription 4"),
    (
        events.NumberShared(9, 7, ("127.0.0.1:9000", "[::1]:9001")),
        "two nodes use the number 7: 127.0.0.1:9000 and [::1]:9001; give each its own number with --as",
    ),
    (
        events.FilterRemoved(9, 9, 4, 0, "withdrawn"),
        "removed the filter of 9's subscription 4: withdrawn",
    ),
]


@pytest.mark.parametrize("kind", OF_MESSAGES)
def test_what_happened_to_a_message(kind: type[events.MessageEvent]) -> None:
    event = kind(9, ITEM, 3, "unverified")
    document = json.loads(json.dumps(event_document(event)))
    assert document["event"] == kind.kind
    assert (document["type"], document["origin"], document["number"]) == ("notification", 7, 5)
    assert (document["peer"], document["reason"], document["at_ms"]) == (3, "unverified", 9)
    line = event_line(event)
    if kind in (events.DuplicateReceived, events.MessageAcknowledged):
        assert line is None
    else:
        assert line is not None
        ways = {events.CopyReplicated: "copy from node", events.InstallSpared: "at"}
        way = ways.get(kind, "from")
        assert line.endswith(f" {kind.kind} notification 7/5 {way} 3, unverified")


@pytest.mark.parametrize(("event", "message"), OTHERS)
def test_other_events(event: Event, message: str) -> None:
    document = json.loads(json.dumps(event_document(event)))
    assert document["at_ms"] == 9
    assert document["event"] in ("refused", "matched", "installed", "removed", "shared")
    line = event_line(event)
    assert line is not None
    assert line.endswith(message)


@pytest.mark.parametrize("as_json", [True, False])
def test_repeated_refusals_are_reported_as_a_rate(as_json: bool) -> None:
    """One line a datagram was 5.8 MB in twenty seconds of a flood."""
    teller = EventFormatter(as_json=as_json)
    refused = [
        events.DatagramRefused(9, peer, 27, why) for peer, why in ((3, "a"), (3, "a"), (3, "b"), (4, "a"))
    ]
    assert [len(teller.lines(event)) for event in refused] == [1, 0, 1, 1]
    assert teller.lines(events.DatagramRefused(5_009, 3, 27, "a")) == []
    [line] = teller.rates(10_009)
    if as_json:
        rate = {"of": "refused", "what": "bytes", "peer": 3, "reason": "a", "count": 2, "within_ms": 10_000}
        assert json.loads(line) == {"at_ms": 10_009, "event": "rate", **rate}
    else:
        assert line.endswith(" refused bytes from 3 2 times more within 10 s: a")
    assert teller.rates(10_010) == []


def test_older_version_is_counted_and_its_advice_logged_once_per_peer() -> None:
    teller, lines = EventFormatter(as_json=False), list[str]()
    for at_ms in range(0, 200_000, 1_000):
        if not 60_000 <= at_ms < 120_000:  # A pause after which it would be news again.
            for peer in (7, 8):
                lines += teller.lines(events.DatagramRefused(at_ms, peer, 27, "version"))
    lines += teller.rates(200_000, at_the_end=True)
    for peer in (7, 8):
        of_peer = [line for line in lines if f"from {peer}" in line]
        assert [line for line in of_peer if "dens board build" in line] == of_peer[:1]
        assert of_peer[0].endswith(f"from {peer}: version; {UPDATE_ADVICE}")
        counts = [int(line.split(" times more")[0].split()[-1]) for line in of_peer if "times more" in line]
        assert len(of_peer) - len(counts) + sum(counts) == 140


@pytest.mark.parametrize("as_json", [True, False])
def test_a_log_does_not_grow_with_a_flood(as_json: bool) -> None:
    """A hundred thousand datagrams in a minute, from two thousand places, refused or repeated."""
    teller, lines = EventFormatter(as_json=as_json), list[str]()
    for number in range(100_000):
        at_ms, peer = number * 60 // 100, number % 2_000
        lines += teller.lines(
            (
                events.DatagramRefused(at_ms, peer, 27, "bad_tag"),
                events.DuplicateReceived(at_ms, ITEM, peer),
                events.MessageRefused(at_ms, ITEM, peer, "too_long"),
            )[number % 3]
        )
    lines += teller.rates(60_000, at_the_end=True)
    assert sum(map(len, lines)) < 100_000
    if as_json:
        assert sum(json.loads(line).get("count", 1) for line in lines) == 100_000


def test_actions_of_a_node_are_reported_individually() -> None:
    teller = EventFormatter(as_json=True)
    assert sum(len(teller.lines(events.MessageStored(9, ITEM, 3))) for _ in range(500)) == 500


@pytest.mark.parametrize("as_json", [True, False])
def test_the_end_of_a_log_says_how_many_messages_were_quarantined(as_json: bool) -> None:
    teller = EventFormatter(as_json=as_json)
    assert teller.summary(9, 0) == []
    for number in range(3):
        teller.lines(events.MessageQuarantined(9, ITEM.replace(number=number), 3, "matching: ValueError"))
        teller.lines(events.MessageUndecided(9, ITEM.replace(number=number), None, "work"))
    [line] = teller.summary(9, 2)
    if as_json:
        counts = {"quarantined": 3, "undecided": 3, "quarantined_held": 2}
        assert json.loads(line) == {"at_ms": 9, "event": "summary", **counts}
    else:
        assert line.endswith(
            " quarantined 3 messages, 2 are held; 3 were undecided because the work budget was used up"
        )
    assert len(EventFormatter(as_json=as_json).summary(9, 1)) == 1
