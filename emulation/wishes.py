"""Who asks for what, and when: everything that a scenario lets its subscribers want, in one list.

Four things make somebody ask: a subscription that the scenario names, a share in a population that chance
draws, the interests of a recording's participants, and plain messages, for which whoever may get one asks
for everything addressed to it. To the world they are all the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from emulation.direct_messages import LANGUAGE, subscription_lifetime, subscription_of
from emulation.scenario import Scenario
from emulation.scenario.scenario import Seat
from emulation.streams import Streams
from watchdog.header import HEADER_ID


@dataclass(frozen=True, slots=True)
class Wish:
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


def wishes_of(scenario: Scenario, streams: Streams) -> Iterator[Wish]:
    """Yield every wish of a run. Those of one moment are asked in this order."""
    for wanted in scenario.subscriptions:
        for seat in _subscribers(scenario, wanted.group):
            yield Wish(
                wanted.at_ms, seat.number, wanted.language, wanted.vector, wanted.file, wanted.withdrawn_ms
            )
    for index, crowd in enumerate(scenario.populations):
        seats = _subscribers(scenario, crowd.settings.group)
        drawn = crowd.vectors(streams.stream("population", index), len(seats))
        for position, vector in drawn:
            yield Wish(crowd.at_ms, seats[position].number, crowd.language, vector)
    if scenario.interests is not None:
        for seat in _subscribers(scenario, scenario.interests.group):
            chance = streams.stream("interests", seat.number)
            for vector in scenario.interests.vectors(seat.position, chance):
                yield Wish(0, seat.number, scenario.interests.language, vector)
    lifetime_q = subscription_lifetime(scenario.duration_ms)
    for group in dict.fromkeys(traffic.destination for traffic in scenario.settings.traffic):
        for seat in _subscribers(scenario, group):
            vector = subscription_of(seat.number, lifetime_q)
            yield Wish(0, seat.number, LANGUAGE, vector)


def _subscribers(scenario: Scenario, group: str) -> list[Seat]:
    return [seat for seat in scenario.seats() if (seat.group, seat.role) == (group, "subscriber")]
