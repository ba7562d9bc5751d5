"""What a board takes, and what it refuses: said once, for builds, for emulated boards and for `dens check`.

What is said here is what the programs of `dens/boards/mains/` and `watchdog/small_host.py` do; a test holds
both together.

    for fault in BOARDS["microbit"].faults(vector, table.feature_bytes):
        print(fault.message)        # and fault.offset, the byte of the vector that it is about
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dens.boards.board_language import AGGREGATOR_AT, BOARD_LANGUAGE, new_filter
from dens.boards.filter_parts import FORMS
from dens.config.problems import did_you_mean
from knowledge_manager.mission_table import MissionTable
from plugins.language import Damper
from watchdog.aggregators import AGGREGATOR_NAMES, KNOWN_AGGREGATORS, MOST_BASIC
from watchdog.algorithms import ALGORITHMS
from watchdog.execution import ExecutionEnvironment
from watchdog.header import NO_HEADER
from watchdog.pool import Pool
from watchdog.publisher import LAST_ORIGIN
from watchdog.watchdog import BAD_VECTOR, FULL, UNKNOWN_LANGUAGE, Watchdog


@dataclass(frozen=True, slots=True)
class BoardFault:
    """Something of a subscription that a board cannot take, and how the board answers it."""

    offset: int
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class BoardLimits:
    """What one kind of board takes."""

    spoken: str
    feature_bytes: int
    aggregators: int
    """The aggregators that it knows, a bit for each."""
    block_bytes: int
    most_blocks: int
    capacity: int
    """How many subscriptions of three attributes it has room for."""
    algorithms: tuple[str, ...]
    """The algorithms that its filter can be built with, the usual one first."""
    is_sharing: bool = True
    """Whether equal subscriptions are one record (watchdog/sharing.py)."""

    def algorithm_fault(self, algorithm: str) -> str | None:
        """Return why this board's filter cannot have an algorithm of this name; None where it can."""
        if algorithm in self.algorithms:
            return None
        if algorithm not in ALGORITHMS:
            known = ", ".join(self.algorithms)
            hint = did_you_mean(algorithm, self.algorithms)
            return f"there is no algorithm {algorithm}{hint}; {self.spoken} can have {known}"
        return (
            f"{self.spoken} has no room for {algorithm} beside its link; it can have "
            f"{' or '.join(self.algorithms)} (docs/boards.md says what each costs)"
        )

    def width_fault(self, feature_bytes: int) -> str | None:
        """Return why a mission with features of so many bytes is not for this board; None where it is."""
        if feature_bytes == self.feature_bytes:
            return None
        byte = f"{self.feature_bytes} byte" + "s" * (self.feature_bytes > 1)
        return (
            f"{self.spoken} knows features of {byte}, and this mission's have {feature_bytes}; "
            "keep to 8 event classes and 7 attributes each"
        )

    def faults(self, vector: bytes, feature_bytes: int) -> Iterator[BoardFault]:
        """Yield what of a subscription this board cannot take."""
        if (reason := self.width_fault(feature_bytes)) is not None:
            yield BoardFault(len(vector) - 2 * feature_bytes, BAD_VECTOR, reason)
        aggregator = vector[AGGREGATOR_AT] & 15
        if not self.aggregators >> aggregator & 1:
            known = ", ".join(
                name for number, name in AGGREGATOR_NAMES.items() if self.aggregators >> number & 1
            )
            name = AGGREGATOR_NAMES.get(aggregator, "unknown")
            message = f"{self.spoken} cannot combine by {name} (aggregator {aggregator}); it knows {known}"
            yield BoardFault(AGGREGATOR_AT, UNKNOWN_LANGUAGE, message)

    def with_forms(self, forms: str | None) -> "BoardLimits":
        """Return what such a board takes when it is built with these forms as well."""
        return (
            self if forms is None else replace(self, aggregators=self.aggregators | FORMS[forms].aggregators)
        )

    def pool(self, algorithm: str | None = None) -> Pool:
        """Return an empty pool with the room of this board's, for the usual algorithm or another."""
        number = ALGORITHMS[algorithm or self.algorithms[0]]
        return Pool(self.feature_bytes, self.block_bytes, self.most_blocks, number)


_BASIC: Final = (2 << MOST_BASIC) - 1

BOARDS: Final[Mapping[str, BoardLimits]] = {
    "microbit": BoardLimits("a micro:bit", 1, _BASIC, 1024, 4096, 44, ("fnifs", "fnif"), is_sharing=False),
    "pico": BoardLimits("a pico", 1, KNOWN_AGGREGATORS, 2048, 8, 4096, ("fnifc", "fnifs", "fnif")),
    "esp32": BoardLimits("an esp32", 1, KNOWN_AGGREGATORS, 2048, 8, 4096, ("fnifc", "fnifs", "fnif")),
}
"""The boards that programs are built for. A micro:bit's room is its heap (docs/boards.md), that of the others
their pool."""


class BoardHost:
    """A filter host that answers an install as a board of this kind does: what the board cannot take is
    refused with its own answer, and everything else is the watchdog's."""

    def __init__(
        self,
        limits: BoardLimits,
        table: MissionTable,
        dampers: dict[int, Damper],
        algorithm: str | None = None,
        environment: ExecutionEnvironment | None = None,
        condition: str | None = None,
    ) -> None:
        """Make the watchdog of such a board, which speaks one language alone, under the mission's feature
        condition.
        """
        self._limits = limits
        self._feature_bytes = table.feature_bytes
        fits = limits.width_fault(table.feature_bytes) is None
        source = new_filter(table, limits.pool(algorithm) if fits else None, condition)
        self.watchdog = Watchdog(
            {BOARD_LANGUAGE.language_id: source},
            capacity=limits.capacity,
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
            for fault in self._limits.faults(vector, self._feature_bytes):
                self.watchdog.counters["refused"] += 1
                return fault.code
        return self.watchdog.install(origin, id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> int:
        """Stop looking for this revision and older ones."""
        return FULL if origin > LAST_ORIGIN else self.watchdog.remove(origin, id, seq, now_ms)
