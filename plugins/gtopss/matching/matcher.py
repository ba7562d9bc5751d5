"""A matcher of graphs around one way of searching (`naive`, `original`, `improved`)."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.match import BARELY, FULLY, UNDECIDED_DETAIL, Judgement, Verdict
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, decode_publication
from plugins.language import Match, SubscriptionKey

MATCHED: Final = {Verdict.MATCHED: (FULLY, b""), Verdict.UNDECIDED: (BARELY, UNDECIDED_DETAIL)}
"""Degree and detail of what counts as matched."""


class PatternSearch(Protocol):
    """Holds patterns by key, and finds those that a publication matches."""

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        """Hold a pattern under a key that is free."""
        ...

    def leave(self, key: SubscriptionKey) -> None:
        """Forget what is held under a key."""
        ...

    def judgements(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Judgement]]:
        """Yield what becomes of patterns, in any order; those not mentioned do not match."""
        ...


class GraphMatcher:
    """Decodes, and puts what a search finds in order."""

    def __init__(self, table: MissionTable, search: PatternSearch) -> None:
        self._dictionary = table.dictionary
        self._taxonomy = table.taxonomy
        self._search = search
        self._held: set[SubscriptionKey] = set()
        self.work = 0
        """Units of work so far: statements of publications, and what their patterns took."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold this subscription; a bad body raises `VectorError` and changes nothing."""
        pattern = decode_pattern(body, self._dictionary)
        self.remove(key)
        self._held.add(key)
        self._search.enter(key, pattern)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        if key in self._held:
            self._held.remove(key)
            self._search.leave(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return what this publication satisfies, ordered by key; bad bytes raise `VectorError`."""
        statements = Statements.of(decode_publication(vector, self._dictionary), self._taxonomy)
        found = dict(self._search.judgements(statements))
        self.work += statements.size + sum(one.work for one in found.values())
        return [
            Match(key, *MATCHED[found[key].verdict]) for key in sorted(found) if found[key].verdict in MATCHED
        ]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches of each publication, in their order."""
        held = frozenset(self._held)
        for position, (vector, event_ms) in enumerate(notifications):
            found = self.match(vector, event_ms, now_ms)
            yield position, [match for match in found if match.key in held]
