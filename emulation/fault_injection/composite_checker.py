"""What is checked of composites, whatever faults are injected: no match is shown twice, none that is owed is
missing, no prediction is shown after its outcome, and no outcome without its prediction.
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
    from emulation.fault_injection.applications import Asked, Published
    from emulation.fault_injection.world import World


class CompositeChecker:
    """Watches what subscribers are shown of sequences in one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.matches: dict[tuple[int, bytes], Item] = {}
        """Who saw which match, and in which message."""
        self._predicted: dict[tuple[int, bytes], int] = {}
        """Who saw which prediction (0), or the outcome of one (1)."""
        self._dropped: set[bytes] = set()
        """Matches of which some message was dropped by a policy."""

    def dropped(self, item: Item) -> None:
        """See that a policy dropped a message."""
        if item.language == SEQUENCE:
            self._dropped.add(Composite.decode(item.payload).match)

    def delivered(self, node: int, event: NotificationDelivered) -> None:
        """Check what a subscriber was shown."""
        said = Composite.decode(event.item.payload)
        match, prediction = (node, said.match), (node, said.prediction)
        stage = self._predicted.get(prediction)
        name = f"{node} saw {format_id(event.item.id)}"
        is_whose = said.subscriber == node and {(said.id, said.seq)} == {one[:2] for one in event.satisfied}
        demand(is_whose, 2, f"{name}, which is for another revision or subscriber")
        is_new = match not in self.matches
        if said.kind == MATCH:
            demand(is_new, 3, f"{name}, a match that it saw before")
        elif said.kind == PREDICTION:
            demand(stage is None, 3, f"{name}, a prediction that it saw before, or whose outcome it saw")
        elif said.kind == CONFIRMED:
            demand(is_new or stage == 0, 3, f"{name}, which told it nothing")
        else:
            demand(stage == 0, 3, f"{name}, an outcome without its prediction, or a second one")
        if said.kind in (MATCH, CONFIRMED):
            self._check_match(node, said)
            self.matches.setdefault(match, event.item)
        if said.kind != MATCH:
            self._predicted[prediction] = 0 if said.kind == PREDICTION else 1

    def _check_match(self, node: int, said: Composite) -> None:
        """Check that a match is one, wherever nobody hostile is part of it."""
        if said.last >> NUMBER_BITS in self._world.hostile:
            return
        slack_ms = self._world.plan.slack_ms
        [asked] = [
            one
            for one in self._world.applications.asked
            if (one.subscriber, one.id, one.seq) == (node, said.id, said.seq)
        ]
        last = self._world.applications.published[said.last]
        firsts = (
            [self._world.applications.published[said.first]]
            if said.kind == MATCH
            else self._firsts(asked, last, -slack_ms)
        )
        is_one = any(self._is_match(asked, first, last, -slack_ms) for first in firsts)
        demand(is_one, 2, f"{node} was shown a match of {format_id(said.last)} that is none")

    @staticmethod
    def _is_match(asked: "Asked", first: "Published", last: "Published", slack_ms: int) -> bool:
        body = body_of(asked.vector)
        return (
            is_in_order(body, first.id, last.id)
            and asked.is_in_force(first.event_ms, slack_ms)
            and asked.is_in_force(last.event_ms, slack_ms)
            and satisfies(body, 0, first.vector)
            and satisfies(body, 1, last.vector)
        )

    def _firsts(self, asked: "Asked", last: "Published", slack_ms: int) -> "list[Published]":
        published = self._world.applications.published.values()
        return [first for first in published if self._is_match(asked, first, last, slack_ms)]

    def ends(self, asked: "Asked", slack_ms: int = 0) -> "list[tuple[Published, list[Published]]]":
        """Return every last message of a match of this subscription, with all that may be the first."""
        published = list(self._world.applications.published.values())
        found = [(last, self._firsts(asked, last, slack_ms)) for last in published]
        return [(last, firsts) for last, firsts in found if firsts]

    def owed_and_missing(
        self, as_of_ms: int, lateness_ms: int, dropped: set[ItemId]
    ) -> list[tuple[int, ItemId]]:
        """Return who lacks a match of which message, though all of it was there to be found."""
        live_ms = as_of_ms + 1_000 + lateness_ms
        missing = []
        for asked in self._world.applications.asked:
            if asked.language != SEQUENCE or asked.over_ms is not None:
                continue
            for last, firsts in self.ends(asked, lateness_ms):
                is_there = any(
                    all(part.until_ms > live_ms and part.id not in dropped for part in (first, last))
                    and not self._world.checker.is_late(asked, first, last)
                    for first in firsts
                )
                said = Composite(MATCH, asked.subscriber, asked.id, asked.seq, last.id, 0).match
                if is_there and said not in self._dropped and (asked.subscriber, said) not in self.matches:
                    missing.append((asked.subscriber, last.id))
        return missing

    def restarted(self, node: int) -> None:
        """Check that a subscriber still knows the matches that it has shown: whether one comes again is up to
        chance, and it would be shown again. And that a mediator has made all that it can.
        """
        for (who, _), item in self.matches.items():
            if who == node:
                is_known = self._knows(node, item.payload)
                demand(is_known, 3, f"{node} saw {format_id(item.id)} and forgot what it says")
        self.check_made(node)

    def _knows(self, node: int, vector: bytes) -> bool:
        context = self._world.machines[node].context
        said = ResultTracker(context, {SEQUENCE: results_of}).read_results(SEQUENCE, vector)
        return all(context.durable.results.rank(key, self._world.local(node)) != UNKNOWN for key, *_ in said)

    def check_made(self, node: int) -> None:
        """Check that a mediator knows every match of what it holds, in whichever order that came."""
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
                    is_known, 2, f"{node} holds all of a match of {format_id(last.id)} and did not make it"
                )
