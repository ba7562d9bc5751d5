"""Publication of documents: a document is offered to the filter of its language, and what that releases is
published.

A document that is due while its device is down is published after the restart, as its author would do.
"""

from emulation.clock import Rank
from emulation.scenario import Scenario
from emulation.scenario.publications import PlannedPublications
from emulation.workload.applications import Workload
from emulation.world.node import Node
from emulation.world.world import World
from plugins.language import DocumentFilter

AGAIN_MS = 1000
"""The retry interval while a device is down."""


class Publishing:
    """The documents of a world."""

    def __init__(self, world: World, workload: Workload) -> None:
        self._world = world
        self._workload = workload
        self._clock = world.clock

    def begin(self, scenario: Scenario) -> None:
        """Schedule the first document of every publisher."""
        for plan in scenario.publications:
            for node in self._world.nodes:
                if (node.slot.group, node.slot.role) == (plan.group, "publisher"):
                    self._later(plan.at_ms, node, plan, 0)

    def _later(self, at_ms: int, node: Node, plan: PlannedPublications, index: int) -> None:
        self._clock.call_at(at_ms, Rank.APPLICATION, self._publish, node, plan, index)

    def _publish(self, node: Node, plan: PlannedPublications, index: int) -> None:
        world, now_ms = self._world, self._clock.now_ms
        if node.slot.device in world.reachability.down:
            self._later(now_ms + AGAIN_MS, node, plan, index)
            return
        assert node.watchdog is not None
        node.watchdog.expire(now_ms + node.skew_ms)
        filter: DocumentFilter = node.watchdog.filters[plan.language]
        vector = plan.publications[index].vector
        released = filter.offer(vector)
        number = node.next_number(None)
        world.journal.offered(
            now_ms,
            node.number,
            number,
            plan.language,
            vector,
            node.watchdog.interested(),
            len(released),
        )
        for release in released:
            self._workload.publish(node, plan.language, release.vector, plan.lifetimes[index], number)
        world.settle(node)
        if index + 1 < len(plan.publications):
            self._later(now_ms + plan.every_ms, node, plan, index + 1)
