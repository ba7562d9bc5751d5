"""A subscriber's end over several revisions of one subscription: what it buries, and for how long."""

import pytest

from dens.item import LIFETIME_MS
from dens.numbers import MessageType, Role
from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd
from emulation.torture.topics import LANGUAGE, subscription
from tests.dens.test_engines import HOUR_Q, ScriptedPeer

SHORT_Q = 24


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("is_renewed", [False, True])
def test_a_withdrawal_outlives_every_revision_there_ever_was(is_restarted: bool, is_renewed: bool) -> None:
    """Not only the last one: a copy of the first may still be carried somewhere."""
    store = MemoryStore()
    end = SubscriberEnd(1, 7, store, 0)
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    end.subscribe(subscription(5, 1, SHORT_Q, 3, 1), LANGUAGE, 10)
    if is_renewed:
        end.renew(5, SHORT_Q, 20)
    end.datagrams_to_send(20)
    if is_restarted:
        end = SubscriberEnd(1, 7, store.crash(), 20)
    end.unsubscribe(5, 30)
    heard = ScriptedPeer(end, 2, Role.MEDIATOR, 30).hear()
    last = max(
        (item for item in heard if item.type == MessageType.UNSUBSCRIBE), key=lambda item: item.payload[1]
    )
    assert last.payload == bytes((5, 1))
    assert last.expires_ms > LIFETIME_MS[HOUR_Q]
    assert end.in_force == ()
    assert end.next_seq(5) == 2
