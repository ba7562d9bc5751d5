"""What sources filter for, as it should be: what is in force, and nothing that was withdrawn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dens.overlay.events import InstallSpared
from emulation.fault_injection.invariant import demand
from emulation.fault_injection.topics import parts_of
from watchdog.header import BODY_AT, HEADER_ID, HEADER_REVISION, body_of

if TYPE_CHECKING:
    from emulation.fault_injection.applications import Asked
    from emulation.fault_injection.world import World

_PAIRS_BYTES: Final = 4
"""What of the body of two pairs, or of a sequence of them, says which pairs."""

Amiss = tuple[int, int, int, bool]
"""Source, subscriber, id, and whether it is in force."""


@dataclass(frozen=True)
class Spared:
    """A subscription that a source was not asked for, and until when it must look for it all the same."""

    source: int
    subscriber: int
    id: int
    seq: int
    body: bytes
    until_ms: int


class Sources:
    """Watches the sources of one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._spared: set[Spared] = set()

    def spared(self, mediator: int, event: InstallSpared) -> None:
        """See that a mediator did not ask a source for something."""
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
        """Check that this source looks for all that it was not asked for, for as long as that is in force."""
        world, over = self._world, set()
        for one in self._spared:
            if one.source != source:
                continue
            if world.now_ms + world.plan.slack_ms >= one.until_ms or not self._is_in_force(one):
                over.add(one)
            else:
                is_served = world.hosts[source].serves(one.body, world.local(source))
                key = (one.subscriber, one.id)
                demand(is_served, 2, f"{source} was not asked for {key}, and nothing there stands for it")
        self._spared -= over

    def _is_in_force(self, spared: Spared) -> bool:
        revision = (spared.subscriber, spared.id, spared.seq)
        return any(
            one.over_ms is None and (one.subscriber, one.id, one.seq) == revision
            for one in self._world.applications.asked
        )

    def amiss(self) -> list[Amiss]:
        """Return what sources lack, and what they have for what is withdrawn.

        What has parts is at a source whole, or in all its parts; what is over in neither form. Where
        mediators spare installs the same is asked of everything, and something that stands for it is enough.
        """
        world, plan = self._world, self._world.plan
        if plan.languages:
            return []  # Their filter hosts are watchdogs, which have tests of their own.
        found: list[Amiss] = []
        lateness_ms = plan.slack_ms if plan.faults.clock else 0
        for one in world.applications.asked:
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

    def _is_at(self, source: int, one: "Asked") -> tuple[bool, bool]:
        """Return whether some form of a subscription is at a source, and whether it is served there."""
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
