"""Readings of a stream that is there as a whole, for languages that are about what follows what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StreamReading:
    """One reading: whose, of which event class, its number and its second there (neither wraps), and the
    bytes of what was measured. `place` is where it stands in its file, for people.
    """

    source: int
    event: int
    number: int
    second: int
    values: dict[int, int]
    place: int = field(default=0, compare=False)


class StreamLearner(Protocol):
    """Counts in streams what a subscription needs to know of the past. It can be shipped to other processes;
    counts of several streams add up.
    """

    @property
    def events(self) -> frozenset[int]:
        """Return the event classes whose readings count."""
        ...

    def count(self, readings: Sequence[StreamReading]) -> Mapping[str, int]:
        """Return what there is to count in the readings of one source, which are in their order."""
        ...

    def written(self, counts: Mapping[str, int]) -> bytes:
        """Return the file that a subscription names, made of the counts of all streams."""
        ...

    def summary(self, counts: Mapping[str, int]) -> Mapping[str, Any]:
        """Return what was learnt, for people and programs."""
        ...
