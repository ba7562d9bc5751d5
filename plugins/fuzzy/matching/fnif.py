"""FNIF: flat, no predicate index (paper 004, §4.3 and figure 5.a).

Every subscription's feature is compared with the notification's; memberships are computed only where the
features fit. The paper compares with XOR, which is the feature condition `exact`.

    >>> matcher = FlatMatcher(None)
    >>> matcher.add((7, 0), bytes.fromhex("00000064c87f0101"))
    >>> matcher.match(bytes.fromhex("000000000000960101"), event_ms=0, now_ms=0)[0].degree_u8
    255
"""

from collections.abc import Iterator

from plugins.fuzzy.matching.population import NotificationRow, Population
from plugins.language import Match


class FlatMatcher(Population):
    """Tests every feature and the constraints of candidates."""

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        self.work.feature_tests += len(self._held)
        for held in self._held.values():
            if self.serves(notification, held):
                yield from self.judged(notification, held)
