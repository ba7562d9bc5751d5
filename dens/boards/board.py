"""Kinds of boards and the subscriptions that they accept. Each kind is a file in `dens/boards/models`.

The limits match the programs of `dens/boards/mains/` and `watchdog/small_host.py`; a test compares them.

    for fault in BOARDS["microbit"].faults(vector, table.feature_bytes):
        print(fault.message)        # and fault.offset, the byte of the vector that it is about
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dens.boards.board_language import AGGREGATOR_AT
from dens.boards.filter_parts import FORMS
from dens.config.problems import did_you_mean
from watchdog.aggregators import AGGREGATOR_NAMES
from watchdog.codes import ALGORITHMS, BAD_VECTOR, UNKNOWN_LANGUAGE
from watchdog.pool import Pool


@dataclass(frozen=True, slots=True)
class BoardFault:
    """A part of a subscription that a board cannot accept, with the board's result code."""

    offset: int
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Board:
    """One kind of board."""

    name: str
    spoken: str
    """Its name in a sentence, with an article."""
    feature_bytes: int
    aggregators: int
    """Bit mask of the aggregators that it evaluates."""
    block_bytes: int
    most_blocks: int
    capacity: int
    """How many subscriptions of three attributes fit."""
    algorithms: tuple[str, ...]
    """The algorithms that its filter can be built with, the default first."""
    is_sharing: bool = True
    """Whether equal subscriptions share a record (watchdog/sharing.py)."""
    is_flat: bool = False
    """Whether its file system has no folders, so that its modules are bundled."""
    chip: str = ""
    """The architecture that `mpy-cross` compiles native kernels for."""
    light: str = "None"
    """The pin of its LED, as settings.py has it."""
    sensors: str = ""
    """The program in `dens/boards/mains` that its owner starts from."""

    def algorithm_fault(self, algorithm: str) -> str | None:
        """Return why this board's filter cannot have this algorithm, None if it can."""
        if algorithm in self.algorithms:
            return None
        if algorithm not in ALGORITHMS:
            known = ", ".join(self.algorithms)
            hint = did_you_mean(algorithm, self.algorithms)
            return f"unknown algorithm {algorithm}{hint}; {self.spoken} can have {known}"
        return (
            f"{self.spoken} has no room for {algorithm} beside its link; it can have "
            f'{" or ".join(self.algorithms)} ("dens help boards" lists what each costs)'
        )

    def width_fault(self, feature_bytes: int) -> str | None:
        """Return why this board does not support features of this width, None if it does."""
        if feature_bytes == self.feature_bytes:
            return None
        byte = f"{self.feature_bytes} byte" + "s" * (self.feature_bytes > 1)
        return (
            f"{self.spoken} supports features of {byte}, and this mission's have {feature_bytes}; "
            "keep to 8 event classes and 7 attributes each"
        )

    def faults(self, vector: bytes, feature_bytes: int) -> Iterator[BoardFault]:
        """Yield the parts of a subscription that this board cannot accept."""
        if (reason := self.width_fault(feature_bytes)) is not None:
            yield BoardFault(len(vector) - 2 * feature_bytes, BAD_VECTOR, reason)
        aggregator = vector[AGGREGATOR_AT] & 15
        if not self.aggregators >> aggregator & 1:
            known = ", ".join(
                name for number, name in AGGREGATOR_NAMES.items() if self.aggregators >> number & 1
            )
            name = AGGREGATOR_NAMES.get(aggregator, "unknown")
            message = f"{self.spoken} cannot combine by {name} (aggregator {aggregator}); it supports {known}"
            yield BoardFault(AGGREGATOR_AT, UNKNOWN_LANGUAGE, message)

    def with_forms(self, forms: str | None) -> "Board":
        """Return this board built with these forms."""
        return (
            self if forms is None else replace(self, aggregators=self.aggregators | FORMS[forms].aggregators)
        )

    def pool(self, algorithm: str | None = None) -> Pool:
        """Return an empty pool with the room of this board's, for the default algorithm or another."""
        number = ALGORITHMS[algorithm or self.algorithms[0]]
        return Pool(self.feature_bytes, self.block_bytes, self.most_blocks, number)
