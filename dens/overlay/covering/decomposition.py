"""What a mediator offers to sources that cannot take a subscription as it is: its parts, in languages that
they know.

A mediator offers INSTALL in the subscription's language. A source that answers *unknown language* or *no
room* is offered the parts instead, each under the id and the message number that follow, which the
subscriber reserved (`SubscriberEndpoint.subscribe(…, occupies=n)`); a withdrawal says how many there were,
and is taken apart likewise. What a source lets through for a part comes as a notification of the part's
language, and the matcher of the whole judges it. Parts are in no matcher of a mediator, hence owed to nobody.

Nothing of this is stored. Parts follow from the message they are parts of, and end with it; which form a
source has taken, its summary says; and a source that is asked once too often after a restart refuses again.
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
"""So many parts a subscription has at most; a language that makes more of one has a defect."""
_LAST_ID: Final = 255


class PartTable:
    """The parts of what a mediator holds, and which sources have to be offered them."""

    __slots__ = ("_languages", "_no_room", "_owners", "_parts", "_unknown")

    def __init__(self, languages: Mapping[int, BoundLanguage]) -> None:
        self._languages = languages
        self._parts: dict[ItemId, Item] = {}
        self._owners: dict[ItemId, tuple[Item, ...]] = {}
        self._unknown: dict[int, set[int]] = {}
        """For each source the languages that it does not know."""
        self._no_room: dict[int, set[SubscriptionKey]] = {}
        """For each source the subscriptions that were too large for it."""

    def __len__(self) -> int:
        return len(self._parts)

    def get(self, item_id: ItemId) -> Item | None:
        """Return a part as a source is sent it."""
        return self._parts.get(item_id)

    def of(self, item_id: ItemId) -> tuple[Item, ...]:
        """Return the parts of a subscription or withdrawal that is held; nearly all have none."""
        return self._owners.get(item_id, ())

    def take_apart(self, new: Subscription) -> tuple[Item, ...]:
        """Return the parts of a subscription, which may raise what its language raises.

        Where its subscriber cannot have reserved what they need, there are none.
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
        """Hold these parts for as long as what they are parts of is held."""
        if parts:
            self._owners[owner] = parts
            for part in parts:
                self._parts[part.id] = part

    def add_removals(self, item: Item, said: Withdrawal) -> None:
        """Hold what takes back the parts of a subscription that was withdrawn."""
        if not said.occupied or item.number + said.occupied >= LINK_NUMBER:
            return
        whole = item.replace(type=REMOVE, signature=b"")
        self.add(
            item.id,
            tuple(
                whole.replace(number=item.number + after, payload=bytes((said.id + after, said.seq)))
                for after in range(1, said.occupied + 1)
            ),
        )

    def remove(self, owner: ItemId) -> None:
        """Forget the parts of what is no longer held; what has none is no error."""
        if self._owners:
            for part in self._owners.pop(owner, ()):
                if self._parts.get(part.id) is part:
                    del self._parts[part.id]

    # ------------------------------------------------------------------ who is offered parts

    def note_unknown_language(self, publisher: int, language: int) -> None:
        """Note that a source has no filter for a language: it is not asked again until it announces again."""
        self._unknown.setdefault(publisher, set()).add(language)

    def note_no_room(self, publisher: int, key: SubscriptionKey) -> None:
        """Note that a subscription was too large for a source, until it announces again."""
        self._no_room.setdefault(publisher, set()).add(key)

    def is_refused(self, publisher: int, key: SubscriptionKey, language: int) -> bool:
        """Return whether a source would not take this subscription as it is."""
        return language in self._unknown.get(publisher, ()) or key in self._no_room.get(publisher, ())

    def knows_language(self, publisher: int, language: int) -> bool:
        """Return whether a source may know this language, as far as it has said."""
        return language not in self._unknown.get(publisher, ())

    def forget_refusals(self, publisher: int) -> None:
        """Forget what a source refused: it has announced again, or is no longer known."""
        self._unknown.pop(publisher, None)
        self._no_room.pop(publisher, None)

    def ended(self, key: SubscriptionKey) -> None:
        """Forget a subscription that is in force no longer."""
        if self._no_room:
            for publisher, keys in list(self._no_room.items()):
                keys.discard(key)
                if not keys:
                    del self._no_room[publisher]
