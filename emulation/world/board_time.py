"""Computing time of nodes with a board: while a node computes, its output waits.

Computing uses energy of the device's supply, if it has one.
"""

from collections.abc import Mapping

from emulation.clock import Clock
from emulation.scenario.settings.faults import BoardSettings
from emulation.world.energy_supply import EnergySupply
from emulation.world.node import Node
from plugins.matching_work import MatchingWork


class BoardTime:
    """The boards of nodes, and until when each is busy. Nodes without a board compute in no time."""

    def __init__(
        self, clock: Clock, boards: Mapping[int, BoardSettings], energy: EnergySupply | None = None
    ) -> None:
        """Take the board of every node that has one."""
        self._clock = clock
        self._boards = boards
        self._energy = energy
        self._busy_us: dict[int, float] = {}

    def free_ms(self, node: Node) -> int:
        """Return the first millisecond in which a node is no longer busy."""
        return -int(-self._busy_us.get(node.number, 0.0) // 1000.0)

    def restarted(self, node: Node) -> None:
        """Drop the work of a node that restarted."""
        self._busy_us.pop(node.number, None)

    def message(self, node: Node) -> None:
        """Charge a node for processing a message."""
        if (board := self._boards.get(node.number)) is not None:
            self._compute(node, board, board.message_us)

    def matching_us(self, node: Node, work: MatchingWork) -> float:
        """Charge a node for matching work, and return its time."""
        if (board := self._boards.get(node.number)) is None:
            return 0.0
        cost_us = board.matching.of(work)
        self._compute(node, board, cost_us)
        return cost_us

    def judging_us(self, node: Node, installed: int, judged: int, released: int) -> float:
        """Charge a node for filtering a reading, and return the time."""
        if (board := self._boards.get(node.number)) is None:
            return 0.0
        cost_us = board.judging_us(installed, judged, released)
        self._compute(node, board, cost_us)
        return cost_us

    def _compute(self, node: Node, board: BoardSettings, cost_us: float) -> None:
        """Keep a node busy for this time, after its current work."""
        if cost_us > 0.0:
            begin_us = max(1000.0 * self._clock.now_ms, self._busy_us.get(node.number, 0.0))
            self._busy_us[node.number] = begin_us + cost_us
            if self._energy is not None:
                self._energy.compute(node.slot.device, cost_us, board.active_w)
