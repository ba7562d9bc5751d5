"""Checks look-ups under all faults: answers are true, come once and in time, and stay within their limits."""

from typing import TYPE_CHECKING, Final

from dens.overlay.events import OffersHeard
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.plan import CLOCK_JUMP_MS, LOOK_UP_MS

if TYPE_CHECKING:
    from emulation.fault_injection.world import World

_EXTRACT: Final = b"\x01\x02"
"""The extract that every publisher of a world announces."""


class LookupChecker:
    """Checks the look-ups of one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._open: dict[tuple[int, int], int] = {}
        """When each look-up was started, by node and number."""
        self._answered: dict[tuple[int, int], int] = {}
        """How many mediators answered each look-up."""
        self._last: dict[int, OffersHeard] = {}
        self.answers = 0
        """Look-ups that at least one mediator answered."""

    def requested(self, node: int, number: int) -> None:
        """Record that an application started a look-up."""
        place = (node, number)
        is_new = place not in self._open and place not in self._answered
        demand(is_new, 3, f"node {node} used number {number} for two look-ups")
        self._open[place] = self._world.now_ms

    def heard(self, node: int, event: OffersHeard) -> None:
        """Check an answer: it comes once, lists only real publishers with their real extracts, and counts no
        more mediators than there are.
        """
        world, place = self._world, (node, event.number)
        demand(place not in self._answered, 3, f"node {node} got the result of look-up {event.number} twice")
        self._answered[place] = event.mediators
        self._open.pop(place, None)
        self._last[node] = event
        self.answers += event.mediators > 0
        demand(
            event.mediators <= len(world.mediators),
            6,
            f"node {node} counted answers of {event.mediators} mediators, there are {len(world.mediators)}",
        )
        for offer in event.offers:
            item = offer.item
            is_one = item.origin in world.publishers or item.origin in world.hostile
            is_true = is_one and item.payload == _EXTRACT
            demand(is_true, 6, f"node {node} got an offer that no publisher made: {item}")

    def crashed(self, node: int) -> None:
        """Record a crash: its look-ups are lost, and numbers without an answer may be used again."""
        self._open = {place: at_ms for place, at_ms in self._open.items() if place[0] != node}
        unheard = [place for place, count in self._answered.items() if place[0] == node and not count]
        for place in unheard:
            del self._answered[place]

    def step(self, node: int) -> None:
        """Check the limit of remembered look-ups, and that every look-up ends."""
        world = self._world
        count = len(world.machines[node]._lookups)
        most = max(world.plan.limits.lookups, 1)
        demand(count <= most, 7, f"node {node} remembers {count} look-ups, at most {most} are allowed")
        late_ms = LOOK_UP_MS + 1_000 + (20 * CLOCK_JUMP_MS if world.plan.faults.clock else 0)
        for (asker, number), at_ms in self._open.items():
            is_in_time = asker != node or world.now_ms <= at_ms + late_ms
            demand(is_in_time, 2, f"look-up {number} of node {asker} did not end in time")

    def is_complete(self, node: int) -> bool:
        """Return whether the last answer at a node has every mediator and every publisher."""
        world, last = self._world, self._last.get(node)
        if last is None or last.missing or last.mediators != len(world.mediators):
            return False
        return set(world.publishers) <= {offer.item.origin for offer in last.offers if offer.distance}

    def conclude(self, node: int) -> None:
        """Check that the last look-up, without faults, is complete."""
        demand(
            self.is_complete(node),
            2,
            f"the last look-up of node {node}, without faults, is incomplete: {self._last.get(node)}",
        )
