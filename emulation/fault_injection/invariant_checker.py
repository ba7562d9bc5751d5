"""The invariant checker: it keeps its own ledger from events and bytes alone, and checks the seven promises
of docs/reference/protocols.md.

1 and 2 (what was acknowledged is durable, survives a crash, and ends only with an event that says why), 3
(seen once), 4 (nothing for what is withdrawn), 6 (what does not verify changes nothing) and 7 (bounds) are
checked after every step; 2 (everything owed arrives) and 5 (the oracles) at the end of a run.

What a mediator notifies a subscriber of names every subscription of that subscriber which the mediator holds
and the notification satisfies. Nothing is pending for a subscriber whose receipt the mediator acknowledged.
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
    from emulation.fault_injection.applications import Asked, Published
    from emulation.fault_injection.world import World

_PROMISED: Final = (
    MessageType.SUBSCRIBE,
    MessageType.RENEW,
    MessageType.NOTIFICATION,
    MessageType.NOTIFY,
)
_FOR_ROOM: Final = frozenset({"over_quota", "lowest_degree", "oldest", "patience_over"})
_BY_POLICY: Final = _FOR_ROOM | {"delivered"}
"""Why a carrier gives a copy up. A broker that has handed everything on gives up nothing."""

Mediator = DensNode | BrokerNode
Revision = tuple[int, int]
"""The id of a subscription at its subscriber, and its revision."""


class InvariantChecker:
    """Watches one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.delivered: dict[tuple[int, ItemId], int] = {}
        self.acknowledged: dict[int, dict[ItemId, int]] = {node: {} for node in world.mediators}
        self.gone: dict[int, set[ItemId]] = {node: set() for node in world.all_nodes()}
        self.dropped: set[ItemId] = set()
        self._held: dict[int, set[ItemId]] = {}
        self._without_store: set[int] = set()
        """The brokers that lost their store once: an acknowledgement from before may still be under way."""
        self._began_ms: dict[int, int] = {}
        """When each engine began, by its own clock."""
        self._receipts: dict[int, dict[ItemId, tuple[ItemId, int]]] = {node: {} for node in world.mediators}
        """The receipts that each mediator acknowledged: their notifications and subscribers."""
        self.notified: dict[tuple[int, ItemId], set[frozenset[Revision]]] = {}
        """The subscriptions that were listed when a subscriber was notified."""
        self._sources = Sources(world)
        self.lookups = LookupChecker(world)
        self.composites = CompositeChecker(world)

    # ------------------------------------------------------------------ what the world shows

    def started(self, node: int) -> None:
        """See a new engine: what it took up is what it holds."""
        machine = self._world.machines[node]
        self._began_ms[node] = self._world.local(node)
        if isinstance(machine, Mediator):
            self._held[node] = set(machine.state.items)

    def crashed(self, node: int) -> None:
        """See an engine just before it is thrown away: what it said last counts."""
        self.lookups.crashed(node)
        for event in self._world.machines[node].context.events:
            self._note_end(node, event)

    def lost_store(self, node: int) -> None:
        """See a broker lose its store: nothing is demanded of what was published until now."""
        self._without_store.add(node)
        self.acknowledged[node].clear()
        self._receipts[node].clear()
        self.dropped.update(self._world.applications.published)

    def restarted(self, node: int) -> None:
        """Check that nothing acknowledged was lost in a crash, and nothing shown forgotten."""
        if node in self._world.down:
            return
        known = self._world.machines[node].context.durable.known
        self._check_remembered(node, known)
        self.composites.restarted(node)
        for item_id, until_ms in self.acknowledged.get(node, {}).items():
            if item_id not in self.gone[node] and self._world.now_ms + self._world.plan.slack_ms < until_ms:
                demand(
                    item_id in known, 1, f"{node} acknowledged {format_id(item_id)} and lost it in a crash"
                )

    def _check_remembered(self, node: int, known: KnownItems) -> None:
        """Check that a subscriber still knows what it has shown: whether it comes again is up to chance, and
        it would be shown again.
        """
        published = self._world.applications.published
        live_ms = self._world.now_ms + self._world.plan.slack_ms
        for who, item_id in self.delivered:
            if who == node and item_id in published and live_ms < published[item_id].until_ms:
                demand(item_id in known, 3, f"{node} saw {format_id(item_id)} and forgot it in a crash")

    def note(self, node: int, event: Event) -> None:
        """See what happened at a node."""
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
                is_poison, 0, f"an engine failed at {node} with {format_id(event.item.id)}: {event.reason}"
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
                demand(is_safe, 1, f"{peer} acknowledged {format_id(item.id)}, which is not durable there")
                if peer in self._without_store:
                    return
                self.acknowledged[peer][item.id] = item.expires_ms - self._world.skew_ms[node]

    def _receipt_acknowledged(self, mediator: int, item: Item) -> None:
        """Check that a mediator holds a receipt that it acknowledged, until it records why not. Of one that
        lost its store the acknowledgement may be of an earlier life, and then the receipt is not held.
        """
        if item.id not in self.gone[mediator]:
            is_held = self._world.stores[mediator].holds(Space.ITEM, item.id)
            is_safe = is_held or mediator in self._without_store
            demand(
                is_safe, 1, f"{mediator} acknowledged the receipt {format_id(item.id)} and does not hold it"
            )
            if is_held:
                self._receipts[mediator][item.id] = (read_receipt(item.payload), item.origin)

    def _held_receipts(self, machine: Mediator) -> list[tuple[ItemId, int]]:
        """Return the notifications and subscribers of the receipts that a mediator acknowledged and holds. An
        end that it recorded counts from then on, whether the event was read or not: datagrams are formed
        after all that is recorded, and are checked before it is read.
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
                    is_exact, 2, f"{format_id(event.item.id)} ended at {node} at another time than it should"
                )
            if node in self._receipts:
                self._receipts[node].pop(event.item.id, None)
            is_for_ends = event.item.type == MessageType.NOTIFY and event.reason == "delivered"
            reasons = _BY_POLICY if self._world.plan.routing == "carry" else _FOR_ROOM
            if event.reason in reasons and not is_for_ends:
                self.dropped.add(event.item.id)
                self.composites.dropped(event.item)

    def _check_delivery(self, node: int, event: NotificationDelivered) -> None:
        place = (node, event.item.id)
        demand(place not in self.delivered, 3, f"{node} saw {format_id(event.item.id)} twice")
        self.delivered[place] = self._world.now_ms
        if self._check_made_delivery(node, event):
            return
        if event.item.origin in self._world.hostile:
            return
        published = self._world.applications.published[event.item.id]
        demand(
            event.item.payload == published.vector,
            6,
            f"{format_id(event.item.id)} came with other bytes than it left",
        )
        demand(bool(event.satisfied), 2, f"{format_id(event.item.id)} came for nothing")
        slack_ms = self._world.plan.slack_ms
        for id, seq, _, _ in event.satisfied:
            [one] = [
                one
                for one in self._world.applications.asked
                if (one.subscriber, one.id, one.seq) == (node, id, seq)
            ]
            in_time = one.since_ms - slack_ms <= published.event_ms < one.until_ms + slack_ms
            demand(
                in_time and self._world.applications.wants(one, published.vector),
                2,
                f"{node} saw {format_id(published.id)} and was not owed it",
            )
        shown = {(id, seq) for id, seq, _, _ in event.satisfied}
        live = {(one.id, one.seq) for one in self._live(node)}
        is_whole = any(listed & live <= shown <= listed for listed in self.notified[place])
        demand(
            is_whole, 2, f"{node} saw {format_id(published.id)} for some of the subscriptions it satisfies"
        )

    def _check_made_delivery(self, node: int, event: NotificationDelivered) -> bool:
        """Check a delivery of what a mediator made, or a source predicted; return whether it is one."""
        if event.item.language != SEQUENCE:
            return False
        self.composites.delivered(node, event)
        return True

    def _live(self, subscriber: int) -> "list[Asked]":
        """Return the subscriptions that a subscriber has in force, whatever clocks do."""
        live_ms = self._world.now_ms + self._world.plan.slack_ms
        asked = self._world.applications.asked
        return [
            one
            for one in asked
            if one.subscriber == subscriber and one.over_ms is None and live_ms < one.until_ms
        ]

    def _check_listed(self, machine: Mediator, subscriber: int, item: ItemId, listed: set[Revision]) -> None:
        """Check that a mediator notifies a subscriber for all subscriptions that it holds and that the
        notification satisfies, and of nothing that the subscriber has, as far as it knows.
        """
        self.notified.setdefault((subscriber, item), set()).add(frozenset(listed))
        carried = machine.state.carried.get(item)
        is_seen = (
            subscriber in self._world.down or item in self._world.machines[subscriber].context.durable.known
        )  # What it has already says nothing new: a renewal makes it pending again where the receipt is late.
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
        name = f"{machine.node} notified {subscriber} of {format_id(item)}"
        demand(not missing, 2, f"{name} and did not list its subscriptions {missing}")

    def sent(self, node: int, peer: int, data: bytes) -> None:
        """Check that a mediator which holds a tombstone forwards nothing for what it withdraws, and lists
        everything that a notification satisfies.
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
            demand(not has_it, 2, f"{node} notified {peer} of {format_id(notification)} after its receipt")
            self._check_listed(machine, peer, notification, {(id, seq) for id, seq, _, _ in satisfied})
        for id, seq, _, _ in satisfied:
            is_wanted = (peer, id) not in buried or is_newer(seq, buried[peer, id])
            demand(is_wanted, 4, f"{node} forwarded for the withdrawn subscription ({peer}, {id})")

    def is_bound_to_its_contact(self, data: bytes) -> bool:
        """Say whether recorded bytes must be refused in any other contact: all but a hello, under a key."""
        return self._world.plan.mission_key is not None and data[1] != MessageType.HELLO

    def received_false(self, node: int) -> None:
        """Check that bytes which nobody of the mission made for this contact were refused, and no more."""
        if self._world.plan.mission_key is not None:
            events = self._world.machines[node].context.events
            refused = all(isinstance(event, DatagramRefused) for event in events)
            demand(refused, 6, f"{node} took bytes that do not verify")

    def step(self, node: int) -> None:
        """Check the bounds of a mediator, that nothing has left it without an event that says why, and that a
        source looks for what it was not asked for because something stands for it.
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
        demand(is_bounded, 7, f"{node} holds more than its limits allow")
        held = self._held[node]
        lost = held.difference(machine.state.items, self.gone[node])
        demand(
            not lost, 2, f"{node} let go of {[format_id(one) for one in sorted(lost)[:1]]} and did not say so"
        )
        self._held[node] = set(machine.state.items)
        self._check_receipted(machine)
        for tombstone in machine.state.table.tombstones():
            current = machine.state.table.get((tombstone.item.origin, tombstone.id))
            is_newer_one = current is None or is_newer(current.seq, tombstone.seq)
            demand(is_newer_one, 4, f"{node} brought a withdrawn subscription back")

    def _check_receipted(self, machine: Mediator) -> None:
        """Check that nothing is pending for a subscriber whose receipt this mediator acknowledged, and that a
        copy for the ends of its device is held only as long as one of them expects it.
        """
        for notification, subscriber in self._receipts[machine.node].values():
            is_pending = subscriber in machine.state.carried.pending_subscribers(notification)
            name = f"{format_id(notification)}, of which it has the receipt of {subscriber}"
            demand(not is_pending, 2, f"{machine.node} still carries for a subscriber {name}")
        for carried in machine.state.carried.all():
            is_over = carried.item.type == MessageType.NOTIFY and not machine.state.carried.is_pending(
                carried.item.id
            )
            demand(
                not is_over, 2, f"{machine.node} holds {format_id(carried.item.id)} for no end of its device"
            )

    # ------------------------------------------------------------------ the end of a run

    def owed_and_missing(self, as_of_ms: int) -> list[tuple[int, ItemId]]:
        """Return what should have been delivered by then and was not, though nobody recorded that it was
        dropped.
        """
        applications, slack_ms = self._world.applications, self._world.plan.slack_ms
        lateness_ms = slack_ms if self._world.plan.faults.clock else 0
        missing = []
        for published in applications.published.values():
            if published.until_ms <= as_of_ms + 1_000 + lateness_ms or published.id in self.dropped:
                continue
            for one in applications.asked:
                place = (one.subscriber, published.id)
                is_owed = one.over_ms is None and applications.is_owed(one, published, lateness_ms)
                if is_owed and place not in self.delivered and not self.is_late(one, published):
                    missing.append(place)
        if self._world.plan.composes:
            missing += self.composites.owed_and_missing(as_of_ms, lateness_ms, self.dropped)
        return missing

    def is_late(self, asked: "Asked", *events: "Published") -> bool:
        """Return whether time in the air, which ages do not count, put an event out of the time of a
        subscription: one of these lies near an end of that time, and every mediator that carries them has
        recorded one of them outside.
        """
        plan = self._world.plan
        is_near = any(not asked.is_in_force(one.event_ms, plan.slack_ms) for one in events)
        if not plan.faults.slow or not is_near or plan.routing != "carry":
            return False  # Brokers know what settled before there are faults.
        outside = []
        for node in self._world.mediators:
            machine = self._world.machines[node]
            assert isinstance(machine, DensNode)
            carried = [machine.state.carried.get(one.id) for one in events]
            held = machine.state.table.get((asked.subscriber, asked.id))
            recorded = [one.item.created_ms for one in carried if one is not None]
            if len(recorded) == len(events):
                is_known = held is not None and held.seq == asked.seq
                is_outside = held is not None and any(
                    not held.since_ms <= at_ms < held.until_ms for at_ms in recorded
                )
                outside.append(is_known and is_outside)
        return bool(outside) and all(outside)

    def is_settled(self) -> bool:
        """Return whether nothing more need happen: all that is owed is here, and sources filter as they
        should.
        """
        has_all = not self.owed_and_missing(self._world.now_ms)
        return has_all and not self._sources.amiss() and not self._pending_at_brokers()

    def _pending_at_brokers(self) -> list[tuple[int, str]]:
        """Return which brokers hold which notifications for a subscriber that has not taken them."""
        machines = [self._world.machines[node] for node in self._world.mediators]
        return [
            (one.node, format_id(held.item.id))
            for one in machines
            if isinstance(one, BrokerNode)
            for held in one.state.carried.all()
            if held.pending
        ]

    def conclude(self) -> None:
        """Check what can only be said at the end: everything arrived, nothing too early, nothing too late."""
        plan = self._world.plan
        if plan.everything_arrives:
            missing = self.owed_and_missing(self._world.now_ms)
            demand(not missing, 2, f"owed and never delivered: {missing[:3]}")
            amiss = self._sources.amiss()
            demand(not [one for one in amiss if one[3]], 2, f"sources lack filters for {amiss[:3]}")
            demand(not amiss, 4, f"sources filter for what is withdrawn: {amiss[:3]}")
        pending = self._pending_at_brokers()
        demand(not pending, 2, f"brokers have not delivered what they hold: {pending[:3]}")
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
                    f"{format_id(published.id)} was at {node} before any path",
                )
        if world.plan.never_late:
            trimmed = earliest_arrivals(
                world.contact_log, world.mediators, source, event_ms, trip_ms=LINK_MS, delta_ms=DELTA_MS
            )
            applications = world.applications
            owed = [one for one in applications.asked if applications.is_owed(one, published)]
            for node in {one.subscriber for one in owed}:
                latest_ms = trimmed.get(node, world.now_ms)
                seen = self.delivered.get((node, published.id), latest_ms + 1)
                demand(
                    seen <= latest_ms or latest_ms >= world.now_ms,
                    5,
                    f"{format_id(published.id)} was late at {node}",
                )
