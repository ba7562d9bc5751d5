"""Decomposition of subscriptions into parts of other languages, for sources that do not know the language.

A mediator offers INSTALL in the subscription's language. A source that answers *unknown language* or *no
room* is offered the parts instead, each under the id and the message number that follow, which the
subscriber reserved (`SubscriberEndpoint.subscribe(…, occupies=n)`). A withdrawal states how many there were
and is decomposed likewise. A source's notification for a part is in the part's language, and the matcher of
the whole decides. Parts are in no matcher of a mediator, so nothing is pending for them.

Nothing of this is stored. Parts follow from their subscription and end with it; a source's summary shows
which form it has; and a source that is offered the whole again after a restart rejects it again.
"""

from collections.abc import Mapping
from typing import Final

from dens.interfaces import BoundLanguage, SubscriptionKey
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import INSTALL, LINK_NUMBER, REMOVE
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Withdrawal
from watchdog.header import HEADER_LIFETIME, framed

PARTS_MAX: Final = 64
"""Maximum number of parts of a subscription; a language that returns more has a defect."""
_LAST_ID: Final = 255


class PartTable:
    """Parts of the messages of a mediator, and which sources need them."""

    __slots__ = ("_languages", "_no_room", "_owners", "_parts", "_unknown")

    def __init__(self, languages: Mapping[int, BoundLanguage]) -> None:
        self._languages = languages
        self._parts: dict[ItemId, Item] = {}
        self._owners: dict[ItemId, tuple[Item, ...]] = {}
        self._unknown: dict[int, set[int]] = {}
        """By source: the languages that it does not know."""
        self._no_room: dict[int, set[SubscriptionKey]] = {}
        """By source: the subscriptions that were too large for it."""

    def __len__(self) -> int:
        return len(self._parts)

    def get(self, item_id: ItemId) -> Item | None:
        """Return the message of a part."""
        return self._parts.get(item_id)

    def of(self, item_id: ItemId) -> tuple[Item, ...]:
        """Return the parts of a held subscription or withdrawal; nearly all have none."""
        return self._owners.get(item_id, ())

    def decompose(self, new: Subscription) -> tuple[Item, ...]:
        """Return the parts of a subscription; none if its subscriber cannot have reserved their numbers. An
        invalid body raises.
        """
        language = self._languages.get(new.item.language)
        if language is None or language.decompose is None:
            return ()
        parts = language.decompose(new.body)
        count = len(parts)
        if not all(isinstance(part.body, bytes) for part in parts):
            raise TypeError("the body of a part must be bytes")
        if count > PARTS_MAX:
            raise ValueError(f"a subscription has at most {PARTS_MAX} parts, got {count}")
        item = new.item
        if new.id + count > _LAST_ID or item.number + count >= LINK_NUMBER:
            return ()
        lifetime_q = new.vector[HEADER_LIFETIME]
        return tuple(
            Item(
                INSTALL,
                part.language_id,
                item.origin,
                item.number + after,
                item.created_ms,
                item.lifetime_q,
                item.hops,
                framed(new.id + after, new.seq, lifetime_q, part.body),
            )
            for after, part in enumerate(parts, 1)
        )

    def add(self, owner: ItemId, parts: tuple[Item, ...]) -> None:
        """Hold these parts as long as their owner is held."""
        if parts:
            self._owners[owner] = parts
            for part in parts:
                self._parts[part.id] = part

    def add_removals(self, item: Item, withdrawal: Withdrawal) -> None:
        """Hold the removals of the parts of a withdrawn subscription."""
        if not withdrawal.occupied or item.number + withdrawal.occupied >= LINK_NUMBER:
            return
        whole = item.replace(type=REMOVE, signature=b"")
        self.add(
            item.id,
            tuple(
                whole.replace(
                    number=item.number + after, payload=bytes((withdrawal.id + after, withdrawal.seq))
                )
                for after in range(1, withdrawal.occupied + 1)
            ),
        )

    def remove(self, owner: ItemId) -> None:
        """Forget the parts of a message that is no longer held; it may have none."""
        if self._owners:
            for part in self._owners.pop(owner, ()):
                if self._parts.get(part.id) is part:
                    del self._parts[part.id]

    # ------------------------------------------------------------------ sources that need parts

    def note_unknown_language(self, publisher: int, language: int) -> None:
        """Note that a source has no filter for a language, until it announces again."""
        self._unknown.setdefault(publisher, set()).add(language)

    def note_no_room(self, publisher: int, key: SubscriptionKey) -> None:
        """Note that a subscription was too large for a source, until it announces again."""
        self._no_room.setdefault(publisher, set()).add(key)

    def is_refused(self, publisher: int, key: SubscriptionKey, language: int) -> bool:
        """Return whether a source rejects this subscription as a whole."""
        return language in self._unknown.get(publisher, ()) or key in self._no_room.get(publisher, ())

    def knows_language(self, publisher: int, language: int) -> bool:
        """Return whether a source may know this language."""
        return language not in self._unknown.get(publisher, ())

    def forget_refusals(self, publisher: int) -> None:
        """Forget what a source rejected: it announced again, or is no longer known."""
        self._unknown.pop(publisher, None)
        self._no_room.pop(publisher, None)

    def ended(self, key: SubscriptionKey) -> None:
        """Forget a subscription that is no longer in force."""
        if self._no_room:
            for publisher, keys in list(self._no_room.items()):
                keys.discard(key)
                if not keys:
                    del self._no_room[publisher]
