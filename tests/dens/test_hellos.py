"""Two nodes that have nothing to say to each other greet once and are silent."""

from dens.machine import Datagram
from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd


def test_two_subscribers_in_contact_stop_greeting() -> None:
    """When a first hello was lost, they once said hello every second for as long as they were in range."""
    ends = {node: SubscriberEnd(node, 7, MemoryStore(), 0) for node in (1, 2)}
    ends[1].contact_opened(2, 0)
    ends[2].contact_opened(1, 0)
    sent = 0
    under_way: list[tuple[int, Datagram]] = []
    for now_ms in range(0, 60_000, 10):
        for sender, datagram in under_way:
            if not (sender == 1 and now_ms == 10):
                ends[datagram.peer].receive(datagram.data, sender, now_ms)
        under_way = []
        for node, end in ends.items():
            end.timer_due(now_ms)
            under_way += [(node, datagram) for datagram in end.datagrams_to_send(now_ms)]
        sent += len(under_way)
    assert 2 <= sent <= 4
