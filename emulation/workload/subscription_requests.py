"""Who asks for what, and when: everything that a scenario lets its subscribers want, in one list.

Four things make somebody ask: a subscription that the scenario names, a share in a population that chance
draws, the interests of a recording's participants, and plain messages, for which whoever may get one asks
for everything addressed to it. To the world they are all the same. Each subscriber numbers what it asks for
in this order; a subscription that can be taken apart occupies the numbers of its parts too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dens.config.refusal import Refusal
from emulation.direct_messages import LANGUAGE, SUBSCRIPTION_ID, subscription_lifetime, subscription_of
from emulation.random.streams import Streams
from emulation.scenario import Scenario
from emulation.scenario.scenario import NodeSlot
from knowledge_manager.mission_table import MissionTable
from plugins.registry import languages
from watchdog.header import HEADER_ID, framed


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """What one subscriber asks for, and for how long it wants it."""

    at_ms: int
    node: int
    language: int
    vector: bytes
    document: str | None = None
    """The file that it was compiled from."""
    withdrawn_ms: int | None = None

    @property
    def id(self) -> int:
        """Return its number at the subscriber."""
        return self.vector[HEADER_ID]


class Numbering:
    """Gives each subscriber's subscriptions their numbers, one after the other."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._languages = languages()
        self._next: dict[int, int] = {}
        self._released: dict[tuple[int, int], list[int]] = {}

    def occupied(self, language: int, body: bytes) -> int:
        """Return how many numbers after its own the parts of a subscription take."""
        return self._languages[language].occupied(self._table, body)

    def release(self, node: int, id: int, language: int, body: bytes) -> None:
        """Make the number of a withdrawn subscription available again, for one with as many parts."""
        self._released.setdefault((node, self.occupied(language, body)), []).append(id)

    def take(self, node: int, language: int, body: bytes) -> int:
        """Return a number that is free at a subscriber, as are those after it that the parts of this take."""
        id, occupies = self._next.get(node, 0), self.occupied(language, body)
        if released := self._released.get((node, occupies)):
            return released.pop(0)
        if id + occupies >= SUBSCRIPTION_ID:
            raise Refusal(
                f"node {node} asks for more than {SUBSCRIPTION_ID} things, those counted into which "
                "subscriptions are taken apart; deal them out to more subscribers"
            )
        self._next[node] = id + occupies + 1
        return id


def subscription_requests(
    scenario: Scenario, streams: Streams, numbering: Numbering
) -> Iterator[SubscriptionRequest]:
    """Yield everything that is asked for in a run. What is asked in one moment is asked in this order."""
    for wanted in scenario.subscriptions:
        for slot in _subscribers(scenario, wanted.group):
            id = numbering.take(slot.number, wanted.language, wanted.body)
            yield SubscriptionRequest(
                wanted.at_ms,
                slot.number,
                wanted.language,
                framed(id, 0, wanted.lifetime_q, wanted.body),
                wanted.file,
                wanted.withdrawn_ms,
            )
    for index, crowd in enumerate(scenario.populations):
        slots = _subscribers(scenario, crowd.settings.group)
        for position, body in enumerate(crowd.bodies(streams.stream("population", index))):
            node = slots[position % len(slots)].number
            id = numbering.take(node, crowd.language, body)
            vector = framed(id, 0, crowd.lifetime_q, body)
            yield SubscriptionRequest(crowd.at_ms, node, crowd.language, vector)
    if (interests := scenario.interests) is not None:
        for slot in _subscribers(scenario, interests.group):
            for body in interests.bodies(slot.position, streams.stream("interests", slot.number)):
                id = numbering.take(slot.number, interests.language, body)
                vector = framed(id, 0, interests.lifetime_q, body)
                yield SubscriptionRequest(0, slot.number, interests.language, vector)
    lifetime_q = subscription_lifetime(scenario.duration_ms)
    for group in dict.fromkeys(traffic.destination for traffic in scenario.settings.traffic):
        for slot in _subscribers(scenario, group):
            yield SubscriptionRequest(0, slot.number, LANGUAGE, subscription_of(slot.number, lifetime_q))


def _subscribers(scenario: Scenario, group: str) -> list[NodeSlot]:
    return [slot for slot in scenario.slots() if (slot.group, slot.role) == (group, "subscriber")]
