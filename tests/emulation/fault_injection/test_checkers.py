"""The checkers demand what docs/reference/protocols.md promises, and not more."""

from dataclasses import replace

import pytest

from dens.overlay.events import CopyDropped, MessageAcknowledged
from dens.overlay.mediator.pending import PendingDeliveries
from dens.overlay.storage.store import Space
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.envelope import pack
from dens.overlay.wire.item import Item, item_id
from dens.overlay.wire.messages import Notify, Receipt, Satisfied
from emulation.fault_injection.invariant import BrokenInvariant
from emulation.fault_injection.plan import QUICK, Faults, Plan
from emulation.fault_injection.sequences import satisfies
from emulation.fault_injection.topics import LANGUAGE, POISON
from emulation.fault_injection.world import TABLE_CHECK, World

SUBSCRIBER, MEDIATOR, PUBLISHER = 1, 2, 3
NOTIFICATION = item_id(PUBLISHER, 5)
RECEIPT = Item(MessageType.RECEIPT, 0, SUBSCRIBER, 9, 0, 80, 0, Receipt(NOTIFICATION).encode())


def small_world(**changes: object) -> World:
    plan = replace(Plan(subscribers=1, mediators=1, publishers=1, limits=QUICK, mission_key=None), **changes)  # type: ignore[arg-type]
    return World(1, plan)


def acknowledge_receipt(world: World, *, is_held: bool = True) -> None:
    """Let the subscriber learn that the mediator has its receipt."""
    if is_held:
        world.stores[MEDIATOR].put(Space.ITEM, RECEIPT.id, RECEIPT)
        world.stores[MEDIATOR].commit()
    world.checker.note(SUBSCRIBER, MessageAcknowledged(0, RECEIPT, MEDIATOR, None))


def send_notify(world: World) -> None:
    payload = Notify((Satisfied(0, 0, 255, b""),), bytes((1, 200))).encode()
    notify = Item(MessageType.NOTIFY, LANGUAGE, PUBLISHER, 5, 0, 80, 0, payload)
    world.checker.sent(MEDIATOR, SUBSCRIBER, pack(notify, TABLE_CHECK, 0, 1, 0))


def test_nothing_is_sent_of_which_the_receipt_is_held() -> None:
    world = small_world()
    send_notify(world)
    acknowledge_receipt(world)
    with pytest.raises(BrokenInvariant, match="after its receipt"):
        send_notify(world)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_receipt_that_was_dropped_counts_no_more_from_when_that_was_recorded(is_read: bool) -> None:
    """Datagrams are checked before events are read; the drop came first all the same."""
    world = small_world()
    acknowledge_receipt(world)
    dropped = CopyDropped(0, RECEIPT, None, "oldest")
    if is_read:
        world.checker.note(MEDIATOR, dropped)
    else:
        world.machines[MEDIATOR].context.events.append(dropped)
    send_notify(world)


@pytest.mark.parametrize("routing", ["carry", "broker"])
def test_an_acknowledged_receipt_has_to_be_held(routing: str) -> None:
    world = small_world(routing=routing)
    with pytest.raises(BrokenInvariant, match="does not hold it"):
        acknowledge_receipt(world, is_held=False)


@pytest.mark.parametrize("is_held", [True, False])
def test_an_acknowledgement_from_before_a_store_was_lost_says_nothing(is_held: bool) -> None:
    world = small_world(routing="broker")
    world.checker.lost_store(MEDIATOR)
    acknowledge_receipt(world, is_held=is_held)
    if is_held:
        with pytest.raises(BrokenInvariant, match="after its receipt"):
            send_notify(world)
    else:
        send_notify(world)


def test_bytes_of_no_language_do_not_join_a_sequence() -> None:
    body = bytes((1, 0, 1, 0, 255))
    assert satisfies(body, 0, POISON[:2])
    assert not satisfies(body, 0, POISON)
    assert not satisfies(body, 1, POISON)


@pytest.mark.parametrize(("air_ms", "is_matched"), [(2_000, True), (0, True), (0, False)])
def test_time_in_the_air_is_an_excuse_only_where_it_was_recorded(
    air_ms: int, is_matched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The subscription is older than the event. Two seconds late it seems to be younger, and the event is not
    pending for it. On time the event is, and a mediator that does not deliver it has no excuse.
    """
    world = small_world(faults=Faults(slow=0.5), ids=(0, 1, 2))
    world.faults = Faults()
    arrange = world._arrange_arrival

    def slowly(delay_ms: int, node: int, peer: int, data: bytes, is_false: bool) -> None:
        is_slow = node == SUBSCRIBER and data[1] != MessageType.HELLO and world.now_ms < 3_000
        arrange(delay_ms + (air_ms if is_slow else 0), node, peer, data, is_false)

    monkeypatch.setattr(world, "_arrange_arrival", slowly)
    if not is_matched:
        monkeypatch.setattr(PendingDeliveries, "_add", lambda *_: None)
    world.open(SUBSCRIBER, MEDIATOR, 20_000)
    world.open(MEDIATOR, PUBLISHER, 20_000)
    world.applications.subscribe(SUBSCRIBER, 0)
    [asked] = world.applications.revisions
    world.run(500)
    world.applications.publish(PUBLISHER, bytes((asked.vector[3], 255)))
    world.run(10_000)
    [published] = world.applications.published.values()
    assert world.applications.is_expected(asked, published)
    is_delivered = (SUBSCRIBER, published.id) in world.delivered
    assert is_delivered == (is_matched and not air_ms)
    assert world.checker.is_late(asked, published) == (air_ms > 0)
    missing = world.checker.missing_deliveries(world.now_ms)
    assert missing == ([] if is_matched else [(SUBSCRIBER, published.id)])
