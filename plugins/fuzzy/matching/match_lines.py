"""Matching of vectors written as lines of hexadecimal: every notification against every subscription.

Each line stands alone: numbers, revisions and lifetimes in the vectors are ignored. A line is known by its
number, from 0, blank and bad ones counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from knowledge_manager.event_class import UnknownName
from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.matching.algorithms import ALGORITHMS, DEFAULT_ALGORITHM, FEATURE_CONDITIONS
from plugins.fuzzy.matching.population import AggregatorNotServed
from plugins.fuzzy.vectors import decode_notification
from plugins.language import Matcher
from watchdog.vector import VectorError


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no vector, and why. `of` is "subscription" or "notification"."""

    of: str
    n: int
    reason: str

    def __str__(self) -> str:
        """Return the sentence that reports it."""
        return f"{self.of} line {self.n}: {self.reason}"


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """What one notification line satisfies: (subscription line, degree 0..255), by subscription line."""

    n: int
    matches: tuple[tuple[int, int], ...]

    def as_document(self) -> dict[str, object]:
        """Return the JSON document of this line."""
        return {"n": self.n, "matches": [list(match) for match in self.matches]}


@dataclass(slots=True)
class LineMatcher:
    """Holds the subscriptions of some lines; `bad` lists the lines that are none."""

    matcher: Matcher
    feature_bytes: int
    bad: list[BadLine] = field(default_factory=list)

    @classmethod
    def of_lines(
        cls,
        subscriptions: Iterable[str],
        table: MissionTable | None = None,
        algorithm: str = DEFAULT_ALGORITHM,
        features: str = "subset",
        feature_bytes: int = 1,
    ) -> "LineMatcher":
        """Make a matcher from subscription lines; an unknown algorithm or feature condition raises
        `UnknownName`.
        """
        make = ALGORITHMS.get(algorithm.casefold())
        if make is None:
            raise UnknownName("algorithm", algorithm, list(ALGORITHMS))
        if features not in FEATURE_CONDITIONS:
            raise UnknownName("feature condition", features, list(FEATURE_CONDITIONS))
        bytes_of_feature = feature_bytes if table is None else table.feature_bytes
        matcher = cls(make(table, features, bytes_of_feature), bytes_of_feature)
        for n, line in enumerate(subscriptions):
            if line.strip():
                try:
                    matcher.matcher.add((n, 0), vector_of_line(line))
                except (VectorError, AggregatorNotServed) as error:
                    matcher.bad.append(BadLine("subscription", n, str(error)))
        return matcher

    def match(
        self, notifications: Iterable[str], now_s: int | None = None
    ) -> Iterator[MatchedLine | BadLine]:
        """Yield for each notification line, blank ones left out, what it matches or why it cannot.

        Without `now_s` every event is taken as just happened; with it, its age is that time minus its stamp,
        modulo 65536 seconds.
        """
        for n, line in enumerate(notifications):
            if not line.strip():
                continue
            try:
                vector = vector_of_line(line)
                age_s = 0
                if now_s is not None:
                    age_s = (now_s - decode_notification(vector, self.feature_bytes).stamp_s) % 65536
                found = self.matcher.match(vector, 0, 1000 * age_s)
            except VectorError as error:
                yield BadLine("notification", n, str(error))
            else:
                yield MatchedLine(n, tuple((match.key[0], match.degree_u8) for match in found))


def vector_of_line(line: str) -> bytes:
    """Return the bytes of a line of hexadecimal, or raise `VectorError`."""
    try:
        return bytes.fromhex(line.strip())
    except ValueError:
        raise VectorError(0, "this is not hexadecimal; write pairs of 0-9 and a-f") from None
