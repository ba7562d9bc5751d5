"""The matchers of a mediator, by language."""

from collections.abc import Iterator, Mapping, Sequence

from dens.collaborators import FoundMatch, Matcher, MatcherFactory
from dens.item import Item
from dens.subscription_table import Subscription


class LanguageMatchers:
    """For each language one matcher with all subscriptions, and one to match a single subscription with.

    A subscription that is learnt late is matched alone against the notifications already carried; through
    the large matcher that would cost every other subscription too.
    """

    __slots__ = ("_all", "_single")

    def __init__(self, factories: Mapping[int, MatcherFactory]) -> None:
        self._all: dict[int, Matcher] = {language: make() for language, make in sorted(factories.items())}
        self._single: dict[int, Matcher] = {language: make() for language, make in sorted(factories.items())}

    def __contains__(self, language: int) -> bool:
        return language in self._all

    def add(self, subscription: Subscription) -> None:
        """Hold a subscription in place of its older revision. A bad vector raises and changes nothing."""
        self._all[subscription.item.language].add(subscription.key, subscription.vector)

    def remove(self, subscription: Subscription) -> None:
        """Hold it no longer."""
        self._all[subscription.item.language].remove(subscription.key)

    def match(self, item: Item, now_ms: int) -> Sequence[FoundMatch] | None:
        """Return what a notification satisfies, None where its language is not known. A bad vector raises and
        changes nothing.
        """
        matcher = self._all.get(item.language)
        return None if matcher is None else matcher.match(item.payload, item.created_ms, now_ms)

    def match_single(
        self, subscription: Subscription, items: Sequence[Item], now_ms: int
    ) -> Iterator[tuple[int, int]]:
        """Yield (position, degree) of the notifications that satisfy this subscription, by position."""
        single = self._single[subscription.item.language]
        single.add(subscription.key, subscription.vector)
        events = [(item.payload, item.created_ms) for item in items]
        found = dict(single.match_batch(events, now_ms))
        single.remove(subscription.key)
        for position in sorted(found):
            for match in found[position]:
                yield position, match.degree_u8
