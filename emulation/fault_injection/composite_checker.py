"""Checks composites under all faults: each match is delivered once, no expected match is missing, no
prediction is delivered after its outcome, and no outcome without its prediction.
"""

from typing import TYPE_CHECKING

from dens.overlay.events import NotificationDelivered
from dens.overlay.mediator.node import DensNode
from dens.overlay.session.results import ResultTracker
from dens.overlay.storage.known_results import UNKNOWN
from dens.overlay.wire.item import NUMBER_BITS, Item, ItemId, format_id
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.sequences import (
    CONFIRMED,
    MATCH,
    PREDICTION,
    SEQUENCE,
    Composite,
    is_in_order,
    results_of,
    satisfies,
)
from emulation.fault_injection.topics import LANGUAGE
from watchdog.header import body_of

if TYPE_CHECKING:
    from emulation.fault_injection.applications import Published, SubscriptionRevision
    from emulation.fault_injection.world import World


class CompositeChecker:
    """Checks what subscribers of one world receive of sequences."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.matches: dict[tuple[int, bytes], Item] = {}
        """The message with which each subscriber received each match."""
        self._predicted: dict[tuple[int, bytes], int] = {}
        """Per subscriber and prediction: 0 if the prediction was delivered, 1 if its outcome was."""
        self._dropped: set[bytes] = set()
        """Matches with a message that a policy dropped."""

    def dropped(self, item: Item) -> None:
        """Record that a policy dropped a message."""
        if item.language == SEQUENCE:
            self._dropped.add(Composite.decode(item.payload).match)

    def delivered(self, node: int, event: NotificationDelivered) -> None:
        """Check the delivery of a composite."""
        composite = Composite.decode(event.item.payload)
        match, prediction = (node, composite.match), (node, composite.prediction)
        stage = self._predicted.get(prediction)
        name = f"subscriber {node} received {format_id(event.item.id)}"
        is_whose = composite.subscriber == node and {(composite.id, composite.seq)} == {
            one[:2] for one in event.satisfied
        }
        demand(is_whose, 2, f"{name}, which is addressed to another revision or subscriber")
        is_new = match not in self.matches
        if composite.kind == MATCH:
            demand(is_new, 3, f"{name}, a match that it already has")
        elif composite.kind == PREDICTION:
            demand(stage is None, 3, f"{name}, a prediction that it already has, or whose outcome it has")
        elif composite.kind == CONFIRMED:
            demand(is_new or stage == 0, 3, f"{name}, a confirmation with nothing new")
        else:
            demand(stage == 0, 3, f"{name}, an outcome without its prediction, or a second one")
        if composite.kind in (MATCH, CONFIRMED):
            self._check_match(node, composite)
            self.matches.setdefault(match, event.item)
        if composite.kind != MATCH:
            self._predicted[prediction] = 0 if composite.kind == PREDICTION else 1

    def _check_match(self, node: int, composite: Composite) -> None:
        """Check that events really make this match, unless a hostile publisher takes part in it."""
        if composite.last >> NUMBER_BITS in self._world.hostile:
            return
        slack_ms = self._world.plan.slack_ms
        [revision] = [
            one
            for one in self._world.applications.revisions
            if (one.subscriber, one.id, one.seq) == (node, composite.id, composite.seq)
        ]
        last = self._world.applications.published[composite.last]
        firsts = (
            [self._world.applications.published[composite.first]]
            if composite.kind == MATCH
            else self._firsts(revision, last, -slack_ms)
        )
        is_one = any(self._is_match(revision, first, last, -slack_ms) for first in firsts)
        demand(
            is_one,
            2,
            f"subscriber {node} received a match of {format_id(composite.last)} that no events make",
        )

    @staticmethod
    def _is_match(
        revision: "SubscriptionRevision", first: "Published", last: "Published", slack_ms: int
    ) -> bool:
        body = body_of(revision.vector)
        return (
            is_in_order(body, first.id, last.id)
            and revision.is_in_force(first.event_ms, slack_ms)
            and revision.is_in_force(last.event_ms, slack_ms)
            and satisfies(body, 0, first.vector)
            and satisfies(body, 1, last.vector)
        )

    def _firsts(
        self, revision: "SubscriptionRevision", last: "Published", slack_ms: int
    ) -> "list[Published]":
        published = self._world.applications.published.values()
        return [first for first in published if self._is_match(revision, first, last, slack_ms)]

    def matches_of(
        self, revision: "SubscriptionRevision", slack_ms: int = 0
    ) -> "list[tuple[Published, list[Published]]]":
        """Return every last message of a match of this subscription, with all possible first messages."""
        published = list(self._world.applications.published.values())
        found = [(last, self._firsts(revision, last, slack_ms)) for last in published]
        return [(last, firsts) for last, firsts in found if firsts]

    def missing_deliveries(
        self, as_of_ms: int, lateness_ms: int, dropped: set[ItemId]
    ) -> list[tuple[int, ItemId]]:
        """Return the subscribers and last messages of matches that should have been delivered by then."""
        live_ms = as_of_ms + 1_000 + lateness_ms
        missing = []
        for revision in self._world.applications.revisions:
            if revision.language != SEQUENCE or revision.over_ms is not None:
                continue
            for last, firsts in self.matches_of(revision, lateness_ms):
                is_there = any(
                    all(part.until_ms > live_ms and part.id not in dropped for part in (first, last))
                    and not self._world.checker.is_late(revision, first, last)
                    for first in firsts
                )
                composite = Composite(MATCH, revision.subscriber, revision.id, revision.seq, last.id, 0).match
                if (
                    is_there
                    and composite not in self._dropped
                    and (revision.subscriber, composite) not in self.matches
                ):
                    missing.append((revision.subscriber, last.id))
        return missing

    def restarted(self, node: int) -> None:
        """Check that a subscriber still knows the matches that it delivered, and that a mediator has composed
        all that it can. Whether a forgotten match arrives again is random, so memory is checked directly.
        """
        for (who, _), item in self.matches.items():
            if who == node:
                is_known = self._knows(node, item.payload)
                demand(
                    is_known,
                    3,
                    f"subscriber {node} delivered the match {format_id(item.id)} and forgot it in a restart",
                )
        self.check_made(node)

    def _knows(self, node: int, vector: bytes) -> bool:
        context = self._world.machines[node].context
        composite = ResultTracker(context, {SEQUENCE: results_of}).read_results(SEQUENCE, vector)
        return all(
            context.durable.results.rank(key, self._world.local(node)) != UNKNOWN for key, *_ in composite
        )

    def check_made(self, node: int) -> None:
        """Check that a mediator has composed every match of the messages it holds, whatever their order of
        arrival.
        """
        machine = self._world.machines[node]
        if not isinstance(machine, DensNode):
            return
        held = [one.item for one in machine.state.carried.all() if one.item.language == LANGUAGE]
        for sought in machine.state.table.subscriptions():
            if sought.item.language != SEQUENCE:
                continue
            in_time = [item for item in held if sought.since_ms <= item.created_ms < sought.until_ms]
            firsts = [item.id for item in in_time if satisfies(sought.body, 0, item.payload)]
            for last in in_time:
                is_last = satisfies(sought.body, 1, last.payload) and any(
                    is_in_order(sought.body, first, last.id) for first in firsts
                )
                made = Composite(MATCH, *sought.key, sought.seq, last.id, 0).encode()
                is_known = not is_last or self._knows(node, made)
                demand(
                    is_known,
                    2,
                    f"mediator {node} holds all parts of the match that {format_id(last.id)} completes and "
                    "did not compose it",
                )
