"""Suppresses INSTALL messages to a source whose installed filters already cover the subscription.

One instance per contact with a source that grants leases (dens/overlay/covering/leases.py). Certainly
installed are subscriptions

- that the source accepted in this contact, also from another mediator;
- that its summary named, unless it also named a later message of the same subscriber that is unknown here and
  could have ended them.

Installs that an unacknowledged one would cover wait for its acknowledgement. A removal waits for all
acknowledgements, because it releases this node's lease.
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
"""The part of a source's extra lifetime that is counted on, as a fraction. The rest is for differences of
lifetimes between two nodes: transmission time and clock drift."""
_NAMED_MAX: Final = 64
"""Messages of one subscriber in a source's summary that are checked."""


def reach_ms(cover: Subscription) -> int:
    """Return until when a source is counted on to filter for this cover."""
    item = cover.item
    part, whole = _COUNTED_PART
    longer_ms = LIFETIME_MS[longer_code(item.lifetime_q)] - LIFETIME_MS[item.lifetime_q]
    return cover.until_ms + longer_ms * part // whole


class InstallSuppression:
    """Covers at one source, during one contact."""

    __slots__ = (
        "_covering",
        "_installed",
        "_items",
        "_parts",
        "_removals",
        "_requested",
        "_seen",
        "_table",
        "_taken",
        "_waiting",
        "session",
        "suppressed",
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
        self.suppressed: Final[dict[SubscriptionKey, SubscriptionKey]] = {}
        """Suppressed subscriptions, and their covers."""
        self._installed: dict[int, Subscription] = {}
        """By number of a body: the installed subscription that lasts longest."""
        self._requested: dict[int, Subscription] = {}
        """By number of a body: the last requested install, which may be unacknowledged."""
        self._waiting: dict[ItemId, list[SubscriptionKey]] = {}
        """By unacknowledged install: the subscriptions that wait for its status."""
        self._taken: set[SubscriptionKey] = set()
        """Subscriptions requested in this contact, in any revision: the source may have accepted them."""
        self._removals: list[ItemId] = []

    # ------------------------------------------------------------------ installed filters

    def load_installed(self) -> None:
        """Note the installed subscriptions according to the source's summary."""
        for held in self._table.subscriptions():
            if self.session.named(held.item.id) and self._is_certain(held):
                self._note_installed(held)

    def _is_certain(self, held: Subscription) -> bool:
        """Return whether the source named no unknown message that could have ended this subscription."""
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
        """Return a noted subscription if that revision is still in force."""
        return known if known is not None and self._table.get(known.key) is known else None

    # ------------------------------------------------------------------ suppression

    def order(self, held: list[Subscription], now_ms: int) -> list[Subscription]:
        """Return subscriptions in the order of installation: covers first."""
        ranked = [(self._covering.depth(one, now_ms), -one.until_ms, one.key) for one in held]
        by_key = {one.key: one for one in held}
        return [by_key[key] for _, _, key in sorted(ranked)]

    def suppresses(self, wanted: Subscription, now_ms: int) -> bool:
        """Return whether an install is suppressed, or waits for the status of another one. Notes about an
        older revision do not hold for this one.
        """
        self.suppressed.pop(wanted.key, None)
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
                self.suppressed[wanted.key] = cover.key
                return True
        for number in numbers:
            cover = self._cover_in(self._requested, number, wanted)
            if cover is not None and self.session.is_in_transit(cover.item.id):
                self._waiting.setdefault(cover.item.id, []).append(wanted.key)
                return True
        return False

    def _may_have_older(self, wanted: Subscription) -> bool:
        """Return whether the source may have an older revision, which installing this one would end: one was
        requested in this contact, or the source named an ended message of this subscriber.
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

    def note_requested(self, held: Subscription) -> None:
        """Note that an install was requested."""
        self._taken.add(held.key)
        number = self._covering.number(held.key)
        if number is not None:
            self._requested[number] = held
        self._waiting.setdefault(held.item.id, [])

    # ------------------------------------------------------------------ what changes

    def answered(
        self, item_id: ItemId, installed: Subscription | None, is_accepted: bool
    ) -> list[SubscriptionKey]:
        """Take the status of an install; return the subscriptions that waited for it."""
        if is_accepted and installed is not None:
            self._note_installed(installed)
        return self._waiting.pop(item_id, [])

    def changed(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return the subscriptions to check again after this one was withdrawn or revised."""
        again = [wanted for wanted, cover in self.suppressed.items() if cover == key]
        for wanted in again:
            del self.suppressed[wanted]
        items = self._items
        for gone in [one for one in self._waiting if one not in items]:
            again += self._waiting.pop(gone)
        return again

    # ------------------------------------------------------------------ withdrawals

    def queue_removal(self, removal: ItemId) -> None:
        """Queue a removal until all installs are acknowledged."""
        self._removals.append(removal)

    def send_removals(self) -> None:
        """Offer the queued removals if all installs are acknowledged."""
        if self._removals and not any(self.session.is_in_transit(one) for one in self._waiting):
            for removal in self._removals:
                self.session.offer(0, removal, REMOVE)
            self._removals.clear()
