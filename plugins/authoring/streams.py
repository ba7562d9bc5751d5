"""Readings of a complete stream, for languages about sequences of events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StreamReading:
    """One reading: its source, event class, number and second at the source (neither wraps), and measured
    bytes. `place` is its position in a file, for messages.
    """

    source: int
    event: int
    number: int
    second: int
    values: dict[int, int]
    place: int = field(default=0, compare=False)


class StreamLearner(Protocol):
    """Counts in past streams what a subscription needs. It can be pickled; the counts of several streams add
    up.
    """

    @property
    def events(self) -> frozenset[int]:
        """Return the event classes to count."""
        ...

    def count(self, readings: Sequence[StreamReading]) -> Mapping[str, int]:
        """Return the counts of one source's readings, which are in order."""
        ...

    def written(self, counts: Mapping[str, int]) -> bytes:
        """Return the file that a subscription refers to, from the counts of all streams."""
        ...

    def summary(self, counts: Mapping[str, int]) -> Mapping[str, Any]: ...
