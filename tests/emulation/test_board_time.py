"""Boards that compute: what they are given is done one after the other, and everybody else is free."""

from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd
from emulation.board_time import BoardTime
from emulation.clock import Clock
from emulation.node import Node
from emulation.scenario.fault_settings import BoardSettings
from emulation.scenario.scenario import NodeSlot

SLOW = BoardSettings(reading_us=1000, subscription_us=100, match_us=500, message_us=2500)


def node(number: int) -> Node:
    store = MemoryStore()
    slot = NodeSlot(number, number, "medics", number, "subscriber")
    return Node(slot, SubscriberEnd(number, 0, store, 0), store)


def test_what_a_board_is_given_is_done_one_after_the_other() -> None:
    clock, slow, quick = Clock(), node(1), node(2)
    boards = BoardTime(clock, {1: SLOW})
    assert boards.free_ms(slow) == 0
    boards.message(slow)
    assert boards.free_ms(slow) == 3
    boards.matches(slow, 3)
    assert boards.free_ms(slow) == 4
    clock.run_until(10)
    assert boards.judging_us(slow, 2, 0) == 1200.0
    assert boards.free_ms(slow) == 12, "a pause is not computed in"
    boards.message(quick)
    assert boards.judging_us(quick, 2, 0) == 0.0
    assert boards.free_ms(quick) == 0


def test_what_a_node_was_busy_with_is_gone_when_it_begins_again() -> None:
    boards, slow = BoardTime(Clock(), {1: SLOW}), node(1)
    boards.message(slow)
    boards.restarted(slow)
    assert boards.free_ms(slow) == 0
