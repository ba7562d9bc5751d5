"""Ground truth: which subscriptions a whole reading would satisfy, asked in columns by Spark.

What left a source says nothing of what should have left it. So every reading that a watchdog judged is told
in full and judged again, by the language itself, against everything that was in force.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from plugins.language import Matcher

Integers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]

Judged = tuple[Integers, Keys, Bytes]
"""(ends, keys, degrees): the matches of reading i stand at [ends[i - 1], ends[i]), in no particular order."""


@dataclass(frozen=True, slots=True)
class ReadingColumns:
    """Readings side by side. `rows` has one byte for every attribute index, 0 where there is no value; bit i
    of `features` says whether attribute i has one. `exact` are the values as the source knew them
    (`plugins.readings`), None of a reading that its bytes tell fully.
    """

    event_ms: Integers
    events: Bytes
    features: Integers
    rows: Bytes
    exact: Sequence[bytes | None]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.events)

    def part(self, begin: int, end: int) -> "ReadingColumns":
        """Return some of them."""
        some = slice(begin, end)
        return ReadingColumns(
            self.event_ms[some], self.events[some], self.features[some], self.rows[some], self.exact[some]
        )


class GroundTruth(Protocol):
    """Judges readings against the subscriptions it holds, which are known by numbers of the caller's."""

    def add(self, number: int, body: bytes) -> None:
        """Hold a subscription under a number that is free."""
        ...

    def remove(self, number: int) -> None:
        """Forget it."""
        ...

    def judge(self, readings: ReadingColumns) -> Judged:
        """Return what each reading satisfies, at the age of 0."""
        ...


class TellingTruth:
    """Ground truth by a language's own matcher: each reading is told as a notification, and matched.

    `tell` takes a reading's event class, mask, row and exact values and returns the notification that says
    all of it, None where there is nothing to say.
    """

    def __init__(
        self, matcher: Matcher, tell: Callable[[int, int, Bytes, bytes | None], bytes | None]
    ) -> None:
        self._matcher = matcher
        self._tell = tell

    def add(self, number: int, body: bytes) -> None:
        """Hold a subscription under a number that is free."""
        self._matcher.add(_key(number), body)

    def remove(self, number: int) -> None:
        """Forget it."""
        self._matcher.remove(_key(number))

    def judge(self, readings: ReadingColumns) -> Judged:
        """Ask one reading after the other."""
        ends = np.zeros(len(readings), np.int64)
        found: list[tuple[int, int]] = []
        for at in range(len(readings)):
            event, feature = int(readings.events[at]), int(readings.features[at])
            vector = self._tell(event, feature, readings.rows[at], readings.exact[at])
            if vector is not None:
                for match in self._matcher.match(vector, 0, 0):
                    found.append((match.key[0] << 8 | match.key[1], match.degree_u8))
            ends[at] = len(found)
        table = np.array(found, np.int64).reshape(-1, 2)
        return ends, table[:, 0].astype(np.uint32), table[:, 1].astype(np.uint8)


def _key(number: int) -> tuple[int, int]:
    return number >> 8, number & 255
