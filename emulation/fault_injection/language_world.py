"""A world whose nodes use the shipped languages, bound to a mission table.

Engines, matchers, composers, directories and filter hosts are those of dens/node/assembly.py. The oracle of
language_pool.py decides which notification satisfies which subscription. A composite has to be for the
subscription that it names, be delivered once and be made of two real events; and two events whose order
is beyond doubt have to make at least one.
"""

from typing import TYPE_CHECKING, Final

from dens.interfaces import FilterHost
from dens.node.assembly import assembly_of
from dens.node.filter_host import source_host
from dens.overlay.assembly import Assembly
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.events import NotificationDelivered
from dens.overlay.wire.item import NUMBER_BITS, ItemId, format_id
from emulation.fault_injection.applications import Applications, SubscriptionRevision
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.invariant_checker import InvariantChecker
from emulation.fault_injection.language_pool import FAST, SLOW, Facts, PooledSubscription, language_pool
from emulation.fault_injection.world import World
from knowledge_manager.dictionary.local import LocalDataDictionary
from watchdog.header import framed
from watchdog.watchdog import Watchdog

if TYPE_CHECKING:
    from emulation.fault_injection.applications import Published

_OFFERED: Final = (
    ("patient", ("heart_rate",)),
    ("apartment", ("rent",)),
    ("report", ("kind", "topic")),
)
_APART_MS: Final = 2_000
"""Composites have times in seconds, so events closer together may count as simultaneous."""


class LanguageApplications(Applications):
    """Applications that choose subscriptions and notifications from the pool."""

    def __init__(self, world: "LanguageWorld") -> None:
        super().__init__(world)
        self.facts: dict[bytes, Facts] = {}
        """The facts of each notification, by its vector."""
        self._numbers: dict[int, int] = {}

    def _drawn_subscription(self, node: int, id: int, seq: int, q: int) -> tuple[bytes, int]:
        rng, pool = self._world.rng, language_pool().subscriptions
        language = rng.choice(sorted({one.language for one in pool}))
        drawn = rng.choice([one for one in pool if one.language == language])
        return framed(id, seq, q, drawn.body), drawn.language

    def _drawn_notification(self, node: int) -> tuple[bytes, int]:
        number = self._numbers[node] = self._numbers.get(node, 0) + 1
        stamp_s = self._world.local(node) // 1_000
        language, vector, facts = language_pool().draw(self._world.rng, number, stamp_s)
        self.facts[vector] = facts
        return vector, language

    def wants(self, revision: SubscriptionRevision, vector: bytes) -> bool:
        """Return whether a notification satisfies a subscription, according to the oracle."""
        facts = self.facts.get(vector)
        return facts is not None and _pooled(revision).wants(facts)


def _pooled(revision: SubscriptionRevision) -> PooledSubscription:
    body = revision.vector[3:]
    [found] = [
        one for one in language_pool().subscriptions if (one.language, one.body) == (revision.language, body)
    ]
    return found


class LanguageChecker(InvariantChecker):
    """Checks composites by the events that they can be made of."""

    def __init__(self, world: "LanguageWorld") -> None:
        super().__init__(world)
        self._pool = language_pool()
        self._shown: set[tuple[int, bytes]] = set()
        """Subscribers and the results delivered to them."""
        self._served: set[tuple[int, int, int]] = set()
        """The subscription revisions that got a composite."""

    def _check_made_delivery(self, node: int, event: NotificationDelivered) -> bool:
        item = event.item
        if item.language != self._pool.composite:
            return False
        results = self._pool.languages[item.language].results
        assert results is not None
        name = f"subscriber {node} received the composite {format_id(item.id)}"
        for one in results(item.payload):
            place = (node, one.identity)
            demand(place not in self._shown, 3, f"{name} with a result that it already has")
            self._shown.add(place)
        for id, seq, _, _ in event.satisfied:
            [revision] = [
                one
                for one in self._world.applications.revisions
                if (one.subscriber, one.id, one.seq) == (node, id, seq)
            ]
            is_one = revision.language == item.language and self._pairs(revision, -self._world.plan.slack_ms)
            demand(bool(is_one), 2, f"{name}, for which there are no two events")
            self._served.add((node, id, seq))
        return True

    def _pairs(self, revision: SubscriptionRevision, slack_ms: int) -> "list[tuple[Published, Published]]":
        """Return the events of one source that make a composite, the first and the second."""
        applications = self._world.applications
        assert isinstance(applications, LanguageApplications)
        events = [
            (applications.facts[one.vector], one)
            for one in applications.published.values()
            if revision.is_in_force(one.event_ms, slack_ms)
        ]
        pulses = [
            (value, one) for (about, value), one in events if about == "pulse" and isinstance(value, int)
        ]
        return [
            (first, second)
            for value, first in pulses
            if value >= FAST
            for other, second in pulses
            if other <= SLOW
            and first.id >> NUMBER_BITS == second.id >> NUMBER_BITS
            and first.event_ms + slack_ms + (_APART_MS if slack_ms >= 0 else 0) <= second.event_ms
        ]

    def missing_deliveries(self, as_of_ms: int) -> list[tuple[int, ItemId]]:
        """Return what should have been delivered by then, composites included."""
        missing = super().missing_deliveries(as_of_ms)
        live_ms = as_of_ms + 1_000
        for revision in self._world.applications.revisions:
            key = (revision.subscriber, revision.id, revision.seq)
            if (
                revision.language != self._pool.composite
                or revision.over_ms is not None
                or key in self._served
            ):
                continue
            missing += [
                (revision.subscriber, second.id)
                for first, second in self._pairs(revision, self._world.plan.slack_ms)
                if all(one.until_ms > live_ms and one.id not in self.dropped for one in (first, second))
            ]
        return missing


class LanguageWorld(World):
    """Mediators that carry, with all languages."""

    def _assembled(self) -> Assembly:
        plan = self.plan
        return assembly_of(language_pool().table, mission_key=plan.mission_key, limits=plan.limits)

    def _checker(self) -> InvariantChecker:
        return LanguageChecker(self)

    def _applications(self) -> Applications:
        return LanguageApplications(self)

    def _source_host(self, node: int) -> FilterHost:
        pool = language_pool()
        filters = {
            number: one.source_filter(pool.table)
            for number, one in pool.languages.items()
            if one.has_own_notifications
        }
        return source_host(Watchdog(filters), node)

    def _announce(self, machine: PublisherEndpoint, now_ms: int) -> None:
        offered = LocalDataDictionary(language_pool().table)
        for event, attributes in _OFFERED:
            offered.offer(event, attributes)
        machine.announce(offered.extract(counter=1), now_ms)
