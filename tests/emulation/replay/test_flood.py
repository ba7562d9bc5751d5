"""Replay on contacts small enough to be worked out by hand, and against a slow oracle."""

import heapq
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.contacts.contact import Contacts, contacts_from_pieces
from emulation.contacts.formats.registry import read_contacts
from emulation.replay.flood import replay
from emulation.replay.messages import Message
from tests.sizes import examples

Span = tuple[int, int, int, int]
"""(a, b, begin, end) in seconds"""


def meetings(*spans: Span, until_s: int = 1000) -> Contacts:
    columns = [np.array([span[side] for span in spans], dtype=np.int32) for side in (0, 1)]
    times = [np.array([1000.0 * span[side] for span in spans]) for side in (2, 3)]
    return contacts_from_pieces(columns[0], columns[1], times[0], times[1], 1000.0 * until_s)


def message(at_s: float, source: int, destination: int) -> Message:
    return Message("M", 1000.0 * at_s, source, destination)


def test_a_ferry_carries_between_islands() -> None:
    result = replay(meetings((0, 1, 10, 20), (1, 2, 50, 60)), [message(15, 0, 2)])
    assert result.as_document() == {
        "created": 1,
        "delivered": 1,
        "latency_mean_s": 35.0,
        "latency_median_s": 35.0,
        "relays": 2,
        "hops_mean": 2.0,
    }


def test_what_is_created_in_the_moment_of_the_end_still_goes() -> None:
    assert replay(meetings((0, 1, 10, 20)), [message(20, 0, 1)]).delivered == 1
    assert replay(meetings((0, 1, 10, 20)), [message(20.001, 0, 1)]).delivered == 0


def test_a_contact_of_no_length_acts() -> None:
    assert replay(meetings((0, 1, 10, 10)), [message(1, 0, 1)]).delivered == 1


def test_a_recording_hands_on_in_the_order_of_its_lines(tmp_path: Path) -> None:
    """At 5 s one contact ends and another begins: a node between them is met in time, or it is not."""
    recording = tmp_path / "trace.txt"
    delivered = []
    for at_5 in ("5 CONN 0 1 down\n5 CONN 1 2 up", "5 CONN 1 2 up\n5 CONN 0 1 down"):
        recording.write_text(f"1 CONN 0 1 up\n{at_5}\n9 CONN 1 2 down\n")
        delivered.append(replay(read_contacts(recording), [message(3, 2, 0)]).delivered)
    assert delivered == [0, 1]


def test_the_lifetime_ends_everything() -> None:
    spans = meetings((0, 1, 10, 20), (1, 2, 50, 60))
    assert replay(spans, [message(15, 0, 2)], ttl_s=35).delivered == 0
    assert replay(spans, [message(15, 0, 2)], ttl_s=35.001).delivered == 1


def test_a_node_takes_part_in_one_transfer_at_a_time_and_prefers_the_destination() -> None:
    contacts = meetings((0, 1, 10, 14))
    wanted = [message(1, 0, 9), message(2, 0, 8), message(3, 0, 1)]
    result = replay(contacts, wanted, transfer_s=2.0)
    assert result.delivered_ms == (None, None, 12_000.0)
    assert result.relays == 2


def test_a_transfer_is_cut_when_the_contact_ends() -> None:
    assert replay(meetings((0, 1, 10, 12)), [message(1, 0, 1)], transfer_s=2.0).delivered == 1
    assert replay(meetings((0, 1, 10, 12)), [message(1, 0, 1)], transfer_s=2.001).delivered == 0


def test_nothing_created_has_no_mean() -> None:
    assert replay(meetings((0, 1, 10, 12)), []).as_document()["latency_mean_s"] is None


spans = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 60), st.integers(0, 20)).filter(
        lambda span: span[0] != span[1]
    ),
    max_size=15,
)
posts = st.lists(
    st.tuples(st.integers(0, 70), st.integers(0, 5), st.integers(0, 5)).filter(
        lambda post: post[1] != post[2]
    ),
    max_size=8,
)


def earliest(contacts: Contacts, post: Message) -> dict[int, float]:
    queue, reached = [(post.created_ms, post.source)], dict[int, float]()
    rows = list(
        zip(contacts.a.tolist(), contacts.b.tolist(), contacts.begin_ms, contacts.end_ms, strict=True)
    )
    while queue:
        at_ms, node = heapq.heappop(queue)
        if node in reached:
            continue
        reached[node] = at_ms
        for a, b, begin, end in rows:
            if node in (a, b) and at_ms <= end:
                heapq.heappush(queue, (max(at_ms, begin), b if node == a else a))
    return reached


@given(spans, posts)
@settings(max_examples=examples(150), deadline=None)
def test_ideal_links_deliver_on_the_earliest_path(
    given_spans: list[Span], given_posts: list[tuple[int, int, int]]
) -> None:
    contacts = meetings(*((a, b, begin, begin + length) for a, b, begin, length in given_spans))
    wanted = [message(at_s, source, destination) for at_s, source, destination in sorted(given_posts)]
    result = replay(contacts, wanted)
    paths = [earliest(contacts, post) for post in wanted]
    assert list(result.delivered_ms) == [
        path.get(post.destination) for path, post in zip(paths, wanted, strict=True)
    ]
    assert result.relays == sum(len(path) - 1 for path in paths)


@given(spans, posts, st.sampled_from([0.5, 2.0]))
@settings(max_examples=examples(100), deadline=None)
def test_limited_links_are_never_earlier_than_ideal_ones(
    given_spans: list[Span], given_posts: list[tuple[int, int, int]], transfer_s: float
) -> None:
    contacts = meetings(*((a, b, begin, begin + length) for a, b, begin, length in given_spans))
    wanted = [message(at_s, source, destination) for at_s, source, destination in sorted(given_posts)]
    ideal, limited = replay(contacts, wanted), replay(contacts, wanted, transfer_s)
    for early, late in zip(ideal.delivered_ms, limited.delivered_ms, strict=True):
        if late is not None:
            assert early is not None
            assert late >= early + 1000 * transfer_s
    assert limited.relays <= ideal.relays


@pytest.mark.parametrize("transfer_s", [None, 1.0])
def test_hops_are_counted_along_the_way(transfer_s: float | None) -> None:
    chain = meetings((0, 1, 10, 20), (1, 2, 30, 40), (2, 3, 50, 60))
    assert replay(chain, [message(1, 0, 3)], transfer_s).hops == (3,)
