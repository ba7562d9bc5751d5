"""Filters of a publisher: the subscriptions that mediators have installed, and the filter host that runs
them.

A filter is installed in the filter host (a watchdog) with its remaining lifetime. It survives a restart, and
an older copy never brings it back.
"""

from typing import Final

from dens.interfaces import FilterHost, SubscriptionKey
from dens.overlay.covering.leases import Leases, longer_code
from dens.overlay.events import FilterInstalled, FilterRemoved
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable, is_newer
from dens.overlay.wire.codes import REASON_NAMES, MessageType, Reason, Status
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import Subscribed, Withdrawal
from watchdog import codes
from watchdog.header import HEADER_ID, HEADER_LIFETIME, framed

_HOST_CODES: Final = {
    codes.INSTALLED: Status.STORED,
    codes.KNOWN: Status.STORED,
    codes.REPLACED: Status.STORED,
    codes.STALE: Status.SUPERSEDED,
    codes.FULL: Status.NO_ROOM,
    codes.UNKNOWN_LANGUAGE: Status.UNKNOWN_LANGUAGE,
    codes.BAD_VECTOR: Status.BAD_PAYLOAD,
    codes.OVER: Status.EXPIRED,
    codes.WITHDRAWN: Status.SUPERSEDED,
    codes.NOT_MEASURED: Status.NOT_MEASURED,
    codes.UNKNOWN_SOURCE: Status.UNKNOWN_SOURCE,
    codes.SOURCE_FAILED: Status.SOURCE_FAILED,
}
"""Wire status for each result code of a filter host."""
_SOURCE_REFUSALS: Final = (Status.NOT_MEASURED, Status.UNKNOWN_SOURCE, Status.SOURCE_FAILED)
"""Refusals that may become acceptance later, when the source runs."""
_ID_COUNT: Final = 256
"""Subscription ids of one node."""


class InstalledFilters:
    """The filters of one publisher, and the tombstones of removed ones."""

    __slots__ = (
        "_context",
        "_durable",
        "_events",
        "_filter_host",
        "_items",
        "_limits",
        "_quarantine",
        "_table",
        "_unserved",
        "leases",
    )

    def __init__(self, context: NodeContext, filter_host: FilterHost, covering: bool) -> None:
        self._context = context
        self._durable = context.durable
        self._events = context.events
        self._limits = context.limits
        self._quarantine = context.quarantine
        self._filter_host = filter_host
        self._table = SubscriptionTable(linger_ms=0)
        self._items: dict[ItemId, Item] = {}
        """The held INSTALL and REMOVE messages."""
        self._unserved: set[SubscriptionKey] = set()
        """Filters of an earlier run whose source does not run."""
        self.leases: Final = Leases(context) if covering else None
        """Leases of mediators on filters, if mediators suppress covered subscriptions."""

    def __len__(self) -> int:
        return len(self._table)

    # ------------------------------------------------------------------ restart

    def restore(self, item: Item) -> None:
        """Load an INSTALL or REMOVE of an earlier run; REMOVEs come first."""
        self._items[item.id] = item
        if item.type == MessageType.REMOVE:
            self._table.withdraw(item, Withdrawal.decode(item.payload))
        else:
            self._table.put(Subscription.of(item, Subscribed.from_subscribe(item.payload)))

    def install_restored(self, now_ms: int) -> None:
        """Install all restored filters in the filter host."""
        for subscription in self._table.subscriptions():
            if subscription.until_ms > now_ms:
                self._reinstall(subscription, now_ms)

    def retry_unserved(self, now_ms: int) -> None:
        """Try again to install filters whose source did not run."""
        for key in sorted(self._unserved):
            held = self._table.get(key)
            if held is None or held.until_ms <= now_ms:
                self._unserved.discard(key)
            else:
                self._reinstall(held, now_ms)

    def _reinstall(self, held: Subscription, now_ms: int) -> None:
        """Install a filter of an earlier run. One whose source does not run is remembered: no mediator offers
        an acknowledged INSTALL again.
        """
        if self._host_install(held, None, now_ms) in _SOURCE_REFUSALS:
            self._unserved.add(held.key)
        else:
            self._unserved.discard(held.key)

    # ------------------------------------------------------------------ filter host

    def _host_install(self, new: Subscription, peer: int | None, now_ms: int) -> Status | None:
        """Install a subscription in the filter host; return its status, None if the host failed."""
        return self._quarantine.attempt(
            Work.FILTERING,
            new.item,
            now_ms,
            self._install_in_host,
            new,
            peer,
            now_ms,
            otherwise=None,
            peer=peer,
        )

    def _install_in_host(self, new: Subscription, peer: int | None, now_ms: int) -> Status:
        code = self._host_code(new, now_ms)
        status = _HOST_CODES[code]
        if status is Status.STORED:
            self._events.append(FilterInstalled(now_ms, new.item, peer, code))
        return status

    def _host_code(self, new: Subscription, now_ms: int) -> int:
        return self._filter_host.install(
            new.item.origin, new.id, new.seq, new.item.language, new.body, new.until_ms - now_ms, now_ms
        )

    def install_advertised(self, advertisement: Subscription, now_ms: int) -> Status:
        """Install an advertisement of this node: with a body it filters what the node publishes."""
        return _HOST_CODES[self._host_code(advertisement, now_ms)]

    def remove_advertised(self, advertisement: Subscription, now_ms: int) -> None:
        """Remove an advertisement of this node from the filter host."""
        self._filter_host.remove(self._context.node, advertisement.id, advertisement.seq, now_ms)

    # ------------------------------------------------------------------ messages of mediators

    def install(self, item: Item, peer: int, now_ms: int) -> Status | None:
        """Process an INSTALL; return its status, None if the filter host failed."""
        if self.leases is not None:
            item = item.replace(lifetime_q=longer_code(item.lifetime_q))
        new = Subscription.of(item, Subscribed.from_subscribe(item.payload))
        status = self._table.judge(new)
        if status is not Status.STORED:
            return status
        if len(self._table) >= self._limits.subscriptions and self._table.get(new.key) is None:
            return Status.NO_ROOM
        answer = self._host_install(new, peer, now_ms)
        if answer is not Status.STORED:
            return answer
        self._unserved.discard(new.key)
        replaced = self._put(new)
        if self.leases is not None:
            self._lease(self.leases, new, replaced, peer, now_ms)
        self._hold(item)
        return Status.STORED

    def _put(self, new: Subscription) -> Subscription | None:
        replaced = self._table.put(new)
        if replaced is not None:
            self._release(replaced.item)
        return replaced

    def _hold(self, item: Item) -> None:
        self._items[item.id] = item
        self._durable.keep(item)

    def _release(self, item: Item) -> None:
        del self._items[item.id]
        self._durable.release(item)

    def _lease(
        self, leases: Leases, new: Subscription, replaced: Subscription | None, peer: int, now_ms: int
    ) -> None:
        """Grant leases on a new filter; those on the replaced one stay valid."""
        if replaced is not None and replaced.body == new.body:
            leases.renewed(replaced)
            return
        if replaced is not None:
            leases.ended(replaced.key)
            if replaced.until_ms > now_ms:
                self._keep_leased(replaced, peer, now_ms)
        leases.installed(new)

    def _keep_leased(self, old: Subscription, peer: int, now_ms: int) -> None:
        """Keep the body of a replaced revision as a filter of this node, until its lifetime is over. There
        are 256 ids for these; beyond that the filter that ends first is replaced.
        """
        if not self._durable.has_numbers:
            return
        node, table = self._context.node, self._table
        own = {id: held for id in range(_ID_COUNT) if (held := table.get((node, id))) is not None}
        id = next((id for id in range(_ID_COUNT) if id not in own), None)
        if id is None:
            id = min(own, key=lambda own_id: (own[own_id].until_ms, own_id))
        seq = (own[id].seq + 1) % 256 if id in own else 0
        vector = framed(id, seq, old.vector[HEADER_LIFETIME], old.body)
        original = old.item
        item = Item(
            MessageType.INSTALL,
            original.language,
            node,
            self._durable.item_number(),
            original.created_ms,
            original.lifetime_q,
            0,
            vector,
        )
        new = Subscription.of(item, Subscribed.from_subscribe(vector))
        if self._host_install(new, peer, now_ms) is Status.STORED:
            self._put(new)
            self._hold(item)

    def remove(self, item: Item, peer: int, now_ms: int) -> Status:
        """Process a REMOVE; return its status."""
        withdrawal = Withdrawal.decode(item.payload)
        if self._is_leased(withdrawal, item.origin, peer, now_ms):
            return Status.RELIED_ON
        if self._table.tombstone_count >= self._limits.tombstones:
            return Status.NO_ROOM
        status, ended, older = self._table.withdraw(item, withdrawal)
        if status is not Status.STORED:
            return status
        if older is not None:
            self._release(older.item)
        if ended is not None:
            self._release(ended.item)
            if self.leases is not None:
                self.leases.ended(ended.key)
            self._quarantine.attempt(
                Work.ENDING,
                ended.item,
                now_ms,
                self._filter_host.remove,
                ended.item.origin,
                ended.id,
                ended.seq,
                now_ms,
                otherwise=None,
            )
            self._report_removed(ended, Reason.WITHDRAWN, now_ms)
        self._hold(item)
        return Status.STORED

    def _is_leased(self, withdrawal: Withdrawal, origin: int, peer: int, now_ms: int) -> bool:
        """Return whether leases of other mediators keep a filter from being removed."""
        held = self._table.get((origin, withdrawal.id))
        if self.leases is None or held is None or is_newer(held.seq, withdrawal.seq):
            return False
        return not self.leases.may_remove(held, peer, withdrawal.seq) and held.until_ms > now_ms

    def _report_removed(self, old: Subscription, reason: Reason, now_ms: int) -> None:
        self._events.append(FilterRemoved(now_ms, old.item.origin, old.id, old.seq, REASON_NAMES[reason]))

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Remove an expired INSTALL or REMOVE; return whether it was held here."""
        item = self._items.pop(item_id, None)
        if item is None:
            return False
        if item.type == MessageType.REMOVE:
            self._table.forget_tombstone((item.origin, item.payload[HEADER_ID]), item)
            return True
        while (expired := self._table.pop_expired(now_ms)) is not None:
            if self.leases is not None:
                self.leases.ended(expired.key)
            # The host expires it by itself; after an explicit removal it would refuse a late renewal.
            self._report_removed(expired, Reason.LIFETIME_OVER, now_ms)
        return True
