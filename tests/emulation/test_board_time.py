"""Boards that compute: what they are given is done one after the other, and everybody else is free."""

from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from emulation.clock import Clock
from emulation.devices.board_profile import load_board_profile
from emulation.scenario.scenario import NodeSlot
from emulation.scenario.settings.faults import BoardSettings
from emulation.world.board_time import BoardTime
from emulation.world.node import Node
from plugins.matching_work import MatchingWork

SLOW = BoardSettings(
    reading_us=1000, subscription_us=100, feature_test_us=5, membership_us=20, message_us=2500
)


def node(number: int) -> Node:
    store = MemoryStore()
    slot = NodeSlot(number, number, "medics", number, "subscriber")
    return Node(slot, SubscriberEndpoint(number, Mission(0), store, 0), store)


def test_what_a_board_is_given_is_done_one_after_the_other() -> None:
    clock, slow, quick = Clock(), node(1), node(2)
    boards = BoardTime(clock, {1: SLOW})
    assert boards.free_ms(slow) == 0
    boards.message(slow)
    assert boards.free_ms(slow) == 3
    assert boards.matching_us(slow, MatchingWork(feature_tests=100, memberships=50)) == 1500.0
    assert boards.free_ms(slow) == 4
    clock.run_until(10)
    assert boards.judging_us(slow, 2, 2, 0) == 1200.0
    assert boards.free_ms(slow) == 12, "a pause is not computed in"
    boards.message(quick)
    assert boards.matching_us(quick, MatchingWork(feature_tests=100)) == 0.0
    assert boards.judging_us(quick, 2, 2, 0) == 0.0
    assert boards.free_ms(quick) == 0


def test_equal_subscriptions_in_one_record_cost_as_much_as_one() -> None:
    """A micro:bit keeps a record for each subscriber, whatever the emulated pool does."""
    boards = {profile: BoardSettings(profile=profile) for profile in ("pico", "microbit")}
    one = {profile: board.judging_us(1, 1, 0) for profile, board in boards.items()}
    each = {profile: load_board_profile(profile).refused_us["min"] for profile in boards}
    assert boards["pico"].judging_us(50, 1, 0) == one["pico"]
    assert boards["pico"].judging_us(50, 50, 0) == one["pico"] + 49 * each["pico"]
    assert boards["microbit"].judging_us(50, 1, 0) == boards["microbit"].judging_us(50, 50, 0)
    assert boards["microbit"].judging_us(50, 1, 0) == one["microbit"] + 49 * each["microbit"]
    assert BoardSettings(subscription_us=100).judging_us(50, 3, 1) == 300.0


def test_what_a_node_was_busy_with_is_gone_when_it_begins_again() -> None:
    boards, slow = BoardTime(Clock(), {1: SLOW}), node(1)
    boards.message(slow)
    boards.restarted(slow)
    assert boards.free_ms(slow) == 0
