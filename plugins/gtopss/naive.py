"""`naive`: the definition, one pattern after the other."""

from collections.abc import Iterator

from plugins.gtopss.match import Verdict, judge
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from plugins.language import SubscriptionKey


class NaiveSearch:
    """Judges every pattern."""

    def __init__(self) -> None:
        self._patterns: dict[SubscriptionKey, Pattern] = {}

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        """Hold a pattern under a key that is free."""
        self._patterns[key] = pattern

    def leave(self, key: SubscriptionKey) -> None:
        """Forget what is held under a key."""
        del self._patterns[key]

    def verdicts(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Verdict]]:
        """Yield what becomes of every pattern."""
        for key, pattern in self._patterns.items():
            yield key, judge(pattern, statements)
