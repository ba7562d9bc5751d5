"""What is checked of look-ups, whatever faults are injected: answers are true, come once and in time, and
cost what they may.
"""

from typing import TYPE_CHECKING, Final

from dens.overlay.events import OffersHeard
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.plan import CLOCK_JUMP_MS, LOOK_UP_MS

if TYPE_CHECKING:
    from emulation.fault_injection.world import World

_EXTRACT: Final = b"\x01\x02"
"""What every publisher of a world announces."""


class LookupChecker:
    """Watches the look-ups of one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._open: dict[tuple[int, int], int] = {}
        """Who asked, the number, and when it was asked."""
        self._answered: dict[tuple[int, int], int] = {}
        """By how many mediators."""
        self._last: dict[int, OffersHeard] = {}
        self.answers = 0
        """How many came from somebody."""

    def asked(self, node: int, number: int) -> None:
        """See an application ask."""
        place = (node, number)
        is_new = place not in self._open and place not in self._answered
        demand(is_new, 3, f"{node} gave the number {number} to two look-ups")
        self._open[place] = self._world.now_ms

    def heard(self, node: int, event: OffersHeard) -> None:
        """Check an answer: it comes once, names none but publishers with what they really said, and no more
        mediators than there are.
        """
        world, place = self._world, (node, event.number)
        demand(place not in self._answered, 3, f"{node} heard the answer {event.number} twice")
        self._answered[place] = event.mediators
        self._open.pop(place, None)
        self._last[node] = event
        self.answers += event.mediators > 0
        demand(event.mediators <= len(world.mediators), 6, f"{node} heard of more mediators than there are")
        for offer in event.offers:
            item = offer.item
            is_one = item.origin in world.publishers or item.origin in world.hostile
            is_true = is_one and item.payload == _EXTRACT
            demand(is_true, 6, f"{node} was told of an offer that nobody made: {item}")

    def crashed(self, node: int) -> None:
        """See an engine end; who asked is there no more, and a number that nobody heard may be used again."""
        self._open = {place: at_ms for place, at_ms in self._open.items() if place[0] != node}
        unheard = [place for place, count in self._answered.items() if place[0] == node and not count]
        for place in unheard:
            del self._answered[place]

    def step(self, node: int) -> None:
        """Check that no more is remembered than may be, and that nobody waits for ever."""
        world = self._world
        count = len(world.machines[node]._lookups)
        demand(count <= max(world.plan.limits.lookups, 1), 7, f"{node} remembers {count} look-ups")
        late_ms = LOOK_UP_MS + 1_000 + (20 * CLOCK_JUMP_MS if world.plan.faults.clock else 0)
        for (asker, number), at_ms in self._open.items():
            is_in_time = asker != node or world.now_ms <= at_ms + late_ms
            demand(is_in_time, 2, f"{asker} never heard an answer to its look-up {number}")

    def has_heard_everybody(self, node: int) -> bool:
        """Return whether the last answer that a node heard is whole: every mediator and every publisher."""
        world, last = self._world, self._last.get(node)
        if last is None or last.missing or last.mediators != len(world.mediators):
            return False
        return set(world.publishers) <= {offer.item.origin for offer in last.offers if offer.distance}

    def conclude(self, node: int) -> None:
        """Check that, in the end and without faults, everybody answers and nobody is left out."""
        demand(self.has_heard_everybody(node), 2, f"{node} heard only {self._last.get(node)} at last")
