"""The composers of a mediator: what they are fed, what they forget, and who is left to make it.

A composer makes notifications of its language out of others that are held; it exists while somebody has
subscribed in that language. What it knows follows from what is held, so nothing of it is stored: after a
restart it is fed again. It hears no language that is itself composed, so nothing is made of itself.

What is made is learnt in dens/overlay/mediator/handlers.py; `news` is what has not been offered to anybody
yet.
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

_NOTHING: Final[Sequence[CompositeNotification]] = ()
_NOBODY: Final[Mapping[int, int]] = {}


class _MadeOf:
    """Of which parts a notification is made, whether all of them are still held, and which mediators are
    known to have had them all.
    """

    __slots__ = ("is_whole", "makers", "parts")

    def __init__(self, parts: tuple[ItemId, ...]) -> None:
        self.parts = parts
        self.is_whole = True
        self.makers: set[int] = set()


class Composing:
    """Feeds composers, one a language that somebody has subscribed in."""

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
        """Those whose notifications are made of others."""
        self.listeners: dict[int, tuple[int, ...]] = {}
        """By the language of notifications: the languages whose composers are to be fed them."""
        self.is_on = False
        """Whether anybody has subscribed in such a language since this node began; until then there is
        nothing to forget."""
        self._made_of: dict[ItemId, _MadeOf] = {}
        self._parts: dict[ItemId, dict[ItemId, None]] = {}
        """For each part what is made of it."""
        self.news: Final[list[ItemId]] = []
        """What was made here, and what lost a part: it may have to be offered to those in contact."""

    def add(self, subscription: Subscription, now_ms: int) -> bool:
        """Look for a subscription, whose language composes, in place of its older revision; say that it is
        there. A bad body raises.
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
        """Look for a subscription no longer; with the last one of its language all is forgotten."""
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
            for told in composer.listens_to:
                if told not in self._factories:
                    heard.setdefault(told, []).append(language)
        self.listeners = {told: tuple(languages) for told, languages in heard.items()}

    def feed(
        self, item: Item, now_ms: int, only: Subscription | None = None
    ) -> list[tuple[int, CompositeNotification]]:
        """Feed a notification that is held; return what it makes, with the language of each. The work is
        charged to its origin, or to that of the subscription that it is fed for.
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
                    otherwise=_NOTHING,
                )
                payer = item.origin if only is None else only.item.origin
                self._work.charge(payer, 1 + units_of(composer) - before, now_ms)
                made += [(language, one) for one in found]
        return made

    def forget(self, item: Item, now_ms: int) -> None:
        """Remember a message no longer that is not held any more; what is made of it may have to be offered
        from now on.
        """
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
        """Return for which subscribers a notification may become a part, and to which degree at best."""
        wanted: dict[int, int] = {}
        for language in self.listeners.get(item.language, ()):
            found = self._quarantine.attempt(
                Work.COMPOSING,
                item,
                now_ms,
                self._composers[language].wanted_by,
                item.id,
                otherwise=_NOBODY,
            )
            for subscriber, degree_u8 in found.items():
                wanted[subscriber] = max(degree_u8, wanted.get(subscriber, 0))
        return wanted

    def is_made_by(self, peer: int, item: Item, has: Callable[[ItemId], bool], now_ms: int) -> bool:
        """Say whether a mediator that is given everything makes this notification itself: it has all parts,
        or had them once, or all of them are held here and it gets them. `has` says what it has.
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
