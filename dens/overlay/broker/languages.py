"""Relations between bodies, as brokers need them. Without relations of a language only equal bodies cover
each other, and everything may satisfy everything.

Relations may be third-party code. A rejection of invalid bytes passes while a message is handled; any other
exception is reported, and the safe answer is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dens.interfaces import BoundLanguage, EntryTable, RoutingRelations, SubscriptionKey
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.item import Item


@dataclass(frozen=True, slots=True)
class Changes:
    """Bodies to announce to a neighbour, and bodies to withdraw afterwards."""

    announced: tuple[bytes, ...] = ()
    withdrawn: tuple[bytes, ...] = ()


class EqualBodies:
    """A table in which a body covers only equal ones."""

    __slots__ = ("_bodies", "_counts")

    def __init__(self) -> None:
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._counts: dict[bytes, int] = {}

    def insert(self, key: SubscriptionKey, body: bytes) -> Changes:
        """Add a body; a known key is replaced."""
        if self._bodies.get(key) == body:
            return Changes()
        gone = self.remove(key)
        self._bodies[key] = body
        self._counts[body] = self._counts.get(body, 0) + 1
        return Changes((body,) if self._counts[body] == 1 else (), gone.withdrawn)

    def remove(self, key: SubscriptionKey) -> Changes:
        """Remove it; an unknown key changes nothing."""
        body = self._bodies.pop(key, None)
        if body is None:
            return Changes()
        self._counts[body] -= 1
        if self._counts[body]:
            return Changes()
        del self._counts[body]
        return Changes((), (body,))

    def bodies(self) -> list[bytes]:
        """Return each body once."""
        return list(self._counts)

    @property
    def covered(self) -> int:
        """Return how many bodies equal another one."""
        return len(self._bodies) - len(self._counts)

    @property
    def mergers(self) -> int:
        return 0


class RoutingLanguages:
    """Routing relations of the languages of a mission."""

    __slots__ = ("_hears", "_quarantine", "_relations")

    def __init__(
        self, context: NodeContext, languages: Mapping[int, BoundLanguage], matchers: LanguageMatchers
    ) -> None:
        self._quarantine = context.quarantine
        self._relations: dict[int, RoutingRelations] = {
            number: language.relations
            for number, language in languages.items()
            if language.relations is not None
        }
        self._hears = matchers.hears

    def check(self, advertisement: Subscription) -> None:
        """Reject an advertisement with an invalid body, by the exception of its language."""
        relations = self._relations.get(advertisement.item.language)
        if relations is not None and advertisement.body:
            relations.includes(advertisement.body, advertisement.body)

    def includes(self, one: Subscription, other: Subscription, now_ms: int) -> bool:
        """Return whether an advertisement includes another one."""
        if one.item.language != other.item.language:
            return False
        relations = self._relations.get(one.item.language)
        if not one.body or relations is None or not other.body:
            return not one.body or one.body == other.body
        return self._quarantine.attempt(
            Work.COVERING, other.item, now_ms, relations.includes, one.body, other.body, otherwise=False
        )

    def advertises(
        self, advertisement: Subscription, language: int, body: bytes, item: Item, now_ms: int
    ) -> bool:
        """Return whether advertised notifications may satisfy a subscription."""
        announced = advertisement.item.language
        if not self._hears(language, announced):
            return False
        relations = self._relations.get(language)
        if announced != language or relations is None or not advertisement.body:
            return True
        return self._quarantine.attempt(
            Work.COVERING, item, now_ms, relations.advertises, advertisement.body, body, otherwise=True
        )

    def admits(self, advertisement: Subscription, notification: Item, now_ms: int) -> bool:
        """Return whether a notification was advertised. An invalid vector raises."""
        if advertisement.item.language != notification.language:
            return False
        relations = self._relations.get(notification.language)
        if relations is None or not advertisement.body:
            return True
        return self._quarantine.attempt(
            Work.COVERING,
            advertisement.item,
            now_ms,
            relations.admits,
            advertisement.body,
            notification.payload,
            otherwise=True,
            may_reject=True,
        )

    def table(self, language: int) -> EntryTable:
        """Return an empty table for a language."""
        relations = self._relations.get(language)
        return EqualBodies() if relations is None else relations.table()
