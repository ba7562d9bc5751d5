"""`naive`: the definition, one pattern at a time."""

from collections.abc import Iterator

from plugins.gtopss.canonical import canonical
from plugins.gtopss.match import Judgement, judged
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from plugins.language import SubscriptionKey


class NaiveSearch:
    def __init__(self) -> None:
        self._patterns: dict[SubscriptionKey, Pattern] = {}

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        self._patterns[key] = canonical(pattern)

    def leave(self, key: SubscriptionKey) -> None:
        del self._patterns[key]

    def judgements(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Judgement]]:
        for key, pattern in self._patterns.items():
            yield key, judged(pattern, statements)
