"""A subscriber's process whose output ends loses nothing."""

import pytest

from dens.events import Event, NotificationDelivered
from dens.item import Item
from dens.numbers import MessageType
from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd
from studio.node.asking import Ear
from studio.node.output import OutputError


def test_what_could_not_be_shown_is_shown_after_the_next_start() -> None:
    store = MemoryStore()
    item = Item(MessageType.NOTIFICATION, 0, 4, 1, 0, 99, 2, b"\x03\x09")
    delivered = NotificationDelivered(0, item, 2, None, satisfied=((5, 0, 9),))

    def show(event: Event) -> None:
        raise OutputError(BrokenPipeError())

    ear = Ear(SubscriberEnd(7, 1, store, 0), show, print, None, [])
    with pytest.raises(OutputError):
        ear.hear(delivered)
    again = SubscriberEnd(7, 1, store.crash(), 50)
    events = list(iter(again.next_event, None))
    [shown] = [event for event in events if isinstance(event, NotificationDelivered)]
    assert (shown.item, shown.satisfied) == (item, ((5, 0, 9),))
