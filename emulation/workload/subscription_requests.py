"""All subscriptions of a scenario, in one list.

They come from four sources: files of the scenario, random populations, the interests of a recording's
participants, and plain messages, to which each possible destination subscribes. Each subscriber gives ids in
this order; a subscription that can be decomposed occupies the ids of its parts too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dens.config.refusal import Refusal
from emulation.direct_messages import LANGUAGE, SUBSCRIPTION_ID, subscription_lifetime, subscription_of
from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.scenario.scenario import NodeSlot
from knowledge_manager.mission_table import MissionTable
from plugins.registry import languages
from watchdog.header import HEADER_ID, framed


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A subscription of one subscriber."""

    at_ms: int
    node: int
    language: int
    vector: bytes
    document: str | None = None
    """The file from which it was compiled."""
    withdrawn_ms: int | None = None

    @property
    def id(self) -> int:
        """Return the id of the subscription at its subscriber."""
        return self.vector[HEADER_ID]


class Numbering:
    """Gives subscription ids per subscriber."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._languages = languages()
        self._next: dict[int, int] = {}
        self._released: dict[tuple[int, int], list[int]] = {}

    def occupied(self, language: int, body: bytes) -> int:
        """Return the number of ids that the parts of a subscription take after its own."""
        return self._languages[language].occupied(self._table, body)

    def release(self, node: int, id: int, language: int, body: bytes) -> None:
        """Make the id of a withdrawn subscription available again, for one with as many parts."""
        self._released.setdefault((node, self.occupied(language, body)), []).append(id)

    def take(self, node: int, language: int, body: bytes) -> int:
        """Return a free id of a subscriber that is followed by free ids for the parts."""
        id, occupies = self._next.get(node, 0), self.occupied(language, body)
        if released := self._released.get((node, occupies)):
            return released.pop(0)
        if id + occupies >= SUBSCRIPTION_ID:
            raise Refusal(
                f"node {node} needs more than {SUBSCRIPTION_ID} subscription ids, including those of parts; "
                "distribute the subscriptions over more subscribers"
            )
        self._next[node] = id + occupies + 1
        return id


def subscription_requests(
    scenario: Scenario, streams: RandomStreams, numbering: Numbering
) -> Iterator[SubscriptionRequest]:
    """Yield all subscriptions of a run. Those of one moment are made in this order."""
    for planned in scenario.subscriptions:
        for slot in _subscribers(scenario, planned.group):
            id = numbering.take(slot.number, planned.language, planned.body)
            yield SubscriptionRequest(
                planned.at_ms,
                slot.number,
                planned.language,
                framed(id, 0, planned.lifetime_q, planned.body),
                planned.file,
                planned.withdrawn_ms,
            )
    for index, crowd in enumerate(scenario.populations):
        slots = _subscribers(scenario, crowd.settings.group)
        for position, body in enumerate(crowd.bodies(streams.rng("population", index))):
            node = slots[position % len(slots)].number
            id = numbering.take(node, crowd.language, body)
            vector = framed(id, 0, crowd.lifetime_q, body)
            yield SubscriptionRequest(crowd.at_ms, node, crowd.language, vector)
    if (interests := scenario.interests) is not None:
        for slot in _subscribers(scenario, interests.group):
            for body in interests.bodies(slot.position, streams.rng("interests", slot.number)):
                id = numbering.take(slot.number, interests.language, body)
                vector = framed(id, 0, interests.lifetime_q, body)
                yield SubscriptionRequest(0, slot.number, interests.language, vector)
    lifetime_q = subscription_lifetime(scenario.duration_ms)
    for group in dict.fromkeys(traffic.destination for traffic in scenario.settings.traffic):
        for slot in _subscribers(scenario, group):
            yield SubscriptionRequest(0, slot.number, LANGUAGE, subscription_of(slot.number, lifetime_q))


def _subscribers(scenario: Scenario, group: str) -> list[NodeSlot]:
    return [slot for slot in scenario.slots() if (slot.group, slot.role) == (group, "subscriber")]
