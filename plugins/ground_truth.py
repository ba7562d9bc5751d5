"""Ground truth: which subscriptions a complete reading satisfies. Spark evaluates it in columns.

Released notifications do not show what should have been released. So every reading that a watchdog filtered
is recorded in full and evaluated again, by the language itself, against all subscriptions in force.
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
"""(ends, keys, degrees): the matches of reading i are [ends[i - 1], ends[i]), in no particular order."""


@dataclass(frozen=True, slots=True)
class ReadingColumns:
    """Readings as columns. `rows` has one byte per attribute index, 0 without a value; bit i of
    `features` is set if attribute i has a value. `exact` has the values as the source knew them
    (`plugins.readings`), or None if the bytes are exact.
    """

    event_ms: Integers
    events: Bytes
    features: Integers
    rows: Bytes
    exact: Sequence[bytes | None]

    def __len__(self) -> int:
        return len(self.events)

    def part(self, begin: int, end: int) -> "ReadingColumns":
        some = slice(begin, end)
        return ReadingColumns(
            self.event_ms[some], self.events[some], self.features[some], self.rows[some], self.exact[some]
        )


class GroundTruth(Protocol):
    """Evaluates readings against subscriptions, which the caller numbers."""

    def add(self, number: int, body: bytes) -> None:
        """Add a subscription under an unused number."""
        ...

    def remove(self, number: int) -> None: ...

    def judge(self, readings: ReadingColumns) -> Judged:
        """Return the subscriptions that each reading satisfies at age 0."""
        ...


class MatcherTruth:
    """Ground truth by a language's own matcher: each reading is encoded as a notification and matched.

    `encode` takes a reading's event class, mask, row and exact values and returns a notification with all
    values, or None if there are none.
    """

    def __init__(
        self, matcher: Matcher, notification_of: Callable[[int, int, Bytes, bytes | None], bytes | None]
    ) -> None:
        self._matcher = matcher
        self._notification_of = notification_of

    def add(self, number: int, body: bytes) -> None:
        self._matcher.add(_key(number), body)

    def remove(self, number: int) -> None:
        self._matcher.remove(_key(number))

    def judge(self, readings: ReadingColumns) -> Judged:
        ends = np.zeros(len(readings), np.int64)
        found: list[tuple[int, int]] = []
        for at in range(len(readings)):
            event, feature = int(readings.events[at]), int(readings.features[at])
            vector = self._notification_of(event, feature, readings.rows[at], readings.exact[at])
            if vector is not None:
                for match in self._matcher.match(vector, 0, 0):
                    found.append((match.key[0] << 8 | match.key[1], match.degree_u8))
            ends[at] = len(found)
        table = np.array(found, np.int64).reshape(-1, 2)
        return ends, table[:, 0].astype(np.uint32), table[:, 1].astype(np.uint8)


def _key(number: int) -> tuple[int, int]:
    return number >> 8, number & 255
