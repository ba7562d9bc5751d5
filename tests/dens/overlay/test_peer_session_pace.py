"""How much a session sends at once, and how long it waits for answers: window and patience."""

import pytest

from dens.overlay.limits import Limits
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import Status
from dens.overlay.wire.item import ENVELOPE_BYTES, Item, item_id
from dens.overlay.wire.messages import ACK_BYTES
from tests.dens.overlay.test_peer_session import BEGIN_MS, item, ready


def test_one_message_always_has_room_and_more_only_within_the_window() -> None:
    made = ready()
    assert made.flights.has_room(5_000)
    made.flights.note_sent([item(3, 1, 600)], 0, BEGIN_MS)
    assert made.flights.has_room(400)
    assert not made.flights.has_room(401)
    assert made.flights.has_room(300, 100)
    assert not made.flights.has_room(301, 100), "what leaves in the same moment counts too"
    made.flights.note_sent([item(3, 2, 300)], 0, BEGIN_MS)
    assert made.flights.has_room(100)
    assert not made.flights.has_room(101)
    assert made.on_acknowledged(item_id(3, 1), BEGIN_MS)
    assert made.flights.has_room(700)
    assert not made.flights.has_room(701)
    assert made.on_acknowledged(item_id(3, 2), BEGIN_MS)
    assert made.flights.has_room(5_000)
    made.flights.note_sent([item(3, 3, 999)], 0, BEGIN_MS)
    assert made.flights.has_room(1)
    assert not made.flights.has_room(2)


def test_the_window_opens_as_far_as_answers_show_that_the_link_is_fast() -> None:
    """It begins with an eighth, which one message may exceed; then it is as much as is answered in half of
    the first patience, here 500 ms."""
    limits = Limits(window_bytes=64_000, retry_ms=1_000)
    made = ready(limits)
    made.flights.note_sent([item(3, 0, 8_000 - ENVELOPE_BYTES)], 0, BEGIN_MS)
    assert made.flights.has_room(56_000 + ENVELOPE_BYTES)
    assert not made.flights.has_room(56_001 + ENVELOPE_BYTES)
    made.flights.note_sent([item(3, 1, ENVELOPE_BYTES)], 0, BEGIN_MS)
    assert not made.flights.has_room(1)
    for took_ms, fits in ((1_000, 9_995), (499, 20_020), (200, 49_875), (100, 64_000), (0, 64_000)):
        made = ready(limits)
        made.flights.note_sent([item(3, 0, 20_000)], 0, BEGIN_MS)
        made.on_acknowledged(item_id(3, 0), BEGIN_MS + took_ms)
        made.flights.note_sent([item(3, 1, fits - ENVELOPE_BYTES)], 0, BEGIN_MS)
        assert made.flights.has_room(1)
        made.flights.note_sent([item(3, 2, ENVELOPE_BYTES)], 0, BEGIN_MS)
        assert not made.flights.has_room(1)


def test_the_window_closes_where_the_link_is_slow_and_never_below_its_beginning() -> None:
    made = ready(Limits(window_bytes=64_000, retry_ms=1_000))
    for number, (took_ms, fits) in enumerate(((200, 24_937), (700, 8_000), (90_000, 8_000), (50, 64_000))):
        made.flights.note_sent([item(3, number, 10_000)], 0, BEGIN_MS)
        made.on_acknowledged(item_id(3, number), BEGIN_MS + took_ms)
        made.flights.note_sent([item(4, number, fits - ENVELOPE_BYTES)], 0, BEGIN_MS)
        assert made.flights.has_room(1)
        made.flights.note_sent([item(5, number, ENVELOPE_BYTES)], 0, BEGIN_MS)
        assert not made.flights.has_room(1)
        while made.flights.next_retransmission(BEGIN_MS + 10**6) is not None:
            pass  # Both are given up.


@pytest.mark.parametrize(("window_bytes", "begins_with"), [(200, 200), (10_000, 2_048), (65_536, 8_192)])
def test_a_small_window_is_open_from_the_beginning(window_bytes: int, begins_with: int) -> None:
    made = ready(Limits(window_bytes=window_bytes))
    made.flights.note_sent([item(3, 0, begins_with - ENVELOPE_BYTES)], 0, BEGIN_MS)
    assert made.flights.has_room(1)
    made.flights.note_sent([item(3, 1, ENVELOPE_BYTES)], 0, BEGIN_MS)
    assert not made.flights.has_room(1)


# ---------------------------------------------------------------------- patience


def retries(made: PeerSession, first: Item, count: int) -> list[int]:
    """Let a message go unanswered; return how long was waited each time."""
    waits, now_ms = [], BEGIN_MS
    made.flights.note_sent([first], 0, now_ms)
    for _ in range(count):
        made.update_due()
        due_ms = made.due_ms
        assert made.flights.next_retransmission(due_ms - 1) is None
        flight = made.flights.next_retransmission(due_ms)
        assert flight is not None
        assert list(flight.items.values()) == [first]
        waits.append(due_ms - now_ms)
        now_ms = due_ms
        made.flights.note_sent([first], 0, now_ms, flight)
    return waits


def test_patience_doubles_up_to_the_longest() -> None:
    assert retries(ready(), item(3, 1), 6) == [400, 800, 1_600, 3_000, 3_000, 3_000]


def test_patience_stays_bounded_after_very_many_tries() -> None:
    limits = Limits(retry_ms=1, retry_most_ms=10**9)
    waits = retries(ready(limits), item(3, 1), 40)
    assert waits[:18] == [1 << tries for tries in range(17)] + [1 << 16]
    assert set(waits[17:]) == {1 << 16}


def test_patience_follows_the_measured_round_trip() -> None:
    made = ready(Limits(retry_ms=1, retry_most_ms=10**6))
    samples = [801, 800, 400, 1_600, 1_600]
    round_trip, swing = None, 0
    now_ms = BEGIN_MS
    for number, sample_ms in enumerate(samples):
        made.flights.note_sent([item(3, number, 50)], 0, now_ms)
        now_ms += sample_ms
        [answered] = made.on_acknowledged(item_id(3, number), now_ms)
        assert answered.id == item_id(3, number)
        if round_trip is None:
            round_trip, swing = sample_ms, sample_ms // 2
        else:
            swing += (abs(sample_ms - round_trip) - swing) // 4
            round_trip += (sample_ms - round_trip) // 8
        made.flights.note_sent([item(4, number, 50)], 0, now_ms)
        made.update_due()
        assert isinstance(made.due_ms, int)
        assert made.due_ms - now_ms == round_trip + 4 * swing
        assert made.flights.next_retransmission(made.due_ms) is not None


def test_the_answer_to_a_repeated_message_says_nothing_about_the_round_trip() -> None:
    made = ready()
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS)
    flight = made.flights.next_retransmission(BEGIN_MS + 400)
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS + 400, flight)
    assert made.on_acknowledged(item_id(3, 1), BEGIN_MS + 401)
    made.flights.note_sent([item(3, 2, 50)], 0, BEGIN_MS + 500)
    made.update_due()
    assert made.due_ms == BEGIN_MS + 901


@pytest.mark.parametrize(("answer_ms", "waits"), [(90_000, 800), (700, 700), (400, 400)])
def test_where_answers_come_late_one_learns_to_wait(answer_ms: int, waits: int) -> None:
    """Otherwise every message of a slow link would be repeated, and no answer would ever be to one that was
    not: patience would never grow."""
    made = ready()
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS)
    made.flights.note_sent(
        [item(3, 1, 50)], 0, BEGIN_MS + 400, made.flights.next_retransmission(BEGIN_MS + 400)
    )
    made.on_acknowledged(item_id(3, 1), BEGIN_MS + answer_ms)
    made.flights.note_sent([item(3, 2, 50)], 0, BEGIN_MS + 100_000)
    made.update_due()
    assert made.due_ms == BEGIN_MS + 100_000 + waits


def test_learnt_patience_ends_with_the_longest_and_with_the_next_clear_answer() -> None:
    made = ready()
    for number in range(6):
        made.flights.note_sent([item(3, number, 50)], 0, BEGIN_MS)
        made.flights.note_sent(
            [item(3, number, 50)], 0, BEGIN_MS + 1, made.flights.next_retransmission(BEGIN_MS + 9_000)
        )
        made.on_acknowledged(item_id(3, number), BEGIN_MS + 90_000)
    made.flights.note_sent([item(4, 1, 50)], 0, BEGIN_MS)
    made.update_due()
    assert made.due_ms == BEGIN_MS + 3_000
    made.on_acknowledged(item_id(4, 1), BEGIN_MS + 100)
    made.flights.note_sent([item(4, 2, 50)], 0, BEGIN_MS)
    made.update_due()
    assert made.due_ms == BEGIN_MS + 400


def test_a_message_behind_many_bytes_is_given_time_to_cross() -> None:
    for sizes, waits in (((500,), 400), ((600,), 480), ((500, 500), 800), ((9_000,), 3_000)):
        made = ready()
        for number, size in enumerate(sizes):
            made.flights.note_sent([item(3, number, size)], 0, BEGIN_MS)
        for _ in range(len(sizes) - 1):
            assert made.flights.next_retransmission(BEGIN_MS + waits - 1) is not None
        made.update_due()
        assert made.due_ms == BEGIN_MS + waits


def test_slow_answer_does_not_raise_the_timeout_above_its_maximum() -> None:
    made = ready()
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS)
    made.on_acknowledged(item_id(3, 1), BEGIN_MS + 60_000)
    made.flights.note_sent([item(3, 2, 50)], 0, BEGIN_MS + 60_000)
    made.update_due()
    assert made.due_ms == BEGIN_MS + 63_000


@pytest.mark.parametrize("window_bytes", [1_000, 16_385, 20_001])
def test_times_are_whole_milliseconds_whatever_the_sizes(window_bytes: int) -> None:
    for size in (701, 1_999, 5_001):
        made = ready(Limits(window_bytes=window_bytes))
        made.flights.note_sent([item(3, 1, size)], 0, BEGIN_MS)
        made.update_due()
        assert isinstance(made.due_ms, int)


# ---------------------------------------------------------------------- datagrams that are shared


def batch(made: PeerSession, number: int, origins: tuple[int, ...], now_ms: int = BEGIN_MS) -> None:
    made.flights.note_sent([item(origin, 1, 50) for origin in origins], 2**31 + number, now_ms)


def test_a_batch_is_answered_as_a_whole() -> None:
    made = ready()
    batch(made, 1, (3, 4, 5))
    assert [one.origin for one in made.on_acknowledged(item_id(9, 2**31 + 1), BEGIN_MS + 5)] == [3, 4, 5]
    assert made.flights.has_room(5_000)
    assert all(made.knows(item_id(origin, 1)) for origin in (3, 4, 5))
    assert not made.on_acknowledged(item_id(9, 2**31 + 1), BEGIN_MS + 6)
    assert made.flights.next_retransmission(BEGIN_MS + 10_000) is None


def test_what_of_a_batch_was_answered_before_is_not_answered_twice() -> None:
    made = ready()
    batch(made, 1, (3, 4, 5))
    assert [one.origin for one in made.on_acknowledged(item_id(4, 1), BEGIN_MS + 5)] == [4]
    assert made.flights.has_room(900)
    assert not made.flights.has_room(901)
    assert [one.origin for one in made.on_acknowledged(item_id(9, 2**31 + 1), BEGIN_MS + 6)] == [3, 5]


def test_a_late_answer_to_a_batch_counts_for_what_was_sent_again() -> None:
    made = ready()
    batch(made, 1, (3, 4))
    flight = made.flights.next_retransmission(BEGIN_MS + 400)
    assert flight is not None
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS + 400, flight)
    assert [one.origin for one in made.on_acknowledged(item_id(9, 2**31 + 1), BEGIN_MS + 401)] == [3]
    assert made.flights.has_room(5_000)
    assert made.flights.next_retransmission(BEGIN_MS + 10_000) is None


def limit(made: PeerSession) -> int:
    """Return how much may share a datagram now."""
    return next(size for size in range(60_001, 0, -1) if made.flights.may_share_datagram(size))


def test_datagrams_become_small_where_they_are_lost_and_grow_where_they_are_not() -> None:
    made = ready(Limits(window_bytes=200_000))
    assert limit(made) == 60_000
    made.flights.note_sent([item(4, 0, 50), item(4, 1, 50)], 2**31 + 1, BEGIN_MS)
    assert made.flights.next_retransmission(BEGIN_MS + 10_000) is not None
    assert limit(made) == 15_000
    made.flights.note_sent([item(4, 0, 7_499)], 0, BEGIN_MS)
    made.on_acknowledged(item_id(4, 0), BEGIN_MS + 5)
    assert limit(made) == 15_000, "what is not nearly full shows nothing"
    made.flights.note_sent([item(4, 1, 3_750), item(4, 2, 3_750)], 2**31 + 2, BEGIN_MS)
    made.on_acknowledged(item_id(9, 2**31 + 2), BEGIN_MS + 5)
    assert limit(made) == 17_048
    for number in range(3):
        made.flights.note_sent([item(5, number, 50)], 0, BEGIN_MS)
        assert made.flights.next_retransmission(BEGIN_MS + 10_000) is not None
    assert limit(made) == 2_048, "a few small messages always share one"
    for number in range(60):
        made.flights.note_sent([item(6, number, limit(made))], 0, BEGIN_MS)
        made.on_acknowledged(item_id(6, number), BEGIN_MS + 5)
    assert limit(made) == 60_000


def test_of_very_many_batches_the_earliest_are_answered_one_by_one() -> None:
    made = ready()
    for number in range(65):
        batch(made, number, (number + 10, number + 100))
    assert not made.on_acknowledged(item_id(9, 2**31), BEGIN_MS + 5)
    assert made.on_acknowledged(item_id(10, 1), BEGIN_MS + 5)
    assert len(made.on_acknowledged(item_id(9, 2**31 + 1), BEGIN_MS + 5)) == 2


def test_equal_answers_to_a_whole_batch_become_one() -> None:
    made = ready()
    made.acknowledge(item(2, 1), Status.EXPIRED, BEGIN_MS)
    for statuses, folded in (
        ((Status.STORED, Status.STORED), ((9, 77, 0),)),
        ((Status.STORED, Status.KNOWN), ((3, 0, 0), (3, 1, 1))),
        ((Status.KNOWN,), ((3, 0, 1),)),
    ):
        for number, status in enumerate(statuses):
            made.acknowledge(item(3, number), status, BEGIN_MS)
        made.merge_acks(len(made.acks) - len(statuses), len(statuses), 9, 77)
        assert made.take_acks()[-len(folded) :] == folded
    made.acknowledge(item(3, 0), Status.STORED, BEGIN_MS)
    made.merge_acks(0, 2, 9, 77)
    assert made.take_acks() == ((3, 0, 0),), "one of two was not answered"


def test_answers_ride_along_unless_they_may_be_lost_with_what_they_ride_on() -> None:
    made = ready(Limits(window_bytes=200_000))
    made.acknowledge(item(2, 1), Status.STORED, BEGIN_MS)
    made.acknowledge(item(2, 2), Status.STORED, BEGIN_MS)
    assert made.may_carry_acks(60_000 - 2 * ACK_BYTES)
    assert not made.may_carry_acks(60_001 - 2 * ACK_BYTES), "there has to be room for them"
    assert made.flights.may_share_datagram(2_048, has_summary=True)
    assert not made.flights.may_share_datagram(2_049, has_summary=True)
    made.flights.note_sent([item(3, 1)], 0, BEGIN_MS)
    assert made.flights.next_retransmission(BEGIN_MS + 10_000) is not None
    assert made.may_carry_acks(2_048)
    assert not made.may_carry_acks(2_049)
