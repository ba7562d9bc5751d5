"""What applications say when their device is up again."""

import pytest

from emulation.workload.resubscription import Request, Resubscription
from emulation.world.node import Node
from tests.emulation.test_board_time import node

ASKED, LATER = Request(1, bytes((4, 255, 9, 9)), "fever.xml"), Request(1, bytes((5, 0, 9)), None)


@pytest.fixture
def medic() -> Node:
    return node(1)


def test_with_its_store_only_unsent_messages_are_sent(medic: Node) -> None:
    kept = Resubscription()
    kept.requested(medic, ASKED)
    kept.postpone(medic, LATER)
    assert kept.requests(medic, has_store=True) == [LATER]
    assert kept.requests(medic, has_store=True) == []


def test_without_its_store_everything_is_resubscribed_as_the_next_revision(medic: Node) -> None:
    kept = Resubscription()
    kept.requested(medic, ASKED)
    kept.postpone(medic, LATER)
    renewed = ASKED._replace(vector=bytes((4, 0, 9, 9)))
    assert kept.requests(medic, has_store=False) == [renewed, LATER]
    assert kept.requests(node(2), has_store=False) == []


def test_withdrawn_subscription_is_not_resubscribed(medic: Node) -> None:
    kept = Resubscription()
    kept.requested(medic, ASKED)
    kept.postpone(medic, LATER)
    kept.forget(medic, 4)
    kept.forget(medic, 5)
    kept.postpone_withdrawal(medic, 4)
    assert kept.requests(medic, has_store=False) == []
    assert kept.withdrawals(medic) == [4]
    assert kept.withdrawals(medic) == []
