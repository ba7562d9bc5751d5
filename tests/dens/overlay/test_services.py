"""Who can serve what, against a model; nothing stays behind of subscriptions that have ended."""

from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.mediator.directory import ServiceDirectory
from dens.overlay.storage.receipts import ReceiptTable
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item, ItemId, item_id
from dens.overlay.wire.messages import Subscribed
from emulation.fault_injection.topics import LANGUAGE, TopicDirectory, subscription


def made(id: int, topic: int) -> Subscription:
    vector = subscription(id, 0, 90, topic, 0)
    return Subscription.of(
        Item(MessageType.SUBSCRIBE, LANGUAGE, 9, id, 0, 90, 0, vector), Subscribed(0, vector)
    )


@given(st.lists(st.tuples(st.sampled_from("asr"), st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_a_publisher_serves_exactly_the_live_subscriptions_of_its_topics(
    steps: list[tuple[str, int, int]],
) -> None:
    book = ServiceDirectory(TopicDirectory())
    live: dict[int, Subscription] = {}
    topics: dict[int, int] = {}
    for number, (what, which, topic) in enumerate(steps):
        if what == "a":
            topics[which] = topic
            announce = Item(MessageType.ANNOUNCE, 0, which, number, 0, 90, 0, bytes((topic,)))
            book.learn_announcement(announce, which, 0)
            book.note(announce)
            for one in live.values():
                book.add(one, book.publishers_for(one))
            assert book.announcement(which) == announce
        elif what == "s":
            live[which] = made(which, topic)
            book.add(live[which], book.publishers_for(live[which]))
        else:
            live.pop(which, None)
            book.remove((9, which))
        for publisher in range(4):
            expected = {one.key for one in live.values() if topics.get(publisher) == one.vector[3]}
            assert set(book.served_by(publisher)) == expected
    for which in list(live):
        book.remove((9, which))
    assert (book._served, book._publishers) == ({}, {})


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), max_size=40)
)
def test_receipts_are_known_while_they_are_carried(steps: list[tuple[bool, int, int, int]]) -> None:
    """A subscriber that lost its store may say twice, under different numbers, that it has a notification."""
    book = ReceiptTable()
    carried: dict[ItemId, Item] = {}
    for is_added, subscriber, notification, saying in steps:
        payload = b"\x00\x00\x00\x07" + notification.to_bytes(4, "big")
        number = 2 * notification + saying
        item = Item(MessageType.RECEIPT, 0, subscriber, number, 0, 90, 0, payload)
        if is_added and item.id not in carried:
            assert book.add(item) == item_id(7, notification)
            carried[item.id] = item
        elif not is_added:
            book.remove(item)
            carried.pop(item.id, None)
        assert len(book) == len(carried)
        assert not carried or book.oldest() == next(iter(carried.values()))
        for who in range(4):
            for what in range(4):
                is_said = any(item_id(who, 2 * what + said) in carried for said in (0, 1))
                assert book.has(item_id(7, what), who) == is_said
