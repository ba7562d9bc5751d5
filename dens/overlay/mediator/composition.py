"""Composers of a mediator, and which other mediators can derive the same composites.

A composer derives notifications of its language from others that are held. It exists while there is a
subscription in that language. Its state follows from the held notifications, so it is not stored but fed
again after a restart. Composed languages are never fed to composers.

Composites are added in dens/overlay/mediator/handlers.py; `news` are those not offered to peers yet.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dens.interfaces import BoundLanguage, Composer, ComposerFactory, CompositeNotification, SubscriptionKey
from dens.overlay.errors import LocalProtocolError
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.session.work_budget import limit_work, units_of
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.item import Item, ItemId

_NO_COMPOSITES: Final[Sequence[CompositeNotification]] = ()
_NO_SUBSCRIBERS: Final[Mapping[int, int]] = {}


class _MadeOf:
    """The parts of a composite, whether all of them are still held, and which mediators had all of them."""

    __slots__ = ("is_whole", "makers", "parts")

    def __init__(self, parts: tuple[ItemId, ...]) -> None:
        self.parts = parts
        self.is_whole = True
        self.makers: set[int] = set()


class Composition:
    """Feeds the composers, one per composed language with subscriptions."""

    __slots__ = (
        "_composers",
        "_factories",
        "_keys",
        "_made_of",
        "_parts",
        "_quarantine",
        "_work",
        "is_on",
        "languages",
        "listeners",
        "news",
    )

    def __init__(self, context: NodeContext, languages: Mapping[int, BoundLanguage]) -> None:
        self._quarantine = context.quarantine
        self._work = context.work
        self._factories: dict[int, ComposerFactory] = {
            number: language.composer
            for number, language in languages.items()
            if language.composer is not None
        }
        without = sorted(number for number in self._factories if languages[number].results is None)
        if without:
            raise LocalProtocolError(
                f"language {without[0]} composes and has no results; give a result reader, or what two nodes "
                "make is shown twice"
            )
        self._composers: dict[int, Composer] = {}
        self._keys: dict[int, set[SubscriptionKey]] = {}
        self.languages: Final = frozenset(self._factories)
        """The composed languages."""
        self.listeners: dict[int, tuple[int, ...]] = {}
        """By language of notifications: the languages whose composers are fed."""
        self.is_on = False
        """Whether there was a subscription in a composed language since the start; until then there is
        nothing to forget."""
        self._made_of: dict[ItemId, _MadeOf] = {}
        self._parts: dict[ItemId, dict[ItemId, None]] = {}
        """By part: its composites."""
        self.news: Final[list[ItemId]] = []
        """Composites that are new or lost a part: they may have to be offered to peers in contact."""

    def add(self, subscription: Subscription, now_ms: int) -> bool:
        """Add a subscription in a composed language in place of its older revision; return True. An invalid
        body raises.
        """
        language = subscription.item.language
        composer = self._composers.get(language)
        if composer is None:
            composer = self._factories[language]()
            limit_work(composer, self._work.call_limit)
        before = units_of(composer)
        try:
            composer.add(
                subscription.key,
                subscription.body,
                subscription.seq,
                subscription.since_ms,
                subscription.until_ms,
            )
        finally:
            self._work.charge(subscription.item.origin, 1 + units_of(composer) - before, now_ms)
        self._keys.setdefault(language, set()).add(subscription.key)
        if language not in self._composers:
            self._composers[language] = composer
            self.is_on = True
            self._note_listeners()
        return True

    def remove(self, subscription: Subscription, now_ms: int) -> None:
        """Remove a subscription; with the last one of its language the composer is dropped."""
        language = subscription.item.language
        keys = self._keys.get(language)
        if keys is None or subscription.key not in keys:
            return
        keys.discard(subscription.key)
        if keys:
            self._quarantine.attempt(
                Work.ENDING,
                subscription.item,
                now_ms,
                self._composers[language].remove,
                subscription.key,
                otherwise=None,
            )
        else:
            del self._keys[language], self._composers[language]
            self._note_listeners()

    def _note_listeners(self) -> None:
        heard: dict[int, list[int]] = {}
        for language, composer in sorted(self._composers.items()):
            for source in composer.listens_to:
                if source not in self._factories:
                    heard.setdefault(source, []).append(language)
        self.listeners = {source: tuple(languages) for source, languages in heard.items()}

    def feed(
        self, item: Item, now_ms: int, only: Subscription | None = None
    ) -> list[tuple[int, CompositeNotification]]:
        """Feed a held notification; return (language, composite) pairs. The work is charged to its origin, or
        to that of the subscription `only`.
        """
        made: list[tuple[int, CompositeNotification]] = []
        for language in self.listeners.get(item.language, ()):
            if only is None or only.item.language == language:
                composer = self._composers[language]
                before = units_of(composer)
                found = self._quarantine.attempt(
                    Work.COMPOSING,
                    item,
                    now_ms,
                    composer.feed,
                    item.id,
                    item.language,
                    item.payload,
                    item.created_ms,
                    now_ms,
                    None if only is None else only.key,
                    otherwise=_NO_COMPOSITES,
                )
                payer = item.origin if only is None else only.item.origin
                self._work.charge(payer, 1 + units_of(composer) - before, now_ms)
                made += [(language, one) for one in found]
        return made

    def forget(self, item: Item, now_ms: int) -> None:
        """Forget a message that is no longer held; its composites may have to be offered from now on."""
        item_id = item.id
        if self._made_of:
            self._forget_parts_of(item_id)
            for composite in self._parts.pop(item_id, ()):
                self._made_of[composite].is_whole = False
                self.news.append(composite)
        for language in self.listeners.get(item.language, ()):
            self._quarantine.attempt(
                Work.ENDING, item, now_ms, self._composers[language].forget, item_id, otherwise=None
            )

    def _forget_parts_of(self, composite: ItemId) -> None:
        known = self._made_of.pop(composite, None)
        if known is not None:
            for part in known.parts:
                made = self._parts.get(part)
                if made is not None:
                    made.pop(composite, None)
                    if not made:
                        del self._parts[part]

    def wanted_by(self, item: Item, now_ms: int) -> Mapping[int, int]:
        """Return the subscribers for whom a notification may become a part, and the highest degree."""
        wanted: dict[int, int] = {}
        for language in self.listeners.get(item.language, ()):
            found = self._quarantine.attempt(
                Work.COMPOSING,
                item,
                now_ms,
                self._composers[language].wanted_by,
                item.id,
                otherwise=_NO_SUBSCRIBERS,
            )
            for subscriber, degree_u8 in found.items():
                wanted[subscriber] = max(degree_u8, wanted.get(subscriber, 0))
        return wanted

    def is_made_by(self, peer: int, item: Item, has: Callable[[ItemId], bool], now_ms: int) -> bool:
        """Return whether a mediator that gets everything derives this composite itself: it has or had all
        parts, or gets them because all are held here. `has` returns whether it has a message.
        """
        known = self._made_of.get(item.id) or self._find_parts(item, now_ms)
        if known is None:
            return False
        if peer in known.makers:
            return True
        if all(has(part) for part in known.parts):
            known.makers.add(peer)
            return True
        return known.is_whole

    def _find_parts(self, item: Item, now_ms: int) -> "_MadeOf | None":
        composer = self._composers.get(item.language)
        if composer is None:
            return None
        parts = self._quarantine.attempt(
            Work.COMPOSING, item, now_ms, composer.parts_of, item.payload, otherwise=None
        )
        if not parts:
            return None
        known = self._made_of[item.id] = _MadeOf(parts)
        for part in parts:
            self._parts.setdefault(part, {})[item.id] = None
        return known
