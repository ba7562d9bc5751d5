"""A graph matcher around one search algorithm (`naive`, `original`, `improved`)."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.match import BARELY, FULLY, UNDECIDED_DETAIL, Judgement, Verdict
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, decode_publication
from plugins.language import Match, SubscriptionKey

MATCHED: Final = {Verdict.MATCHED: (FULLY, b""), Verdict.UNDECIDED: (BARELY, UNDECIDED_DETAIL)}
"""Degree and detail of a match."""


class PatternSearch(Protocol):
    """Holds patterns by key, and finds those that a publication matches."""

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        """Add a pattern under an unused key."""
        ...

    def leave(self, key: SubscriptionKey) -> None: ...

    def judgements(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Judgement]]:
        """Yield judgements of patterns, in any order; patterns without one do not match."""
        ...


class GraphMatcher:
    """Decodes publications and sorts the results of a search."""

    def __init__(self, table: MissionTable, search: PatternSearch) -> None:
        self._dictionary = table.dictionary
        self._taxonomy = table.taxonomy
        self._search = search
        self._held: set[SubscriptionKey] = set()
        self.work = 0
        """Units of work so far: statements of publications, and the work of their patterns."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        pattern = decode_pattern(body, self._dictionary)
        self.remove(key)
        self._held.add(key)
        self._search.enter(key, pattern)

    def remove(self, key: SubscriptionKey) -> None:
        if key in self._held:
            self._held.remove(key)
            self._search.leave(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this publication, ordered by key. Invalid bytes raise `VectorError`."""
        statements = Statements.of(decode_publication(vector, self._dictionary), self._taxonomy)
        found = dict(self._search.judgements(statements))
        self.work += statements.size + sum(one.work for one in found.values())
        return [
            Match(key, *MATCHED[found[key].verdict]) for key in sorted(found) if found[key].verdict in MATCHED
        ]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        held = frozenset(self._held)
        for position, (vector, event_ms) in enumerate(notifications):
            found = self.match(vector, event_ms, now_ms)
            yield position, [match for match in found if match.key in held]
