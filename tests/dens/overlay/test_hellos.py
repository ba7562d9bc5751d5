"""Two nodes that have nothing to say to each other greet once and are silent."""

import pytest

from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import Datagram
from dens.overlay.storage.memory import MemoryStore


@pytest.mark.parametrize("lost", [(), (0,), (1,), (2,), (3,), (2, 3), (1, 2), (0, 3)])
def test_two_subscribers_in_contact_stop_greeting(lost: tuple[int, ...]) -> None:
    """Whichever hello was lost, the first or the last, they once sent a HELLO every second while in range."""
    ends = {node: SubscriberEndpoint(node, Mission(7), MemoryStore(), 0) for node in (1, 2)}
    ends[1].contact_opened(2, 0)
    ends[2].contact_opened(1, 0)
    sent = 0
    under_way: list[tuple[int, int, Datagram]] = []
    for now_ms in range(0, 60_000, 10):
        for number, sender, datagram in under_way:
            if number not in lost:
                ends[datagram.peer].receive(datagram.data, sender, now_ms)
        under_way = []
        for node, end in ends.items():
            end.timer_due(now_ms)
            for datagram in end.datagrams_to_send(now_ms):
                under_way.append((sent, node, datagram))
                sent += 1
    assert 2 <= sent <= 4 + 2 * len(lost)
