"""A filter host that answers as a board of a kind does."""

from dens.boards.board import Board
from dens.boards.board_language import AGGREGATOR_AT, BOARD_LANGUAGE, new_filter
from knowledge_manager.mission_table import MissionTable
from plugins.language import Damper
from watchdog.codes import FULL
from watchdog.execution import ExecutionEnvironment
from watchdog.header import NO_HEADER
from watchdog.publisher import LAST_ORIGIN
from watchdog.watchdog import Watchdog


class BoardHost:
    """A filter host that answers an install as a board of this kind does: what the board cannot take is
    refused with its own answer, and everything else is the watchdog's."""

    def __init__(
        self,
        board: Board,
        table: MissionTable,
        dampers: dict[int, Damper],
        algorithm: str | None = None,
        environment: ExecutionEnvironment | None = None,
        condition: str | None = None,
    ) -> None:
        """Make the watchdog of such a board, which speaks one language alone, under the mission's feature
        condition.
        """
        self._board = board
        self._feature_bytes = table.feature_bytes
        fits = board.width_fault(table.feature_bytes) is None
        source = new_filter(table, board.pool(algorithm) if fits else None, condition)
        self.watchdog = Watchdog(
            {BOARD_LANGUAGE.language_id: source},
            capacity=board.capacity,
            dampers=dampers,
            environment=environment,
        )

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        """Look for this subscription, or refuse it; see `watchdog.watchdog.SENTENCES`. A board has two bytes
        for a subscriber, and no room for those with higher numbers.
        """
        if origin > LAST_ORIGIN:
            self.watchdog.counters["refused"] += 1
            return FULL
        vector = NO_HEADER + body
        if language == BOARD_LANGUAGE.language_id and len(vector) > AGGREGATOR_AT:
            for fault in self._board.faults(vector, self._feature_bytes):
                self.watchdog.counters["refused"] += 1
                return fault.code
        return self.watchdog.install(origin, id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> int:
        """Stop looking for this revision and older ones."""
        return FULL if origin > LAST_ORIGIN else self.watchdog.remove(origin, id, seq, now_ms)
