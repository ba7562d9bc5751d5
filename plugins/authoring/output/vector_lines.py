"""Files of vectors as lines of hexadecimal: check them, match every notification with every subscription, and
order subscriptions by covering.

Lines are independent: numbers, revisions and lifetimes in the vectors are ignored. A line is identified by
its number, from 0, including blank and invalid lines.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dens.config.problems import DocumentError, Problem
from dens.config.reading import decode_text, place_of, read_document
from dens.interfaces import FoundMatch
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.description import Description, VectorKind
from plugins.language import Matcher, NotServed
from plugins.relations import Forest
from watchdog.header import BODY_AT, body_of
from watchdog.vector import VectorError

_LATEST_S = 65536
"""Later than every event of a batch."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a vector, and why. `of` is "subscription" or "notification"."""

    of: str
    n: int
    reason: str

    def __str__(self) -> str:
        return f"{self.of} line {self.n}: {self.reason}"


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """The matches of one notification line: (subscription line, degree 0..255, detail), by
    subscription line.
    """

    n: int
    matches: tuple[tuple[int, int, bytes], ...]

    def as_document(self, detail_value: Callable[[bytes], int | str] = bytes.hex) -> dict[str, object]:
        """Return the JSON document of this line; a match without a detail has two entries."""
        return {
            "n": self.n,
            "matches": [
                [line, degree_u8, detail_value(detail)] if detail else [line, degree_u8]
                for line, degree_u8, detail in self.matches
            ],
        }


@dataclass(slots=True)
class LineMatcher:
    """Holds the subscriptions of some lines in a matcher. `bad` lists the invalid lines.

    `happened_s` is the language's `Authoring.happened_s`.
    """

    matcher: Matcher
    happened_s: Callable[[bytes], int | None]
    bad: list[BadLine] = field(default_factory=list)

    def add(self, subscriptions: Iterable[str]) -> None:
        """Add the subscription of each line, except blank ones."""
        for n, line in enumerate(subscriptions):
            if line.strip():
                try:
                    self.matcher.add((n, 0), body_of_line(line))
                except (VectorError, NotServed) as error:
                    self.bad.append(BadLine("subscription", n, str(error)))

    def match(
        self, notifications: Iterable[str], now_s: int | None = None
    ) -> Iterator[MatchedLine | BadLine]:
        """Yield the matches of each notification line, except blank ones, or why it is invalid.

        Without `now_s` every event has age 0. With it, the age is `now_s` minus the timestamp, modulo 65536
        seconds, or 0 without a timestamp.
        """
        for n, line in enumerate(notifications):
            if not line.strip():
                continue
            try:
                vector = vector_of_line(line)
                found = self.matcher.match(vector, 0, 1000 * self._age_s(vector, now_s))
            except VectorError as error:
                yield BadLine("notification", n, str(error))
            else:
                yield _matched(n, found)

    def match_in_batches(
        self, notifications: Iterable[str], size: int, now_s: int | None = None
    ) -> Iterator[MatchedLine | BadLine]:
        """Yield the same in batches of `size` lines, in the order in which the matcher completes them."""
        batch: list[tuple[int, str]] = []
        for n, line in enumerate(notifications):
            if line.strip():
                batch.append((n, line))
            if len(batch) == size:
                yield from self._of_batch(batch, now_s)
                batch = []
        yield from self._of_batch(batch, now_s)

    def _of_batch(self, batch: list[tuple[int, str]], now_s: int | None) -> Iterator[MatchedLine | BadLine]:
        read: list[tuple[int, bytes, int]] = []
        for n, line in batch:
            try:
                vector = vector_of_line(line)
                read.append((n, vector, self._age_s(vector, now_s)))
            except VectorError as error:
                yield BadLine("notification", n, str(error))
        notifications = [(vector, 1000 * (_LATEST_S - age_s)) for _, vector, age_s in read]
        done = set()
        try:
            for position, found in self.matcher.match_batch(notifications, 1000 * _LATEST_S):
                done.add(position)
                yield _matched(read[position][0], found)
        except VectorError:  # find the invalid one
            for position, (n, vector, age_s) in enumerate(read):
                if position not in done:
                    try:
                        yield _matched(n, self.matcher.match(vector, 0, 1000 * age_s))
                    except VectorError as error:
                        yield BadLine("notification", n, str(error))

    def _age_s(self, vector: bytes, now_s: int | None) -> int:
        if now_s is None or (stamp_s := self.happened_s(vector)) is None:
            return 0
        return (now_s - stamp_s) % 65536


def _matched(n: int, found: Sequence[FoundMatch]) -> MatchedLine:
    return MatchedLine(n, tuple((match.key[0], match.degree_u8, match.detail) for match in found))


def body_of_line(line: str) -> bytes:
    """Return the body of a subscription vector in a line of hexadecimal, or raise `VectorError`."""
    vector = vector_of_line(line)
    if len(vector) < BODY_AT:
        raise VectorError(len(vector), "too short: a subscription begins with its id, revision and lifetime")
    return body_of(vector)


def vector_of_line(line: str) -> bytes:
    try:
        return bytes.fromhex(line.strip())
    except ValueError:
        raise VectorError(0, "not hexadecimal: expected pairs of 0-9 and a-f") from None


@dataclass(slots=True)
class LineForest:
    """The forest of some lines. `bad` lists the lines that are not subscriptions."""

    forest: Forest
    bad: list[BadLine] = field(default_factory=list)

    def insert(self, subscriptions: Iterable[str]) -> None:
        """Insert the subscriptions in line order."""
        for n, line in enumerate(subscriptions):
            if line.strip():
                try:
                    self.forest.insert((n, 0), body_of_line(line))
                except VectorError as error:
                    self.bad.append(BadLine("subscription", n, str(error)))

    def text(self) -> Iterator[str]:
        """Yield the trees, one line per subscription, indented below the one that covers it; then
        a summary.
        """
        pending = [(n, 0) for n, _ in reversed(self.forest.roots())]
        while pending:
            n, depth = pending.pop()
            yield f"{'  ' * depth}{n}"
            pending.extend((below, depth + 1) for below, _ in reversed(self.forest.children((n, 0))))
        found = self.forest.statistics()
        yield (
            f"{found.subscriptions} subscriptions, {found.roots} roots, {found.spared:.0%} spared, "
            f"deepest tree {found.deepest}, largest {found.largest_tree}"
        )

    def parents(self) -> dict[int, int | None]:
        """Return, for each subscription by its line, the line that covers it; None for a root."""
        found: dict[int, int | None] = {n: None for n, _ in self.forest.roots()}
        pending = list(found)
        while pending:
            above = pending.pop()
            for n, _ in self.forest.children((above, 0)):
                found[n] = above
                pending.append(n)
        return dict(sorted(found.items()))


Describe = Callable[[bytes, MissionTable | None, VectorKind | None], Description]
"""A language's `Authoring.describe`, which refuses invalid vectors."""

_KINDS: dict[str, VectorKind] = {".sv": "sv", ".nv": "nv"}


def check_vector_file(path: Path, describe: Describe, table: MissionTable | None = None) -> list[Problem]:
    """Return the errors of a file of vectors: hexadecimal, one per line, or the bytes of a single one.

    A .sv file must hold subscriptions, a .nv file notifications.
    """
    file = str(path)
    try:
        content = read_document(path)
        if path.suffix != ".hex":
            describe(content, table, _KINDS.get(path.suffix))
            return []
        text = decode_text(content, file)
    except DocumentError as error:
        return list(error.problems)
    except VectorError as error:
        return [Problem(file, 0, 0, "error", "D401", str(error))]
    return _check_lines(text, file, describe, table)


def _check_lines(text: str, file: str, describe: Describe, table: MissionTable | None) -> list[Problem]:
    problems = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            number, column = place_of(text, start + len(line) - len(line.lstrip()))
            try:
                describe(bytes.fromhex(line.strip()), table, None)
            except VectorError as error:
                problems.append(Problem(file, number, column + 2 * error.offset, "error", "D401", str(error)))
            except ValueError:
                message = "not hexadecimal: expected pairs of 0-9 and a-f"
                problems.append(Problem(file, number, column, "error", "D402", message))
        start += len(line)
    return problems
