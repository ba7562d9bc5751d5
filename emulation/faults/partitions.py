"""Partitions: some devices reach nobody but each other, until that is taken back."""

from emulation.world.world import World


def cut_off(world: World, island: frozenset[int]) -> None:
    """Let these devices reach nobody but each other; contacts across are cut."""
    before = world.reachability.talking()
    world.reachability.cut_off(island)
    for a, b in before:
        if not world.reachability.can_talk(a, b):
            world.disconnect(a, b, "partition")


def rejoin(world: World, island: frozenset[int]) -> None:
    """Take one such partition back; contacts that still last are taken up."""
    before = set(world.reachability.talking())
    world.reachability.join(island)
    for a, b in world.reachability.talking():
        if (a, b) not in before:
            world.connect(a, b)
