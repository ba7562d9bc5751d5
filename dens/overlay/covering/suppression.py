"""What a mediator need not ask of a source, because something else that the source looks for stands for it.

One of these for each contact with a source that can be relied on (dens/overlay/covering/leases.py). It
knows which subscriptions the source is certain to look for:

- those that it took in this contact, or had taken meanwhile from somebody else;
- those that its summary named, where it named nothing later of the same subscriber that is unknown here, and
  that could have ended them.

What has not been answered yet is waited for: what it would stand for is held back until then. A withdrawal
goes behind all that is unanswered. It is this node's word that it relies on the filter no longer.
"""

from collections.abc import Mapping
from itertools import chain, islice
from typing import Final

from dens.interfaces import SubscriptionKey
from dens.overlay.covering.decomposition import PartTable
from dens.overlay.covering.index import CoverTable
from dens.overlay.covering.leases import longer_code
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable
from dens.overlay.wire.codes import REMOVE
from dens.overlay.wire.item import LIFETIME_MS, Item, ItemId, item_id

_COUNTED_PART: Final = 2, 3
"""So much of the time by which a source looks longer than it was asked is counted on. The rest is for what
lifetimes are off by between two nodes: time in the air, and clocks that drift."""
_NAMED_MAX: Final = 64
"""So many messages of one subscriber that a source named are looked at."""


def reach_ms(cover: Subscription) -> int:
    """Return until when a source that was asked for this is counted on to look for it."""
    item = cover.item
    part, whole = _COUNTED_PART
    longer_ms = LIFETIME_MS[longer_code(item.lifetime_q)] - LIFETIME_MS[item.lifetime_q]
    return cover.until_ms + longer_ms * part // whole


class InstallSuppression:
    """What stands for what at one source, during one contact."""

    __slots__ = (
        "_asked",
        "_covering",
        "_installed",
        "_items",
        "_parts",
        "_removals",
        "_seen",
        "_table",
        "_taken",
        "_waiting",
        "session",
        "spared",
    )

    def __init__(
        self,
        context: NodeContext,
        session: PeerSession,
        items: Mapping[ItemId, Item],
        table: SubscriptionTable,
        parts: PartTable,
        covering: CoverTable,
    ) -> None:
        self._items = items
        self._table = table
        self._parts = parts
        self._covering = covering
        self._seen = context.durable.known
        self.session: Final = session
        self.spared: Final[dict[SubscriptionKey, SubscriptionKey]] = {}
        """What is not asked for, and what stands for it."""
        self._installed: dict[int, Subscription] = {}
        """By the number of a body what the source looks for, and longest."""
        self._asked: dict[int, Subscription] = {}
        """By the number of a body what was asked for last, and may not be answered yet."""
        self._waiting: dict[ItemId, list[SubscriptionKey]] = {}
        """For each install that is not answered yet what waits for the answer."""
        self._taken: set[SubscriptionKey] = set()
        """What the source was asked for in this contact, in whichever revision: it may have taken it."""
        self._removals: list[ItemId] = []

    # ------------------------------------------------------------------ what the source looks for

    def load_installed(self) -> None:
        """Find out what the source looks for, as its summary says."""
        for held in self._table.subscriptions():
            if self.session.named(held.item.id) and self._is_certain(held):
                self._note_installed(held)

    def _is_certain(self, held: Subscription) -> bool:
        """Return whether nothing that the source named, and that is unknown here, could have ended this."""
        item = held.item
        named = self.session.named_of(item.origin)
        return named is not None and self._seen.knows_after(item.origin, item.number, named)

    def _note_installed(self, held: Subscription) -> None:
        number = self._covering.number(held.key)
        if number is not None:
            known = self._current(self._installed.get(number))
            if known is None or held.until_ms > known.until_ms:
                self._installed[number] = held

    def _current(self, known: Subscription | None) -> Subscription | None:
        """Return what was noted, if it is in force as it was then."""
        return known if known is not None and self._table.get(known.key) is known else None

    # ------------------------------------------------------------------ what need not be asked

    def order(self, held: list[Subscription], now_ms: int) -> list[Subscription]:
        """Return subscriptions in the order in which they are asked for: first what stands for others."""
        ranked = [(self._covering.depth(one, now_ms), -one.until_ms, one.key) for one in held]
        by_key = {one.key: one for one in held}
        return [by_key[key] for _, _, key in sorted(ranked)]

    def suppresses(self, wanted: Subscription, now_ms: int) -> bool:
        """Return whether this need not be installed, or not before another answer. What was noted of an
        older revision does not hold for this one.
        """
        self.spared.pop(wanted.key, None)
        if (
            self.session.knows(wanted.item.id)
            or self._parts.of(wanted.item.id)
            or self._may_have_older(wanted)
        ):
            return False
        numbers = list(self._covering.covers(wanted, now_ms))
        for number in numbers:
            cover = self._cover_in(self._installed, number, wanted)
            if cover is not None:
                self.spared[wanted.key] = cover.key
                return True
        for number in numbers:
            cover = self._cover_in(self._asked, number, wanted)
            if cover is not None and self.session.is_in_transit(cover.item.id):
                self._waiting.setdefault(cover.item.id, []).append(wanted.key)
                return True
        return False

    def _may_have_older(self, wanted: Subscription) -> bool:
        """Say whether the source may look for an older revision, which asking for this one would end: it was
        asked for one in this contact, or named something of this subscriber that is over.
        """
        if wanted.key in self._taken:
            return True
        origin, items = wanted.item.origin, self._items
        numbers = chain.from_iterable(
            range(first, last + 1) for first, last in self.session.named_of(origin) or ()
        )
        return not all(item_id(origin, number) in items for number in islice(numbers, _NAMED_MAX)) or any(
            True for _ in numbers
        )

    def _cover_in(
        self, known: dict[int, Subscription], number: int, wanted: Subscription
    ) -> Subscription | None:
        cover = self._current(known.get(number))
        if cover is None or cover.key == wanted.key or reach_ms(cover) < wanted.until_ms:
            return None
        return cover

    def asked(self, held: Subscription) -> None:
        """Note that this was asked of the source."""
        self._taken.add(held.key)
        number = self._covering.number(held.key)
        if number is not None:
            self._asked[number] = held
        self._waiting.setdefault(held.item.id, [])

    # ------------------------------------------------------------------ what changes

    def answered(self, answered: ItemId, asked: Subscription | None, took_it: bool) -> list[SubscriptionKey]:
        """Take an answer to an install; return what waited for it."""
        if took_it and asked is not None:
            self._note_installed(asked)
        return self._waiting.pop(answered, [])

    def changed(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return what has to be looked at again when a subscription was withdrawn or revised."""
        again = [wanted for wanted, cover in self.spared.items() if cover == key]
        for wanted in again:
            del self.spared[wanted]
        items = self._items
        for gone in [one for one in self._waiting if one not in items]:
            again += self._waiting.pop(gone)
        return again

    # ------------------------------------------------------------------ withdrawals

    def queue_removal(self, removal: ItemId) -> None:
        """Tell the source of a withdrawal when nothing that was asked is unanswered."""
        self._removals.append(removal)

    def send_removals(self) -> None:
        """Tell the source of the withdrawals that were put off, if nothing is unanswered."""
        if self._removals and not any(self.session.is_in_transit(one) for one in self._waiting):
            for removal in self._removals:
                self.session.offer(0, removal, REMOVE)
            self._removals.clear()
