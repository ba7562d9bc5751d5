"""Checks the seven invariants of docs/reference/protocols.md from events and bytes alone.

Checked after every step: 1 and 2 (what was acknowledged is durable, survives a crash, and ends only with an
event that gives the reason), 3 (delivered once), 4 (nothing is forwarded for a withdrawn subscription), 6
(what does not verify changes nothing) and 7 (limits). Checked at the end: 2 (every expected delivery arrived)
and 5 (the oracles).

Also checked: a NOTIFY lists every subscription of the subscriber that the mediator holds and the notification
satisfies, and nothing is pending for a subscriber whose receipt the mediator acknowledged.
"""

from typing import TYPE_CHECKING, Final

from dens.overlay.broker.node import BrokerNode
from dens.overlay.events import (
    CopyDropped,
    DatagramRefused,
    Event,
    InstallSpared,
    MessageAcknowledged,
    MessageExpired,
    MessageQuarantined,
    NotificationDelivered,
    OffersHeard,
)
from dens.overlay.mediator.node import DensNode
from dens.overlay.storage.deduplication import KnownItems
from dens.overlay.storage.store import Space
from dens.overlay.storage.subscription_table import is_newer
from dens.overlay.wire.authentication import TAG_BYTES
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.envelope import read_header
from dens.overlay.wire.item import ENVELOPE_BYTES, NUMBER_BITS, Item, ItemId, format_id
from dens.overlay.wire.item import item_id as item_id_of
from dens.overlay.wire.messages import MOST_SATISFIED, Notify, read_receipt
from emulation.fault_injection.composite_checker import CompositeChecker
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.lookup_checker import LookupChecker
from emulation.fault_injection.oracles import DELTA_MS, LINK_MS, earliest_arrivals, lifetime_ms
from emulation.fault_injection.sequences import SEQUENCE
from emulation.fault_injection.sources import Sources
from emulation.fault_injection.topics import POISON

if TYPE_CHECKING:
    from emulation.fault_injection.applications import Published, SubscriptionRevision
    from emulation.fault_injection.world import World

_PROMISED: Final = (
    MessageType.SUBSCRIBE,
    MessageType.RENEW,
    MessageType.NOTIFICATION,
    MessageType.NOTIFY,
)
_FOR_ROOM: Final = frozenset({"over_quota", "lowest_degree", "oldest", "patience_over"})
_BY_POLICY: Final = _FOR_ROOM | {"delivered"}
"""Reasons for which a carrier gives up a copy. A broker that has forwarded everything gives up nothing."""

Mediator = DensNode | BrokerNode
Revision = tuple[int, int]
"""The id of a subscription at its subscriber, and its revision."""


class InvariantChecker:
    """Checks one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.delivered: dict[tuple[int, ItemId], int] = {}
        self.acknowledged: dict[int, dict[ItemId, int]] = {node: {} for node in world.mediators}
        self.gone: dict[int, set[ItemId]] = {node: set() for node in world.all_nodes()}
        self.dropped: set[ItemId] = set()
        self._held: dict[int, set[ItemId]] = {}
        self._without_store: set[int] = set()
        """Brokers that lost their store: an earlier acknowledgement may still be under way."""
        self._began_ms: dict[int, int] = {}
        """The start of each engine, by its own clock."""
        self._receipts: dict[int, dict[ItemId, tuple[ItemId, int]]] = {node: {} for node in world.mediators}
        """The receipts that each mediator acknowledged: their notifications and subscribers."""
        self.notified: dict[tuple[int, ItemId], set[frozenset[Revision]]] = {}
        """The lists of subscriptions with which each subscriber was notified."""
        self._sources = Sources(world)
        self.lookups = LookupChecker(world)
        self.composites = CompositeChecker(world)

    # ------------------------------------------------------------------ what the world shows

    def started(self, node: int) -> None:
        """Record a new engine and what it holds."""
        machine = self._world.machines[node]
        self._began_ms[node] = self._world.local(node)
        if isinstance(machine, Mediator):
            self._held[node] = set(machine.state.items)

    def crashed(self, node: int) -> None:
        """Record the last events of an engine before it is dropped."""
        self.lookups.crashed(node)
        for event in self._world.machines[node].context.events:
            self._note_end(node, event)

    def lost_store(self, node: int) -> None:
        """Record that a broker lost its store: what was published before is no longer expected."""
        self._without_store.add(node)
        self.acknowledged[node].clear()
        self._receipts[node].clear()
        self.dropped.update(self._world.applications.published)

    def restarted(self, node: int) -> None:
        """Check that nothing acknowledged was lost in a crash, and nothing delivered forgotten."""
        if node in self._world.down:
            return
        known = self._world.machines[node].context.durable.known
        self._check_remembered(node, known)
        self.composites.restarted(node)
        for item_id, until_ms in self.acknowledged.get(node, {}).items():
            if item_id not in self.gone[node] and self._world.now_ms + self._world.plan.slack_ms < until_ms:
                demand(
                    item_id in known,
                    1,
                    f"node {node} acknowledged {format_id(item_id)} and lost it in a crash",
                )

    def _check_remembered(self, node: int, known: KnownItems) -> None:
        """Check that a subscriber still knows what it delivered. Whether a forgotten notification arrives
        again is random, so memory is checked directly.
        """
        published = self._world.applications.published
        live_ms = self._world.now_ms + self._world.plan.slack_ms
        for who, item_id in self.delivered:
            if who == node and item_id in published and live_ms < published[item_id].until_ms:
                demand(
                    item_id in known,
                    3,
                    f"subscriber {node} delivered {format_id(item_id)} and forgot it in a crash",
                )

    def note(self, node: int, event: Event) -> None:
        """Check an event of a node."""
        self._note_end(node, event)
        if isinstance(event, NotificationDelivered):
            self._check_delivery(node, event)
        elif isinstance(event, InstallSpared):
            self._sources.spared(node, event)
        elif isinstance(event, OffersHeard):
            self.lookups.heard(node, event)
        elif isinstance(event, MessageQuarantined):
            is_poison = self._world.plan.is_poisoned and event.item.payload == POISON
            demand(
                is_poison,
                0,
                f"node {node} quarantined {format_id(event.item.id)} after a failure: {event.reason}",
            )
        elif isinstance(event, MessageAcknowledged) and event.reason is None:
            peer, item = event.peer, event.item
            if peer in self.acknowledged and item.type == MessageType.RECEIPT:
                self._receipt_acknowledged(peer, item)
            elif peer in self.acknowledged and item.type in _PROMISED:
                store = self._world.stores[peer]
                is_safe = (
                    item.id in self.gone[peer]
                    or peer in self._without_store
                    or store.holds(Space.ITEM, item.id)
                    or store.holds(Space.KNOWN, item.id)
                )
                demand(
                    is_safe, 1, f"node {peer} acknowledged {format_id(item.id)}, which is not durable there"
                )
                if peer in self._without_store:
                    return
                self.acknowledged[peer][item.id] = item.expires_ms - self._world.skew_ms[node]

    def _receipt_acknowledged(self, mediator: int, item: Item) -> None:
        """Check that a mediator holds a receipt that it acknowledged, until an event gives the reason. The
        acknowledgement of a mediator that lost its store may date from before.
        """
        if item.id not in self.gone[mediator]:
            is_held = self._world.stores[mediator].holds(Space.ITEM, item.id)
            is_safe = is_held or mediator in self._without_store
            demand(
                is_safe,
                1,
                f"mediator {mediator} acknowledged the receipt {format_id(item.id)} and does not hold it",
            )
            if is_held:
                self._receipts[mediator][item.id] = (read_receipt(item.payload), item.origin)

    def _held_receipts(self, machine: Mediator) -> list[tuple[ItemId, int]]:
        """Return the notifications and subscribers of the receipts that a mediator acknowledged and holds.

        Events that end a receipt count as soon as they are recorded: datagrams are formed after that, and are
        checked before the events are read.
        """
        events = machine.context.events
        ended = {event.item.id for event in events if isinstance(event, CopyDropped | MessageExpired)}
        return [one for receipt, one in self._receipts[machine.node].items() if receipt not in ended]

    def _note_end(self, node: int, event: Event) -> None:
        if isinstance(event, CopyDropped | MessageExpired):
            self.gone[node].add(event.item.id)
            if isinstance(event, MessageExpired):
                ends_ms = event.item.created_ms + lifetime_ms(event.item.lifetime_q)
                is_exact = event.at_ms == max(ends_ms, self._began_ms[node])
                demand(
                    is_exact,
                    2,
                    f"{format_id(event.item.id)} expired at node {node} at {event.at_ms} ms of its clock, "
                    f"expected {max(ends_ms, self._began_ms[node])} ms",
                )
            if node in self._receipts:
                self._receipts[node].pop(event.item.id, None)
            is_hosted = event.item.type == MessageType.NOTIFY and event.reason == "delivered"
            reasons = _BY_POLICY if self._world.plan.routing == "carry" else _FOR_ROOM
            if event.reason in reasons and not is_hosted:
                self.dropped.add(event.item.id)
                self.composites.dropped(event.item)

    def _check_delivery(self, node: int, event: NotificationDelivered) -> None:
        place = (node, event.item.id)
        demand(place not in self.delivered, 3, f"subscriber {node} received {format_id(event.item.id)} twice")
        self.delivered[place] = self._world.now_ms
        if self._check_made_delivery(node, event):
            return
        if event.item.origin in self._world.hostile:
            return
        published = self._world.applications.published[event.item.id]
        demand(
            event.item.payload == published.vector,
            6,
            f"subscriber {node} received {format_id(event.item.id)} with other bytes than were published",
        )
        demand(
            bool(event.satisfied),
            2,
            f"subscriber {node} received {format_id(event.item.id)} without a satisfied subscription",
        )
        slack_ms = self._world.plan.slack_ms
        for id, seq, _, _ in event.satisfied:
            [one] = [
                one
                for one in self._world.applications.revisions
                if (one.subscriber, one.id, one.seq) == (node, id, seq)
            ]
            in_time = one.since_ms - slack_ms <= published.event_ms < one.until_ms + slack_ms
            demand(
                in_time and self._world.applications.wants(one, published.vector),
                2,
                f"subscriber {node} received {format_id(published.id)} for revision {seq} of its "
                f"subscription {id}, which does not match",
            )
        shown = {(id, seq) for id, seq, _, _ in event.satisfied}
        live = {(one.id, one.seq) for one in self._live(node)}
        is_whole = any(listed & live <= shown <= listed for listed in self.notified[place])
        demand(
            is_whole,
            2,
            f"subscriber {node} received {format_id(published.id)} for only some of the subscriptions that "
            "it satisfies",
        )

    def _check_made_delivery(self, node: int, event: NotificationDelivered) -> bool:
        """Check the delivery of a composite or prediction; return whether it is one."""
        if event.item.language != SEQUENCE:
            return False
        self.composites.delivered(node, event)
        return True

    def _live(self, subscriber: int) -> "list[SubscriptionRevision]":
        """Return the subscriptions that a subscriber has in force, for any clock error up to the slack."""
        live_ms = self._world.now_ms + self._world.plan.slack_ms
        return [
            one
            for one in self._world.applications.revisions
            if one.subscriber == subscriber and one.over_ms is None and live_ms < one.until_ms
        ]

    def _check_listed(self, machine: Mediator, subscriber: int, item: ItemId, listed: set[Revision]) -> None:
        """Check that a NOTIFY lists all subscriptions of the subscriber that the mediator holds and the
        notification satisfies.
        """
        self.notified.setdefault((subscriber, item), set()).add(frozenset(listed))
        carried = machine.state.carried.get(item)
        is_seen = (
            subscriber in self._world.down or item in self._world.machines[subscriber].context.durable.known
        )  # A late receipt: a renewal makes a notification pending again that the subscriber already has.
        if carried is None or carried.item.language == SEQUENCE or is_seen:
            return
        created_ms = carried.item.created_ms
        held = {
            (one.id, one.seq)
            for one in machine.state.table.subscriptions()
            if one.item.origin == subscriber and one.since_ms <= created_ms < one.until_ms
        }
        wants, vector = self._world.applications.wants, carried.item.payload
        satisfied = {(one.id, one.seq) for one in self._live(subscriber) if wants(one, vector)}
        missing = sorted((held & satisfied) - listed)
        name = f"mediator {machine.node} notified subscriber {subscriber} of {format_id(item)}"
        demand(not missing, 2, f"{name} without its matching subscriptions (id, revision) {missing}")

    def sent(self, node: int, peer: int, data: bytes) -> None:
        """Check a NOTIFY: nothing for a subscription whose tombstone the mediator holds, and a complete list
        of satisfied subscriptions.
        """
        if data[1] != MessageType.NOTIFY:
            return
        machine = self._world.machines[node]
        assert isinstance(machine, Mediator)
        buried = {(one.item.origin, one.id): one.seq for one in machine.state.table.tombstones()}
        end = len(data) - TAG_BYTES if read_header(data).is_tagged else len(data)
        satisfied = Notify.decode(data[ENVELOPE_BYTES:end]).satisfied
        if peer in self._world.subscribers:
            header = read_header(data)
            notification = item_id_of(header.origin, header.number)
            has_it = (notification, peer) in self._held_receipts(machine)
            demand(
                not has_it,
                2,
                f"mediator {node} notified subscriber {peer} of {format_id(notification)} after its receipt",
            )
            self._check_listed(machine, peer, notification, {(id, seq) for id, seq, _, _ in satisfied})
        for id, seq, _, _ in satisfied:
            is_wanted = (peer, id) not in buried or is_newer(seq, buried[peer, id])
            demand(
                is_wanted,
                4,
                f"mediator {node} forwarded for subscription {id} of node {peer}, which is withdrawn",
            )

    def is_bound_to_its_contact(self, data: bytes) -> bool:
        """Return whether recorded bytes must be refused in any other contact: under a key, all but HELLO."""
        return self._world.plan.mission_key is not None and data[1] != MessageType.HELLO

    def received_false(self, node: int) -> None:
        """Check that bytes which no node of the mission made for this contact caused nothing but a
        refusal.
        """
        if self._world.plan.mission_key is not None:
            events = self._world.machines[node].context.events
            refused = all(isinstance(event, DatagramRefused) for event in events)
            demand(refused, 6, f"node {node} accepted bytes that do not verify")

    def step(self, node: int) -> None:
        """Check the limits of a mediator, that nothing left it without an event that gives the reason, and
        that a source serves the subscriptions whose install was suppressed.
        """
        self.lookups.step(node)
        machine, limits = self._world.machines[node], self._world.plan.limits
        self._sources.check_spared(node)
        if not isinstance(machine, Mediator):
            return
        is_bounded = (
            len(machine.state.carried) <= limits.notification_items
            and machine.state.carried.total_bytes <= limits.notification_bytes
            and len(machine.state.table) <= limits.subscriptions
            and len(machine.state.receipts) <= limits.receipts
            and machine.state.carried.pending_pairs <= max(limits.owed, MOST_SATISFIED)
            and machine.context.durable.known.released_count <= limits.known_items
            and len(machine.context.durable.results) <= limits.known_results
        )
        demand(is_bounded, 7, f"mediator {node} exceeds one of its limits")
        held = self._held[node]
        lost = held.difference(machine.state.items, self.gone[node])
        demand(
            not lost,
            2,
            f"mediator {node} removed {', '.join(format_id(one) for one in sorted(lost)[:1])} without an "
            "event",
        )
        self._held[node] = set(machine.state.items)
        self._check_receipted(machine)
        for tombstone in machine.state.table.tombstones():
            current = machine.state.table.get((tombstone.item.origin, tombstone.id))
            is_newer_one = current is None or is_newer(current.seq, tombstone.seq)
            demand(
                is_newer_one,
                4,
                f"mediator {node} restored subscription {tombstone.id} of node {tombstone.item.origin}, "
                "which is withdrawn",
            )

    def _check_receipted(self, machine: Mediator) -> None:
        """Check that nothing is pending for a subscriber whose receipt this mediator acknowledged, and that a
        copy for hosted subscribers is held only as long as it is pending for one of them.
        """
        for notification, subscriber in self._receipts[machine.node].values():
            is_pending = subscriber in machine.state.carried.pending_subscribers(notification)
            name = (
                f"{format_id(notification)} is pending at mediator {machine.node} for subscriber {subscriber}"
            )
            demand(not is_pending, 2, f"{name}, whose receipt it acknowledged")
        for carried in machine.state.carried.all():
            is_over = carried.item.type == MessageType.NOTIFY and not machine.state.carried.is_pending(
                carried.item.id
            )
            demand(
                not is_over,
                2,
                f"mediator {machine.node} holds {format_id(carried.item.id)}, which is pending for none of "
                "its hosted subscribers",
            )

    # ------------------------------------------------------------------ the end of a run

    def missing_deliveries(self, as_of_ms: int) -> list[tuple[int, ItemId]]:
        """Return the deliveries expected by then that did not happen, without those whose drop was
        recorded.
        """
        applications, slack_ms = self._world.applications, self._world.plan.slack_ms
        lateness_ms = slack_ms if self._world.plan.faults.clock else 0
        missing = []
        for published in applications.published.values():
            if published.until_ms <= as_of_ms + 1_000 + lateness_ms or published.id in self.dropped:
                continue
            for one in applications.revisions:
                place = (one.subscriber, published.id)
                is_expected = one.over_ms is None and applications.is_expected(one, published, lateness_ms)
                if is_expected and place not in self.delivered and not self.is_late(one, published):
                    missing.append(place)
        if self._world.plan.composes:
            missing += self.composites.missing_deliveries(as_of_ms, lateness_ms, self.dropped)
        return missing

    def is_late(self, revision: "SubscriptionRevision", *events: "Published") -> bool:
        """Return whether time in the air, which ages do not count, moved an event out of the lifetime of a
        subscription: one of these events lies near its begin or end, and every mediator that carries them has
        recorded one of them outside.
        """
        plan = self._world.plan
        is_near = any(not revision.is_in_force(one.event_ms, plan.slack_ms) for one in events)
        if not plan.faults.slow or not is_near or plan.routing != "carry":
            return False  # Brokers know the subscriptions before the faults begin.
        outside = []
        for node in self._world.mediators:
            machine = self._world.machines[node]
            assert isinstance(machine, DensNode)
            carried = [machine.state.carried.get(one.id) for one in events]
            held = machine.state.table.get((revision.subscriber, revision.id))
            recorded = [one.item.created_ms for one in carried if one is not None]
            if len(recorded) == len(events):
                is_known = held is not None and held.seq == revision.seq
                is_outside = held is not None and any(
                    not held.since_ms <= at_ms < held.until_ms for at_ms in recorded
                )
                outside.append(is_known and is_outside)
        return bool(outside) and all(outside)

    def is_settled(self) -> bool:
        """Return whether all expected deliveries arrived and sources have the right filters."""
        has_all = not self.missing_deliveries(self._world.now_ms)
        return has_all and not self._sources.amiss() and not self._pending_at_brokers()

    def _pending_at_brokers(self) -> list[tuple[int, str]]:
        """Return the brokers with pending notifications, and these notifications."""
        machines = [self._world.machines[node] for node in self._world.mediators]
        return [
            (one.node, format_id(held.item.id))
            for one in machines
            if isinstance(one, BrokerNode)
            for held in one.state.carried.all()
            if held.pending
        ]

    def conclude(self) -> None:
        """Check what is known only at the end: everything arrived, nothing too early or too late."""
        plan = self._world.plan
        if plan.everything_arrives:
            missing = self.missing_deliveries(self._world.now_ms)
            first = ", ".join(f"{format_id(item)} to {node}" for node, item in missing[:3])
            demand(not missing, 2, f"{len(missing)} expected deliveries never happened: {first}")
            amiss = self._sources.amiss()
            lacking = [one[:3] for one in amiss if one[3]]
            demand(not lacking, 2, f"sources lack filters, by (source, subscriber, id): {lacking[:3]}")
            stale = [one[:3] for one in amiss]
            demand(
                not amiss,
                4,
                f"sources still filter for withdrawn subscriptions, by (source, subscriber, id): {stale[:3]}",
            )
        pending = self._pending_at_brokers()
        demand(not pending, 2, f"brokers still have pending notifications, by (broker, item): {pending[:3]}")
        if plan.composes:
            for mediator in self._world.mediators:
                self.composites.check_made(mediator)
        for published in self._world.applications.published.values():
            self._check_arrivals(published)

    def _check_arrivals(self, published: "Published") -> None:
        world = self._world
        subscribers = [node for node in world.subscribers if (node, published.id) in self.delivered]
        source, event_ms = published.id >> NUMBER_BITS, published.event_ms
        if subscribers:
            ideal = earliest_arrivals(
                world.contact_log, world.mediators, source, event_ms, trip_ms=0, delta_ms=0
            )
            for node in subscribers:
                seen_ms = self.delivered[node, published.id]
                demand(
                    ideal.get(node, seen_ms + 1) <= seen_ms,
                    5,
                    f"subscriber {node} received {format_id(published.id)} at {seen_ms} ms, before the "
                    "earliest possible arrival",
                )
        if world.plan.never_late:
            trimmed = earliest_arrivals(
                world.contact_log, world.mediators, source, event_ms, trip_ms=LINK_MS, delta_ms=DELTA_MS
            )
            applications = world.applications
            expecting = [one for one in applications.revisions if applications.is_expected(one, published)]
            for node in {one.subscriber for one in expecting}:
                latest_ms = trimmed.get(node, world.now_ms)
                seen = self.delivered.get((node, published.id), latest_ms + 1)
                demand(
                    seen <= latest_ms or latest_ms >= world.now_ms,
                    5,
                    f"subscriber {node} received {format_id(published.id)} later than {latest_ms} ms, "
                    "although there were no faults",
                )
