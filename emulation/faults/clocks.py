"""Clocks that jump: engines compare none, so each may live in a time of its own."""

from emulation.world.world import World


def jump_clock(world: World, device: int, jump_s: float) -> None:
    """Let the clock of a device be ahead by so much more than it was."""
    for node in world.inside(device):
        if device not in world.reachability.down:
            world.settle_now(node)  # What happened until now happened in the old time.
            world.tell_ends_of(node)
        node.skew_ms += int(1000 * jump_s)
        node.set_ms = world.now_ms
        world.settle(node)
