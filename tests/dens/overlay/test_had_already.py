"""What a subscriber's summary names is not pending for it, also where it is found after the summary came.

No receipts are kept in these worlds: a subscriber without room for them has only its summary to show what it
has.
"""

from dataclasses import replace

import pytest

from dens.overlay.broker.options import BrokerOptions
from dens.overlay.events import CopyDropped
from dens.overlay.mediator.node import DensNode
from dens.overlay.wire.codes import NOTIFY
from tests.dens.overlay.broker.net import QUICK as QUICK_BROKERS
from tests.dens.overlay.broker.net import BrokerNet
from tests.dens.overlay.covered_net import FIRST, MEDIC, QUICK, SECOND, SOURCE, CoveredNet


@pytest.mark.parametrize("learns_last", ["notification", "subscription"])
def test_a_mediator_has_nothing_pending_for_a_subscriber_that_named_it(learns_last: str) -> None:
    net = CoveredNet(None, limits=replace(QUICK, receipts=0))
    net.ask(MEDIC, 0, topic=1, least=50, seq=1)
    net.meet(MEDIC, FIRST)
    net.meet(FIRST, SOURCE)
    event = net.read(1, 90)
    assert event is not None
    net.meet(FIRST, SOURCE)
    net.meet(MEDIC, FIRST)
    assert net.delivered == {(MEDIC, event)}
    if learns_last == "subscription":
        net.meet(FIRST, SECOND)
    net.meet(MEDIC, SECOND, for_good=True)
    net.meet(FIRST, SECOND)
    net.subscriber(MEDIC).renew(0, 104, net.now_ms)
    net.run()
    second = net.engines[SECOND]
    assert isinstance(second, DensNode)
    assert event in second.state.items
    assert list(second.state.carried.pending_subscribers(event)) == []
    assert [item.id for node, _, item in net.sent if item.type == NOTIFY and node == SECOND] == []


def test_a_broker_does_not_hold_what_its_subscriber_named() -> None:
    """It lost its store: the publisher repeats a notification that the subscriber has."""
    net = BrokerNet(
        [(1, 100), (1, 200)],
        limits=replace(QUICK_BROKERS, receipts=0),
        options=BrokerOptions(patience_ms=1_000),
    )
    net.advertise(200, 0, topic=1)
    net.subscribe(100, 0, topic=1, least=50)
    net.run()
    event = net.publish(200, topic=1, value=90)
    net.run()
    assert net.delivered == [(100, event)]
    net.crash(1, has_store=False)
    net.run(20_000)
    assert net.broker(1).state.carried.all() == []
    reasons = [one.reason for node, one in net.events if node == 1 and isinstance(one, CopyDropped)]
    assert set(reasons) == {"delivered"}
    assert net.delivered == [(100, event)]
