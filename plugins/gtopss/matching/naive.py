"""`naive`: the definition, one pattern after the other."""

from collections.abc import Iterator

from plugins.gtopss.canonical import canonical
from plugins.gtopss.match import Judgement, judged
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from plugins.language import SubscriptionKey


class NaiveSearch:
    """Judges every pattern."""

    def __init__(self) -> None:
        self._patterns: dict[SubscriptionKey, Pattern] = {}

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        """Hold a pattern under a key that is free."""
        self._patterns[key] = canonical(pattern)

    def leave(self, key: SubscriptionKey) -> None:
        """Forget what is held under a key."""
        del self._patterns[key]

    def judgements(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Judgement]]:
        """Yield what becomes of every pattern."""
        for key, pattern in self._patterns.items():
            yield key, judged(pattern, statements)
