"""Checks the filters at sources: everything in force is filtered for, and nothing that was withdrawn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dens.overlay.events import InstallSpared
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.topics import parts_of
from watchdog.header import BODY_AT, HEADER_ID, HEADER_REVISION, body_of

if TYPE_CHECKING:
    from emulation.fault_injection.applications import SubscriptionRevision
    from emulation.fault_injection.world import World

_PAIRS_BYTES: Final = 4
"""The length of the two pairs in a body, with or without the distance of a sequence."""

Amiss = tuple[int, int, int, bool]
"""Source, subscriber, id, and whether it is in force."""


@dataclass(frozen=True)
class Spared:
    """A subscription whose install was suppressed, and until when the source has to serve it all the same."""

    source: int
    subscriber: int
    id: int
    seq: int
    body: bytes
    until_ms: int


class Sources:
    """Checks the sources of one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._spared: set[Spared] = set()

    def spared(self, mediator: int, event: InstallSpared) -> None:
        """Record that a mediator suppressed an install."""
        item, vector = event.item, event.item.payload
        assert event.peer is not None
        until_ms = item.expires_ms - self._world.skew_ms[mediator]
        self._spared.add(
            Spared(
                event.peer,
                item.origin,
                vector[HEADER_ID],
                vector[HEADER_REVISION],
                body_of(vector),
                until_ms,
            )
        )

    def check_spared(self, source: int) -> None:
        """Check that this source serves every suppressed subscription for as long as it is in force."""
        world, over = self._world, set()
        for one in self._spared:
            if one.source != source:
                continue
            if world.now_ms + world.plan.slack_ms >= one.until_ms or not self._is_in_force(one):
                over.add(one)
            else:
                is_served = world.hosts[source].serves(one.body, world.local(source))
                key = (one.subscriber, one.id)
                demand(
                    is_served,
                    2,
                    f"the install of subscription {key} at source {source} was suppressed, but no filter "
                    "there covers it",
                )
        self._spared -= over

    def _is_in_force(self, spared: Spared) -> bool:
        revision = (spared.subscriber, spared.id, spared.seq)
        return any(
            one.over_ms is None and (one.subscriber, one.id, one.seq) == revision
            for one in self._world.applications.revisions
        )

    def amiss(self) -> list[Amiss]:
        """Return the filters that sources lack, and those that they still have for withdrawn subscriptions.

        A subscription with parts has to be installed whole or in all its parts, and neither after it was
        withdrawn. If mediators suppress covered installs, this is checked for all subscriptions, and a
        covering filter is enough.
        """
        world, plan = self._world, self._world.plan
        if plan.languages:
            return []  # Their filter hosts are watchdogs, which are tested elsewhere.
        found: list[Amiss] = []
        lateness_ms = plan.slack_ms if plan.faults.clock else 0
        for one in world.applications.revisions:
            has_parts = len(one.vector) > BODY_AT + 2
            if not (has_parts or plan.covering) or one.until_ms <= world.now_ms + 1_000 + lateness_ms:
                continue
            for source in world.publishers:
                is_there, is_served = self._is_at(source, one)
                if one.over_ms is None and not is_served:
                    found.append((source, one.subscriber, one.id, True))
                elif one.over_ms is not None and is_there:
                    found.append((source, one.subscriber, one.id, False))
        return found

    def _is_at(self, source: int, one: "SubscriptionRevision") -> tuple[bool, bool]:
        """Return whether any form of a subscription is installed at a source, and whether it is served."""
        host, body = self._world.hosts[source], one.vector[BODY_AT:]
        parts = parts_of(body[:_PAIRS_BYTES]) if len(body) > 2 else ()
        forms = {one.id: body} | {one.id + after: part.body for after, part in enumerate(parts, 1)}
        held = {
            id
            for id, form in forms.items()
            if host.installed.get((one.subscriber, id), (None,))[:2] == (one.seq, form)
        }
        if parts:
            return bool(held), one.id in held or held >= forms.keys() - {one.id}
        return bool(held), host.serves(body, self._world.local(source))
