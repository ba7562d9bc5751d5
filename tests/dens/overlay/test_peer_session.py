"""One side of a contact, by itself: whom it believes, in which order it speaks, how patiently it waits."""

import pytest

from dens.overlay.limits import Limits
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import LINK_NUMBER, MessageType, Role, Status
from dens.overlay.wire.item import AT_ONCE_MS, ENVELOPE_BYTES, NEVER_MS, Item, ItemId, item_id
from dens.overlay.wire.summary import Summary, decode

PEER, OWN_SESSION, BEGIN_MS = 9, 70, 1_000
LIMITS = Limits(window_bytes=1_000, retry_ms=400, retry_most_ms=3_000, ack_delay_ms=60, ack_batch=4)
NOTIFICATION = int(MessageType.NOTIFICATION)
KNOWS_NOTHING: Summary = decode(b"")


def session(limits: Limits = LIMITS) -> PeerSession:
    return PeerSession(PEER, OWN_SESSION, BEGIN_MS, limits, 8)


def ready(limits: Limits = LIMITS) -> PeerSession:
    made = session(limits)
    made.apply_hello(Role.MEDIATOR, 5, OWN_SESSION)
    made.apply_summary(3, KNOWS_NOTHING)
    made.update_due()
    return made


def item(origin: int, number: int, size: int = 26) -> Item:
    return Item(NOTIFICATION, 1, origin, number, 0, 95, 0, bytes(size - ENVELOPE_BYTES))


def offered(made: PeerSession) -> list[ItemId]:
    order: list[ItemId] = []
    while (queued := made.next_queued()) is not None:
        order.append(queued[0])
        assert queued[1] == NOTIFICATION
        made.queue.pop()
    return order


# ---------------------------------------------------------------------- greeting


def test_a_contact_begins_unknown_and_wants_to_say_hello_at_once() -> None:
    made = session()
    assert (made.peer, made.own_session, made.peer_session, made.flags) == (PEER, OWN_SESSION, 0, 8)
    assert made.role is None
    assert (made.is_heard, made.is_hello_queued, made.is_ready) == (False, False, False)
    assert made.hello_due_ms == BEGIN_MS
    assert made.due_ms == AT_ONCE_MS
    assert made.summary_number == 0
    assert PeerSession(PEER, 1, 0, LIMITS).flags == 0
    made.update_due()
    assert made.due_ms == BEGIN_MS


def test_a_hello_makes_the_peer_known_and_says_whether_it_heard_us() -> None:
    made = session()
    assert made.apply_hello(Role.PUBLISHER, 5, 0)
    assert (made.role, made.peer_session, made.is_heard) == (Role.PUBLISHER, 5, False)
    assert not made.apply_hello(Role.PUBLISHER, 5, OWN_SESSION)
    assert made.is_heard
    assert not made.apply_hello(Role.PUBLISHER, 5, 0)
    assert made.is_heard
    made.update_due()
    assert made.due_ms == NEVER_MS


def test_a_late_hello_of_an_older_session_changes_nothing() -> None:
    made = session()
    made.apply_hello(Role.PUBLISHER, 5, 0)
    assert not made.apply_hello(Role.SUBSCRIBER, 4, 0)
    assert (made.role, made.peer_session, made.is_heard) == (Role.PUBLISHER, 5, False)
    assert made.apply_hello(Role.PUBLISHER, 6, OWN_SESSION)
    assert not made.apply_hello(Role.SUBSCRIBER, 5, OWN_SESSION)
    assert (made.role, made.peer_session, made.is_heard) == (Role.PUBLISHER, 6, True)


def test_a_hello_that_heard_us_replaces_one_that_was_recorded_elsewhere_however_new_that_is() -> None:
    made = session()
    assert made.apply_hello(Role.PUBLISHER, 9, 0)
    assert made.apply_hello(Role.PUBLISHER, 5, OWN_SESSION)
    assert (made.peer_session, made.is_heard) == (5, True)
    assert not made.apply_hello(Role.PUBLISHER, 9, 0)
    assert (made.peer_session, made.is_heard) == (5, True)


def test_a_newer_session_means_that_the_peer_forgot_what_it_was_sent() -> None:
    made = ready()
    made.offer(1, item_id(3, 1), NOTIFICATION)
    made.flights.note_sent([item(3, 2, 500)], 0, BEGIN_MS)
    made.note_received(item_id(3, 3))
    made.note_taken(item_id(4, 1))
    made.update_due()
    assert not made.apply_hello(Role.SUBSCRIBER, 6, 0), (
        "it may be recorded; whoever is there answers our hello"
    )
    assert not made.apply_hello(Role.SUBSCRIBER, 6, OWN_SESSION + 1)
    assert (made.role, made.peer_session, made.is_heard, made.is_ready) == (Role.MEDIATOR, 5, True, True)
    assert made.apply_hello(Role.SUBSCRIBER, 6, OWN_SESSION)
    assert (made.role, made.is_heard, made.is_ready) == (Role.SUBSCRIBER, True, False)
    assert made.due_ms == AT_ONCE_MS
    assert made.next_queued() is None
    assert made.flights.next_retransmission(10**9) is None
    assert made.flights.has_room(1_000)
    assert not made.knows(item_id(3, 3))
    made.offer(1, item_id(3, 2), NOTIFICATION)
    assert offered(made) == [item_id(3, 2)]
    assert made.note_received(item_id(4, 1))


def test_a_newer_session_is_not_answered_for_an_older_one() -> None:
    """Numbers of link messages begin again with every life of the peer: an answer to the batch of an earlier
    life would be taken for one to another batch, whose messages were never stored.
    """
    made = ready()
    made.acknowledge(item(PEER, LINK_NUMBER | 3), Status.STORED, BEGIN_MS)
    made.acknowledge(item(3, 1), Status.STORED, BEGIN_MS)
    assert made.apply_hello(Role.MEDIATOR, 6, OWN_SESSION)
    assert made.acks == []
    assert made.acks_due_ms == NEVER_MS
    made.acknowledge(item(PEER, LINK_NUMBER | 1), Status.STORED, BEGIN_MS)
    assert made.take_acks() == ((PEER, LINK_NUMBER | 1, Status.STORED),)


def test_a_newer_session_that_heard_us_need_not_be_greeted_again() -> None:
    made = ready()
    assert made.apply_hello(Role.MEDIATOR, 6, OWN_SESSION)
    assert made.is_heard


def test_pending_hello_is_due_at_once() -> None:
    made = ready()
    assert made.due_ms == NEVER_MS
    made.queue_hello()
    assert made.is_hello_queued
    assert made.due_ms == AT_ONCE_MS


def test_a_summary_makes_ready_and_says_what_the_peer_has() -> None:
    made = session()
    made.apply_hello(Role.MEDIATOR, 5, OWN_SESSION)
    assert not made.named_any_of(3)
    assert not made.knows(item_id(3, 0))
    made.apply_summary(17, decode(bytes((3, 0, 2, 1))))
    assert made.is_ready
    assert made.summary_number == 17
    assert [made.knows(item_id(3, number)) for number in range(5)] == [False, False, True, True, False]
    assert made.named_any_of(3)
    assert not made.named_any_of(4)


def test_what_a_summary_names_is_no_longer_queued() -> None:
    made = session()
    made.apply_hello(Role.MEDIATOR, 5, OWN_SESSION)
    for number in range(5):
        made.offer(1, item_id(3, number), NOTIFICATION)
    made.offer(0, item_id(4, 0), NOTIFICATION)
    made.apply_summary(17, decode(bytes((3, 0, 2, 1))))
    assert [made.lacks(item_id(3, number)) for number in range(6)] == [False] * 5 + [True]
    made.mark_lacking(item_id(3, 0))
    assert offered(made) == [item_id(4, 0), item_id(3, 0), item_id(3, 1), item_id(3, 4)]
    assert [made.lacks(item_id(3, number)) for number in range(6)] == [True, True, False, False, True, True]


# ---------------------------------------------------------------------- what the peer has


def test_what_the_peer_sent_it_has_until_it_may_want_it_again() -> None:
    made = ready()
    assert not made.note_received(item_id(3, 1))
    assert not made.note_received(item_id(3, 1))
    assert made.knows(item_id(3, 1))
    made.offer(1, item_id(3, 1), NOTIFICATION)
    assert made.next_queued() is None
    made.mark_lacking(item_id(3, 1))
    assert not made.knows(item_id(3, 1))
    made.offer(1, item_id(3, 1), NOTIFICATION)
    assert offered(made) == [item_id(3, 1)]


def test_what_came_is_remembered_for_the_whole_contact() -> None:
    made = ready()
    made.note_taken(item_id(3, 1))
    assert not made.knows(item_id(3, 1))
    assert made.note_received(item_id(3, 1))
    assert made.knows(item_id(3, 1))
    made.mark_lacking(item_id(3, 1))
    assert made.note_received(item_id(3, 1))


def test_a_long_contact_forgets_nothing_of_what_came_and_of_what_the_peer_has() -> None:
    """Identities are kept one by one while they are few, and as ranges when they are many."""
    made = ready()
    many = 3_000
    made.offer(1, item_id(3, 0), NOTIFICATION)
    made.offer(1, item_id(5, 0), NOTIFICATION)
    for number in range(0, 2 * many, 2):
        made.note_taken(item_id(3, number))
        assert made.note_received(item_id(3, number))
    for number in (0, 2, many, 2 * many - 2):
        assert made.note_received(item_id(3, number))
        assert made.knows(item_id(3, number))
    for number in (1, 3, many + 1, 2 * many):
        assert not made.knows(item_id(3, number))
        assert made.lacks(item_id(3, number))
    assert not made.knows(item_id(4, 0))
    assert not made.note_received(item_id(3, 1))
    assert made.next_queued() == (item_id(5, 0), NOTIFICATION)


# ---------------------------------------------------------------------- the queue


def test_the_more_urgent_kind_goes_first_and_among_equals_the_earlier() -> None:
    made = ready()
    for priority, number in ((2, 1), (0, 2), (1, 3), (0, 4)):
        made.offer(priority, item_id(3, number), NOTIFICATION, 0)
    assert made.due_ms == AT_ONCE_MS
    assert offered(made) == [item_id(3, 2), item_id(3, 4), item_id(3, 3), item_id(3, 1)]


def test_origins_take_turns_byte_for_byte() -> None:
    made = ready()
    for number in range(4):
        made.offer(1, item_id(3, number), NOTIFICATION, 100)
    for number in range(3):
        made.offer(1, item_id(4, number), NOTIFICATION, 200)
    assert offered(made) == [
        item_id(3, 0),
        item_id(4, 0),
        item_id(3, 1),
        item_id(3, 2),
        item_id(4, 1),
        item_id(3, 3),
        item_id(4, 2),
    ]


def test_new_item_does_not_queue_behind_items_sent_before() -> None:
    made = ready()
    for number in range(3):
        made.offer(1, item_id(3, number), NOTIFICATION, 100)
    for _ in range(2):
        made.queue.pop()
    made.offer(1, item_id(4, 0), NOTIFICATION, 100)
    made.offer(1, item_id(4, 1), NOTIFICATION, 100)
    assert offered(made) == [item_id(4, 0), item_id(3, 2), item_id(4, 1)]


def test_turns_restart_when_everything_was_sent() -> None:
    made = ready()
    made.offer(1, item_id(3, 0), NOTIFICATION, 10_000)
    assert offered(made) == [item_id(3, 0)]
    made.offer(1, item_id(3, 9), NOTIFICATION, 0)
    made.offer(0, item_id(4, 9), NOTIFICATION, 0)
    assert offered(made) == [item_id(4, 9), item_id(3, 9)]
    made.offer(1, item_id(4, 0), NOTIFICATION, 100)
    made.offer(1, item_id(4, 1), NOTIFICATION, 100)
    made.offer(1, item_id(3, 1), NOTIFICATION, 100)
    assert offered(made) == [item_id(4, 0), item_id(3, 1), item_id(4, 1)]


def test_a_message_without_a_size_counts_as_an_envelope() -> None:
    made = ready()
    for number in range(3):
        made.offer(1, item_id(3, number), NOTIFICATION)
    made.offer(1, item_id(4, 0), NOTIFICATION, ENVELOPE_BYTES + 1)
    made.offer(1, item_id(4, 1), NOTIFICATION, ENVELOPE_BYTES + 1)
    assert offered(made) == [item_id(3, 0), item_id(4, 0), item_id(3, 1), item_id(4, 1), item_id(3, 2)]


def test_nothing_is_queued_twice_or_while_it_is_under_way() -> None:
    made = ready()
    made.offer(1, item_id(3, 1), NOTIFICATION)
    made.offer(0, item_id(3, 1), NOTIFICATION)
    assert offered(made) == [item_id(3, 1)]
    made.flights.note_sent([item(3, 1, 40)], 0, BEGIN_MS)
    made.offer(1, item_id(3, 1), NOTIFICATION)
    assert made.next_queued() is None
    assert made.flights.next_retransmission(BEGIN_MS + 400) is not None, (
        "it is not sent again, so it is given up"
    )
    made.offer(1, item_id(3, 1), NOTIFICATION)
    assert offered(made) == [item_id(3, 1)]


def test_what_the_peer_got_meanwhile_is_passed_over_and_may_be_queued_later() -> None:
    made = ready()
    for number in range(3):
        made.offer(1, item_id(3, number), NOTIFICATION)
    made.note_received(item_id(3, 0))
    made.note_received(item_id(3, 1))
    assert made.next_queued() == (item_id(3, 2), NOTIFICATION)
    made.mark_lacking(item_id(3, 0))
    made.offer(0, item_id(3, 0), NOTIFICATION)
    assert offered(made) == [item_id(3, 0), item_id(3, 2)]


# ---------------------------------------------------------------------- what is under way


def test_a_message_that_goes_out_again_in_another_form_is_acknowledged_in_that_form() -> None:
    made = ready()
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS)
    flight = made.flights.next_retransmission(BEGIN_MS + 400)
    assert flight is not None
    changed = item(3, 1, 20)
    made.flights.note_sent([changed], 0, BEGIN_MS + 400, flight)
    [answered] = made.on_acknowledged(item_id(3, 1), BEGIN_MS + 420)
    assert answered is changed


def test_what_is_acknowledged_or_given_up_is_not_sent_again() -> None:
    made = ready()
    for number in range(3):
        made.flights.note_sent([item(3, number, 50)], 0, BEGIN_MS + number)
    assert made.on_acknowledged(item_id(3, 0), BEGIN_MS + 5)
    assert not made.on_acknowledged(item_id(3, 0), BEGIN_MS + 6)
    assert not made.on_acknowledged(item_id(8, 8), BEGIN_MS + 6)
    assert made.knows(item_id(3, 0))
    assert not made.knows(item_id(8, 8))  # it was never sent, so that says nothing
    assert made.flights.next_retransmission(BEGIN_MS + 401) is not None
    made.update_due()
    assert made.due_ms == BEGIN_MS + 402
    flight = made.flights.next_retransmission(BEGIN_MS + 10_000)
    assert flight is not None
    assert list(flight.items) == [item_id(3, 2)]
    assert made.flights.next_retransmission(BEGIN_MS + 10_000) is None


def test_an_acknowledgement_wants_attention_where_something_waits_for_room() -> None:
    made = ready()
    made.flights.note_sent([item(3, 0, 50)], 0, BEGIN_MS)
    made.update_due()
    made.on_acknowledged(item_id(3, 0), BEGIN_MS)
    made.update_due()
    assert made.due_ms == NEVER_MS
    made.flights.note_sent([item(3, 1, 50)], 0, BEGIN_MS)
    made.offer(1, item_id(3, 2), NOTIFICATION)
    made.update_due()
    assert made.due_ms > BEGIN_MS
    made.on_acknowledged(item_id(3, 1), BEGIN_MS)
    assert made.due_ms == AT_ONCE_MS


# ---------------------------------------------------------------------- acknowledgements


def test_answers_wait_for_company_but_not_for_long() -> None:
    made = ready()
    made.acknowledge(item(3, 0), Status.STORED, BEGIN_MS)
    assert made.acks_due_ms == made.due_ms == BEGIN_MS + 60
    made.acknowledge(item(3, 1), Status.KNOWN, BEGIN_MS + 30)
    assert made.acks_due_ms == BEGIN_MS + 60
    made.acknowledge(item(3, 2), Status.EXPIRED, BEGIN_MS + 31)
    made.acknowledge(item(3, 3), Status.STORED, BEGIN_MS + 32)
    assert made.acks_due_ms == made.due_ms == BEGIN_MS + 32
    said = made.take_acks()
    assert said == ((3, 0, 0), (3, 1, 1), (3, 2, 3), (3, 3, 0))
    assert made.take_acks() == ()
    assert made.acks_due_ms == NEVER_MS
    made.update_due()
    assert made.due_ms == NEVER_MS


def test_no_peer_waits_longer_than_a_quarter_of_its_timeout() -> None:
    made = ready(Limits(retry_ms=403, ack_delay_ms=200))
    made.acknowledge(item(3, 0), Status.STORED, BEGIN_MS)
    assert made.acks_due_ms == BEGIN_MS + 100
    assert isinstance(made.acks_due_ms, int)


@pytest.mark.parametrize(("size", "is_due"), [(499, False), (500, True)])
def test_half_a_window_is_answered_at_once(size: int, is_due: bool) -> None:
    made = ready()
    made.acknowledge(item(3, 0, size), Status.STORED, BEGIN_MS)
    assert (made.acks_due_ms == BEGIN_MS) is is_due
    made.take_acks()
    made.acknowledge(item(3, 1, 499), Status.STORED, BEGIN_MS)
    assert made.acks_due_ms == BEGIN_MS + 60


def test_bytes_of_several_messages_come_together() -> None:
    made = ready()
    made.acknowledge(item(3, 0, 250), Status.STORED, BEGIN_MS)
    assert made.acks_due_ms == BEGIN_MS + 60
    made.acknowledge(item(3, 1, 250), Status.STORED, BEGIN_MS + 1)
    assert made.acks_due_ms == BEGIN_MS + 1


def test_whatever_is_due_first_wants_attention() -> None:
    made = ready()
    made.flights.note_sent([item(3, 0, 50)], 0, BEGIN_MS)
    made.acknowledge(item(4, 0), Status.STORED, BEGIN_MS)
    made.update_due()
    assert made.due_ms == BEGIN_MS + 60
    made.take_acks()
    made.update_due()
    assert made.due_ms == BEGIN_MS + 400
    unheard = session()
    unheard.hello_due_ms = BEGIN_MS + 300
    unheard.flights.note_sent([item(3, 0, 50)], 0, BEGIN_MS)
    unheard.update_due()
    assert unheard.due_ms == BEGIN_MS + 300
    unheard.hello_due_ms = BEGIN_MS + 500
    unheard.update_due()
    assert unheard.due_ms == BEGIN_MS + 400


def test_answered_message_sets_no_timer() -> None:
    made = ready()
    for number in (1, 2):
        made.flights.note_sent([item(3, number, 50)], 0, BEGIN_MS)
    made.update_due()
    made.on_acknowledged(item_id(3, 1), BEGIN_MS + 50)
    assert made.due_ms == BEGIN_MS + 400
    made.on_acknowledged(item_id(3, 2), BEGIN_MS + 60)
    assert made.due_ms == NEVER_MS
